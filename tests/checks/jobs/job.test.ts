import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { JobSpec } from "../../../src/checks/jobs/job.ts";
import { treeHash } from "../../../src/checks/tree/tree.ts";
import type { Attempt } from "../../../src/kernel/types/verdict.ts";
import { hashOf } from "../../../src/store/files.ts";
import {
  ask,
  isAlive,
  type JobGround,
  jobFile,
  makeGround,
  numbersIn,
  removeGrounds,
  run,
  shell,
  textOf,
  until,
  wait,
} from "./job-place.ts";

setDefaultTimeout(60_000);

let ground: JobGround;
beforeEach(() => {
  ground = makeGround();
});
afterEach(removeGrounds);

const put = (path: string, content: string | Uint8Array, mode = 0o644) =>
  writeFileSync(join(ground.root, path), content, { mode });
const ended = (attempt: Partial<Attempt>) => [expect.objectContaining({ timed_out: false, signal: null, ...attempt })];

describe("how it ended", () => {
  const rows: [string, string, Partial<Attempt>, string][] = [
    ["success", "echo fine", { exit: 0 }, "fine\n"],
    ["failure", "echo bad; exit 3", { exit: 3 }, "bad\n"],
    ["a status that shells use for a missing program", "exit 127", { exit: 127 }, ""],
    ["a signal", "kill -SEGV $$", { exit: null, signal: "SIGSEGV" }, ""],
    ["both outputs in their order", "echo 1; echo 2 >&2; echo 3; echo 4 >&2", { exit: 0 }, "1\n2\n3\n4\n"],
    ["an output that is opened again", "echo 1 >/dev/stderr; echo 2 >/dev/stdout", { exit: 0 }, "1\n2\n"],
    ["no input", "cat; echo read", { exit: 0 }, "read\n"],
    ["an interrupt counts as usual", "kill -INT $$; echo went on", { exit: null, signal: "SIGINT" }, ""],
  ];
  test.each(rows)("%s", (_name, line, attempt, output) => {
    const ran = run(ground, shell(line));
    expect(ran.attempts).toEqual(ended(attempt));
    expect(ran.output).toBe(output);
    expect(ran.digest).toBe(hashOf(output));
    expect(ran.error).toBeUndefined();
    expect(Date.parse(ran.ended_at)).toBeGreaterThanOrEqual(Date.parse(ran.started_at));
  });

  test("fails, then passes: two attempts, the output of the last", () => {
    const ran = run(ground, shell("echo try; [ -e flag ] || { touch flag; exit 4; }", { retries: 2 }));
    expect(ran.attempts.map(({ exit }) => exit)).toEqual([4, 0]);
    expect(ran.output).toBe("try\n");
  });
  test("fails always: no more attempts than allowed", () => {
    expect(run(ground, shell("exit 1", { retries: 2 })).attempts.map(({ exit }) => exit)).toEqual([1, 1, 1]);
  });
});

describe("the tree it is about", () => {
  /** A command that passes only on the good version, and waits for what the other process does. */
  const LINE = "cp -p a.txt ../bad; touch ../ready; until [ -e ../go ]; do sleep 0.01; done; grep -q good a.txt";
  const start = () => {
    put("a.txt", "bad\n");
    const tree = treeHash(ground.root, null);
    return tree.ok ? tree.value : tree.why;
  };
  const beside = (name: string) => join(ground.root, "..", name);

  test("swapped while it runs, and back again: the second run has to hold", async () => {
    const spec = shell(`${LINE}; echo $? >> ../ends; [ "$(tail -1 ../ends)" = 0 ]`, { tree: start() });
    ask(ground, ["startJob", "j", spec]);
    await until("the command", () => textOf(beside("ready")) === "" && existsSync(beside("ready")));
    put("a.txt", "good\n");
    writeFileSync(beside("go"), "");
    await until("its end", () => textOf(beside("ends")) !== "");
    Bun.spawnSync(["/bin/sh", "-c", "cat ../bad > a.txt; touch -r ../bad a.txt"], { cwd: ground.root });
    const ran = wait(ground);
    // The first run may end before the file is back: then the tree is another one, and that is seen, too.
    expect(ran.attempts.at(-1)!.exit === 0 ? ran.moved : ["a.txt"]).toEqual(["a.txt"]);
  });

  test("swapped in both runs: what moved is named", () => {
    const swap = "cp -p a.txt ../bad; echo good > a.txt; grep -q good a.txt; cat ../bad > a.txt; touch -r ../bad a.txt";
    const ran = run(ground, shell(`${swap}; echo ran >> ../runs`, { tree: start() }));
    expect(ran).toMatchObject({ attempts: ended({ exit: 0 }), moved: ["a.txt"] });
    expect(textOf(beside("runs"))).toBe("ran\nran\n");
  });

  test("a formatter that writes the same again once: the second run holds", () => {
    const format = "[ -e ../formatted ] || { cp a.txt ../old; cat ../old > a.txt; touch ../formatted; }";
    const ran = run(ground, shell(`${format}; echo ran >> ../runs`, { tree: start() }));
    expect(ran.moved).toBeUndefined();
    expect(textOf(beside("runs"))).toBe("ran\nran\n");
  });

  test("nothing moved: one run, and the surroundings are kept", () => {
    const ran = run(ground, shell("mkdir -p coverage; echo 1 > coverage/x; echo ran >> ../runs", { tree: start() }));
    expect(ran.moved).toBeUndefined();
    expect(ran.around).toMatch(/^[0-9a-f]{64}$/);
    expect(textOf(beside("runs"))).toBe("ran\n");
  });
});

