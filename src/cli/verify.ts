import { readFileSync } from "node:fs";
import { treeHash } from "../checks/tree/tree.ts";
import { renderProblem, suggest } from "../definitions/problem.ts";
import { visible } from "../kernel/text/safe-text.ts";
import { UserError } from "../kernel/user-error.ts";
import { detectChecks, gateText, TESTS } from "../setup/install/checks.ts";
import { messageOf, PathError } from "../store/files.ts";
import { nothingRuns } from "../verify/jobs.ts";
import { junitPath } from "../verify/junit.ts";
import { checkReceipt } from "../verify/markdown.ts";
import { provable, proveGates } from "../verify/prove.ts";
import { report } from "../verify/report.ts";
import { type Base, findBase, gatesHere, type Selection, selectGates } from "../verify/select.ts";
import { waitForChecks } from "../verify/wait.ts";
import { type Io, type Parsed, projectRoot } from "./shared/args.ts";
import { endWithSignals, hasColours, openProgress } from "./shared/screen.ts";

export const usage = `usage: pawl verify [gate …] [--base REF] [--json | --markdown] [--junit FILE]
       pawl verify --check FILE     check that this receipt (JSON or Markdown, - for stdin) is genuine and about this tree
       pawl verify --prove [gate …] check that each gate can fail: break a copy of the project on purpose
       pawl verify --wait           wait for a check that is still running outside the hook, at most 100 s

Run the gates of pawl.yaml and .pawl/workflows on the files as they are. A gate that needs a run (a person, the agent's
own tool calls …) is listed and does not count. What passed on exactly the same tree is not run again.

  --base REF     compare with the commit where this branch left REF: for when_changed, only, and weakened tests.
                 The tests of that commit are read, not run, so their number is not known.
  --json         print the receipt, which is also kept as .pawl/receipts/<tree>.json
  --markdown     print it for a pull request
  --junit FILE   write JUnit XML, - for stdout; an unproven gate is an error there

No command runs before you approve it: \`pawl trust\`, in CI \`pawl trust --hash SHA\`.
Exit codes: 0 all passed, 1 some failed, 2 wrong usage or no gates, 3 some unproven and none failed, 130 interrupted.
  --check: 0 genuine and all passed, 1 stale, edited or failed, 2 no receipt, 3 from another machine or unproven.
  --prove: 0 each gate can fail, 1 one passes anyway, 3 one could not be tried.
  --wait: 0 passed, or nothing is running; 1 failed; 4 still running, run it again.`;

export const options = ["--base=", "--json", "--markdown", "--junit=", "--wait", "--prove", "--check="];
export const exclusive = [["--json", "--markdown"]];

const LONGEST_WAIT_MS = 100_000;

/** A repository can put a link where Pawl would write: that is to be fixed, not to be reported. */
export async function run(parsed: Parsed, io: Io): Promise<number> {
  try {
    return await answer(parsed, io);
  } catch (error) {
    if (!(error instanceof PathError)) throw error;
    throw new UserError(visible(error.message), "Pawl never writes outside the project; remove the link", 3);
  }
}

async function answer(parsed: Parsed, io: Io): Promise<number> {
  const { words, flags, values } = parsed;
  refuseMixtures(parsed);
  const root = projectRoot(io);
  if (values["--check"] !== undefined) return check(root, values["--check"], io);
  if (flags.has("--wait")) return wait(root, io);
  const junit = values["--junit"] === undefined ? null : junitTarget(root, io.cwd, values["--junit"]);
  const found = values["--base"] === undefined ? { base: null } : findBase(root, values["--base"]);
  if ("why" in found) throw new UserError(visible(found.why), found.hint);
  const { base } = found;
  const selection = selected(root, words, base, io);
  const running = nothingRuns();
  const progress = openProgress(30_000);
  const release = endWithSignals(running, progress, io);
  try {
    if (flags.has("--prove") && provable(selection.gates).length === 0)
      throw new UserError("no gate here runs a command", "there is nothing to break");
    if (flags.has("--prove")) return await proveGates({ root, gates: selection.gates, running, progress, out: io.out });
    const form = flags.has("--json") ? "json" : flags.has("--markdown") ? "markdown" : "lines";
    const asked = { root, selection, base, ...(words.length > 0 && { only: words }) };
    const shown = { form, junit, colours: hasColours(io), unseen: !io.isTTY, out: io.out, err: io.err } as const;
    return await report(asked, shown, running, progress);
  } finally {
    release();
  }
}

