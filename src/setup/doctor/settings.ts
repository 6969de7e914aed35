/** Does the host run our hooks? Each settings file on its own, then all of them together. */
import { version } from "../../../package.json";
import { isSince } from "../../hosts/claude/wire.ts";
import { UserError } from "../../kernel/user-error.ts";
import { join } from "../../store/names.ts";
import { EVENTS, isOurs, PROGRAM, type Scope, wrongEntry } from "../install/hooks.ts";
import { findPosition, valueAt } from "../install/jsonc.ts";
import { planInit } from "../install/plan.ts";
import { ignoredByHost, isOurLine, lineIn, withHooks, withStatusLine } from "../install/settings.ts";
import { installTarget, readManifest, type Target } from "../install/target.ts";
import {
  clean,
  type DoctorContext,
  type Finding,
  findClient,
  mayRun,
  note,
  ok,
  shortPath,
  trouble,
} from "./finding.ts";
import { callsPawl, hooksIn, type Plugin, type SettingsFile } from "./settings-files.ts";

const INIT: Record<Scope, string> = {
  local: "`pawl init`",
  project: "`pawl init --team`",
  user: "`pawl init --user`",
};

export const checkSettings = (ground: DoctorContext, files: SettingsFile[]): Finding[] =>
  files.flatMap((file) => checkFile(ground, file));

function checkFile(ground: DoctorContext, file: SettingsFile): Finding[] {
  const { name, problem } = file;
  if (problem) {
    const where = problem.at ? `${name}:${problem.at.line}:${problem.at.column}` : name;
    const what = problem.at ? `${where}: ${problem.why}` : `${where} ${problem.why}`;
    return trouble("settings-broken", what, "fix it: until then no hook in that file runs");
  }
  const wrong = wrongIn(ground, file);
  const calls = file.scope !== "managed" && callsPawl(file);
  if (wrong.length > 0)
    return wrong.every(({ level }) => level === "note") && calls ? [...wrong, ...calledAt(file)] : wrong;
  return calls ? checkOurs(file, file.scope as Scope) : [];
}

/** The first client that leaves out a wrong hook alone; before, it dropped every hook of the file. */
const ALONE_SINCE = [2, 1, 260] as const;

/** What makes the host drop the file, or all hooks in it. */
function wrongIn(ground: DoctorContext, file: SettingsFile): Finding[] {
  const { name, text, tree } = file;
  // Without us in it, it is the person's own business, but they will want to know.
  const say = callsPawl(file) ? trouble : note;
  const lenient = ignoredByHost(text);
  if (lenient) return say("settings-ignored", `${name}, ${lenient}: Claude Code ignores such a file`, "take that out");
  const hooks = tree?.type === "object" ? valueAt(tree, "hooks") : undefined;
  if (!hooks) return [];
  const wrong = hooks.type === "object" ? wrongEntry(hooks) : { node: hooks, why: '"hooks" is not an object' };
  if (!wrong) return [];
  const { line, column } = findPosition(text, wrong.node.offset);
  const alone = "entry" in wrong && isSince(findClient(ground), ALONE_SINCE);
  const means = alone ? "Claude Code leaves that hook out" : "Claude Code drops all hooks of such a file";
  const what = `${name}:${line}:${column}: ${clean(wrong.why, 100)}; ${means}`;
  const tell = alone && !isOurs(wrong.node) ? note : say;
  return tell("settings-wrong-hook", what, "fix or remove that entry");
}

/** Of a file that `init` would not edit. */
function calledAt(file: SettingsFile): Finding[] {
  const missing = missingEvents(file);
  if (missing.length === 0) return ok("hooks", `${file.name} calls Pawl at ${EVENTS.length} events`);
  const what = `${file.name} calls Pawl, but not at ${missing.join(", ")}`;
  return trouble("hooks-differ", what, "fix it, then run `pawl init`");
}

function missingEvents(file: SettingsFile): string[] {
  const called = new Set(hooksIn(file).flatMap(({ event, ours }) => (ours ? [event] : [])));
  return EVENTS.filter((event) => !called.has(event));
}

function checkOurs(file: SettingsFile, scope: Scope): Finding[] {
  const { name, text } = file;
  const edited = withHooks(text, scope);
  if (!edited.ok) return trouble("hooks-differ", `${name}, ${edited.why}`, "fix it, then run `pawl init`");
  if (edited.text === text) return ok("hooks", `${name} calls Pawl at ${EVENTS.length} events`);
  const missing = missingEvents(file);
  const why = missing.length > 0 ? `not at ${missing.join(", ")}` : "not as this version writes it";
  return trouble("hooks-differ", `${name} calls Pawl, but ${why}`, `${INIT[scope]} renews the entries`);
}

// ── All of them together ────────────────────────────────────────────────────

/** The client runs the same command once, so a worktree with local settings of its own has no second way. */
function callingFiles(files: SettingsFile[]): SettingsFile[] {
  const calling = files.filter(callsPawl);
  const hasOwn = calling.some(({ scope, ofMain }) => scope === "local" && !ofMain);
  return hasOwn ? calling.filter(({ ofMain }) => !ofMain) : calling;
}

export function checkInstalled(ground: DoctorContext, files: SettingsFile[], plugin: Plugin | null): Finding[] {
  const ways = [...callingFiles(files).map(({ name }) => name), ...(plugin?.enabled ? ["the plugin"] : [])];
  const many = `${ways.length} times`;
  const twice = `Pawl is installed ${many}: ${ways.join(", ")}; it answers once, but every event starts it ${many}`;
  const keepOne = "keep one: `pawl uninstall` (add --user for ~/.claude), or disable the plugin";
  if (ways.length > 1) return note("installed-twice", twice, keepOne);
  if (ways.length === 1) return ok("installed", `installed once: ${ways[0]}`);
  const fix = ground.root === ground.home ? "change to a project folder and run `pawl init`" : "run `pawl init`";
  return trouble("not-installed", "no settings file here calls Pawl, and no plugin does", fix);
}

