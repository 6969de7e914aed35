/** What the doctor looks at, and the question that preflight asks it. */
import type { HooksFound } from "../../loop/preflight-checks.ts";
import { type DoctorContext, mayRun, ok } from "../../setup/doctor/finding.ts";
import { homeDir } from "../../store/home.ts";
import { join } from "../../store/names.ts";
import { realPath } from "./args.ts";

const MANAGED: Record<string, string> = { darwin: "/Library/Application Support/ClaudeCode" };

export function doctorContext(root: string, env: DoctorContext["env"] = process.env): DoctorContext {
  const home = homeDir();
  const claude = env.CLAUDE_CONFIG_DIR || join(home, ".claude");
  const managed = MANAGED[process.platform] ?? "/etc/claude-code";
  return { root: root === realPath(home) ? home : root, home, claude, managed, env, now: Date.now() };
}

/** Does Claude Code run Pawl's hooks in this project? `brought`: the loop hands them over itself. */
export async function findHooks(root: string, env: DoctorContext["env"], brought: boolean): Promise<HooksFound> {
  const { checkDisabled, checkInstalled } = await import("../../setup/doctor/settings.ts");
  const { context, files, plugin } = await readInstallation(root, env);
  const found = [...(brought ? BROUGHT : checkInstalled(context, files, plugin)), ...checkDisabled(files)];
  const worst = found.find(({ level }) => level === "trouble");
  return { ok: !worst, what: (worst ?? found[0])?.what ?? "installed", remedy: worst?.remedy ?? "" };
}

const BROUGHT = ok("brought", "the loop brings its own hooks (claude --settings)");

async function readInstallation(root: string, env: DoctorContext["env"]) {
  const { ourPlugin, readAllSettings, readPlugins } = await import("../../setup/doctor/settings-files.ts");
  const context = doctorContext(root, env);
  const files = readAllSettings(context);
  return { context, files, plugin: ourPlugin(readPlugins(context, files)) };
}

/**
 * What `claude --settings` gets in a loop, so that its hooks run in a worktree and without `pawl init`. The client runs the
 * same command once: where a settings file calls Pawl, these are its commands. null: there is no program to call, or
 * someone else brings the hooks in words of their own.
 */
export async function hooksToBring(root: string, env: DoctorContext["env"]): Promise<string | null> {
  const { callsPawl } = await import("../../setup/doctor/settings-files.ts");
  const { EVENTS, groupFor, PROGRAM } = await import("../../setup/install/hooks.ts");
  const { context, files, plugin } = await readInstallation(root, env);
  const scope = files.find(callsPawl)?.scope ?? "local";
  if (plugin?.enabled || scope === "managed" || !mayRun(join(context.home, PROGRAM))) return null;
  return JSON.stringify({ hooks: Object.fromEntries(EVENTS.map((event) => [event, [groupFor(event, scope)]])) });
}
