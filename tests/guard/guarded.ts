/** A session without a run, its transcript as the client writes it, and the real hook at its stops. */
import { expect } from "bun:test";
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { errorsOf, makePlace, openSession, PAWL, payload, runHook, stopFields } from "../harness/harness.ts";

export const CLAIM = "Done. The bug is fixed.";
export const PASSED = " Test Files  2 passed (2)\n      Tests  12 passed (12)\n";
const FAILED = " Test Files  1 failed | 1 passed (2)\n      Tests  1 failed | 11 passed (12)\n";

export interface Said {
  person?: string;
  agent?: string;
}

interface StopOptions {
  via?: string;
  /** false: the client has not written the message yet */
  written?: false;
  fields?: object;
  env?: Record<string, string>;
}

export type Guarded = ReturnType<typeof openGuarded>;

export function openGuarded() {
  const place = makePlace();
  const session = openSession(place, "guarded");
  let count = 0;
  let clock = Date.parse("2026-03-01T14:00:00.000Z");
  const turnId = () => `${session.id.slice(0, 8)}-turn-${session.turn}`;

  function put(fields: Record<string, unknown>, path = session.transcript): void {
    clock += 20_000;
    const line = { isSidechain: false, timestamp: new Date(clock).toISOString(), sessionId: session.id, ...fields };
    mkdirSync(dirname(path), { recursive: true });
    appendFileSync(path, `${JSON.stringify(line)}\n`);
  }

  function prompt(text = "fix it", named = true): void {
    session.turn += 1;
    session.continuing = false;
    put({ type: "user", message: { role: "user", content: text }, ...(named && { promptId: turnId() }) });
  }

  function tool(
    name: string,
    input: object,
    text = "ok",
    error = false,
    path = session.transcript,
    named = true,
  ): void {
    const id = `toolu_${count++}`;
    put({ type: "assistant", message: { id: `m${count}`, content: [{ type: "tool_use", id, name, input }] } }, path);
    const result = { tool_use_id: id, type: "tool_result", content: text, ...(error && { is_error: true }) };
    put({ type: "user", ...(named && { promptId: turnId() }), message: { role: "user", content: [result] } }, path);
  }

  /** What the client writes when a hook has sent the agent back. */
  const sentBack = () =>
    put({ type: "attachment", attachment: { type: "hook_additional_context", hookEvent: "Stop" } });

  const say = (text = CLAIM) =>
    put({ type: "assistant", message: { id: `m${count++}`, role: "assistant", content: [{ type: "text", text }] } });

  /** The agent's last words, in the transcript and in the payload. */
  function stop(message = CLAIM, options: StopOptions = {}): Said {
    if (options.written !== false) say(message);
    const stopping = payload(place, session, "Stop", { ...stopFields(session, message), ...options.fields });
    const ran = runHook(place, stopping, options.via ?? "local", { env: options.env ?? {} });
    expect({ code: ran.code, err: ran.err, errors: errorsOf(place) }).toEqual({ code: 0, err: "", errors: "" });
    if (ran.out === "") return {};
    const { systemMessage, hookSpecificOutput, ...rest } = JSON.parse(ran.out);
    expect(rest).toEqual({});
    if (hookSpecificOutput) {
      session.continuing = true;
      sentBack();
    }
    return {
      ...(systemMessage !== undefined && { person: systemMessage }),
      ...(hookSpecificOutput && { agent: hookSpecificOutput.additionalContext }),
    };
  }

  /** What is written here comes to the transcript only while the next hook runs: the client is late. */
  function late(work: () => unknown): void {
    const before = existsSync(session.transcript) ? readFileSync(session.transcript) : null;
    work();
    const rest = join(place.home, "late.jsonl");
    writeFileSync(rest, readFileSync(session.transcript).subarray(before?.length ?? 0));
    if (before === null) rmSync(session.transcript);
    else writeFileSync(session.transcript, before);
    Bun.spawn(["sh", "-c", 'sleep 0.15; cat "$0" >> "$1"', rest, session.transcript]);
  }

  /** The same stop, brought by several installed hooks at once: what each prints. */
  function stopBoth(ways: string[], message = CLAIM): Promise<string>[] {
    say(message);
    const input = Buffer.from(JSON.stringify(payload(place, session, "Stop", stopFields(session, message))));
    return ways.map((via) => {
      const command = [PAWL, "hook", "claude", "--via", via];
      const child = Bun.spawn(command, { cwd: place.root, env: place.env, stdin: input, stdout: "pipe" });
      return new Response(child.stdout).text();
    });
  }

  return {
    place,
    session,
    stopBoth,
    late,
    say,
    sentBack,
    prompt,
    tool,
    stop,
    edit: (path: string) => tool("Edit", { file_path: join(place.root, path) }),
    green: () => tool("Bash", { command: "npm test" }, PASSED),
    red: () => tool("Bash", { command: "npm test" }, `Exit code 1\n${FAILED}`, true),
    config: (text: string) => writeFileSync(join(place.root, "pawl.yaml"), text),
  };
}
