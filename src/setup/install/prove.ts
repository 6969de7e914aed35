/** Fires the installed hook as the host would: the very command, a shell, a payload on stdin. */
import { version } from "../../../package.json";
import { strayStart } from "../../play/client.ts";
import { parseJson } from "../../store/files.ts";
import { guarded, hookCommand, type Scope } from "./hooks.ts";

export type Proof = { ok: true; ms: number; version: string } | { ok: false; why: string };

export function proveHook(scope: Scope, cwd: string): Proof {
  // The guard is silent where there is no binary, and so is an unarmed hook: ask for a word first.
  const said = shell(guarded("--version"), "", cwd).out.trim();
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
