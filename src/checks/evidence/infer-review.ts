/** What a reviewer said: a sub-agent or a command that reviews, by the last line of its result that says anything about it. */

import { isConditional, isNegated, ownLines, withoutQuotes } from "../../kernel/text/doubt.ts";
import type { Json, ToolCall } from "../../kernel/types/run.ts";
import { field, textAt } from "./evidence.ts";
import { changedBy } from "./infer-tests.ts";

type ReviewWord = "approved" | "refused" | "unclear";

export interface Review {
  verdict: ReviewWord;
  at: string;
  /** in words, for what is not plain from the verdict */
  why: string;
}

/** The last review among the calls; null: there was none. An approval is of the code as it was then. */
export function judgeReview(calls: ToolCall[], reviewers: string[] = []): Review | null {
  const place = calls.findLastIndex((call) => isReview(call, reviewers));
  const review = calls[place];
  if (review === undefined) return null;
  const judged = judge(review);
  if (judged.verdict !== "approved") return { ...judged, at: review.at };
  const edited = calls
    .slice(place + 1)
    .flatMap(changedBy)
    .find((path) => !/(?:^|\/)session\.md$/.test(path));
  if (edited === undefined) return { ...judged, at: review.at };
  return { verdict: "unclear", at: review.at, why: `${edited} was edited after the review` };
}

function judge({ name, result }: ToolCall): Omit<Review, "at"> {
  if (result === null) return { verdict: "unclear", why: "the reviewer has not answered" };
  if (result.error) return { verdict: "unclear", why: "the reviewer failed" };
  if (/^\s*(?:\[Request interrupted|Async agent launched|Launching skill)/.test(result.text) || isAway(result.data))
    return { verdict: "unclear", why: "the reviewer has not answered" };
  // What a command's call gives back is mostly its own instruction.
  const text = name === "Skill" || name === "SlashCommand" ? resultOfSkill(result.text) : result.text;
  const verdict = reviewVerdict(text);
  return {
    verdict,
    why: verdict === "unclear" ? "the reviewer's result is not plain" : `the reviewer's result: ${verdict}`,
  };
}

const isAway = (data: Json) => textAt(data, "status") === "async_launched" || field(data, "interrupted") === true;
const resultOfSkill = (text: string) => /^Skill .*completed[^\n]*\n+Result:\n?(.*)$/s.exec(text)?.[1] ?? "";

function isReview(call: ToolCall, reviewers: string[]): boolean {
  const name = calledBy(call);
  const own = name.replace(/^\//, "");
  return name !== "" && (isReviewer(name) || reviewers.some((one) => own === one || own.endsWith(`:${one}`)));
}

function calledBy({ name, input }: ToolCall): string {
  if (name === "Task" || name === "Agent") return textAt(input, "subagent_type");
  if (name !== "Skill" && name !== "SlashCommand") return "";
  return (textAt(input, "skill") || textAt(input, "command")).trim().split(/\s+/)[0]!;
}

/** `oracle-reviewer`, `codeReviewer`, `team:code-review`; not `preview-builder`, `review-fixer`, `oracle-sql`. */
function isReviewer(name: string): boolean {
  const own = name
    .slice(name.lastIndexOf(":") + 1)
    .replace(/([a-z])([A-Z])/g, "$1-$2")
    .toLowerCase();
  return (
    own === "oracle" ||
    (/(?:^|[^a-z]|code)review(?:er)?(?:[^a-z]|$)/.test(own) && !/fix|respon|address|resolv|reply|write/.test(own))
  );
}

// ── The words ───────────────────────────────────────────────────────────────

const HARMLESS =
  /\b(?:no|without(?: any)?|nothing|zero)\s+(?:(?:further|more|other|open|major|remaining|blocking|critical|new|serious|outstanding|additional)\s+)*(?:comments?|issues?|concerns?|problems?|findings?|changes|blockers?|objections?|remarks?|questions?|nits?|regressions?|bugs?|blocking|missing|else|to add)(?:\s+(?:are|were|was))?(?:\s+(?:found|requested|required|needed|remain(?:ing)?|left|necessary))?\b|\bnon-?blocking\b|\bnot blocking\b/giu;
const REFUSED =
  /\b(?:changes[ _](?:are |were )?(?:requested|required|needed|necessary)|request(?:s|ed|ing)?[ _]changes|needs?[ _](?:\w+ )?(?:work|changes|fix(?:es|ing)?|rework)|(?:do not|don't) (?:merge|approve|ship)|must (?:be )?(?:fix|chang|address|rewrit|remov|resolv)\w*|blocking (?:issues?|findings?|problems?|comments?|bugs?)|blockers?|unapproved|disapproved?|not lgtm)\b|^\W*(?:(?:final |overall |my )*(?:verdict|decision|result|status|review)\W+)?(?:reject(?:ed)?|blocking|blocked|declined|denied)\b|\b(?:is|are|was|been) (?:rejected|blocked|declined)\b/iu;
const ABOUT = /\b(?:approv\w*|lgtm|looks? good|ship it)\b/iu;
const ASKS = /\b(?:fix|chang|address|renam|add|remov|updat|resolv|correct|split|tests?)\w*/iu;
const LABEL =
  "(?:(?:final|overall|review|my|oracle|code|reviewer'?s?)\\s+)*(?:verdict|decision|result|status|review|conclusion|recommendation|outcome|summary)\\s*[:=—–-]+\\s*";
const END = "(?=\\s*$|\\s*[.!,;)(—–-]|\\s+(?:with|and|for|to merge|as)\\b|:\\s*yes\\b|\\s*\\p{So}|\\s+:\\+1:)";
const VERDICT = new RegExp(
  `^(?:${LABEL})?[\\s\\p{So}\\uFE0F]*(?:i\\s+)?(?:approved?|lgtm|looks good(?: to me)?|ship it)${END}`,
  "iu",
);
const SENTENCE =
  /\b(?:(?:this|it|everything|all|(?:the|these|those|your) (?:changes?|diff|code|pr|pull request|patch|implementation|work|commits?))\s+(?:(?:is|are|has been|have been)\s+(?:now |hereby )?(?:approved|good to (?:go|merge))|looks? good)|i(?:'m| am)? (?:hereby )?approv(?:e|ing) (?:this|it|the (?:change|pr|diff|patch|work|code|implementation)))\b/iu;

/** A reviewer who asks for changes, negates or sets conditions in the last line about it has not approved. */
export function reviewVerdict(text: string): ReviewWord {
  for (const raw of ownLines(text).toReversed()) {
    const word = classifyLine(raw.slice(0, 1000));
    if (word !== null) return word;
  }
  return "unclear";
}

function classifyLine(raw: string): ReviewWord | null {
  // A table's row or an item with an open box is about a part.
  if (/^\s*\||^\s*[-*+]\s*\[[ >]?\]/.test(raw)) return REFUSED.test(raw) ? "refused" : null;
  const line = raw
    .replace(HARMLESS, " ")
    .replace(/\*\*|__|^[\s#>*_+-]+|[*_]+(?=\s|$|[.!])/g, "")
    .trim();
  if (REFUSED.test(line)) return /\?/.test(line) ? "unclear" : "refused";
  if (!ABOUT.test(line)) return null;
  if (/\?/.test(line)) return "unclear";
  if (isNegated(line)) return "refused";
  if (isConditional(line)) return ASKS.test(line) ? "refused" : "unclear";
  const quoteless = withoutQuotes(line);
  return VERDICT.test(quoteless) ||
    quoteless.split(/(?<=[.!])\s+/).some((one) => VERDICT.test(one) || SENTENCE.test(one))
    ? "approved"
    : null;
}
