/** Verdicts as people read them. */
import { proofOf } from "../engine/core/claim.ts";
import { plain } from "../kernel/text/safe-text.ts";
import type { Checked } from "./run.ts";
import type { Left } from "./select.ts";

const SIGNS = { pass: "✓", fail: "✗", unproven: "?" };
const COLOURS = { pass: "32", fail: "31", unproven: "33" };

export function verdictLines(checked: Checked, colours: boolean): string[] {
  const { verdict, tail, as_before, command, cwd } = checked;
  const sign = colours ? `\u001b[${COLOURS[verdict]}m${SIGNS[verdict]}\u001b[0m` : SIGNS[verdict];
  const line = `${sign} ${plain(proofOf(checked))}${as_before ? " (as before)" : ""}`;
  if (verdict === "pass" || !tail) return [line];
  const where = cwd && cwd !== "." ? ` (in ${cwd})` : "";
  return [line, `    $ ${plain(command ?? "")}${where}`, ...tail.split("\n").map((one) => `    ${plain(one)}`)];
}

export const leftLine = ({ gate, needs }: Left) => `· ${plain(gate)}: not asked, needs ${needs}`;
