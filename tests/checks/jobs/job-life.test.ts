/** Jobs outlive who asked for them, are started once, and leave results that only we can write. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import {
  ask,
  askAll,
  asking,
  childrenOf,
  environment,
  isAlive,
  type JobGround,
  jobFile,
  makeGround,
  numbersIn,
  removeGrounds,
  run,
  runnerOf,
  shell,
  textOf,
  until,
  wait,
} from "./job-place.ts";

setDefaultTimeout(90_000);

let ground: JobGround;
beforeEach(() => {
  ground = makeGround();
});
afterEach(removeGrounds);

/** Each start leaves its number in `pids`; it ends when told to. */
const GOES_ON = shell("echo $$ >> pids; echo started; until [ -e go ]; do sleep 0.02; done; echo went; exit 5");
const go = () => writeFileSync(join(ground.root, "go"), "");
const pids = () => numbersIn(join(ground.root, "pids"));
const begun = (count = 1) => until(`${count} starts`, () => pids().length >= count);
const state = () => ask(ground, ["jobState", "j"]);

describe("who asks and goes away", () => {
  test("the deadline passes: null, and later the result", async () => {
    const began = performance.now();
    expect(askAll(ground, [["startJob", "j", GOES_ON], ["awaitJob", "j", 60]])).toEqual([null, null]); // biome-ignore format: one thought
    expect(performance.now() - began).toBeLessThan(20_000);
    await begun();
    await until("output", () => textOf(jobFile(ground, "output")) === "started\n");
    expect(state()).toMatchObject({ state: "running", tail: "started" });
    expect(Date.now() - Date.parse(state().since)).toBeWithin(0, 60_000);
    go();
    expect(wait(ground)).toMatchObject({ attempts: [{ exit: 5 }], output: "started\nwent\n" });
    expect(wait(ground).output).toBe("started\nwent\n");
    expect(state()).toMatchObject({ state: "done", tail: "started\nwent" });
    expect(pids()).toHaveLength(1);
  });

  test("the hook ends: nobody holds its output open", async () => {
    const hook = Bun.spawnSync(asking(ground, [["startJob", "j", GOES_ON]]), { env: environment(ground) });
    expect(hook.stdout.toString()).toBe("null\n");
    await begun();
    expect(state().state).toBe("running");
  });

  test.each(["SIGTERM", "SIGKILL"] as const)(
    "the hook and its group are ended by %s: the job goes on",
    async (signal) => {
      const calls = asking(ground, [["startJob", "j", GOES_ON], ["awaitJob", "j", 60_000]]); // biome-ignore format: one thought
      const hook = Bun.spawn(calls, { env: environment(ground), detached: true, stdout: "ignore" });
      await begun();
      const parent = textOf(`/proc/${runnerOf(ground)}/stat`).split(" ")[3];
      expect(Number(parent)).not.toBe(hook.pid);
      process.kill(-hook.pid, signal);
      await hook.exited;
      expect(hook.signalCode).toBe(signal);
      go();
      expect(wait(ground).attempts).toEqual([expect.objectContaining({ exit: 5 })]);
    },
  );
});

test("8 processes ask at once: it runs once, all get the result", async () => {
  const spec = shell("echo $$ >> pids; sleep 0.3; echo one");
  const calls = asking(ground, [["startJob", "j", spec], ["awaitJob", "j", 60_000]]); // biome-ignore format: one thought
  const env = environment(ground);
  const askers = Array.from({ length: 8 }, () => Bun.spawn(calls, { env, stdout: "pipe" }));
  const said = await Promise.all(askers.map(({ stdout }) => new Response(stdout).text()));
  const outputs = said.map((text) => text.trim().split("\n").map((line) => JSON.parse(line)?.output)); // biome-ignore format: one thought
  expect(outputs).toEqual(askers.map(() => [undefined, "one\n"]));
  expect(pids()).toHaveLength(1);
});

test("a second runner leaves at once, while the first is at work and afterwards", async () => {
  const main = join(import.meta.dir, "../../../src/main.ts");
  const second = () =>
    Bun.spawnSync([process.execPath, main, "job", ground.root, "j", "1"], { env: environment(ground), cwd: "/" });
  ask(ground, ["startJob", "j", GOES_ON]);
  await begun();
  expect(second().exitCode).toBe(0);
  go();
  expect(wait(ground).attempts).toMatchObject([{ exit: 5 }]);
  expect(second().exitCode).toBe(0);
  expect(pids()).toHaveLength(1);
});

