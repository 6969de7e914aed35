/** Is this receipt what Pawl wrote, and is it about the tree of now? */

import { version } from "../../package.json";
import { receiptIn, showsReceipt, summaryOf } from "./markdown.ts";
import { originOf, parseReceipt, type Receipt } from "./receipt.ts";

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
  const origin = originOf(receipt);
  if (origin === "edited") return edited("its content is not what was sealed");
  const isShown = json === text || receipt.pawl !== version || showsReceipt(text, receipt);
  if (!isShown) return edited("the table says something else than the receipt below it");
  const stale = staleness(receipt, now);
  if (stale !== null) return { code: 1, lines: [`stale: ${stale}`, ...content(receipt)] };
  if (origin === "foreign") return { code: 3, lines: [...FOREIGN, ...content(receipt)] };
  return {
    code: codeOf(receipt),
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

const content = (receipt: Receipt) => [`  it says: ${summaryOf(receipt)} (${receipt.at.slice(0, 19)}Z)`];

export function codeOf({ verdicts }: Pick<Receipt, "verdicts">): 0 | 1 | 3 {
  if (verdicts.some(({ verdict }) => verdict === "fail")) return 1;
  return verdicts.length === 0 || verdicts.some(({ verdict }) => verdict !== "pass") ? 3 : 0;
}
