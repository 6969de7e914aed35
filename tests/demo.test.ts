import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openScreen } from "../src/demo/screen.ts";

const PAWL = join(import.meta.dir, "../dist/pawl");
const GIT = Bun.which("git") ?? "git";

let scratch: string;
const inScratch = (name: string) => join(scratch, name);
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), "pawl-demo-test-"));
  for (const name of ["tmp", "home", "bin"]) mkdirSync(inScratch(name));
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

function start(args: string[], env: Record<string, string> = {}) {
  const places = { HOME: inScratch("home"), TMPDIR: inScratch("tmp") };
  const options = {
    cwd: scratch,
    env: { ...places, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  } as const;
  return Bun.spawn([PAWL, "demo", ...args], options);
}

async function demo(args: string[], env: Record<string, string> = {}) {
  const child = start(args, env);
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, out, err };
}

const left = () => ({ tmp: readdirSync(inScratch("tmp")), home: readdirSync(inScratch("home")) });
const NOTHING = { tmp: [], home: [] };

/** In the order in which a stranger reads them. */
const STORY = [
  "You and the agent are scripted; Pawl is real",
  "you ▸ /complete-work",
  "pawl → agent ▸ [pawl]",
  "step 1 of 4 (memory), active",
  "agent (scripted) ▸ When I am done I will say:\n",
  "got no signal",
  "step 1 of 4 (memory), active",
  "it claims MEMORY_UPDATED; memory is done → review",
  "reviewer (scripted) ▸ ## Critical Issues",
  "pawl → agent ▸ Critical review issues detected",
  "pawl → you ▸ 🚨 Critical Issues",
  "1. Abort and fix\n",
  "REVIEW_COMPLETE is ignored: the person has not",
  "you ▸ 3\n",
  "the person decides: continue",
  "step 3 of 4 (cleanup), active, save no. 8",
  "pawl ▸ (says nothing: no output, exit 0)",
  "step 3 of 4 (cleanup), active, save no. 8: untouched by the other session",
  "after it saved and before it spoke: 0 bytes",
  "step 4 of 4 (commit), active, save no. 9: the claim is kept; journal line not",
  "the instruction was not seen to arrive",
  "the journal has the line of save no. 9 now",
  "pawl → summary ▸ Keep in the summary: [pawl] complete-work",
  "[pawl] Restored after compact",
  "step 4 of 4 (commit)",
  "gate on WORKFLOW_COMPLETE: fail, no commit was",
  "git ▸ $ git commit (exit 1)\n",
  "debugger;\n",
  "❌ Commit Failed",
  "✅ Memory\n",
  "✅ Review\n",
  "✅ Cleanup\n",
  "❌ Commit (The pre-commit hook found a debugger statement.)\n",
  "step 4 of 4 (commit), halted",
  "you ▸ /complete-work",
  "Resuming workflow from Step 4 (commit)...",
  "git ▸ $ git commit (exit 0)\n",
  "✅ Work completion workflow finished (commit ",
  "9 tags said by the agents: 5 believed, 4 not.",
  "MEMORY_UPDATED (only quoted), REVIEW_COMPLETE (the person has not decided yet),",
  "CLEANUP_SKIPPED (in a session without a run), WORKFLOW_COMPLETE (git said otherwise).",
  "24 hook processes, 1 of them killed with -9, nothing lost.",
  "In git: 2 commits, and a clean tree.",
  "README.md",
];

