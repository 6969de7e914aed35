/** `run`, `shell` and `typed`: a command, and exit 0 passes. `tests` builds on it. */

import { safeText } from "../../../kernel/text/safe-text.ts";
import type { Gate, GateFact } from "../../../kernel/types/run.ts";
import { relevantLines } from "../relevant-lines.ts";
import { type Entry, type Finding, fail, type Kind, kind, pass, unproven, type Words } from "./kind.ts";

export type RanFact = Extract<GateFact, { kind: "ran" }>;

const commandOptions = ({ globs, integer, map, optional, path, text }: Words): Record<string, Entry> => ({
  cwd: optional(path, "Where the command is run, relative to the project."),
  when_changed: optional(globs, "Checked only if one of these changed since the run began (or since --base)."),
  retries: optional(integer(0, 5), "This many further attempts; a pass after one is recorded as flaky."),
  timeout: optional(
    integer(1, 86_400),
    "In seconds. A command that takes longer is ended with everything it started, and the gate is unproven.",
    600,
  ),
  wait: optional(
    integer(0, 540),
    "A stop is held up for this many seconds; then the check goes on by itself and the agent is told later.",
    300,
  ),
  env: optional(
    map(VARIABLE, text()),
    "Environment variables for the command. Those that make programs load other code are refused.",
  ),
  fault: optional(
    path,
    "A patch with which this gate has to fail: `pawl verify --prove` tries it, in a copy of the project.",
  ),
});

const VARIABLE = {
  pattern: "^[A-Za-z_][A-Za-z0-9_]{0,127}$",
  what: "the name of an environment variable",
  hint: "use letters, digits and underscores",
};

/** A kind that starts a command: the same options, the same measuring, the output judged by `judgeRun`. */
export function commandKind(
  check: (words: Words) => Entry,
  judgeRun: (gate: Gate, fact: RanFact, background: Parameters<Kind["judge"]>[1]) => Finding,
  rest: Pick<Kind<RanFact>, "name" | "outsideRun" | "command"> & { options?: (words: Words) => Record<string, Entry> },
): Kind<unknown> {
  const { options, ...own } = rest;
  return kind<RanFact>({
    schema: (words) => ({ check: check(words), options: { ...options?.(words), ...commandOptions(words) } }),
    needs: "measure",
    compares: (gate) => gate.tests !== undefined || gate.when_changed !== undefined,
    keep: true,
    measure: (measuring, gate) => measuring.runCommand(gate),
    judge: (gate, background, _facts, fact) => judgeRan(gate, fact, () => judgeRun(gate, fact, background)),
    ...own,
  });
}

export const run = commandKind(
  ({ argv, optional }) =>
    optional(argv, "A command as a list of words, without a shell: [npm, run, lint]. Exit 0 passes."),
  (_gate, fact) => judgeExit(fact),
  { name: (gate) => quoted(gate.run!), command: (gate) => ({ argv: gate.run! }) },
);

export const shell = commandKind(
  ({ gateLine, optional }) =>
    optional(gateLine, "A line for /bin/sh. Exit 0 passes. Needed only for pipes and the like."),
  (_gate, fact) => judgeExit(fact, NOT_RUN),
  { name: (gate) => gate.shell!, command: (gate) => ({ shell: gate.shell! }) },
);

/** Only until the run begins: the command that the person typed is then kept under `shell`. */
export const typed = commandKind(
  ({ optional, yes }) => optional(yes, "The command that the person typed after the starting word, by /bin/sh."),
  (_gate, fact) => judgeExit(fact, NOT_RUN),
  {
    name: () => "the typed command",
    outsideRun: () => "a run: the person types the command",
  },
);

export const quoted = (words: string[]) =>
  words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");

/** What /bin/sh says when a command is not there or cannot be run. */
const NOT_RUN = [126, 127];

function judgeExit({ ran }: RanFact, notRun: number[] = []): Finding {
  const { exit, signal } = ran.attempts.at(-1)!;
  if (exit === 0) return pass("exit 0");
  if (exit === null) return fail(`it was ended by ${signal ?? "a signal"}`);
  return notRun.includes(exit) ? unproven(`it could not be run (exit ${exit})`) : fail(`exit ${exit}`);
}

const TAIL_LINES = 15;

const firstNames = (names: string[]) => names.slice(0, 3).map(safeText).join(", ");

function judgeRan(gate: Gate, { ran, wrote, environment, mentions = [] }: RanFact, judgeRun: () => Finding): Finding {
  const last = ran.attempts.at(-1);
  if (ran.error !== undefined || !last) return unproven(`it could not be run: ${safeText(ran.error ?? "no attempt")}`);
  const measured = {
    command: gate.shell ?? (gate.run ?? gate.tests ?? []).join(" "),
    cwd: gate.cwd ?? ".",
    exit: last.exit,
    ms: last.ms,
    digest: ran.digest,
    ...(ran.around !== undefined && { around: ran.around }),
    ...(environment !== undefined && { environment }),
    tail: relevantLines(ran.output, TAIL_LINES),
  };
  if (last.timed_out) return { ...measured, ...unproven(`it took longer than ${gate.timeout ?? 600} s and was ended`) };
  const found = { ...measured, ...judgeRun() };
  if (found.verdict !== "pass") return found;
  if (wrote.length > 0) {
    const why = `it changes the tree each time it runs (${firstNames(wrote)}); ignore these files`;
    return { ...found, ...unproven(why) };
  }
  if (ran.moved) {
    const why = `the tree moved while it was checked: ${firstNames(ran.moved)}; if the check writes them, ignore them`;
    return { ...found, ...unproven(why) };
  }
  const attempts = ran.attempts.length;
  const flaky = attempts > 1 ? { flaky: true as const } : {};
  const late = attempts > 1 ? `, at attempt ${attempts} only (flaky)` : "";
  return { ...found, ...flaky, why: [`${found.why}${late}`, ...mentions].join("; ") };
}
