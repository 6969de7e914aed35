/** The one binary that hooks call: there, ours, of this version, and no one else's to change. */
import { accessSync, constants, realpathSync, type Stats, statSync } from "node:fs";
import { version } from "../../../package.json";
import { errorCode, messageOf, readText } from "../../store/files.ts";
import { dirname } from "../../store/names.ts";
import { binaryPath, wasSwapped } from "../install/binary.ts";
import { clean, type Finding, type Ground, note, ok, shown, trouble } from "./finding.ts";
import { runBounded } from "./process.ts";

const RENEW = "call `pawl` as npm installed it (it puts its binary there), or `pawl init`";

export async function checkProgram(ground: Ground): Promise<Finding[]> {
  const path = binaryPath();
  const name = shown(path, ground);
  const found = look(path);
  if (typeof found === "string") return [trouble("binary-missing", `${name} ${found}: every hook is silent`, RENEW)];
  if (!found.isFile()) return [trouble("binary-missing", `${name} is not a file: every hook is silent`, RENEW)];
  if (!mayRun(path))
    return [trouble("binary-not-executable", `${name} is not executable: every hook is silent`, RENEW)];
  return [
    ...(await checkVersion(path, name)),
    ...checkSidecar(path, name),
    ...checkContent(path, name),
    ...checkModes(ground, path),
  ];
}

function look(path: string): Stats | string {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? "is not there";
  } catch (error) {
    return `cannot be read (${errorCode(error) || messageOf(error)})`;
  }
}

function mayRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function checkVersion(path: string, name: string): Promise<Finding[]> {
  const said = await runBounded([path, "--version"], { cwd: "/" }).catch((error) => messageOf(error));
  if (typeof said === "string") return [trouble("binary-fails", `${name} does not start: ${clean(said)}`, RENEW)];
  const found = /^pawl (\S+)\s*$/.exec(said.out)?.[1];
  if (said.late) return [trouble("binary-fails", `${name} does not answer within 5 s`, RENEW)];
  if (said.code !== 0 || found === undefined)
    return [trouble("binary-fails", `${name} --version ends with ${said.code}: ${clean(said.out + said.err)}`, RENEW)];
  if (found === version) return [ok("binary", `${name} is ${version}, as this program`)];
  return [trouble("binary-version", `hooks call version ${clean(found, 20)}, this program is ${version}`, RENEW)];
}

function checkSidecar(path: string, name: string): Finding[] {
  const stamp = readText(`${path}.version`, 4096);
  const said = stamp.ok ? (stamp.text.trim().split(/\s/)[0] ?? "") : null;
  if (said === version) return [];
  const what = said === null ? `${name}.version is not there` : `${name}.version says ${clean(said, 20) || "nothing"}`;
  return [note("binary-stamp", `${what}; the binary itself is what counts`, "the next `pawl` from npm puts it right")];
}

function checkContent(path: string, name: string): Finding[] {
  if (!wasSwapped(path)) return [];
  const what = `${name} is not the binary that was installed: its content is another than ${name}.version says`;
  return [trouble("binary-swapped", what, `find out who changed it, remove both, and ${RENEW}`)];
}

/** Whoever can write these decides what every hook does. */
function checkModes(ground: Ground, path: string): Finding[] {
  const real = realpathSync(path);
  const share = dirname(dirname(path));
  const watched = [...new Set([real, dirname(real), dirname(path), share])];
  return watched.flatMap((one) => {
    const found = statSync(one, { throwIfNoEntry: false });
    if (!found) return [];
    const name = shown(one, ground);
    const foreign = found.uid !== 0 && found.uid !== process.getuid?.();
    if (foreign) return [trouble("binary-owner", `${name} belongs to another user (${found.uid})`, RENEW)];
    const sticky = found.isDirectory() && (found.mode & 0o1000) !== 0;
    if ((found.mode & 0o022) === 0 || sticky) return [];
    // A group is often the person alone.
    const say = found.mode & 0o002 ? trouble : note;
    const mode = (found.mode & 0o777).toString(8);
    return [say("binary-mode", `others may write to ${name} (mode ${mode})`, `chmod go-w ${name}`)];
  });
}
