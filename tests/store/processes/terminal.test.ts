/** Terminals that an agent makes for itself, each with real processes, and those that a person has. */
import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeParent } from "../../../src/store/processes/owner.ts";
import { inWindow } from "../../harness/terminal-window.ts";
import { childEnv, commandFor, removeTemps, tempRoot } from "../samples.ts";

afterEach(removeTemps);
setDefaultTimeout(60_000);

const has = (program: string) => Bun.which(program) !== null;
const quoted = (words: string[]) => words.map((word) => `'${word}'`).join(" ");
const PERSON = { ok: true, who: Bun.spawnSync(["id", "-un"]).stdout.toString().trim() };

interface Scene {
  home: string;
  /** where the answer will be */
  path: string;
  /** asks, as words for a shell */
  ask: string;
  socket: string;
}

/** A session of ours, whose client is this process: an agent is at work here. */
function scene(): Scene {
  const home = tempRoot();
  const sessions = join(home, ".local/state/pawl/sessions");
  mkdirSync(sessions, { recursive: true });
  const pointer = { root: "/x", run: "", ...describeParent(process.pid) };
  writeFileSync(join(sessions, "claude-abc"), JSON.stringify(pointer));
  const path = join(home, "answer");
  return { home, path, ask: quoted(commandFor("asking.ts", [path])), socket: join(home, "tmux") };
}

async function answerIn(path: string): Promise<unknown> {
  const until = Date.now() + 40_000;
  while (!existsSync(path)) {
    if (Date.now() > until) throw new Error("no one was asked");
    await Bun.sleep(20);
  }
  return JSON.parse(readFileSync(path, "utf8"));
}

const MARKS = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "abc", AI_AGENT: "claude-code_2-1-325_agent", TERM: "xterm" };
const CLEAN = 'env -i PATH="$PATH" HOME="$HOME"';
const script = (line: string) => `script -qec "${line.replaceAll('"', '\\"')}" /dev/null`;
const python = (line: string) => `python3 -c 'import pty,sys; pty.spawn(["sh", "-c", sys.argv[1]])' "${line}"`;
const tmux = (socket: string, line: string) => `tmux -S '${socket}' new-session -d "${line}; sleep 30"`;

/** What an agent can write in one line, from the shell that its client made. */
const TRICKS: [string, string, (at: Scene) => string, string][] = [
  ["script", "script", ({ ask }) => script(ask), "in the environment"],
  ["script, without the marks", "script", ({ ask }) => `${CLEAN} ${script(ask)}`, "below"],
  [
    "script, named claude by exec -a",
    "script",
    ({ ask }) => `${CLEAN} bash -c "exec -a claude ${script(ask).replaceAll('"', '\\"')}"`,
    "below",
  ],
  [
    "setsid",
    "script",
    ({ ask }) => `${CLEAN} setsid -f ${script(ask)} </dev/null >/dev/null 2>&1`,
    "no sign of a person's session",
  ],
  [
    "setsid with the marks",
    "script",
    ({ ask }) => `setsid -f ${script(ask)} </dev/null >/dev/null 2>&1`,
    "in the environment",
  ],
  [
    "what cron starts",
    "script",
    ({ ask }) =>
      `(env -i LOGNAME=me SHELL=/bin/sh PATH="$PATH" HOME="$HOME" setsid ${script(ask)} </dev/null >/dev/null 2>&1 &)`,
    "no sign of a person's session",
  ],
  ["python's pty", "python3", ({ ask }) => `${CLEAN} ${python(ask)}`, "below"],
  [
    "python's pty, of no one",
    "python3",
    ({ ask }) => `${CLEAN} setsid -f ${python(ask)} </dev/null >/dev/null 2>&1`,
    "no sign of a person's session",
  ],
  ["expect", "expect", ({ ask }) => `${CLEAN} expect -c "spawn ${ask}; expect eof"`, "below"],
  ["a detached tmux", "tmux", ({ ask, socket }) => tmux(socket, ask), "in the environment"],
  [
    "a detached tmux, the command without the marks",
    "tmux",
    ({ ask, socket }) => tmux(socket, `${CLEAN.replaceAll('"', "")} TERM=xterm ${ask}`),
    "below",
  ],
  [
    "a detached tmux without the marks",
    "tmux",
    ({ ask, socket }) => `${CLEAN} TERM=xterm ${tmux(socket, ask)}`,
    "no one is attached",
  ],
  [
    "a tmux attached by script",
    "tmux",
    ({ ask, socket }) =>
      `${CLEAN} TERM=xterm ${tmux(socket, `sleep 2; ${ask}`)}; ${CLEAN} TERM=xterm ${script(`tmux -S ${socket} attach`)}`,
    "made its terminal",
  ],
];

describe("what an agent starts is no person:", () => {
  for (const [name, program, line, why] of TRICKS) {
    test.skipIf(!has(program))(name, async () => {
      const at = scene();
      const cmd = ["bash", "-c", `${line(at)}; true`];
      const shell = Bun.spawn(cmd, {
        cwd: at.home,
        env: { ...childEnv(at.home), ...MARKS },
        stdin: "ignore",
        stdout: "ignore",
      });
      expect(await answerIn(at.path)).toEqual({ ok: false, why: expect.stringContaining(why) });
      if (existsSync(at.socket)) Bun.spawnSync(["tmux", "-S", at.socket, "kill-server"]);
      await shell.exited;
    });
  }
  for (const program of new Set(TRICKS.map(([, needed]) => needed)))
    if (!has(program)) console.warn(`SKIPPED, nothing proven: ${program} is not installed`);
});

/** While an agent is at work in another window. */
const HONEST: [string, string, (at: Scene) => string][] = [
  ["a plain terminal", "sh", ({ ask }) => ask],
  ["a shell in it", "bash", ({ ask }) => `bash -c "${ask}; true"`],
  ["script", "script", ({ ask }) => script(ask)],
  ["tmux", "tmux", ({ ask, socket }) => `tmux -S '${socket}' new-session "${ask}"`],
  [
    "tmux that was detached, and attached again",
    "tmux",
    ({ ask, socket }) =>
      `${tmux(socket, `until [ -s '${socket}.go' ]; do sleep 0.1; done; ${ask}; tmux -S '${socket}' kill-server`)}; (until [ -n "$(tmux -S '${socket}' list-clients)" ]; do sleep 0.1; done; echo go > '${socket}.go') & tmux -S '${socket}' attach`,
  ],
  ["/dev/tty as input", "sh", ({ ask }) => `${ask} </dev/tty`],
];

describe("a person is one, while an agent runs elsewhere, in", () => {
  for (const [name, program, line] of HONEST) {
    test.skipIf(!has(program))(name, async () => {
      const at = scene();
      const env = { ...childEnv(at.home), LANG: "C.UTF-8" };
      await inWindow({ cmd: ["sh", "-c", line(at)], cwd: at.home, env, answers: [] });
      expect(await answerIn(at.path)).toEqual(PERSON);
    });
  }
});