function missingFrom(text: string): string | null {
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
  }, 30_000);

  test("PAWL=0 in the shell is said, and does not silence the demo's own hooks", async () => {
    const { code, out } = await demo([], { PAWL: "0" });
    expect({ code, missing: missingFrom(out) }).toEqual({ code: 0, missing: null });
    expect(out).toContain("PAWL=0 is set in this shell");
  }, 30_000);

  test("nothing of the person's git gets in", async () => {
    const config = "[core]\n hooksPath = /dev/null\n[commit]\n gpgsign = true\n[user]\n name =\n";
    writeFileSync(inScratch("home/.gitconfig"), config);
    const env = { GIT_DIR: inScratch("missing"), GIT_CONFIG_GLOBAL: inScratch("home/.gitconfig"), GIT_AUTHOR_NAME: "" };
    expect((await demo(["--fast"], env)).code).toBe(0);
  }, 30_000);

  test("a folder of ours above the temp folder is not touched", async () => {
    mkdirSync(inScratch(".pawl"));
    expect((await demo(["--fast"])).code).toBe(0);
    expect(readdirSync(inScratch(".pawl"))).toEqual([]);
  }, 30_000);

  test("--keep leaves the project and says where", async () => {
    const { code, out } = await demo(["--fast", "--keep"]);
    const root = /kept in (\S+)\. /.exec(out.replace(/\n/g, " "))?.[1] ?? "";
    expect(code).toBe(0);
    const explained = Bun.spawnSync([PAWL, "explain"], { cwd: root, env: { HOME: inScratch("home") } });
    expect(explained.stdout.toString()).toContain("complete-work, completed at commit");
  }, 30_000);
});

describe("when something is wrong", () => {
  /** A git that always sees a clean tree: Pawl is deceived, and the demo must not pretend otherwise. */
  test("a claim that is believed against the script: said plainly, exit 1", async () => {
    const blind = `#!/bin/sh\ncase " $* " in *" status "*) exec ${GIT} "$@" -- nowhere ;; esac\nexec ${GIT} "$@"\n`;
    writeFileSync(inScratch("bin/git"), blind);
    chmodSync(inScratch("bin/git"), 0o755);
    const { code, out, err } = await demo(["--fast"], { PATH: `${inScratch("bin")}:/usr/bin:/bin` });
    expect(code).toBe(1);
    expect(err).toContain(
      "the demo did not go as it should; expected: WORKFLOW_COMPLETE without a commit is not believed",
    );
    expect(err).toContain("recorded stopped, delivered, signalled, gated, ");
    expect(out).not.toContain("That was it");
    expect(left()).toEqual(NOTHING);
  }, 30_000);

  const refused: [string, string[], Record<string, string>, string][] = [
    ["no git", [], { PATH: "/dev/null" }, "pawl: the demo needs git, and there is none in PATH\n  hint: install git"],
    ["no temp folder", [], { TMPDIR: "/dev/null" }, "pawl: no folder can be made in /dev/null"],
    ["an unknown option", ["--slow"], {}, "pawl: unknown option --slow"],
    ["a word", ["now"], {}, "pawl: demo takes no names"],
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

  test("a reader that has seen enough: nothing left", async () => {
    const child = start(["--fast"]);
    const reader = child.stdout.getReader();
    await reader.read();
    await reader.cancel();
    expect(await child.exited).toBe(0);
    expect(left()).toEqual(NOTHING);
  });
});

describe("the screen", () => {
  async function paint(columns: number, color: boolean): Promise<string> {
    let text = "";
    const write = (more: string) => {
      text += more;
    };
    const screen = openScreen({ write, color, paced: false, columns });
    await screen.title("A title of some length, longer than the narrowest of screens would like");
    await screen.say("pawl → you", `❌ Commit ${"word ".repeat(40)}${"/path".repeat(50)}\n✅ Done`);
    return text;
  }

  test.each([[60], [80], [100], [200]])("%d columns: no line is wider, none than 100", async (columns) => {
    const text = await paint(columns, false);
    const widest = Math.max(...text.split("\n").map((line) => Bun.stringWidth(line)));
    expect(widest).toBeLessThanOrEqual(Math.min(columns, 100));
    expect(text.replace(/\s/g, "")).toContain("/path".repeat(50));
  });

  test("colours only where they are wanted", async () => {
    const colored = await paint(80, true);
    expect(colored).toContain("\x1b[32;1m");
    expect(colored.replace(/\x1b\[[0-9;]*m/g, "")).toBe(await paint(80, false));
  });
});
