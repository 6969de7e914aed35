import { afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { inWindow } from "../../harness/terminal-window.ts";
import { childEnv, commandFor, removeTemps, tempRoot } from "../samples.ts";

afterEach(removeTemps);

const ASK = commandFor("trusting.ts", [JSON.stringify([["isPerson"]])]);
const quoted = (words: string[]) => words.map((word) => `'${word}'`).join(" ");
const answerOn = (screen: string): unknown =>
  JSON.parse(screen.slice(screen.indexOf("[{"), screen.lastIndexOf("}]") + 2))[0];

async function asked(cmd: string[], env: Record<string, string> = {}, home = tempRoot()): Promise<unknown> {
  const { screen } = await inWindow({ cmd, cwd: home, env: childEnv(home, env), answers: [] });
  return answerOn(screen);
}

const refused = (words: string) => ({ ok: false, why: expect.stringContaining(words) });
const PERSON = { ok: true, who: Bun.spawnSync(["id", "-un"]).stdout.toString().trim() };

describe("a person", () => {
  test("at a terminal", async () => {
    expect(await asked(ASK, { USER: "somebody" })).toEqual(PERSON);
  });
  test("behind a shell, below folders that are called like an agent", async () => {
    const home = join(tempRoot(), "claude");
    mkdirSync(home);
    expect(
      await asked(["bash", "-c", `cd '${home}'; ${quoted(ASK)}; true`], { CLAUDE_CONFIG_DIR: home, CODEX_HOME: home }),
    ).toEqual(PERSON);
  });
  for (const [name, redirect] of [
    ["no input", "</dev/null"],
    ["no screen", "| cat"],
  ] as const) {
    test(`has ${name}: no terminal, no approval`, async () => {
      expect(await asked(["sh", "-c", `${quoted(ASK)} ${redirect}`])).toEqual(refused("no terminal"));
    });
  }
});

describe("an agent is known by its environment", () => {
  for (const name of [
    "CLAUDECODE",
    "CLAUDE_CODE_ENTRYPOINT",
    "AI_AGENT",
    "GEMINI_CLI",
    "COPILOT_CLI",
    "CODEX_THREAD_ID",
    "CURSOR_AGENT",
    "OPENCODE",
  ]) {
    test(name, async () => {
      expect(await asked(ASK, { [name]: "1" })).toEqual(refused(`${name} in the environment`));
      expect(await asked(ASK, { [name]: "" })).toEqual(PERSON);
    });
  }
  test("that of its shell, too, where it hides its own", async () => {
    const hiding = `/usr/bin/env -i PATH="$PATH" HOME="$HOME" ${quoted(ASK)}; true`;
    const shell = `export BAD=$'\\xff' HIDING=${JSON.stringify(hiding).replaceAll("$", "\\$")}; exec bash -c 'eval "$HIDING"; true'`;
    expect(await asked(["bash", "-c", shell], { CLAUDECODE: "1" })).toEqual(refused("has CLAUDECODE"));
  });
});

/** A process that goes by the name of a client and starts the rest. */
function client(home: string, name: string): string {
  const path = join(home, name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync("/bin/bash", path);
  return path;
}

describe("an agent is known by its ancestors", () => {
  const faked = `script -qec "${quoted(ASK).replaceAll('"', '\\"')}" /dev/null; true`;

  for (const name of [
    "claude",
    "codex",
    "gemini",
    "copilot",
    "opencode",
    "cursor-agent",
    ".local/share/claude/versions/2.1.0",
  ]) {
    test(`${name} that makes itself a terminal with script`, async () => {
      const home = tempRoot();
      const clean = `/usr/bin/env -i PATH="$PATH" HOME="$HOME" bash -c ${JSON.stringify(faked)}; true`;
      expect(await asked([client(home, name), "-c", clean], {}, home)).toEqual(refused("it was started below"));
    });
  }

  test("script alone is a terminal like any other", async () => {
    expect(await asked(["bash", "-c", faked])).toEqual(PERSON);
  });

  test("a client that an interpreter runs", async () => {
    const home = tempRoot();
    const script = join(home, "node_modules/@anthropic-ai/claude-code/cli.mjs");
    mkdirSync(dirname(script), { recursive: true });
    writeFileSync(script, `Bun.spawnSync(${JSON.stringify(ASK)}, { stdio: ["inherit", "inherit", "inherit"] });`);
    expect(await asked([process.execPath, script], {}, home)).toEqual(refused("below an agent"));
  });

  test("the process of a session, whatever it is called", async () => {
    const home = tempRoot();
    const sessions = join(home, ".local/state/pawl/sessions");
    mkdirSync(sessions, { recursive: true });
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const note = (start: string) => `
      ns=$(readlink /proc/self/ns/pid); start=${start}
      printf '{"root":"/x","run":"","pid":%d,"pid_start":"%s","pid_ns":"%s","boot":"${boot}"}' $$ "$start" "$ns" > '${sessions}/claude-abc'
      ${quoted(ASK)}; true`;
    const own = "$(sed 's/.*) //' /proc/$$/stat | cut -d' ' -f20)";
    expect(await asked(["bash", "-c", note(own)], {}, home)).toEqual(refused("the agent of a session"));
    expect(await asked(["bash", "-c", note("1")], {}, home)).toEqual(PERSON);
  });
});
