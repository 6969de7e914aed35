/** One agent process: how we end it, when, and that nothing of it is left. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { runAgent, startTimeout } from "../../src/loop/process.ts";
import { isAlive, textOf, until } from "../checks/jobs/job-place.ts";
import { FAKE, fake, file, lateOnce, makePlace, pids, removePlace, runOf, said, shell } from "./agent-place.ts";

setDefaultTimeout(60_000);

const PROCESS = resolve(import.meta.dir, "../../src/loop/process.ts");
const SUCCESS = "<promise>SUCCESS</promise>";
beforeEach(() => void makePlace());
afterEach(removePlace);

describe("ended by us", () => {
  const FORKS = () => `forks ${file("pids")}`;
  const noneLeft = (count: number) => {
    expect(pids()).toHaveLength(count);
    expect(pids().filter(isAlive)).toEqual([]);
  };
  /** `bytes`: of its output, after which its time is over */
  const lateAfter = (bytes: number) => {
    let heard = 0;
    const onOutput = (chunk: Uint8Array) => {
      heard += chunk.length;
    };
    return [{ timeout_ms: 100, onOutput }, lateOnce(() => heard >= bytes)] as const;
  };
  const lateWith = (count: number) => [{ timeout_ms: 100 }, lateOnce(() => pids().length === count)] as const;

  test("too long: it is asked, and goes", async () => {
    const ended = await fake("says begun ; hangs", ...lateAfter(6));
    expect(ended).toMatchObject({ how: "timeout", signal: "SIGTERM", why: "it took longer than 0.1 s and was ended" });
    expect(said(ended)).toBe("begun\n");
  });
  test("by the clock of the machine", async () => {
    const ended = await shell("exec sleep 40", { timeout_ms: 1_500 });
    expect(ended).toMatchObject({ how: "timeout", signal: "SIGTERM" });
    expect(ended.elapsed_ms).toBeWithin(1_500, 30_000);
  });
  test("too long, and then it says all is well: that is a timeout", async () => {
    const line = `trap 'echo "${SUCCESS}"; exit 0' TERM; echo ready; while :; do sleep 0.05; done`;
    const ended = await shell(line, ...lateAfter(6));
    expect(ended).toMatchObject({ how: "timeout" });
    expect(said(ended)).toContain(SUCCESS);
  });
  test("too long, deaf, with deaf children in and out of its group: all are gone, after five seconds", async () => {
    const began = performance.now();
    const ended = await fake(`deaf ; ${FORKS()} ; hangs`, ...lateWith(4));
    expect(ended).toMatchObject({ how: "timeout", signal: "SIGKILL" });
    expect(performance.now() - began).toBeWithin(5_000, 40_000);
    noneLeft(4);
  });
  test("it exits, its children hold the pipe: nobody waits for them, and they are ended", async () => {
    const ended = await fake(`${FORKS()} ; succeeds`);
    expect(ended).toMatchObject({ how: "exited", exit: 0 });
    expect(said(ended)).toContain(SUCCESS);
    expect(ended.elapsed_ms).toBeLessThan(20_000);
    noneLeft(4);
  });
  test("nor does a child with a session and an environment of its own go on", async () => {
    const ended = await shell("env -i setsid sh -c 'trap \"\" TERM; echo $$ > pids; while :; do sleep 1; done' & wait", ...lateWith(1)); // biome-ignore format: one thought
    expect(ended).toMatchObject({ how: "timeout" });
    noneLeft(1);
  });
  test("of one that cannot be known any more nobody waits for the pipe", async () => {
    const ended = await shell("env -i setsid sh -c 'echo $$ > pids; exec sleep 60' & until [ -s pids ]; do sleep 0.02; done"); // biome-ignore format: one thought
    expect(ended).toMatchObject({ how: "exited", exit: 0 });
    expect(ended.elapsed_ms).toBeLessThan(30_000);
  });
  test("it stops itself: that does not save it, and it hears the question", async () => {
    const isStopped = () => / T /.test(textOf(`/proc/${pids()[0]}/stat`));
    const ended = await shell("echo $$ > pids; kill -STOP $$", { timeout_ms: 100 }, lateOnce(isStopped));
    expect(ended).toMatchObject({ how: "timeout", signal: "SIGTERM" });
    noneLeft(1);
  });
  test("it goes before its tool does: a tool's end would be an answer to it", async () => {
    const tool = "setsid sh -c 'echo $$ > pids; exec sleep 600' & wait";
    const trap = `trap 'sleep 0.5; kill -0 $(cat pids) && echo with its tool; exit 0' TERM`;
    const ended = await shell(`${trap}; ${tool}`, ...lateWith(1));
    expect(said(ended)).toBe("with its tool\n");
    noneLeft(1);
  });
  test("it is told to end while it floods", async () => {
    const ended = await shell("echo $$ > pids; yes", ...lateAfter(2 << 20));
    expect(ended).toMatchObject({ how: "timeout", truncated: true });
    noneLeft(1);
  });

  test("interrupted", async () => {
    const stop = new AbortController();
    const running = fake(`${FORKS()} ; hangs`, { interrupted: stop.signal });
    await until("children", () => pids().length === 4);
    stop.abort();
    expect(await running).toMatchObject({ how: "interrupted", why: "interrupted" });
    noneLeft(4);
  });
  test("interrupted before: it is not started", async () => {
    const ended = await shell("touch started", { interrupted: AbortSignal.abort() });
    expect(ended).toMatchObject({ how: "interrupted", bytes: 0 });
    expect(existsSync(file("started"))).toBe(false);
  });

  describe("we are killed: it does not go on alone", () => {
    const underUs = (line: string) => {
      const run = { ...runOf(["/bin/sh", "-c", line]), env: { PATH: process.env.PATH } };
      const code = `const { runAgent } = await import(${JSON.stringify(PROCESS)}); await runAgent(${JSON.stringify(run)});`;
      return Bun.spawn([process.execPath, "-e", code], { stdout: "ignore", stderr: "inherit" });
    };
    const agent = () => until("an agent", () => pids()[0]);

    test.each([
      ["as soon as it is there", "echo $$ > pids; exec sleep 600"],
      ["in a group of its own", "setsid sh -c 'echo $$ > pids; exec sleep 600' & wait"],
    ])("%s", async (_, line) => {
      const us = underUs(line);
      const pid = await agent();
      us.kill("SIGKILL");
      await until("its end", () => !isAlive(pid));
    });

    test("by the agent, before we know that it is there", async () => {
      for (let i = 0; i < 10; i++) {
        rmSync(file("pids"), { force: true });
        const us = underUs("echo $$ > pids; kill -s KILL $PPID; exec sleep 600");
        const pid = await agent();
        await until("its end", () => !isAlive(pid));
        expect(await us.exited).toBe(137);
      }
    });
  });
});

