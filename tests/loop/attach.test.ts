import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LoopState, Verdict } from "../../src/kernel/types/loop.ts";
import { attach } from "../../src/loop/attach.ts";
import { ended, newLoop } from "../../src/loop/core/loop.ts";
import { openOutputLog, openTail } from "../../src/loop/output-log.ts";
import { type KeptLoop, loadLoop, saveLoop } from "../../src/store/loops.ts";
import { identify } from "../../src/store/processes/process.ts";

setDefaultTimeout(30_000);
const ID = "lo-11111111";
const LIMITS = { max_iterations: 5, failure_threshold: 3, time_limit: 28_800, budget: 20 };
const { HOME, TERM } = process.env;
let base: string;
let root: string;
let runner: Bun.Subprocess;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "pawl-attach-"));
  process.env.HOME = join(base, "home");
  process.env.TERM = "xterm";
  root = join(base, "project");
  mkdirSync(root);
  mkdirSync(process.env.HOME);
  runner = Bun.spawn(["sleep", "100"]);
});

afterEach(async () => {
  runner.kill("SIGKILL");
  await runner.exited;
  Object.assign(process.env, { HOME, TERM });
  rmSync(base, { recursive: true, force: true });
});

// ── A loop on disk, as its runner leaves it ─────────────────────────────────

function openLoop(id = ID) {
  const state = newLoop({ id, procedure: "build", ai: "claude", run: "" }, new Date().toISOString());
  let kept: KeptLoop = { state, asked: ["build"], runner: identify(runner.pid), agent: null, waiting: null };
  let log: ReturnType<typeof openOutputLog> | null = null;
  const save = (change: Partial<KeptLoop>) => {
    kept = { ...kept, ...change };
    saveLoop(root, { ...kept, limits: LIMITS } as KeptLoop);
  };
  save({});
  return {
    begin(iteration: number, ago_ms = 0) {
      log = openOutputLog(root, id);
      const began = new Date(Date.now() - ago_ms).toISOString();
      save({ waiting: null, agent: { ...identify(runner.pid), iteration, session: `s${iteration}`, began } });
    },
    print: (text: string) => log!.add(new TextEncoder().encode(text)),
    iterate: (verdict: Verdict, why: string) => save({ state: counted(kept.state, verdict, why), agent: null }),
    wait: (ms: number, why: string) => save({ waiting: { until: new Date(Date.now() + ms).toISOString(), why } }),
    end: (outcome: NonNullable<LoopState["outcome"]>, why: string) =>
      save({
        state: ended(kept.state, { kind: "end", outcome, why }, new Date().toISOString()),
        runner: null,
        agent: null,
      }),
  };
}

function counted(state: LoopState, verdict: Verdict, why: string): LoopState {
  const [at, iterations] = [new Date().toISOString(), state.iterations + 1];
  const line = { iteration: iterations, at, verdict, why, elapsed_ms: 65_000, cost_usd: 0.42, session: "s" };
  const lines = [...state.lines, line];
  return { ...state, iterations, cost_usd: state.cost_usd + 0.42, spent_ms: 65_000, lines, updated_at: at };
}

const tool = (name: string, input: object) =>
  `${JSON.stringify({ type: "assistant", message: { content: [{ type: "tool_use", id: name, name, input }] } })}\n`;

// ── Whoever looks on ────────────────────────────────────────────────────────

function lookOn(id: string | undefined, isTTY: boolean, verbose = false) {
  let [out, err] = ["", ""];
  const leaving = new AbortController();
  const screen = {
    out: (text: string) => {
      out += text;
    },
    err: (text: string) => {
      err += text;
    },
    isTTY,
    columns: () => 100,
    verbose,
  };
  const code = attach(root, id, screen, leaving.signal);
  const seen = () => ({ out: Bun.stripANSI(out), err });
  return {
    code,
    seen,
    leave: () => leaving.abort(),
    async shows(what: RegExp) {
      const end = Date.now() + 20_000;
      while (!what.test(seen().out + seen().err)) {
        if (Date.now() > end) throw new Error(`not shown: ${what}\n${JSON.stringify(seen(), null, 2)}`);
        await Bun.sleep(10);
      }
    },
  };
}

