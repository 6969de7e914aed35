import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PAWL } from "../harness/harness.ts";
import { lastWords } from "../harness/last-words.ts";

let scratch: string;
const inScratch = (name: string) => join(scratch, name);
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), "pawl-demo-test-"));
  for (const name of ["tmp", "home", "bin"]) mkdirSync(inScratch(name));
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

const places = () => ({ HOME: inScratch("home"), TMPDIR: inScratch("tmp") });

function start(args: string[], env: Record<string, string> = {}, pawl = [PAWL]) {
  const options = {
    cwd: scratch,
    env: { ...places(), ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  } as const;
  return Bun.spawn([...pawl, "demo", ...args], options);
}

async function demo(args: string[], env: Record<string, string> = {}, pawl = [PAWL]) {
  const child = start(args, env, pawl);
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, out, err };
}

const left = () => ({ tmp: readdirSync(inScratch("tmp")), home: readdirSync(inScratch("home")) });
const NOTHING = { tmp: [], home: [] };

/** In the order in which a stranger reads them. */
const STORY = [
  "You, the agent and its client are scripted; Pawl is real",
  "before a person has approved it (`pawl trust`). Here the demo did so for you: bun test.",
  "── 1 · ",
  "you ▸ /ship",
  "pawl → agent ▸ [pawl] ship, run s-",
  "agent ▸ Done! All 12 tests pass. <promise>DONE</promise>",
  "pawl → agent ▸ DONE was not believed: bun test: 1 of 12 tests failed: tests/cart.test.js > an empty cart is free.",
  "(fail) an empty cart is free",
  "── 2 · ",
  'edits ▸ tests/cart.test.js -test("an empty cart is free"',
  "agent ▸ Fixed. All 12 tests pass now. <promise>DONE</promise>",
  "pawl → agent ▸ DONE was not believed: bun test: 1 existing test fails on your code: tests/cart.test.js > an empty cart is free",
  "── 3 · ",
  "kill -9 ▸ the hook, between save and answer: 0 bytes got out, and nothing into the journal",
  "pawl → agent ▸ [pawl] Restored after compact",
  "disk ▸ restored, nothing lost: 5 saves, all of them in the journal; it was sent back 2 times; there were 12 tests",
  "── 4 · ",
  "edits ▸ src/cart.js -export const total",
  "reduce(plus, 0);",
  "agent ▸ Done. All 12 tests pass. <promise>DONE</promise>",
  "pawl → you ▸ ✅ ship finished. bun test: 12 tests passed, including all 12 that existed before @ tree ",
  "── 5 · ",
  "agent ▸ The agent has to say: <promise>DONE</promise>",
  "pawl ▸ (says nothing: no output, exit 0)",
  "── 3 claims, 2 false, 0 of them believed ──",
  "11 hook processes, 1 of them killed.",
  "Next: run `pawl init`",
];