describe("time", () => {
  const SECOND = 1e9;
  test("a machine that slept: not counted", async () => {
    let slept = 0;
    const stop = new AbortController();
    const run = runOf([process.execPath, FAKE, "says", "awake", ";", "wait", file("go"), ";", "succeeds"], {
      timeout_ms: 30_000,
      onOutput: () => {
        slept = 8 * 3600 * SECOND;
      },
      interrupted: stop.signal,
    });
    const running = runAgent(run, () => Bun.nanoseconds() + slept);
    await until("sleep", () => slept > 0);
    // two looks at the clock later it would have been ended
    const settled = await Promise.race([running, Bun.sleep(2_500).then(() => "still running")]);
    expect(settled).toBe("still running");
    writeFileSync(file("go"), "");
    const ended = await running;
    expect(ended).toMatchObject({ how: "exited", exit: 0 });
    expect(ended.elapsed_ms).toBeLessThan(30_000);
  });
  test("what it worked before and after a sleep is counted", async () => {
    let now = 0;
    const timeout = startTimeout(25_000, () => now);
    for (const gap of [20, 3600, 3]) {
      now += gap * SECOND;
      timeout.spent_ms();
    }
    expect(timeout.spent_ms()).toBe(24_000);
    now += 2 * SECOND;
    await timeout.over;
  });
});

describe("nothing is left", () => {
  test("no file, no descriptor", async () => {
    await shell("echo warm");
    const open = () => readdirSync("/proc/self/fd").length;
    const before = open();
    for (let i = 0; i < 15; i++) await shell("cat");
    await runAgent(runOf(["./none"]));
    expect(readdirSync(file("tmp"))).toEqual([]);
    await until("closed descriptors", () => open() <= before);
  });

  test("400 MB: the end is kept, and memory does not grow", async () => {
    const run = runOf([process.execPath, FAKE, "floods", "400000000", ";", "succeeds"], { buffer: 1 << 20 });
    const code = `const { runAgent } = await import(${JSON.stringify(PROCESS)});
      const ended = await runAgent(${JSON.stringify(run)});
      const peak = Number(/VmHWM:\\s+(\\d+)/.exec(require("fs").readFileSync("/proc/self/status", "utf8"))[1]);
      console.log(JSON.stringify({ ...ended, kept: ended.tail.length, tail: new TextDecoder().decode(ended.tail.subarray(-200)), peak }));`;
    const ran = Bun.spawnSync([process.execPath, "-e", code], { stderr: "inherit" });
    const ended = JSON.parse(ran.stdout.toString());
    expect(ended).toMatchObject({ how: "exited", exit: 0, kept: 1 << 20, truncated: true });
    expect(ended.bytes).toBeGreaterThan(400_000_000);
    expect(ended.tail).toEndWith("All ready work completed.\n");
    console.log(
      `peak memory: ${Math.round(ended.peak / 1024)} MB, ${Math.round(ended.bytes / 1e3 / ended.elapsed_ms)} MB/s`,
    );
    expect(ended.peak).toBeLessThan(150 * 1024);
  });
});