/** Measured: in a worktree, 2.1.325 reads the main checkout's local settings, 2.1.197 does not. */
const READS_MAIN = "2.1.325";
const IGNORES_MAIN = "2.1.197";

export function checkWorktree(ground: DoctorContext, files: SettingsFile[], plugin: Plugin | null): Finding[] {
  const [file, ...others] = callingFiles(files);
  if (!file?.ofMain || others.length > 0 || plugin?.enabled) return [];
  const found = findClient(ground);
  if (found !== null && Bun.semver.order(found, READS_MAIN) >= 0) return [];
  const fix = "run `pawl init` here, or update Claude Code; `pawl loop` brings its own hooks";
  if (found !== null && Bun.semver.order(found, IGNORES_MAIN) <= 0)
    return trouble("worktree", `Claude Code ${found} does not read ${file.name} in a worktree: no hook runs here`, fix);
  return note("worktree", `Claude Code before ${READS_MAIN} may not read ${file.name} in a worktree`, fix);
}

export function checkPlugin(plugin: Plugin | null): Finding[] {
  if (!plugin?.enabled) return [];
  const { id, folder, hooks } = plugin;
  const [install, update] = [`\`claude plugin install ${id}\``, `\`claude plugin update ${id}\``];
  if (folder === null || hooks === null)
    return trouble("plugin-missing", `the plugin ${id} is enabled but not installed`, install);
  if (hooks.problem || !callsPawl(hooks))
    return trouble("plugin-broken", `the plugin ${id} does not call Pawl`, update);
  if (plugin.version !== version)
    return note("plugin-version", `the plugin ${id} is ${plugin.version}, this is ${version}`, update);
  return ok("plugin", `the plugin ${id} is on`);
}

/** The highest file that says anything decides, as in the host. */
export function checkDisabled(files: SettingsFile[]): Finding[] {
  const found: Finding[] = [];
  const last = files.findLast(({ value }) => typeof value.disableAllHooks === "boolean");
  if (last?.value.disableAllHooks === true)
    found.push(...trouble("hooks-disabled", `${last.name} says disableAllHooks: no hook runs`, "take that line out"));
  const only = files.find(({ scope, value }) => scope === "managed" && value.allowManagedHooksOnly === true);
  const what = `${only?.name} allows only the administrator's hooks: Pawl's are ignored`;
  const ask = "ask the administrator of this machine to allow Pawl's hooks";
  return only ? [...found, ...trouble("managed-hooks-only", what, ask)] : found;
}

/** Commands and agents that were copied: gone, or of another version. */
export function checkTexts(ground: DoctorContext): Finding[] {
  const bases: Scope[] = ground.root === ground.home ? ["user"] : ["local", "user"];
  const files = bases.flatMap((scope) => readManifest(installTarget(scope, ground.root)).manifest?.files ?? []);
  const installed = new Set(files.flatMap(({ kind, scopes }) => (kind === "text" ? scopes : [])));
  return [...installed].flatMap((scope) => checkScope(ground, scope));
}

function checkScope(ground: DoctorContext, scope: Scope): Finding[] {
  const stale = wantedChanges(installTarget(scope, ground.root)).filter((path) =>
    /\/\.claude\/(commands|skills|agents)\//.test(path),
  );
  if (stale.length === 0) return ok("texts", `the commands, skills and agents of ${INIT[scope]} are this version's`);
  const names = stale.map((path) => shortPath(path, ground)).join(", ");
  return note("texts-differ", `not as this version brings them: ${names}`, `${INIT[scope]} renews them`);
}

function wantedChanges(target: Target): string[] {
  try {
    return planInit(target, { claudeMd: false, config: null, parts: {} }, version).changes.map(({ path }) => path);
  } catch (error) {
    // Settings that cannot be edited are reported where they are read.
    if (error instanceof UserError) return [];
    throw error;
  }
}

// ── The status line ─────────────────────────────────────────────────────────

/** `files`: the last one that has a line is the one that is shown. */
export function checkLine(ground: DoctorContext, files: SettingsFile[]): Finding[] {
  const lines = files.flatMap((file) => {
    const line = lineIn(file.text, file.name);
    return line ? [{ file, line }] : [];
  });
  const ours = lines.findLast(({ line }) => isOurLine(line.command));
  if (!ours) return [];
  const { file } = ours;
  const nowhere = `${file.name}: its statusLine calls ~/${PROGRAM}, which cannot be run`;
  if (!mayRun(join(ground.home, PROGRAM))) return trouble("statusline-nowhere", nowhere, FIX_LINE);
  const seen = lines.at(-1)!.file;
  const hidden = `${seen.name} has a statusLine of its own, which hides Pawl's in ${file.name}`;
  if (seen !== file) return note("statusline-hidden", hidden, "`pawl init --statusline` shows both");
  const farther = lines.at(-2)?.line ?? null;
  const doubled = farther !== null && isOurLine(farther.command);
  const differs = `${file.name}: its statusLine is not as this version writes it, or runs another command than ${farther?.from ?? "yours"} has now`;
  if (file.scope === "local" && !doubled && withStatusLine(file.text, farther).text !== file.text)
    return note("statusline-differs", differs, FIX_LINE);
  return ok("statusline", `${file.name} shows Pawl's status line`);
}

const FIX_LINE = "run `pawl init` to fix it";
