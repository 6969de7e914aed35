/** One agent process: what it is given, what it says, how it ends by itself. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AgentRun, runAgent } from "../../src/loop/process.ts";
import { textOf, until } from "../checks/jobs/job-place.ts";
import { fake, file, makePlace, removePlace, runOf, said, shell } from "./agent-place.ts";

setDefaultTimeout(60_000);

const SUCCESS = "<promise>SUCCESS</promise>";
let place: string;
beforeEach(() => {
  place = makePlace();
});
afterEach(removePlace);

describe("how it ends", () => {
  const exited = (exit: number) => ({ how: "exited", exit, signal: null, why: `exit code ${exit}`, truncated: false });
  test.each([
    ["succeeds", exited(0), SUCCESS],
    ["fails", exited(0), "<promise>FAILURE</promise>"],
    ["both", exited(0), "No, wait."],
    ["exits 0", exited(0), ""],
    ["exits 3", exited(3), ""],
    ["splits", exited(0), SUCCESS],
    ["limit", exited(1), "usage limit reached"],
    ["says so ; crashes", { how: "killed", exit: null, signal: "SIGSEGV", why: "it was ended by SIGSEGV" }, "so\n"],
    ["crashes SIGKILL", { how: "killed", exit: null, signal: "SIGKILL" }, ""],
  ] as const)("%s", async (steps, wanted, words) => {
    const ended = await fake(steps);
    expect(ended).toMatchObject(wanted);
    expect(said(ended)).toContain(words);
    expect(ended.bytes).toBe(ended.tail.length);
  });

  test("what it says on both ways comes in one order", async () => {
    const ended = await shell("for i in 1 2 3; do echo out $i; echo err $i >&2; done; echo again > /dev/stderr");
    expect(said(ended)).toBe("out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\nagain\n");
  });

  test("it is heard while it speaks", async () => {
    const heard: string[] = [];
    const onOutput = (bytes: Uint8Array) => heard.push(new TextDecoder().decode(bytes));
    const running = fake(`says one ; wait ${file("go")} ; says two`, { onOutput });
    await until("the first word", () => heard.join("") === "one\n");
    writeFileSync(file("go"), "");
    expect(said(await running)).toBe("one\ntwo\n");
    expect(heard.join("")).toBe("one\ntwo\n");
  });

  test("it closes its output and goes on: that is not its end", async () => {
    const running = fake(
      `says bye ; closes ; writes ${file("closed")} x ; wait ${file("go")} ; writes ${file("done")} x`,
    );
    await until("closed", () => existsSync(file("closed")));
    writeFileSync(file("go"), "");
    expect(await running).toMatchObject({ how: "exited", exit: 0 });
    expect(textOf(file("done"))).toBe("x\n");
  });

  test("a view that fails neither ends nor stops it", async () => {
    const fail = () => {
      throw new Error("no terminal");
    };
    const ended = await fake("floods 300000 ; succeeds", { onOutput: fail, onStart: fail });
    expect(ended).toMatchObject({ how: "exited", exit: 0 });
    expect(said(ended)).toContain(SUCCESS);
  });
});

describe("what it is given", () => {
  test("the whole prompt, however long", async () => {
    const prompt = `${"ä€😀 line of a prompt\n".repeat(100_000)}end`;
    const ended = await shell("sleep 0.2; cat", { stdin: prompt, buffer: 10 << 20 });
    expect(said(ended) === prompt).toBe(true);
  });
  test("a prompt that it never reads is no trouble", async () => {
    const ended = await fake("succeeds", { stdin: "x".repeat(20 << 20) });
    expect(ended).toMatchObject({ how: "exited", exit: 0 });
  });
  test("nor one that it reads in part", async () => {
    expect(said(await shell("head -c 3", { stdin: "abcdef".repeat(1 << 20) }))).toBe("abc");
  });
  test("its input may be opened again", async () => {
    expect(said(await shell("cat /dev/stdin"))).toBe("the prompt\n");
  });
  test("without a prompt its input is empty", async () => {
    expect(await shell("cat; echo end", { stdin: "" })).toMatchObject({ exit: 0, bytes: 4 });
  });
  test("words, not a shell's line", async () => {
    const ended = await runAgent(runOf(["printf", "%s|", "a b", "$HOME", "`x`", "; exit 9", "*", ""]));
    expect(said(ended)).toBe("a b|$HOME|`x`|; exit 9|*||");
  });
  test("its folder and its environment, and of ours nothing", async () => {
    process.env.PAWL_TEST_LEAK = "1";
    const env = { PATH: process.env.PATH, GIVEN: "yes", NOT: undefined };
    const lines = said(await runAgent(runOf(["env"], { env }))).split("\n");
    delete process.env.PAWL_TEST_LEAK;
    const names = lines.map((line) => line.split("=")[0]).filter(Boolean);
    expect(names.sort()).toEqual(["GIVEN", "PATH", "PAWL_GROUP", "PWD"]);
    expect(lines).toContain(`PWD=${place}`);
  });
  test("a group of its own", async () => {
    let started = 0;
    const ended = await shell("cut -d' ' -f5,6 /proc/$$/stat", { onStart: (pid) => { started = pid; } }); // biome-ignore format: one thought
    expect(said(ended)).toBe(`${started} ${started}\n`);
  });
});

describe("not started", () => {
  const put = (name: string, text: string, mode: number) => {
    writeFileSync(file(name), text);
    chmodSync(file(name), mode);
    return file(name);
  };
  test.each<[string, () => Partial<AgentRun>, RegExp]>([
    ["no command", () => ({ argv: [] }), /empty/],
    ["an empty one", () => ({ argv: ["", "x"] }), /empty/],
    ["not in PATH", () => ({ argv: ["pawl-no-such-agent"] }), /"pawl-no-such-agent" was not found in PATH \(/],
    ["no such file", () => ({ argv: ["./agent"] }), /"\.\/agent" does not exist/],
    ["not executable", () => ({ argv: [put("a", "#!/bin/sh\n", 0o644)] }), /not executable: chmod \+x/],
    ["a folder", () => ({ argv: [place] }), /does not exist/],
    ["its interpreter is missing", () => ({ argv: [put("b", "#!/no/such/thing\n", 0o755)] }), /could not be started.*ENOENT|interpreter/], // biome-ignore format: one line for each
    ["no program at all", () => ({ argv: [put("c", "\u007fELF broken", 0o755)] }), /could not be started/],
    ["the folder is gone", () => ({ cwd: file("gone") }), /there is no folder .*gone/],
    ["the folder is a file", () => ({ cwd: put("d", "", 0o644) }), /there is no folder/],
    ["a NUL byte", () => ({ argv: ["echo", "a\0b"] }), /NUL/],
    ["too many words", () => ({ argv: ["echo", "x".repeat(3 << 20)] }), /could not be started/],
    ["nowhere to put the prompt", () => { rmSync(file("tmp"), { recursive: true }); return {}; }, /pawl-p/], // biome-ignore format: one line for each
  ])("%s", async (_name, more, why) => {
    const ended = await runAgent(runOf(["/bin/sh", "-c", "echo started"], more()));
    expect(ended).toMatchObject({ how: "not-started", exit: null, signal: null, bytes: 0, truncated: false });
    expect(ended.why).toMatch(why);
  });
});

test("the fake agent takes a line of its script at each start, and the last one again", async () => {
  writeFileSync(file("steps"), "says one ; exits 2\n\nsays two\n");
  const ends: string[] = [];
  for (let i = 0; i < 3; i++) {
    const ended = await fake(`--script ${file("steps")}`);
    ends.push(`${ended.exit} ${said(ended).trim()}`);
  }
  expect(ends).toEqual(["2 one", "0 two", "0 two"]);
  expect(readFileSync(file("steps.count"), "utf8")).toBe("3");
});