describe("the runner is killed", () => {
  test("what it started ends with it; asked again it starts anew", async () => {
    ask(ground, ["startJob", "j", GOES_ON]);
    await begun();
    await until("the group is known", () => existsSync(jobFile(ground, "group.json")));
    process.kill(runnerOf(ground), "SIGKILL");
    await until("lost", () => state().state === "lost");
    await until("the command has ended", () => !pids().some(isAlive));
    ask(ground, ["startJob", "j", GOES_ON]);
    await begun(2);
    go();
    expect(wait(ground)).toMatchObject({ attempts: [{ exit: 5 }] });
    expect(pids()).toHaveLength(2);
  });

  test("and the guard with it: the next start ends what was left", async () => {
    ask(ground, ["startJob", "j", GOES_ON]);
    await begun();
    await until("the group is known", () => existsSync(jobFile(ground, "group.json")));
    for (const pid of [...childrenOf(runnerOf(ground)).filter((child) => child !== pids()[0]), runnerOf(ground)])
      process.kill(pid, "SIGKILL");
    await until("lost", () => state().state === "lost");
    expect(pids().filter(isAlive)).toHaveLength(1);
    ask(ground, ["startJob", "j", GOES_ON]);
    await begun(2);
    expect(pids().map(isAlive)).toEqual([false, true]);
    expect(existsSync(jobFile(ground, "spec.json", 1))).toBe(false);
  });

  test("every time: whoever waits is told after three starts", () => {
    const ran = run(ground, shell("echo $$ >> pids; kill -9 $PPID; sleep 60"));
    expect(ran).toMatchObject({
      attempts: [],
      error: expect.stringMatching(/started 3 times .* without leaving a result/),
    });
    expect(pids()).toHaveLength(3);
  });

  test("it never began: lost after a while, and a late one finds its place taken", () => {
    const folder = jobFile(ground, "");
    mkdirSync(folder, { recursive: true });
    expect(state().state).toBe("running");
    utimesSync(folder, new Date(Date.now() - 20_000), new Date(Date.now() - 20_000));
    expect(state().state).toBe("lost");
    expect(existsSync(jobFile(ground, "runner.json"))).toBe(true);
    expect(run(ground, shell("echo again")).output).toBe("again\n");
  });
});

describe("what others write", () => {
  const forgeries: [string, (path: string, text: string) => void][] = [
    ["edited", (path, text) => writeFileSync(path, text.replace('"exit":1', '"exit":0'))],
    ["written anew", (path) => writeFileSync(path, JSON.stringify({ attempts: [{ exit: 0 }], output: "fine" }))],
    ["of another job", (path) => copyFileSync(jobFile(ground, "result.json", 1, "other"), path)],
    ["not JSON", (path) => writeFileSync(path, "\0\0")],
  ];
  test.each(forgeries)("a result %s is not believed: the command runs again", (_name, forge) => {
    askAll(ground, [["startJob", "other", shell("true")], ["awaitJob", "other", 30_000]]); // biome-ignore format: one thought
    const spec = shell("echo $$ >> pids; exit 1");
    expect(run(ground, spec).attempts).toMatchObject([{ exit: 1 }]);
    const path = jobFile(ground, "result.json");
    forge(path, textOf(path));
    expect(state().state).toBe("lost");
    expect(wait(ground).attempts).toMatchObject([{ exit: 1 }]);
    expect(pids()).toHaveLength(2);
  });

  test("a command put in place of ours is not run", async () => {
    ask(ground, ["startJob", "j", GOES_ON]);
    await begun();
    const spec = textOf(jobFile(ground, "spec.json")).replaceAll("started", "forged!");
    process.kill(runnerOf(ground), "SIGKILL");
    await until("lost", () => state().state === "lost");
    writeFileSync(jobFile(ground, "spec.json"), spec);
    expect(ask(ground, ["awaitJob", "j", 2_000])).toMatchObject({
      error: expect.stringContaining("without leaving a result"),
    });
    ask(ground, ["startJob", "j", GOES_ON]);
    go();
    expect(wait(ground).output).toBe("started\nwent\n");
  });

  test("the result of another command under the same id is not taken for this one's", () => {
    expect(run(ground, shell("echo one")).output).toBe("one\n");
    expect(run(ground, shell("echo two")).output).toBe("two\n");
    expect(run(ground, shell("echo two", { timeout_ms: 5_000 })).output).toBe("two\n");
    expect(readdirSync(join(ground.root, ".pawl/jobs/j"))).toEqual(["2"]);
  });
});

