/** The one binary that hooks call, the key and the approvals next to it, and the installed hook, called once. */
import { mkdtempSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { version } from "../../../package.json";
import pluginHooks from "../../../plugin/hooks/hooks.json";
import type { FileStat } from "../../native/disk.ts";
import { strayStart } from "../../play/client.ts";
import { errorCode, lookAt, messageOf, namesOrNone, parseJson, readText } from "../../store/files.ts";
import { dirname, join } from "../../store/names.ts";
import { binaryPath, scriptPath, scriptState, wasSwapped } from "../install/binary.ts";
import { hookCommand } from "../install/hooks.ts";
import { clean, type DoctorContext, type Finding, mayRun, note, ok, shortPath, trouble } from "./finding.ts";
import { type ProgramEnd, runBounded } from "./process.ts";
import { hooksIn, type Plugin, readField, type SettingsFile } from "./settings-files.ts";

const RENEW = "call `pawl` as npm installed it (it puts its binary there), or `pawl init`";

export async function checkProgram(ground: DoctorContext): Promise<Finding[]> {
  const path = binaryPath();
  const name = shortPath(path, ground);
  const wrong = whySilent(path);
  if (wrong === "is not executable") return trouble("binary-not-executable", `${name} ${wrong}: ${SILENT}`, RENEW);
  if (wrong !== null) return trouble("binary-missing", `${name} ${wrong}: ${SILENT}`, RENEW);
  return [
    ...(await checkVersion(path, name)),
    ...checkSidecar(path, name),
    ...checkContent(path, name),
    ...checkModes(ground, path),
    ...checkScript(ground),
  ];
}

/** What the hooks' commands start, and what starts the binary. */
function checkScript(ground: DoctorContext): Finding[] {
  const path = scriptPath();
  const name = shortPath(path, ground);
  const wrong = whySilent(path);
  if (wrong !== null) return trouble("script-missing", `${name} ${wrong}: ${SILENT}`, RENEW);
  if (scriptState(path) === "current") return [];
  return trouble("script-changed", `${name} is not the script that this version installs`, RENEW);
}

const SILENT = "every hook is silent";

function whySilent(path: string): string | null {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found) return "is not there";
    if (!found.isFile()) return "is not a file";
    return mayRun(path) ? null : "is not executable";
  } catch (error) {
    return `cannot be read (${errorCode(error) || messageOf(error)})`;
  }
}

async function checkVersion(path: string, name: string): Promise<Finding[]> {
  const ended = await runBounded([path, "--version"], { cwd: "/" }).catch((error) => messageOf(error));
  if (typeof ended === "string") return trouble("binary-fails", `${name} does not start: ${clean(ended)}`, RENEW);
  const found = /^pawl (\S+)\s*$/.exec(ended.out)?.[1];
  if (ended.late) return trouble("binary-fails", `${name} does not answer within 5 s`, RENEW);
  if (ended.code !== 0 || found === undefined)
    return trouble("binary-fails", `${name} --version ends with ${ended.code}: ${clean(ended.out + ended.err)}`, RENEW);
  if (found === version) return ok("binary", `${name} is ${version}, as this program`);
  return trouble("binary-version", `hooks call version ${clean(found, 20)}, this program is ${version}`, RENEW);
}

function checkSidecar(path: string, name: string): Finding[] {
  const stamp = readText(`${path}.version`, 4096);
  const noted = stamp.ok ? (stamp.text.trim().split(/\s/)[0] ?? "") : null;
  if (noted === version) return [];
  const what = noted === null ? "is not there" : `says ${clean(noted, 20) || "nothing"}`;
  const fix = "the next `pawl` from npm puts it right";
  return note("binary-stamp", `${name}.version ${what}; the binary itself is what counts`, fix);
}

function checkContent(path: string, name: string): Finding[] {
  if (!wasSwapped(path)) return [];
  const what = `${name} is not the binary that was installed: its content is another than ${name}.version says`;
  return trouble("binary-swapped", what, `find out who changed it, remove both, and ${RENEW}`);
}

/** Who can write these decides what every hook does. */
function checkModes(ground: DoctorContext, path: string): Finding[] {
  const real = realpathSync(path);
  const watched = [...new Set([real, dirname(real), dirname(path), dirname(dirname(path)), scriptPath()])];
  return watched.flatMap((one) => {
    const found = statSync(one, { throwIfNoEntry: false });
    if (!found) return [];
    const name = shortPath(one, ground);
    const foreign = found.uid !== 0 && found.uid !== process.getuid?.();
    if (foreign) return trouble("binary-owner", `${name} belongs to another user (${found.uid})`, RENEW);
    const sticky = found.isDirectory() && (found.mode & 0o1000) !== 0;
    if ((found.mode & 0o022) === 0 || sticky) return [];
    // A group is often the person alone.
    const say = found.mode & 0o002 ? trouble : note;
    return say("binary-mode", `others may write to ${name} (mode ${octal(found.mode)})`, `chmod go-w ${name}`);
  });
}

