/** Does the host run our hooks? Each settings file on its own, then all of them together. */
import { version } from "../../../package.json";
import { InstallError } from "../install/error.ts";
import { EVENTS, type Scope, wrongEntry } from "../install/hooks.ts";
import { positionOf, valueAt } from "../install/jsonc.ts";
import { planInit } from "../install/plan.ts";
import { ignoredByHost, withHooks } from "../install/settings.ts";
import { readManifest, type Target, targetOf } from "../install/target.ts";
import { clean, type Finding, type Ground, note, ok, shown, trouble } from "./finding.ts";
import type { Plugin } from "./plugins.ts";
import { callsPawl, hooksIn, type SettingsFile } from "./settings-files.ts";

const INIT: Record<Scope, string> = {
  local: "`pawl init`",
  project: "`pawl init --team`",
  user: "`pawl init --user`",
};

export const checkSettings = (files: SettingsFile[]): Finding[] => files.flatMap(checkFile);

function checkFile(file: SettingsFile): Finding[] {
  const { name, problem } = file;
  if (problem) {
    const where = problem.at ? `${name}:${problem.at.line}:${problem.at.column}` : name;
    const what = problem.at ? `${where}: ${problem.why}` : `${where} ${problem.why}`;
    return [trouble("settings-broken", what, "fix it: until then no hook in that file runs")];
  }
  const wrong = wrongIn(file);
  if (wrong) return [wrong];
  return file.scope !== "managed" && callsPawl(file) ? [checkOurs(file, file.scope)] : [];
}

/** What makes the host drop the file, or all hooks in it. */
function wrongIn(file: SettingsFile): Finding | null {
  const { name, text, tree } = file;
  // Without us in it, it is the person's own business, but they will want to know.
  const say = callsPawl(file) ? trouble : note;
  const lenient = ignoredByHost(text);
  if (lenient) return say("settings-ignored", `${name}, ${lenient}: Claude Code ignores such a file`, "take that out");
  const hooks = tree?.type === "object" ? valueAt(tree, "hooks") : undefined;
  if (!hooks) return null;
  const wrong = hooks.type === "object" ? wrongEntry(hooks) : { node: hooks, why: '"hooks" is not an object' };
  if (!wrong) return null;
  const { line, column } = positionOf(text, wrong.node.offset);
  return say("settings-wrong-hook", `${name}:${line}:${column}: ${clean(wrong.why, 160)}`, "fix or remove that entry");
}

function checkOurs(file: SettingsFile, scope: Scope): Finding {
  const { name, text } = file;
  const edited = withHooks(text, scope);
  if (!edited.ok) return trouble("hooks-differ", `${name}, ${edited.why}`, "fix it, then run `pawl init`");
  if (edited.text === text) return ok("hooks", `${name} calls Pawl at ${EVENTS.length} events`);
  const called = new Set(hooksIn(file).flatMap(({ event, ours }) => (ours ? [event] : [])));
  const missing = EVENTS.filter((event) => !called.has(event));
  const why = missing.length > 0 ? `not at ${missing.join(", ")}` : "not as this version writes it";
  return trouble("hooks-differ", `${name} calls Pawl, but ${why}`, `${INIT[scope]} renews the entries`);
}

// ── All of them together ────────────────────────────────────────────────────

export function checkInstalled(ground: Ground, files: SettingsFile[], plugin: Plugin | null): Finding[] {
  const ways = [...files.filter(callsPawl).map(({ name }) => name), ...(plugin?.enabled ? ["the plugin"] : [])];
  if (ways.length > 1)
    return [
      note(
        "installed-twice",
        `Pawl is installed ${ways.length} times: ${ways.join(", ")}; it answers once, but every event starts it ${ways.length} times`,
        "keep one: `pawl uninstall` (add --user for ~/.claude), or disable the plugin",
      ),
    ];
  if (ways.length === 1) return [ok("installed", `installed once: ${ways[0]}`)];
  const remedy = ground.root === ground.home ? "change to a project folder and run `pawl init`" : "run `pawl init`";
  return [trouble("not-installed", "no settings file here calls Pawl, and no plugin does", remedy)];
}

/** The highest file that says anything decides, as in the host. */
export function checkDisabled(files: SettingsFile[]): Finding[] {
  const found: Finding[] = [];
  const said = files.filter(({ value }) => typeof value.disableAllHooks === "boolean").at(-1);
  if (said?.value.disableAllHooks === true)
    found.push(trouble("hooks-disabled", `${said.name} says disableAllHooks: no hook runs`, "take that line out"));
  const only = files.find(({ scope, value }) => scope === "managed" && value.allowManagedHooksOnly === true);
  if (only)
    found.push(
      trouble(
        "managed-hooks-only",
        `${only.name} allows only the administrator's hooks: Pawl's are ignored`,
        "ask the administrator of this machine to allow Pawl's hooks",
      ),
    );
  return found;
}

/** Commands and agents that were copied: gone, or of another version. */
export function checkTexts(ground: Ground): Finding[] {
  const bases: Scope[] = ground.root === ground.home ? ["user"] : ["local", "user"];
  return bases
    .flatMap((scope) => installedScopes(targetOf(scope, ground.root)))
    .flatMap((scope) => checkScope(ground, scope));
}

const installedScopes = (target: Target): Scope[] => [
  ...new Set(readManifest(target).manifest?.files.flatMap(({ kind, scopes }) => (kind === "text" ? scopes : []))),
];

function checkScope(ground: Ground, scope: Scope): Finding[] {
  const stale = wantedChanges(targetOf(scope, ground.root)).filter((path) =>
    /\/\.claude\/(commands|skills|agents)\//.test(path),
  );
  if (stale.length === 0) return [ok("texts", `the commands, skills and agents of ${INIT[scope]} are this version's`)];
  const names = stale.map((path) => shown(path, ground)).join(", ");
  return [note("texts-differ", `not as this version brings them: ${names}`, `${INIT[scope]} renews them`)];
}

function wantedChanges(target: Target): string[] {
  try {
    return planInit(target, { claudeMd: false, config: false }, version).changes.map(({ path }) => path);
  } catch (error) {
    // Settings that cannot be edited are reported where they are read.
    if (error instanceof InstallError) return [];
    throw error;
  }
}