describe("looking on", () => {
  test("on a terminal: what runs now, what ended before, what follows, the summary", async () => {
    const loop = openLoop();
    loop.iterate("continue", "One is done");
    loop.begin(2, 65_000);
    loop.print(tool("Edit", { file_path: "src/a.ts" }));
    const eyes = lookOn(undefined, true);
    await eyes.shows(/lo-11111111 \(Ctrl\+C detaches\): pawl loop build with claude · at most 5 iterations/);
    await eyes.shows(/· 1 continue · 1m05s · \$0.4200 · One is done/);
    await eyes.shows(/build · iteration 2 of 5 · 1m\d\ds · \$0.4200 · Edit src\/a.ts/);
    loop.print(tool("Bash", { command: "npm test" }));
    await eyes.shows(/· Bash npm test/);
    loop.iterate("spoilt", "limit");
    loop.wait(4_325_000, "usage limit: resets soon");
    await eyes.shows(/usage limit, resuming at .*, 1h1[12]m left/);
    loop.begin(3);
    // more than the iteration before had: it has to be read from its beginning
    loop.print(tool("Read", { file_path: "src/b.ts" }) + "and so on, and on\n".repeat(100));
    await eyes.shows(/iteration 3 of 5 · \d+s · \$0.8400 · Read src\/b.ts/);
    loop.iterate("success", "SUCCESS: all done");
    loop.end("success", "SUCCESS: all done");
    expect(await eyes.code).toBe(0);
    expect(eyes.seen().out).toMatch(/✔ 3 success[\s\S]*✔ build: SUCCESS\n?[\s\S]*3 iterations/);
    expect(eyes.seen().out.match(/build: SUCCESS/g)).toHaveLength(1);
  });

  test("in a pipe: plain lines, and the summary on stdout", async () => {
    const loop = openLoop();
    loop.begin(1);
    const eyes = lookOn(ID, false);
    await eyes.shows(/INFO Starting iteration 1\/5 session=s1\n/);
    loop.iterate("failure", "exit 1: broken");
    await eyes.shows(/WARN Completed iteration 1 elapsed=1m05s status=failure cost=.* why="exit 1: broken"\n/);
    loop.end("limit", "5 iterations are over");
    expect(await eyes.code).toBe(2);
    expect(eyes.seen().out).toStartWith("✘ build: a limit was reached\n  5 iterations are over\n");
    expect(eyes.seen().out + eyes.seen().err).not.toContain("\u001b");
  });

  test("whoever leaves leaves the loop at work, and is told so", async () => {
    const loop = openLoop();
    loop.begin(1);
    const before = loadLoop(root, ID);
    const eyes = lookOn(undefined, true);
    await eyes.shows(/iteration 1 of 5/);
    eyes.leave();
    expect(await eyes.code).toBe(130);
    expect(eyes.seen().err).toBe("The loop continues. `pawl loop --attach lo-11111111` attaches again.\n");
    expect(loadLoop(root, ID)).toEqual(before);
    expect(runner.killed).toBe(false);
  });

  test("a loop whose process dies meanwhile: what to do", async () => {
    const loop = openLoop();
    loop.begin(1);
    const eyes = lookOn(undefined, false);
    await eyes.shows(/Starting iteration 1/);
    runner.kill("SIGKILL");
    expect(await eyes.code).toBe(1);
    expect(eyes.seen().err).toContain(`is not running: its process ${runner.pid} is gone, after 0 iterations`);
    expect(eyes.seen().err).toContain("hint: `pawl loop --resume lo-11111111` continues");
  });

  test("with --verbose, what the agent says goes by, across an end of the log", async () => {
    const loop = openLoop();
    loop.begin(1);
    const eyes = lookOn(undefined, true, true);
    loop.print("first words\n");
    await eyes.shows(/first words/);
    loop.print(`${"x".repeat(99)}\n`.repeat(83_000)); // nearly 8 MiB
    loop.print("last words before\n");
    loop.print(`${"y".repeat(99)}\n`.repeat(1_000));
    loop.print("words after\n");
    await eyes.shows(/words after/);
    eyes.leave();
    await eyes.code;
  });
});

