/** A project in which a loop can run, and an agent whose every iteration is a small script. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PAWL } from "../harness/harness.ts";

export interface LoopWorld {
  root: string;
  home: string;
  /** what each iteration does, in order; the last one again and again */
  steps(...scripts: string[]): void;
  /** how often the agent was started */
  started(): number;
  /** the prompt of that iteration, as it came on stdin */
  prompt(iteration: number): string;
  /** runs `pawl loop …` to its end */
  loop(...args: string[]): { code: number; out: string; err: string; events: LoopEvent[] };
  /** starts it and goes on */
  start(...args: string[]): Bun.Subprocess<"ignore", "pipe", "pipe">;
  pawl(...args: string[]): { code: number; out: string; err: string };
  sh(script: string): string;
  clear(): void;
}

export interface LoopEvent {
  event: string;
  [key: string]: unknown;
}

/** a procedure without checks of its own */
export const PLAIN = `name: plain
title: Plain
about: Says something.
success: It is done.
again: It is not.
failure: It cannot be done.
phases:
  act: [{ content: "Do it." }]
`;
/** what an agent does that is done */
export const SUCCESS = "echo; echo '<promise>SUCCESS</promise>'; echo; echo All is done.";

const AGENT = `#!/bin/sh
place=$(dirname "$0")
n=$(($(cat "$place/count" 2>/dev/null || echo 0) + 1))
echo "$n" > "$place/count"
cat > "$place/prompt-$n"
[ -f "$place/step-$n" ] || n=last
PLACE="$place" exec /bin/sh "$place/step-$n"
`;

export function openWorld(): LoopWorld {
  const base = mkdtempSync(join(tmpdir(), "pawl-loop-"));
  const [root, home, agent] = ["project", "home", "agent"].map((name) => join(base, name)) as [string, string, string];
  for (const folder of [root, home, agent]) mkdirSync(folder);
  writeFileSync(join(agent, "agent"), AGENT, { mode: 0o755 });
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: home,
    TZ: "UTC",
    GIT_CONFIG_GLOBAL: join(home, ".gitconfig"),
    GIT_CONFIG_NOSYSTEM: "1",
  };
  writeFileSync(
    join(home, ".gitconfig"),
    "[user]\n\tname = Ann\n\temail = ann@example.org\n[init]\n\tdefaultBranch = main\n",
  );
  const words = (args: string[]) => [
    PAWL,
    "loop",
    ...args,
    ...(args.some((arg) => arg === "--resume" || arg.startsWith("--ai")) ? [] : ["--ai-cmd", join(agent, "agent")]),
    ...(args.includes("--attach") ? [] : ["--no-preflight"]),
  ];
  const run = (argv: string[]) => {
    const { exitCode, stdout, stderr } = Bun.spawnSync(argv, { cwd: root, env, stdin: "ignore" });
    return { code: exitCode, out: stdout.toString(), err: stderr.toString() };
  };
  const sh = (script: string) => {
    const { code, out, err } = run(["/bin/sh", "-c", script]);
    if (code !== 0) throw new Error(`${script}: ${err}`);
    return out;
  };
  sh("git init -q && git commit -q --allow-empty -m begin");
  return {
    root,
    home,
    steps(...scripts) {
      for (const [n, script] of scripts.entries()) writeFileSync(join(agent, `step-${n + 1}`), script);
      writeFileSync(join(agent, "step-last"), scripts.at(-1) ?? "");
    },
    started: () => Number(read(join(agent, "count")) || 0),
    prompt: (n) => read(join(agent, `prompt-${n}`)),
    loop(...args) {
      const ran = run(words(args));
      return { ...ran, events: eventsIn(ran.out) };
    },
    start: (...args) => Bun.spawn(words(args), { cwd: root, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" }),
    pawl: (...args) => run([PAWL, ...args]),
    sh,
    clear: () => rmSync(base, { recursive: true, force: true }),
  };
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

export const eventsIn = (out: string): LoopEvent[] =>
  out
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as LoopEvent);