describe("what cannot be started", () => {
  const rows: [string, Partial<JobSpec>, RegExp][] = [
    ["not found", { argv: ["no-such-program"] }, /"no-such-program" was not found in PATH/],
    ["no such file", { argv: ["./gone"] }, /"\.\/gone" does not exist/],
    ["not executable", { argv: ["./plain"] }, /"\.\/plain" is not executable: chmod \+x/],
    ["a folder", { argv: ["./folder"] }, /does not exist/],
    ["its interpreter is missing", { argv: ["./orphan"] }, /orphan could not be started: .*ENOENT/],
    ["empty", { argv: [] }, /empty/],
    ["a NUL byte", { argv: ["echo", "a\0b"] }, /NUL/],
    ["cwd outside", { cwd: "folder/../.." }, /cwd .* leads out of the project/],
    ["cwd absolute", { cwd: "/tmp" }, /not relative/],
    ["cwd linked outside", { cwd: "away" }, /leads out of the project/],
    ["cwd missing", { cwd: "gone" }, /does not exist/],
    ["cwd is a file", { cwd: "plain" }, /not a folder/],
    ["PATH", { env: { PATH: "." } }, /env must not set PATH/],
    ["a loader variable", { env: { OK: "1", NODE_OPTIONS: "--require=./x.js" } }, /must not set NODE_OPTIONS/],
    ["a name that is none", { env: { "A=B": "1" } }, /env cannot set "A=B"/],
  ];
  test.each(rows)("%s", (_name, spec, why) => {
    mkdirSync(join(ground.root, "folder"));
    put("plain", "echo never > ran");
    put("orphan", "#!/no/such/interpreter\n", 0o755);
    symlinkSync("/", join(ground.root, "away"));
    const ran = run(ground, shell("echo never > ran", { retries: 3, ...spec }));
    expect(ran.error).toMatch(why);
    expect(ran).toMatchObject({ attempts: [], output: "" });
    expect(() => statSync(join(ground.root, "ran"))).toThrow("ENOENT");
  });
});

describe("its surroundings", () => {
  test("folder: inside, also through a link that stays inside", () => {
    mkdirSync(join(ground.root, "a/b"), { recursive: true });
    symlinkSync("a/b", join(ground.root, "near"));
    expect(run(ground, shell("pwd -P; echo $PWD", { cwd: "near" })).output).toBe(
      `${ground.root}/a/b\n${ground.root}/a/b\n`,
    );
  });

  test("environment: cleaned, plain, with what the gate adds", () => {
    put("node_options.js", "");
    const env = {
      PATH: `.::relative/bin:${process.env.PATH}:`,
      CLAUDECODE: "1",
      CLAUDE_PROJECT_DIR: "/x",
      CLAUDE_CODE_MESSAGING_TOKEN: "secret",
      PAWL: "1",
      PAWL_X: "1",
      BASH_ENV: "/x",
      LD_LIBRARY_PATH: "/x",
      PYTHONPATH: "/x",
      MAKEFLAGS: "-n",
      GIT_DIR: "/x",
      npm_config_script_shell: "/x",
      GIT_AUTHOR_NAME: "Someone",
      FORCE_COLOR: "3",
      npm_config_ignore_scripts: "true",
      RUSTFLAGS: "--cfg skip",
      SOMETHING: "else",
      JAVA_HOME: "/opt/java",
    };
    const { output } = run(ground, shell("env", { env: { ADDED: "1", TERM: "xterm" } }), { env });
    const seen = Object.fromEntries(output.trim().split("\n").map((line) => line.split(/=(.*)/s).slice(0, 2))); // biome-ignore format: one thought
    expect(seen).toMatchObject({ JAVA_HOME: "/opt/java", ADDED: "1", TERM: "xterm", GIT_AUTHOR_NAME: "Someone" });
    expect(seen).toMatchObject({ PAWL_GATE: "1", NO_COLOR: "1", FORCE_COLOR: "0" });
    expect(seen.PATH.split(":").filter((entry: string) => !entry.startsWith("/"))).toEqual([]);
    const ours = "ADDED FORCE_COLOR GIT_AUTHOR_NAME HOME JAVA_HOME NO_COLOR PATH PAWL_GATE PAWL_GROUP PWD TERM".split(
      " ",
    );
    expect(Object.keys(seen).filter((name) => !ours.includes(name) && name !== "_")).toEqual([]);
  });

  test("a program is looked for in the cleaned PATH only", () => {
    mkdirSync(join(ground.root, "bin"));
    put("bin/planted", "#!/bin/sh\necho planted\n", 0o755);
    const ran = run(ground, shell("", { argv: ["planted"] }), { env: { PATH: `bin:${process.env.PATH}` } });
    expect(ran.error).toMatch(/not found/);
    expect(run(makeGroundLike("./bin/planted"), shell("", { argv: ["./bin/planted"] })).output).toBe("planted\n");
  });
});

