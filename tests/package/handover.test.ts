/** Between the launcher and the binary: words, streams, exit codes and signals; and hooks, which never build. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { lastWords } from "../harness/last-words.ts";
import {
  copyPackage,
  environment,
  homeIn,
  type Installed,
  launch,
  launcher,
  put,
  removeScratch,
  run,
  scratch,
} from "./package.ts";

/** The commands of a client run whatever is at the binary's place: a script of ours shows what arrives there. */
const SILENT = ["hook", "rewake", "statusline"];
let place: Installed;

beforeAll(() => {
  const base = scratch();
  copyPackage(base);
  place = { base, root: base, ...homeIn(base) };
});
afterAll(removeScratch);

function stub(script: string): void {
  put(place.binary, `#!/bin/sh\n${script}\n`, 0o755);
}

describe("hooks through the launcher", () => {
  test.each(SILENT)("%s without a binary is silent and builds nothing", (name) => {
    const empty = { ...place, ...homeIn(scratch()) };
    expect(launch(empty, [name, "claude"])).toEqual({ code: 0, out: "", err: "" });
    expect(readdirSync(empty.home)).toEqual([]);
  });

  test.each(SILENT)("%s runs the binary that is there, whatever its version", (name) => {
    stub('echo "$@"');
    expect(launch(place, [name, "claude"])).toEqual({ code: 0, out: `${name} claude\n`, err: "" });
    expect(readdirSync(dirname(place.binary))).toEqual(["pawl"]);
  });

  test("one that cannot be started is silent", () => {
    put(place.binary, "#!/no/such/interpreter\n", 0o755);
    expect(launch(place, ["hook", "claude"])).toEqual({ code: 0, out: "", err: "" });
  });

  test("a home that is no path is silent", () => {
    expect(launch({ ...place, home: "nowhere" }, ["hook", "claude"])).toEqual({ code: 0, out: "", err: "" });
  });
});

describe("what is handed over", () => {
  test("words, to the letter", () => {
    stub('for word in "$@"; do printf "<%s>" "$word"; done');
    const words = ["hook", "", "two words", "new\nline", "--", "-x=*", "ünï"];
    expect(launch(place, words).out).toBe(words.map((word) => `<${word}>`).join(""));
  });

  test("stdin, stdout, stderr and the exit code", () => {
    stub("cat; echo to stderr >&2; exit 42");
    const ran = run(launcher(place, ["hook"]), { cwd: "/", env: environment(place.home), input: "to stdin" });
    expect(ran).toEqual({ code: 42, out: "to stdin", err: "to stderr\n" });
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("%s, which the binary may answer", async (signal) => {
    stub(`trap 'exit 7' ${signal.slice(3)}; echo ready; while :; do sleep 0.02; done`);
    expect(await ends(signal)).toEqual([7, null]);
  });

  test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("%s, which ends both in the same way", async (signal) => {
    stub("echo ready; exec sleep 60");
    expect(await ends(signal)).toEqual([null, signal]);
  });

  test("a signal only the binary got", async () => {
    stub("kill -KILL $$");
    expect(await ends(null)).toEqual([null, "SIGKILL"]);
  });

  test("Ctrl-C on a terminal, once", async () => {
    // not a shell: while one waits for its child, two signals become one
    const script = `let count = 0; process.on("SIGINT", () => count++); process.on("SIGTERM", () => { console.log("count " + count); process.exit(0) });`;
    put(place.binary, `#!/usr/bin/env node\n${script} setInterval(() => {}, 1000); console.log("ready");\n`, 0o755);
    let shown = "";
    let pressed = false;
    const words = lastWords();
    const appeared = Promise.withResolvers<void>();
    const data = (_: unknown, bytes: Uint8Array) => {
      shown += new TextDecoder().decode(bytes);
      if (shown.includes("^C")) appeared.resolve();
      else if (shown.includes("ready") && !pressed) pressed = (call.terminal?.write("\x03") ?? 0) > 0;
    };
    const call = Bun.spawn(launcher(place, ["hook"]), {
      env: environment(place.home),
      terminal: { cols: 80, rows: 20, data, exit: words.exit },
    });
    await appeared.promise;
    call.kill("SIGTERM");
    expect(await call.exited).toBe(0);
    await words.heard();
    call.terminal?.close();
    expect(shown).toContain("count 1");
  });
});

/** [exit code, signal] of the launcher, after the binary said that it is ready and the launcher got the signal. */
async function ends(signal: NodeJS.Signals | null): Promise<[number | null, unknown]> {
  const call = Bun.spawn(launcher(place, ["hook"]), {
    env: environment(place.home),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  const reader = call.stdout.getReader();
  await reader.read();
  if (signal) call.kill(signal);
  await call.exited;
  await reader.cancel();
  return [call.signalCode ? null : call.exitCode, call.signalCode];
}
