/** One `pawl verify`: ask, keep the receipt, say it in the form that was wished for. */
import { gatherGit } from "../checks/git.ts";
import { treeHash } from "../checks/tree/tree.ts";
import type { Base } from "./base.ts";
import { codeOf } from "./check-receipt.ts";
import type { Running } from "./jobs.ts";
import { junitOf } from "./junit.ts";
import { writeJunit } from "./junit-file.ts";
import { markdownOf, summaryOf } from "./markdown.ts";
import type { Progress } from "./progress.ts";
import { knownPasses, makeReceipt, type Receipt, receiptPath, writeReceipt } from "./receipt.ts";
import { type Answer, type Checked, verifyGates } from "./run.ts";
import type { Selection } from "./select.ts";
import { leftLine, verdictLines } from "./verdict-lines.ts";

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
    begins: (name: string) => progress.show(name),
    goes: progress.show,
    decided: (checked: Checked) => {
      progress.clear();
      if (inLines) say(verdictLines(checked, form.colours));
      else if (form.unseen && checked.verdict !== "pass") form.err(`${verdictLines(checked, false).join("\n")}\n`);
    },
  };
  const before = treeHash(root, null);
  const known = before.ok ? knownPasses(root, before.value, base?.commit ?? "") : {};
  const answer = await verifyGates({ root, gates: selection.gates, base: base?.commit ?? "", known }, running, watch);
  progress.clear();
  const receipt = receiptOf(asked, answer);
  const kept = writeReceipt(root, receipt);
  say([...selection.left.map(leftLine), "", `${summaryOf(receipt)}${placeOf(receipt, kept)}`]);
  if (form.form === "json") form.out(`${JSON.stringify(receipt, null, 2)}\n`);
  if (form.form === "markdown") form.out(markdownOf(receipt));
  writeXml(root, receipt, form);
  return codeOf(receipt);
}

function receiptOf({ root, selection, base, only }: Question, { verdicts, tree }: Answer): Receipt {
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
  });
}

function placeOf({ tree }: Receipt, kept: boolean): string {
  if (tree === "") return "";
  return ` @ tree ${tree.slice(0, 10)}${kept ? `; receipt: ${receiptPath(tree)}` : ""}`;
}

/** A file that git sees is part of the tree: the receipt would be stale the moment it is written. */
function writeXml(root: string, receipt: Receipt, { junit, out, err }: Form): void {
  if (junit === null) return;
  if (junit === "-") {
    out(junitOf(receipt));
    return;
  }
  writeJunit(junit, junitOf(receipt));
  const tree = treeHash(root, null);
  if (tree.ok && receipt.tree !== "" && tree.value !== receipt.tree)
    err(`pawl: ${junit} is not ignored by git, so it changes the tree: the receipt is about the tree without it\n`);
}
