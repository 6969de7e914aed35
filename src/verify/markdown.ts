/** A receipt to paste into a pull request, and the check of such a text or of its JSON. */
import { version } from "../../package.json";
import { safeText } from "../kernel/text/safe-text.ts";
import { describeOrigin, parseReceipt, type Receipt } from "./receipt.ts";
import type { Checked } from "./run.ts";

const HEADING = "### Pawl:";
const MARKS = { pass: "✅ pass", fail: "❌ fail", unproven: "❓ unproven" };

export function renderMarkdown(receipt: Receipt): string {
  const rows = receipt.verdicts.map(row);
  const left = receipt.not_asked.map(
    ({ gate, needs }) => `| ${code(gate)} | not asked | ${code(`needs ${needs}`)} | | | | |`,
  );
  return [
    `${HEADING} ${summarize(receipt)}`,
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

export function summarize({ verdicts, only }: Pick<Receipt, "verdicts" | "only">): string {
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
  const mark = `${MARKS[verdict]}${one.proof ? ` (${one.proof})` : ""}${flaky ? " (flaky)" : ""}${as_before ? " (as before)" : ""}`;
  const place = cwd && cwd !== "." ? ` (in ${cwd})` : "";
  const proof = command === undefined ? code(why) : `${code(command + place)}: ${code(why)}`;
  const counts = tests ? `${tests.passed} passed, ${tests.failed} failed, ${tests.skipped} skipped` : "";
  const time = ms === undefined ? "" : `${(ms / 1000).toFixed(1)} s`;
  const cells = [code(gate), mark, proof, counts, time, code(tree.slice(0, 12)), code(digest?.slice(0, 12) ?? "")];
  return `| ${cells.join(" | ")} |`;
}

/** Text of a repository or a program: as code nothing in it is a link, a picture, a name or HTML. */
function code(text: string): string {
  const line = safeText(String(text)).replace(/\s+/g, " ").trim().slice(0, 300).replaceAll("`", "'");
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
function receiptIn(text: string): string | null {
  const blocks = text.replaceAll("\r\n", "\n").matchAll(/^```json\n([\s\S]*?)\n```$/gm);
  for (const [, json] of blocks) if (/"receipt": ?1\b/.test(json!)) return json!;
  return null;
}

const flat = (text: string) => text.replace(/\s+/g, " ").trim();

// ── Checking ────────────────────────────────────────────────────────────────

/** As the exit code: 0 holds, 1 does not, 3 cannot be told. */
export interface Finding {
  code: 0 | 1 | 2 | 3;
  lines: string[];
}

/** `now`: the tree as it is, "" where it cannot be read. */
export function checkReceipt(text: string, now: string): Finding {
  const json = text.trimStart().startsWith("{") ? text : receiptIn(text);
  const receipt = json === null ? null : parseReceipt(json);
  if (!receipt) return { code: 2, lines: ["this is no receipt of `pawl verify --json` or `--markdown`"] };
  const origin = describeOrigin(receipt);
  if (origin === "edited") return edited("its content is not what was sealed");
  // The part for people has to say what the receipt says.
  const isShown = json === text || receipt.pawl !== version || flat(text).includes(flat(renderMarkdown(receipt)));
  if (!isShown) return edited("the table says something else than the receipt below it");
  const stale = staleness(receipt, now);
  if (stale !== null) return { code: 1, lines: [`stale: ${stale}`, ...content(receipt)] };
  if (origin === "foreign") return { code: 3, lines: [...FOREIGN, ...content(receipt)] };
  return {
    code: exitCode(receipt),
    lines: [`fine: sealed here, about this tree ${now.slice(0, 12)}`, ...content(receipt)],
  };
}

const edited = (why: string): Finding => ({ code: 1, lines: [`edited: ${why}; run \`pawl verify\` yourself`] });

/** What another machine sealed can be read, not proved. */
const FOREIGN = [
  "foreign: it was sealed with a key that is not on this machine",
  "  its digest holds, so no letter of it changed by accident; whoever wrote it could have written anything",
  "  to be sure: run `pawl verify` here, on the same tree",
];

function staleness(receipt: Receipt, now: string): string | null {
  const was = receipt.tree.slice(0, 12) || "unknown";
  if (now === "") return `it is about tree ${was}, and the tree of now cannot be read`;
  return receipt.tree === now ? null : `it is about tree ${was}, the tree is ${now.slice(0, 12)} now`;
}

const content = (receipt: Receipt) => [
  `  it says: ${summarize(receipt)} (${receipt.at.slice(0, 19)}Z${receipt.by_agent ? ", run by an agent" : ""})`,
];

export function exitCode({ verdicts }: Pick<Receipt, "verdicts">): 0 | 1 | 3 {
  if (verdicts.some(({ verdict }) => verdict === "fail")) return 1;
  return verdicts.length === 0 || verdicts.some(({ verdict }) => verdict !== "pass") ? 3 : 0;
}
