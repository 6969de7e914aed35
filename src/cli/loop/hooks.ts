/** Preflight's question: does Claude Code run Pawl's hooks in this project? */
import type { Environment } from "../../loop/agents.ts";
import type { HooksFound } from "../../loop/preflight-checks.ts";
import { homeDir } from "../../store/home.ts";
import { join } from "../../store/names.ts";

const MANAGED: Record<string, string> = { darwin: "/Library/Application Support/ClaudeCode" };

export async function findHooks(root: string, env: Environment): Promise<HooksFound> {
  const { readAllSettings } = await import("../../setup/doctor/settings-files.ts");
  const { ourPlugin, readPlugins } = await import("../../setup/doctor/plugins.ts");
  const { checkDisabled, checkInstalled } = await import("../../setup/doctor/settings.ts");
  const home = homeDir();
  const claude = env.CLAUDE_CONFIG_DIR || join(home, ".claude");
  const managed = MANAGED[process.platform] ?? "/etc/claude-code";
  const ground = { root, home, claude, managed, env, now: Date.now() };
  const files = readAllSettings(ground);
  const found = [...checkInstalled(ground, files, ourPlugin(readPlugins(ground, files))), ...checkDisabled(files)];
  const worst = found.find(({ level }) => level === "trouble");
  return { ok: !worst, what: (worst ?? found[0])?.what ?? "installed", remedy: worst?.remedy ?? "" };
}