describe("nothing to look on at", () => {
  const told = async (id: string | undefined) => {
    const eyes = lookOn(id, false);
    return { code: await eyes.code, ...eyes.seen() };
  };

  test("no loop at all", async () => {
    const err = "pawl: no loop is running here\n  hint: `pawl loop <procedure>` starts one\n";
    expect(await told(undefined)).toEqual({ code: 1, out: "", err });
  });

  test("only such as could be resumed", async () => {
    const loop = openLoop();
    loop.iterate("continue", "One is done");
    loop.end("limit", "over");
    openLoop("lo-22222222").end("success", "done");
    const { code, err } = await told(undefined);
    expect(code).toBe(1);
    expect(err).toMatch(
      /--resume <loop>` continues one of these:\n +lo-11111111 {2}build, limit after 1 iteration, 1m05s/,
    );
    expect(err).not.toContain("lo-22222222");
  });

  test("no such loop, or a name that is none", async () => {
    expect((await told("lo-3")).err).toStartWith("pawl: there is no loop lo-3\n");
    expect((await told("../lo-3")).err).toStartWith("pawl: there is no loop ../lo-3\n");
  });

  test("one that has ended: its summary and its exit code", async () => {
    openLoop().end("aborted", "3 failures in a row");
    const { code, out } = await told(ID);
    expect(code).toBe(1);
    expect(out).toStartWith("✘ build: aborted\n  3 failures in a row\n");
  });

  test("one whose process is dead", async () => {
    openLoop().begin(1);
    runner.kill("SIGKILL");
    await runner.exited;
    const { code, err } = await told(ID);
    expect(code).toBe(1);
    expect(err).toContain("is not running");
    expect((await told(undefined)).err).toContain("lo-11111111  build, interrupted after 0 iterations");
  });
});

describe("the end of a growing file", () => {
  const read = (tail: ReturnType<typeof openTail>) =>
    tail
      .read()
      .map((bytes) => new TextDecoder().decode(bytes))
      .join("");

  test("what is added, cut, put aside and put in its place", () => {
    const path = join(base, "log");
    const tail = openTail(path);
    expect(read(tail)).toBe("");
    writeFileSync(path, "a");
    expect(read(tail)).toBe("a");
    expect(read(tail)).toBe("");
    appendFileSync(path, "b");
    expect(read(tail)).toBe("b");
    writeFileSync(path, "c");
    expect(read(tail)).toBe("c");
    appendFileSync(path, "d");
    renameSync(path, `${path}.1`);
    writeFileSync(path, "e");
    expect(read(tail)).toBe("de");
    tail.restart();
    expect(read(tail)).toBe("e");
    rmSync(path);
    expect(read(tail)).toBe("");
    tail.close();
  });

  test("of much, the newest whole lines", () => {
    const path = join(base, "log");
    const tail = openTail(path);
    writeFileSync(path, `${"x".repeat(300_000)}`);
    expect(read(tail)).toBe("");
    appendFileSync(path, "xx\nnext");
    expect(read(tail)).toBe("next");
    appendFileSync(path, `\n${"line\n".repeat(60_000)}`);
    expect(read(tail)).toMatch(/^(line\n){20000,27000}$/);
    tail.close();
  });

  test("what is not a file of its own is not read", () => {
    const path = join(base, "log");
    writeFileSync(join(base, "secret"), "secret");
    symlinkSync(join(base, "secret"), path);
    expect(read(openTail(path))).toBe("");
  });
});