describe("the end", () => {
  test("ended: the runner, the command and its children are gone, and the result says so", async () => {
    const spec = shell(
      `(trap "" TERM; echo started; sh -c 'echo $$ >> pids; sleep 60; sleep 60') & echo $$ >> pids; wait; wait`,
    );
    ask(ground, ["startJob", "j", spec]);
    await begun(2);
    const runner = runnerOf(ground);
    ask(ground, ["endJob", "j"]);
    expect(pids().filter(isAlive)).toEqual([]);
    await until("the runner's end", () => !isAlive(runner));
    expect(wait(ground)).toMatchObject({
      error: expect.stringContaining("ended before it was done"),
      output: "started\n",
    });
  });

  test("forgotten: only when it is done, and then without a trace", async () => {
    ask(ground, ["startJob", "j", GOES_ON]);
    await begun();
    ask(ground, ["forgetJob", "j"]);
    expect(state().state).toBe("running");
    go();
    wait(ground);
    expect(statSync(jobFile(ground, "result.json")).mode & 0o777).toBe(0o600);
    expect(statSync(jobFile(ground, "")).mode & 0o777).toBe(0o700);
    ask(ground, ["forgetJob", "j"]);
    expect(readdirSync(join(ground.root, ".pawl/jobs"))).toEqual([]);
    expect(askAll(ground, [["jobState", "j"], ["awaitJob", "j", 1_000], ["endJob", "j"], ["forgetJob", "j"]])).toEqual([null, null, null, null]); // biome-ignore format: one thought
  });

  test("what is shown while it runs cannot move the cursor", () => {
    run(ground, shell(`printf 'a\\033[2J\\033]0;title\\007b\\r\\nc\\bd\\342\\200\\256'`));
    expect(state().tail).toBe("ab\ncd");
  });
});

describe("places that do not serve", () => {
  const refused = (why: RegExp) => ({ thrown: expect.stringMatching(why) });
  const start = (how = {}) => ask(ground, ["startJob", "j", shell("touch ran")], how);

  test.each([".pawl", ".pawl/jobs", ".pawl/jobs/j"])("%s is a link: nothing is written outside", (path) => {
    const outside = join(ground.home, "outside");
    mkdirSync(outside);
    mkdirSync(join(ground.root, path, ".."), { recursive: true });
    symlinkSync(outside, join(ground.root, path));
    expect(start()).toEqual({ ...refused(/symbolic link/), name: expect.any(String) });
    expect(readdirSync(outside)).toEqual([]);
    expect(existsSync(join(ground.root, "ran"))).toBe(false);
  });

  test("a project that cannot be written", () => {
    for (const path of [ground.root, join(ground.root, "..")]) chmodSync(path, 0o555);
    chmodSync(ground.home, 0o777);
    const uid = process.getuid?.() === 0 ? 65534 : undefined;
    expect(start(uid === undefined ? {} : { uid })).toMatchObject(
      refused(/cannot be kept in \.pawl\/jobs: .*(EACCES|EROFS)/),
    );
    for (const path of [ground.root, ground.home, join(ground.root, "..")]) chmodSync(path, 0o755);
  });

  test("no room for the output: the result comes without it", () => {
    const ran = run(ground, shell("head -c 400000 /dev/zero; exit 7"), { first: "ulimit -f 200" });
    expect(ran.attempts).toMatchObject([{ exit: 7 }]);
    expect(ran.output).toMatch(/^\[pawl\] the output could not be kept: .*EFBIG/);
  });

  test.each(["", "A", "../j", "j/1", "j.j", "x".repeat(81)])("a job cannot be called %j", (id) => {
    expect(ask(ground, ["startJob", id, shell("true")])).toMatchObject(refused(/no job can be called/));
  });
});
