import { resolve } from "node:path";
import { type DetectedStage, detectInText, detectInTranscript } from "../auto/detect.ts";
import { visible } from "../kernel/text/safe-text.ts";
import { UserError } from "../kernel/user-error.ts";
import { findRoot } from "../store/place.ts";
import { type Io, type Parsed, print, readInput } from "./shared/args.ts";
import { findTarget } from "./workflows/targets.ts";

export const usage = `usage: pawl detect [--workflow NAME] [--json] [text…]           (or the text on stdin)
       pawl detect --transcript FILE [--task ID] [--workflow NAME] [--json]

Shows which stage a text or a session is at, and how Pawl knows: by a marker in the agent's own words, or inferred from
tool calls and their results; otherwise Pawl would ask the agent. In a transcript the last message and all tool calls
count, those of sub-agents too; the latest stage wins. A text alone is no evidence: what it names is a guess, marked as
unverified, and never moves a run.

  --transcript  a session's .jsonl file of Claude Code
  --task        the task of the session; needed to notice that it was opened or closed
  --workflow    default: auto-workflow
  --json        stage, tier (marker, inferred, asked), evidence, unverified

Exit codes: 0 a stage was found, or work on one (IN_PROGRESS, IN_TESTING, IN_ORACLE_REVIEW), 1 UNKNOWN, 2 wrong usage.`;

const HOW = "pass it as arguments, on stdin, or use --transcript";

export const options = ["--transcript=", "--task=", "--workflow=", "--json"];

export async function run(parsed: Parsed, io: Io): Promise<number> {
  const { words, values } = parsed;
  const name = values["--workflow"] ?? "auto-workflow";
  const found = findTarget(name, io);
  if ("errors" in found) throw new UserError(`the workflow ${visible(name)} has problems`, "`pawl check` shows them");
  const file = values["--transcript"];
  if (file !== undefined && words.length > 0)
    throw new UserError("a text or a transcript, not both", "use one of them");
  if (file === undefined && values["--task"] !== undefined)
    throw new UserError("--task goes with --transcript", "a text alone shows nothing about a task");
  const detected =
    file === undefined
      ? detectInText(found.workflow, words.length > 0 ? words.join(" ") : await readInput("no text given", HOW))
      : detectInTranscript(found.workflow, findRoot(io.cwd), resolve(io.cwd, file), values["--task"] ?? "");
  return print(io, parsed, detected, () => `${inLines(detected)}\n`, detected.stage === "UNKNOWN" ? 1 : 0);
}

/** The stage alone on the first line, for scripts that want no more. */
const inLines = ({ stage, tier, evidence, unverified }: DetectedStage) =>
  [stage, `  tier      ${tier}${unverified ? ", unverified" : ""}`, `  evidence  ${visible(evidence)}`].join("\n");
