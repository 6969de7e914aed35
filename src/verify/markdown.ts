/** A receipt to paste into a pull request; the same text can be checked later. */
import { plain } from "../kernel/text/safe-text.ts";
import type { Receipt } from "./receipt.ts";
import type { Checked } from "./run.ts";

const HEADING = "### Pawl:";
const MARKS = { pass: "✅ pass", fail: "❌ fail", unproven: "❓ unproven" };

export function markdownOf(receipt: Receipt): string {
  const rows = receipt.verdicts.map(row);
  const left = receipt.not_asked.map(
    ({ gate, needs }) => `| ${code(gate)} | not asked | ${code(`needs ${needs}`)} | | | | |`,
  );
  return [
    `${HEADING} ${summaryOf(receipt)}`,
    "",
    `${treeLine(receipt)}, ${receipt.at.slice(0, 19)}Z, pawl ${code(receipt.pawl)}`,
    "",
    "| gate | verdict | what proved it | tests | time | tree | output |",
    "|---|---|---|---|---|---|---|",
    ...rows,
    ...left,
    "",
    "<details><summary>Receipt (<code>pawl verify --check</code> reads it)</summary>",
    "",
    "```json",
    fencedJson(receipt),
    "```",
    "",
    "</details>",
    "",
  ].join("\n");
}

export function summaryOf({ verdicts, only }: Pick<Receipt, "verdicts" | "only">): string {
  const count = (word: string) => verdicts.filter(({ verdict }) => verdict === word).length;
  const [passed, failed, unproven] = [count("pass"), count("fail"), count("unproven")];
  const parts = [
    `${passed} of ${verdicts.length} ${verdicts.length === 1 ? "gate" : "gates"} passed`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(unproven > 0 ? [`${unproven} unproven`] : []),
    ...(only ? ["not all were asked"] : []),
  ];
  return parts.join(", ");
}

function treeLine({ tree, head, dirty, base }: Receipt): string {
  const commit = head === "" ? "no commit" : `${code(head.slice(0, 12))}${dirty ? " with changes" : ""}`;
  const compared = base ? `, compared with ${code(base.ref)} (${code(String(base.commit).slice(0, 12))})` : "";
  return `tree ${code(tree.slice(0, 12) || "unknown")} (${commit})${compared}`;
}

function row(one: Checked): string {
  const { gate, verdict, why, flaky, as_before, command, tests, ms, tree, digest, cwd } = one;
  const mark = `${MARKS[verdict]}${flaky ? " (flaky)" : ""}${as_before ? " (as before)" : ""}`;
  const place = cwd && cwd !== "." ? ` (in ${cwd})` : "";
  const proof = command === undefined ? code(why) : `${code(command + place)}: ${code(why)}`;
  const counts = tests ? `${tests.passed} passed, ${tests.failed} failed, ${tests.skipped} skipped` : "";
  const time = ms === undefined ? "" : secondsOf(ms);
  const cells = [
    code(gate),
    mark,
    proof,
    counts,
    time,
    code(tree.slice(0, 12)),
    digest ? code(digest.slice(0, 12)) : "",
  ];
  return `| ${cells.join(" | ")} |`;
}

export const secondsOf = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

/** Text of a repository or a program: as code nothing in it is a link, a picture, a name or HTML. */
function code(text: string): string {
  const line = plain(String(text)).replace(/\s+/g, " ").trim().slice(0, 300).replaceAll("`", "'");
  return line === "" ? "" : `\`${line.replaceAll("|", "\\|")}\``;
}

/** Nothing in it can end the block or the fold; it stays the same JSON. */
function fencedJson(receipt: Receipt): string {
  const escaped = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(receipt, null, 1).replace(
    /[`<>&@\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f]/g,
    escaped,
  );
}

/** The JSON of the receipt in a text, whatever is around it; null: there is none. */
export function receiptIn(text: string): string | null {
  const blocks = text.replaceAll("\r\n", "\n").matchAll(/^```json\n([\s\S]*?)\n```$/gm);
  for (const [, json] of blocks) if (/"receipt": ?1\b/.test(json!)) return json!;
  return null;
}

/** Does the part for people say what the receipt says? */
export const showsReceipt = (text: string, receipt: Receipt) => flat(text).includes(flat(markdownOf(receipt)));

const flat = (text: string) => text.replace(/\s+/g, " ").trim();
