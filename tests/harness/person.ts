/**
 * The person's own commands. The test process plays the client, so what it starts is started by an agent; the person has
 * another terminal. The command here is no one's child, as one from that terminal would be.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PAWL, type Place, type Ran, type RunOptions } from "./harness.ts";
import { DESKTOP } from "./terminal-window.ts";

/** It begins only when the shell that started it has ended: until then it would have us among its ancestors. */
const ORPHAN = `folder=$1; shift
  { read -r _ <"$folder/go"; "$@" <"$folder/in" >"$folder/out" 2>"$folder/err"; echo $? >"$folder/code"; } </dev/null >/dev/null 2>&1 &`;

export const runByPerson = (place: Place, args: string[], options: RunOptions = {}): Ran =>
  runOutside(place, [PAWL, ...args], options);

export function runOutside(place: Place, cmd: string[], options: RunOptions = {}): Ran {
  const folder = mkdtempSync(join(tmpdir(), "pawl-person-"));
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  try {
    writeFileSync(join(folder, "in"), options.input ?? "");
    Bun.spawnSync(["mkfifo", join(folder, "go"), join(folder, "code")]);
    const env = { ...DESKTOP, ...place.env, ...options.env };
    Bun.spawnSync(["/bin/sh", "-c", ORPHAN, "sh", folder, ...cmd], { cwd: options.cwd ?? place.root, env });
    writeFileSync(join(folder, "go"), "\n");
    const code = Number(read("code"));
    return { code, out: read("out"), err: read("err") };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