/** Each of these is a question of its own. */
function refuseMixtures({ words, flags, values }: Parsed): void {
  const given = [...flags, ...Object.keys(values)];
  const alone = ["--check", "--wait", "--prove"].find((option) => given.includes(option));
  const other = given.find((option) => option !== alone);
  if (alone !== undefined && other !== undefined)
    throw new UserError(`${alone} and ${other} cannot be used together`, HELP);
  if (words.length > 0 && (alone === "--check" || alone === "--wait"))
    throw new UserError(`${alone} cannot be used with the name of a gate`, HELP);
  if (values["--junit"] === "-" && (flags.has("--json") || flags.has("--markdown")))
    throw new UserError("only one of them can be written to stdout", "write the JUnit XML to a file");
}

const HELP = "see `pawl verify --help`";

// ── The selection ──────────────────────────────────────────────────────────

function selected(root: string, words: string[], base: Base | null, io: Io): Selection {
  const { gates, problems } = gatesHere(root, io.home);
  for (const problem of problems) io.err(`${renderProblem(problem)}\n`);
  if (problems.length > 0)
    throw new UserError("fix these errors first: gates in them are not run", "`pawl check` checks the files again");
  const names = [...new Set(gates.map((gate) => gate.name))];
  const unknown = words.find((word) => !names.includes(word));
  if (gates.length === 0) throw new UserError("there are no gates here", exampleText(root));
  if (unknown !== undefined)
    throw new UserError(`there is no gate ${visible(unknown)}`, suggest(unknown, names.map(visible), "the gates here"));
  const selection = selectGates(gates, words, base !== null);
  if (selection.gates.length > 0) return selection;
  const all = selection.left.map(({ gate, needs }) => `${visible(gate)} needs ${needs}`).join("; ");
  throw new UserError("no gate here can run now", all);
}

/** A first gate, with a command that this project has already. */
function exampleText(root: string): string {
  const found = detectChecks(root);
  const { name, command } = found.find((one) => one.name === TESTS) ?? found[0] ?? { name: TESTS, command: "npm test" };
  return `write one into pawl.yaml, then \`pawl trust\`:\n\n    gates:\n      ${name}: ${gateText(name, command)}\n`;
}

function junitTarget(root: string, cwd: string, named: string): string {
  if (named === "-") return named;
  try {
    return junitPath(root, cwd, named);
  } catch (error) {
    const hint = "use a file in an existing folder; a relative path must stay inside the project";
    throw new UserError(`the JUnit file cannot be written: ${visible(messageOf(error))}`, hint);
  }
}

// ── The other questions ─────────────────────────────────────────────────────

function check(root: string, named: string, io: Io): number {
  const tree = treeHash(root, null);
  const { code, lines } = checkReceipt(readWhole(named, io), tree.ok ? tree.value : "");
  if (code === 2) throw new UserError(lines[0]!, "give a file name, or - for stdin");
  io.out(`${lines.map(visible).join("\n")}\n`);
  return code;
}

const LARGEST = 16 << 20;

function readWhole(named: string, io: Io): string {
  try {
    const bytes = readFileSync(named === "-" ? 0 : named.startsWith("/") ? named : `${io.cwd}/${named}`);
    if (bytes.length > LARGEST) throw new Error("it is larger than 16 MB");
    return bytes.toString("utf8");
  } catch (error) {
    const what = `${visible(named)} cannot be read: ${visible(messageOf(error))}`;
    throw new UserError(what, "give the file of a receipt, or -");
  }
}

async function wait(root: string, io: Io): Promise<number> {
  const { code, lines } = await waitForChecks(root, LONGEST_WAIT_MS, openProgress(10_000, io));
  io.out(`${lines.join("\n")}\n`);
  return code;
}