/** The same project in another place, since a job is asked for once. */
function makeGroundLike(program: string): JobGround {
  const other = makeGround();
  mkdirSync(join(other.root, "bin"));
  writeFileSync(join(other.root, program), readFileSync(join(ground.root, program)));
  chmodSync(join(other.root, program), 0o755);
  return other;
}

describe("output", () => {
  test("200 MB: beginning and end, little memory, a small file", () => {
    const ran = run(ground, shell("echo first; head -c 200000000 /dev/zero; echo; grep VmHWM /proc/$PPID/status"));
    expect(ran.output).toStartWith("first\n");
    expect(ran.output.length).toBeLessThan(300_000);
    const [, cut, total] = /\n\[(\d+) bytes cut of (\d+)\]\n/.exec(ran.output) ?? [];
    expect(Number(total)).toBeGreaterThan(200_000_000);
    expect(Number(total) - Number(cut)).toBe((64 + 192) << 10);
    const peak = Number(/VmHWM:\s+(\d+) kB\n$/.exec(ran.output)?.[1]);
    console.log(`peak memory of the runner: ${Math.round(peak / 1024)} MB`);
    expect(peak).toBeLessThan(120 * 1024);
    expect(statSync(jobFile(ground, "output")).size).toBeLessThanOrEqual(2 << 20);
  });

  test("binary: every byte counts in the digest, none breaks the result", () => {
    const bytes = new Uint8Array(700_000).map((_, index) => (index * 7919 + (index >> 8)) & 0xff);
    put("binary", bytes);
    const ran = run(ground, shell("cat binary"));
    expect(ran.attempts).toEqual(ended({ exit: 0 }));
    expect(ran.digest).toBe(hashOf(bytes));
    expect(ran.output).toContain("bytes cut of");
  });

  test.each([1, 2, 3, 4])("a letter is not cut through (shifted by %d)", (shift) => {
    const text = `${"x".repeat(shift)}${"ä€😀".repeat(60_000)}`;
    put("text", text);
    const { output } = run(ground, shell("cat text"));
    expect(output).not.toContain("\ufffd");
    const [head = "", tail = ""] = output.split(/\n\[\d+ bytes cut .*\n/);
    expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
  });

  test("just as much as is kept: nothing is cut", () => {
    const text = `${"ä".repeat(128 << 10)}`;
    put("text", text);
    expect(run(ground, shell("cat text")).output).toBe(text);
  });
});

describe("ending it", () => {
  const STUBBORN = `(trap "" TERM; sh -c 'echo $$ >> pids; while :; do sleep 1; done') & echo $! >> pids;`;

  test("too late: the whole group ends, also who ignores SIGTERM, and there is no retry", () => {
    const ran = run(ground, shell(`${STUBBORN} trap "" TERM; echo $$ >> pids; wait; wait`, { timeout_ms: 3_000, retries: 2 })); // biome-ignore format: one thought
    expect(ran.attempts).toEqual([expect.objectContaining({ exit: null, timed_out: true })]);
    expect(ran.attempts[0]!.ms).toBeWithin(3_000, 25_000);
    const pids = numbersIn(join(ground.root, "pids"));
    expect(pids).toHaveLength(3);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  test("too late, and then it says all is well: that is no success", () => {
    const ran = run(ground, shell(`trap "exit 0" TERM; while :; do sleep 0.1; done`, { timeout_ms: 300 }));
    expect(ran.attempts).toEqual([expect.objectContaining({ exit: null, timed_out: true })]);
  });

  test("a child left behind that holds the output open is not waited for, and ends", () => {
    const ran = run(ground, shell("sleep 600 & echo $! > pids; echo done"));
    expect(ran.attempts).toEqual(ended({ exit: 0 }));
    expect(ran.output).toBe("done\n");
    expect(numbersIn(join(ground.root, "pids")).filter(isAlive)).toEqual([]);
    expect(Date.parse(ran.ended_at) - Date.parse(ran.started_at)).toBeLessThan(10_000);
  });

  test("nor is one that left the group", () => {
    const ran = run(ground, shell("setsid sh -c 'echo $$ > pids; exec sleep 20' & until [ -s pids ]; do sleep 0.05; done; echo done")); // biome-ignore format: one thought
    expect(ran.output).toBe("done\n");
    const [escaped] = numbersIn(join(ground.root, "pids"));
    expect(isAlive(escaped!)).toBe(true);
    process.kill(escaped!, "SIGKILL");
  });
});