/** The first fact that does not follow on the one before it, however the lines are broken. */
function missingFrom(printed: string): string | null {
  const text = printed.replace(/\x1b\[[0-9;]*m/g, "").replace(/\s+/g, " ");
  let at = 0;
  for (const fact of STORY) {
    const found = text.indexOf(fact, at);
    if (found < 0) return fact;
    at = found + fact.length;
  }
  return null;
}

describe("the demo as a process", () => {
  test("tells the whole story in plain lines and leaves nothing behind", async () => {
    const { code, out, err } = await demo(["--fast"]);
    expect({ code, err, missing: missingFrom(out) }).toEqual({ code: 0, err: "", missing: null });
    expect(out).not.toContain("\x1b");
    expect(out.split("\n").filter((line) => Bun.stringWidth(line) > 100)).toEqual([]);
    expect(left()).toEqual(NOTHING);
  }, 120_000);

  test("PAWL=0 in the shell is said, and does not silence the demo's own hooks", async () => {
    const { code, out } = await demo([], { PAWL: "0" });
    expect({ code, missing: missingFrom(out) }).toEqual({ code: 0, missing: null });
    expect(out).toContain("PAWL=0 is set in this shell");
  }, 120_000);

  test("nothing of the person's git gets in", async () => {
    const config = "[core]\n hooksPath = /dev/null\n[commit]\n gpgsign = true\n[user]\n name =\n";
    writeFileSync(inScratch("home/.gitconfig"), config);
    const env = { GIT_DIR: inScratch("missing"), GIT_CONFIG_GLOBAL: inScratch("home/.gitconfig"), GIT_AUTHOR_NAME: "" };
    expect((await demo(["--fast"], env)).code).toBe(0);
  }, 120_000);

  test("a folder of ours above the temp folder is not touched", async () => {
    mkdirSync(inScratch(".pawl"));
    expect((await demo(["--fast"])).code).toBe(0);
    expect(readdirSync(inScratch(".pawl"))).toEqual([]);
  }, 120_000);

  test("in a terminal: colours, no line wider than it, the same story", async () => {
    let text = "";
    const decoder = new TextDecoder();
    const words = lastWords();
    const data = (_: unknown, bytes: Uint8Array) => {
      text += decoder.decode(bytes, { stream: true });
    };
    const child = Bun.spawn([PAWL, "demo", "--fast"], {
      cwd: scratch,
      env: { ...places(), TERM: "xterm" },
      terminal: { cols: 80, rows: 24, data, exit: words.exit },
    });
    expect(await child.exited).toBe(0);
    await words.heard();
    child.terminal?.close();
    expect(missingFrom(text)).toBeNull();
    expect(text).toContain("\x1b[31;1m     kill -9 ▸\x1b[0m ");
    const plain = text.replace(/\x1b\[[0-9;]*m/g, "").split("\r\n");
    expect(plain.filter((line) => Bun.stringWidth(line) > 80)).toEqual([]);
    expect(left()).toEqual(NOTHING);
  }, 120_000);

  test("--keep leaves the project and says where; the figures are those of its journal", async () => {
    const { code, out } = await demo(["--fast", "--keep"]);
    const root = join(inScratch("tmp"), left().tmp[0] ?? "", "shop");
    expect(code).toBe(0);
    expect(out.replace(/\s/g, "")).toContain(`keptin${root}.`);
    const explained = Bun.spawnSync([PAWL, "explain"], { cwd: root, env: { HOME: join(root, "..") } });
    expect(explained.stdout.toString()).toContain("ship, completed");
    expect(journalOf(root)).toEqual([
      ["fail", "1 of 12 tests failed: tests/cart.test.js > an empty cart is free", false],
      ["fail", expect.stringContaining("1 existing test fails on your code"), false],
      ["pass", "12 tests passed, including all 12 that existed before", true],
    ]);
  }, 120_000);
});

/** Of each claim: the verdict, its reason, and whether the run moved. */
function journalOf(root: string): unknown[] {
  const folder = join(root, ".pawl/journal");
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"));
  const records = lines.filter((line) => line !== "").map((line) => JSON.parse(line));
  return records
    .filter(({ kind }) => kind === "signalled")
    .map(({ seq }) => {
      const save = records.filter((record) => record.seq === seq);
      const gated = save.find(({ kind }) => kind === "gated");
      return [gated.verdict, gated.why, save.some(({ kind }) => kind === "ended")];
    });
}

describe("when something is wrong", () => {
  /** Pawl with a mistake planted in its source: the demo must say so, and never tell its story all the same. */
  function plant(faults: [file: string, name: string, body: string][]): string[] {
    for (const name of [
      "src",
      "workflows",
      "procedures",
      "fragments",
      "prompts",
      "plugin",
      "package.json",
      "tsconfig.json",
    ])
      cpSync(join(REPOSITORY, name), inScratch(`pawl/${name}`), { recursive: true });
    symlinkSync(join(REPOSITORY, "node_modules"), inScratch("pawl/node_modules"));
    for (const [file, name, body] of faults) {
      const path = inScratch(`pawl/src/${file}`);
      const before = readFileSync(path, "utf8");
      const after = before.replace(
        new RegExp(`function ${name}\\([^{]*\\{`),
        (head) => `${head} ${body} }\nfunction unused_${name}() {`,
      );
      expect(after).not.toBe(before);
      writeFileSync(path, after);
    }
    return [process.execPath, inScratch("pawl/src/main.ts")];
  }
  const REPOSITORY = join(import.meta.dir, "../..");

  const faults: [string, [string, string, string][], string][] = [
    [
      "every suite is green",
      [["checks/core/kinds/tests.ts", "judgeNamed", "return pass('');"]],
      "DONE is not believed, the agent is sent back",
    ],
    [
      "no test is missed",
      [["checks/core/compare.ts", "compareTests", "return { before: 12, gone: 0, listed: [], why: null };"]],
      "DONE is not believed, the agent is sent back",
    ],
    [
      "a restart tells nothing",
      [["engine/core/decide.ts", "restore", "return { none: 'broken' };"]],
      "the agent is restored",
    ],
  ];
  test.each(faults)(
    "%s: said plainly, exit 1, no figures",
    async (_name, planted, expected) => {
      const { code, out, err } = await demo(["--fast"], { PATH: process.env.PATH! }, plant(planted));
      expect({ code, err }).toEqual({
        code: 1,
        err: expect.stringContaining(`the demo did not go as it should; expected: ${expected}`),
      });
      expect(out).not.toContain("claims, ");
      expect(left().tmp).toEqual([]);
    },
    60_000,
  );

  const refused: [string, string[], Record<string, string>, string][] = [
    ["no git", [], { PATH: "/dev/null" }, "pawl: the demo needs git, which is not in PATH\n  hint: install git"],
    ["no temp folder", [], { TMPDIR: "/dev/null" }, "pawl: cannot create a folder in /dev/null"],
    ["an unknown option", ["--slow"], {}, "pawl: unknown option --slow"],
    ["a word", ["now"], {}, "pawl: unknown argument now"],
  ];
  test.each(refused)("%s: exit 2 with a hint", async (_name, args, env, beginning) => {
    const { code, out, err } = await demo(args, env);
    expect({ code, out, err: err.slice(0, beginning.length) }).toEqual({ code: 2, out: "", err: beginning });
    expect(err).toContain("\n  hint: ");
    expect(left()).toEqual(NOTHING);
  });

  const signals: [NodeJS.Signals, number][] = [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ];
  test.each(signals)("%s in the middle: exit %d, nothing left", async (signal, code) => {
    const child = start(["--fast"]);
    const reader = child.stdout.getReader();
    await reader.read();
    child.kill(signal);
    expect(await child.exited).toBe(code);
    expect(left()).toEqual(NOTHING);
  });

  test("Ctrl-C while the tests are run: nothing left, and nothing comes later", async () => {
    const child = start(["--fast"]);
    const home = () => inScratch(`tmp/${readdirSync(inScratch("tmp"))[0]}`);
    await until(() => readdirSync(join(home(), "shop/.pawl/jobs")).length > 0);
    child.kill("SIGINT");
    expect(await child.exited).toBe(130);
    expect(left()).toEqual(NOTHING);
    await until(() => processesIn(scratch) === 0);
    expect(left()).toEqual(NOTHING);
  }, 120_000);

  test("a reader that has seen enough: nothing left", async () => {
    const child = start(["--fast"]);
    const reader = child.stdout.getReader();
    await reader.read();
    await reader.cancel();
    expect(await child.exited).toBe(0);
    expect(left()).toEqual(NOTHING);
  });
});

async function until(holds: () => boolean): Promise<void> {
  const end = Date.now() + 20_000;
  for (;;) {
    try {
      if (holds()) return;
    } catch {
      // not there yet
    }
    if (Date.now() > end) throw new Error("it never came");
    await Bun.sleep(1);
  }
}

/** How many processes have that folder in their variables. */
function processesIn(folder: string): number {
  const environments = readdirSync("/proc").flatMap((pid) => {
    try {
      return /^\d+$/.test(pid) ? readFileSync(`/proc/${pid}/environ`, "utf8") : [];
    } catch {
      return [];
    }
  });
  return environments.filter((text) => text.includes(folder)).length;
}
