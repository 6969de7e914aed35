/** The one binary that hooks call, and a first call of the installed hook. A running binary can put itself there; sources cannot. */
import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  statSync,
} from "node:fs";
import script from "../../../bin/hook.sh" with { type: "text" };
import { version } from "../../../package.json";
import { attempt } from "../../kernel/attempt.ts";
import { strayStart } from "../../play/client.ts";
import { lookAt, messageOf, openRegular, parseJson, readText, removeQuietly, writeAtomic } from "../../store/files.ts";
import { homeDir } from "../../store/home.ts";
import { dirname, join } from "../../store/names.ts";
import { tempName } from "./apply.ts";
import { hookCommand, PROGRAM, SCRIPT, type Scope, throughScript } from "./hooks.ts";
import { refusal } from "./target.ts";

export interface BinaryPlan {
  path: string;
  state: "current" | "missing" | "other";
  /** the running binary, if it can take that place; null: this is no compiled binary */
  source: string | null;
  /** what hooks start it with */
  script: "current" | "missing" | "other";
}

export const binaryPath = () => join(homeDir(), PROGRAM);
export const scriptPath = () => join(homeDir(), SCRIPT);
const sidecarPath = (path: string) => `${path}.version`;

export const planBinary = (): BinaryPlan => ({ ...planProgram(), script: scriptState() });

function planProgram(): Omit<BinaryPlan, "script"> {
  const path = binaryPath();
  const source = Bun.main.startsWith("/$bunfs/") ? attempt(() => realpathSync(process.execPath), null) : null;
  // Whatever keeps us from looking at it also keeps hooks from calling it.
  const there = attempt(() => statSync(path, { throwIfNoEntry: false }), undefined);
  if (!there?.isFile()) return { path, state: "missing", source };
  if (source === null) return { path, state: readVersion(path) === version ? "current" : "other", source };
  const own = statSync(source);
  const same = (own.dev === there.dev && own.ino === there.ino) || isSame(source, path, own.size, there.size);
  return { path, state: same && (there.mode & 0o100) !== 0 ? "current" : "other", source };
}

/** Word for word: it decides what every hook starts. */
export function scriptState(path = scriptPath()): BinaryPlan["script"] {
  const found = readText(path, 4096);
  if (!found.ok) return found.why === "missing" ? "missing" : "other";
  return found.text === script && (lookAt(path)!.mode & 0o100) !== 0 ? "current" : "other";
}

/** The file itself is hashed: the sidecar is only a claim, and who swaps the one can leave the other. */
function isSame(source: string, path: string, size: number, there: number): boolean {
  if (size !== there) return false;
  const note = readText(sidecarPath(path), 4096);
  const said = note.ok ? note.text.trim().split(" ")[0] : undefined;
  return (said === undefined || said === version) && hashFile(realpathSync(path)) === hashFile(source);
}

/**
 * Is the content another than its sidecar says? We note a hash there, the launcher size and time; false where nothing
 * is noted that could tell.
 */
export function wasSwapped(path: string): boolean {
  const note = readText(sidecarPath(path), 4096);
  const [, hash = "", stamp = ""] = note.ok ? note.text.trim().split(" ") : [];
  if (/^\d+-\d+$/.test(stamp)) {
    const { size, mtimeNs } = statSync(path, { bigint: true });
    return stamp !== `${size}-${mtimeNs}`;
  }
  return /^[0-9a-f]{64}$/.test(hash) && stamp === "" && hashFile(realpathSync(path)) !== hash;
}

/** Of a regular file, however large; not through a link. */
export function hashFile(path: string): string {
  const fd = openRegular(path, constants.O_RDONLY);
  try {
    const hasher = new Bun.CryptoHasher("sha256");
    const buffer = new Uint8Array(1 << 20);
    for (let got = readSync(fd, buffer); got > 0; got = readSync(fd, buffer)) hasher.update(buffer.subarray(0, got));
    return hasher.digest("hex");
  } finally {
    closeSync(fd);
  }
}

/** What a binary says of itself; null: it does not answer. */
export function readVersion(path: string): string | null {
  const how = { cwd: "/", stdin: "ignore", stderr: "ignore", timeout: 5_000 } as const;
  const ended = attempt(() => Bun.spawnSync([path, "--version"], how), null);
  return ended?.exitCode === 0 ? (/^pawl (\S+)/.exec(ended.stdout.toString())?.[1] ?? null) : null;
}

/** Puts the running binary where hooks call it, in one step, if what is there is missing or another. */
export function ensureBinary(plan: BinaryPlan): "current" | "copied" | "renewed" {
  if (plan.state === "current" && plan.script === "current") return "current";
  if (plan.source === null && plan.state !== "current")
    throw refusal(
      `the binary that hooks call is ${plan.state === "missing" ? "missing" : "of another version"}: ${plan.path}`,
      "this program runs from sources; call the installed `pawl`, or build one with `npm run build` and use dist/pawl",
    );
  try {
    if (plan.state !== "current") copyInto(plan.source!, plan.path);
    writeAtomic(scriptPath(), script, 0o755);
  } catch (error) {
    const hint = "free some space or fix the folder's permissions, then try again";
    throw refusal(`${plan.path} cannot be written: ${messageOf(error)}`, hint);
  }
  return plan.state === "missing" ? "copied" : "renewed";
}

function copyInto(source: string, path: string): void {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const temp = tempName(folder);
  try {
    copyFileSync(source, temp, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    chmodSync(temp, 0o755);
    const fd = openSync(temp, constants.O_RDONLY);
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    const stamp = `${version} ${hashFile(temp)}\n`;
    renameSync(temp, path);
    writeAtomic(sidecarPath(path), stamp, 0o644);
  } finally {
    removeQuietly(temp);
  }
}

/** After a failed installation: a binary that was not there before goes again. */
export function forgetBinary(path: string): void {
  for (const one of [sidecarPath(path), path, scriptPath()]) removeQuietly(one);
}

// ── A first call, as the host would make it: the very command, a shell, a payload on stdin ─

export type Proof = { ok: true; ms: number; version: string } | { ok: false; why: string };

export function proveHook(scope: Scope, cwd: string): Proof {
  // The guard is silent where there is no binary, and so is an unarmed hook: ask for a word first.
  const said = shell(throughScript("--version"), "", cwd).out.trim();
  if (said !== `pawl ${version}`)
    return { ok: false, why: said ? `it answers "${said.slice(0, 80)}"` : "the binary does not answer" };
  const began = performance.now();
  const { code, out, err } = shell(hookCommand(scope), `${JSON.stringify(strayStart("/nonexistent"))}\n`, cwd);
  const ms = Math.round(performance.now() - began);
  if (code !== 0) return { ok: false, why: `it ended with ${code ?? "a signal"} ${err.slice(0, 200)}`.trim() };
  if (out.trim() !== "" && parseJson(out) === undefined)
    return { ok: false, why: `it printed no JSON: ${out.slice(0, 80)}` };
  return { ok: true, ms, version };
}

function shell(command: string, input: string, cwd: string) {
  const { exitCode, stdout, stderr } = Bun.spawnSync(["/bin/sh", "-c", command], {
    cwd,
    // As a session without a person: what is said to a person only once must not be said to us.
    env: { ...process.env, CLAUDE_CODE_ENTRYPOINT: "sdk-cli" },
    stdin: Buffer.from(input),
    timeout: 10_000,
  });
  return { code: exitCode, out: stdout.toString(), err: stderr.toString() };
}