const octal = (mode: number) => (mode & 0o777).toString(8);

// ── The key and the approvals: the person's alone, or they count for nothing ─

export function checkTrust(ground: DoctorContext): Finding[] {
  const share = join(ground.home, ".local/share/pawl");
  const trust = join(share, "trust");
  const inside = (folder: string) =>
    lookAt(folder)?.isDirectory() ? namesOrNone(folder).map((name) => join(folder, name)) : [];
  const folders = inside(trust);
  return [
    ...checkOwn(ground, join(share, "key"), 0o077, "key", "anyone who has it can forge what Pawl wrote"),
    ...[trust, ...folders, ...folders.flatMap(inside)].flatMap((path) =>
      checkOwn(ground, path, 0o022, "trust", "no approval in it counts"),
    ),
  ];
}

function checkOwn(ground: DoctorContext, path: string, forbidden: number, id: string, means: string): Finding[] {
  const found = lookAt(path);
  if (!found) return [];
  const name = shortPath(path, ground);
  const wrong = whyForeign(found);
  const again = `remove ${name}, then approve again with \`pawl trust\``;
  if (wrong !== null) return trouble(`${id}-owner`, `${name} ${wrong}: ${means}`, again);
  if ((found.mode & forbidden) === 0) return [];
  const who = forbidden === 0o077 ? "others may read" : "others may write to";
  return trouble(`${id}-mode`, `${who} ${name} (mode ${octal(found.mode)}): ${means}`, `chmod go-rwx ${name}`);
}

function whyForeign(found: FileStat): string | null {
  if (found.isSymbolicLink()) return "is a symbolic link";
  return found.uid === process.getuid?.() ? null : `belongs to another user (${found.uid})`;
}

// ── The installed hook, started as the host would: the very command, a shell, a payload on stdin ─

const SLOW_MS = 1_000;
const TIMEOUT_MS = 10_000;

export async function checkHook(files: SettingsFile[], plugin: Plugin | null): Promise<Finding[]> {
  const ofPlugin = plugin?.enabled ? plugin.hooks : null;
  const found: Finding[] = [];
  for (const file of [...files, ...(ofPlugin ? [ofPlugin] : [])]) {
    const entry = hooksIn(file).find(({ event, ours }) => ours && event === "SessionStart");
    const command = entry && readField(entry.node, "command");
    if (typeof command === "string") found.push(...(await fire(file.name, command, isKnown(file, command, ofPlugin))));
  }
  return found.length > 0 ? found : note("hook-none", "there is no hook to test", "see above");
}

/** Only what this version installs, word for word, is started, whatever a settings file may say. */
function isKnown(file: SettingsFile, command: string, ofPlugin: SettingsFile | null): boolean {
  if (file === ofPlugin) return pluginHooks.hooks.SessionStart[0]?.hooks[0]?.command === command;
  return file.scope !== "managed" && hookCommand(file.scope) === command;
}

async function fire(name: string, command: string, known: boolean): Promise<Finding[]> {
  const unknown = `${name}: its command is not this version's, so it was not run: ${clean(command)}`;
  if (!known) return note("hook-unknown", unknown, "see above");
  const folder = mkdtempSync(join(tmpdir(), "pawl-doctor-"));
  try {
    const input = `${JSON.stringify(strayStart(folder))}\n`;
    const start = () => runBounded(["/bin/sh", "-c", command], { cwd: folder, input, most: TIMEOUT_MS });
    const first = await start();
    // A machine that was busy for a moment is not a slow machine.
    return judge(name, first.late || first.ms <= SLOW_MS ? first : await start());
  } catch (error) {
    return trouble("hook-fails", `${name}: the hook cannot be started: ${clean(messageOf(error))}`, SEE_PROGRAM);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const SEE_PROGRAM = "see the program above";

export function judge(name: string, { code, out, err, ms, late }: ProgramEnd): Finding[] {
  const output = clean(out.trim() || err.trim(), 120);
  const fails = (id: string, what: string) => trouble(id, `${name}: the hook ${what}`, SEE_PROGRAM);
  if (late) return fails("hook-hangs", `did not finish within ${TIMEOUT_MS / 1000} s`);
  if (code !== 0) return fails("hook-fails", `exited with ${code ?? "a signal"} after ${ms} ms: ${output}`);
  if (out.trim() !== "" && parseJson(out) === undefined)
    return fails("hook-garbage", `printed something that is not JSON: ${output}`);
  const slow = "check for a slow disk, a virus scanner or an overloaded machine, then try again";
  if (ms > SLOW_MS) return trouble("hook-slow", `${name}: the hook took ${ms} ms`, slow);
  const answer = output === "" ? "silent, as expected" : `saying ${output}`;
  return ok("hook", `${name}: the hook exited with 0 after ${ms} ms, ${answer}`);
}
