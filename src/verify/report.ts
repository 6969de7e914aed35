/** One `pawl verify`: ask, keep the receipt, say it in the form that was wished for. */
import { gatherGit } from "../checks/git.ts";
import { treeHash } from "../checks/tree/tree.ts";
import { formatProof } from "../engine/core/claim.ts";
import { safeText } from "../kernel/text/safe-text.ts";
import { writeAtomic } from "../store/files.ts";
import { agentCalling } from "../store/processes/person.ts";
import type { Running } from "./jobs.ts";
import { renderJunit } from "./junit.ts";
import { exitCode, renderMarkdown, summarize } from "./markdown.ts";
import { indented, type Progress } from "./progress.ts";
import { knownPasses, makeReceipt, type Receipt, receiptPath, writeReceipt } from "./receipt.ts";
import { type Answer, type Checked, verifyGates } from "./run.ts";
import type { Base, Left, Selection } from "./select.ts";

export interface Question {
  root: string;
  selection: Selection;
  base: Base | null;
  only?: string[];
}

export interface Form {
  form: "lines" | "json" | "markdown";
  /** a path, "-" for stdout */
  junit: string | null;
  colours: boolean;
  /** stdout is not shown to the person: problems go to stderr, too */
  unseen: boolean;
  out(text: string): void;
  err(text: string): void;
}

export async function report(asked: Question, form: Form, running: Running, progress: Progress): Promise<number> {
  const { root, selection, base } = asked;
  const inLines = form.form === "lines" && form.junit !== "-";
  const say = (lines: string[]) => inLines && form.out(lines.map((line) => `${line}\n`).join(""));
  const watch = {
    show: progress.show,
    decided: (checked: Checked) => {
      progress.clear();
      if (inLines) say(verdictLines(checked, form.colours));
      else if (form.unseen && checked.verdict !== "pass") form.err(`${verdictLines(checked, false).join("\n")}\n`);
    },
  };
  const before = treeHash(root, null);
  const isAgent = agentCalling() !== null;
  const known = before.ok ? knownPasses(root, before.value, base?.commit ?? "", isAgent) : {};
  const answer = await verifyGates({ root, gates: selection.gates, base: base?.commit ?? "", known }, running, watch);
  progress.clear();
  const receipt = buildReceipt(asked, answer, isAgent);
  const kept = writeReceipt(root, receipt);
  const { tree } = receipt;
  const place = tree === "" ? "" : ` @ tree ${tree.slice(0, 10)}${kept ? `; receipt: ${receiptPath(tree)}` : ""}`;
  say([...selection.left.map(leftLine), "", `${summarize(receipt)}${place}`]);
  if (form.form === "json") form.out(`${JSON.stringify(receipt, null, 2)}\n`);
  if (form.form === "markdown") form.out(renderMarkdown(receipt));
  writeXml(root, receipt, form);
  return exitCode(receipt);
}

function buildReceipt(
  { root, selection, base, only }: Question,
  { verdicts, tree }: Answer,
  isAgent: boolean,
): Receipt {
  const git = gatherGit(root);
  return makeReceipt({
    at: new Date().toISOString(),
    tree,
    head: git.ok ? git.value.head : "",
    dirty: git.ok ? git.value.dirty : null,
    base,
    ...(only && { only }),
    verdicts,
    not_asked: selection.left,
    ...(isAgent && { by_agent: true as const }),
  });
}

/** A file that git sees is part of the tree: the receipt would be stale the moment it is written. */
function writeXml(root: string, receipt: Receipt, { junit, out, err }: Form): void {
  if (junit === null) return;
  if (junit === "-") {
    out(renderJunit(receipt));
    return;
  }
  writeAtomic(junit, renderJunit(receipt), 0o644);
  const tree = treeHash(root, null);
  if (tree.ok && receipt.tree !== "" && tree.value !== receipt.tree)
    err(`pawl: ${junit} is not ignored by git, so it changes the tree: the receipt is about the tree without it\n`);
}

// ── Verdicts as people read them ────────────────────────────────────────────

const SIGNS = { pass: "✓", fail: "✗", unproven: "?" };
const COLOURS = { pass: "32", fail: "31", unproven: "33" };

export function verdictLines(checked: Checked, colours: boolean): string[] {
  const { verdict, tail, as_before, command, cwd } = checked;
  const sign = colours ? `\u001b[${COLOURS[verdict]}m${SIGNS[verdict]}\u001b[0m` : SIGNS[verdict];
  const line = `${sign} ${safeText(formatProof(checked))}${as_before ? " (as before)" : ""}`;
  if (verdict === "pass" || !tail) return [line];
  const where = cwd && cwd !== "." ? ` (in ${cwd})` : "";
  return [line, `    $ ${safeText(command ?? "")}${where}`, ...indented(tail)];
}

const leftLine = ({ gate, needs }: Left) => `· ${safeText(gate)}: not asked, needs ${needs}`;
