/** Hostile readers: an answer that cannot be given is not lost, and never half a JSON where a whole one is possible. */
import { dlopen } from "bun:ffi";
import { afterAll, describe, expect, test } from "bun:test";
import { closeSync, constants, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { CLIENT, PAWL, payload, removePlaces, run, runHook } from "../../harness/harness.ts";
import { journalOf, runsOf } from "../../harness/run-files.ts";
import { armed, CLAIM, expectHarmless, HOOK, stop, type Wanted } from "./hostile.ts";

afterAll(removePlaces);

describe("stdout", () => {
  const shut: [string, string, Wanted["error"]][] = [
    ["closed", ">&-", null],
    ["a full disk", "> /dev/full", { home: "ENOSPC" }],
    ["a reader that is gone", "> >(true)", null],
  ];
  test.each(shut)("%s: the decision holds and is given again with the next prompt", (_name, redirect, error) => {
    const state = armed();
    const cmd = ["bash", "-c", `exec ${HOOK} ${redirect}`];
    const act = () => run(state.place, cmd, { input: JSON.stringify(stop(state, CLAIM)) });
    const ran = expectHarmless(state.place, { error: null, ...(error && { error }) }, act);
    expect(ran.out).toBe("");
    state.session.turn += 1;
    const next = payload(state.place, state.session, "UserPromptSubmit", { prompt: "are you there?" });
    expect(runHook(state.place, next).out).toContain("step 2 of 4");
    expect(runsOf(state.place.root)).toMatchObject([{ stage: "review" }]);
  });

  test.skipIf(process.platform !== "linux").each([
    ["is drained: the answer is whole", true],
    ["stays full: an error, never a hang", false],
  ])(
    "a full pipe that does not block and %s",
    async (_name, drains) => {
      const state = armed();
      const path = join(state.place.base, "pipe");
      Bun.spawnSync(["mkfifo", path]);
      const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      const writer = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
      const filling = fill(writer);
      const { root: cwd } = state.place;
      const env = { ...state.place.env, ...CLIENT };
      const child = Bun.spawn([PAWL, "hook", "claude", "--via", "local"], { cwd, env, stdin: "pipe", stdout: writer });
      // Spawning took the flag away. The child waits for its stdin, so it cannot have written anything yet.
      libc.symbols.fcntl(writer, F_SETFL, constants.O_NONBLOCK);
      child.stdin.write(JSON.stringify(stop(state, CLAIM)));
      await child.stdin.end();
      while (runsOf(cwd)[0]?.stage !== "review") await Bun.sleep(5);
      await Bun.sleep(200); // it speaks after the commit: time enough to have found the pipe full, well before it gives up
      const emptied = drains ? drain(reader, filling) : "";
      expect(await child.exited).toBe(0);
      expect(emptied.trim()).toBe("");
      expect(journalOf(cwd).map(({ kind }) => kind)).toContain("advanced");
      if (drains) expect(JSON.parse(drain(reader, 1e6)).hookSpecificOutput.additionalContext).toContain("step 2 of 4");
      else expect(await Bun.file(join(state.place.home, ".local/state/pawl/errors.log")).text()).toContain("EAGAIN");
      closeSync(reader);
      closeSync(writer);
    },
    15_000,
  );
});

const F_SETFL = 4;
const libc = dlopen(process.platform === "linux" ? "libc.so.6" : "libc.dylib", {
  fcntl: { args: ["i32", "i32", "i32"], returns: "i32" },
});

function fill(pipe: number): number {
  const block = Buffer.alloc(4096, 32);
  for (let size = 0; ; ) {
    try {
      size += writeSync(pipe, block);
    } catch {
      return size;
    }
  }
}

function drain(pipe: number, size: number): string {
  const parts: Buffer[] = [];
  for (let left = size; left > 0; ) {
    const block = Buffer.alloc(Math.min(left, 4096));
    try {
      const got = readSync(pipe, block);
      parts.push(block.subarray(0, got));
      left -= got;
    } catch {
      break;
    }
  }
  return Buffer.concat(parts).toString();
}
