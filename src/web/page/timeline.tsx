/// <reference lib="dom" />
/** One moment of a run's story; the journal shows the same lines. */
import type { ComponentChildren } from "preact";
import type { Moment } from "../run-page.ts";
import { clock, day, sentence } from "./format.ts";
import { type Tone, useFresh } from "./parts.tsx";

type Line = Moment & { run?: string };

interface Props {
  moment: Line;
  before: Line | undefined;
  children?: ComponentChildren;
}

export const momentKey = ({ run = "", at, seq, kind, text }: Line) =>
  `${run} ${at} ${seq} ${kind} ${text.slice(0, 40)}`;

export function TimelineItem({ moment, before, children }: Props) {
  const { tone, sign } = look(moment);
  const isSame = before !== undefined && before.at === moment.at && before.run === moment.run;
  return (
    <li class={`moment ${tone}${isSame ? " same" : ""}${useFresh()}`} data-item="" tabIndex={-1}>
      {(!before || day(before.at) !== day(moment.at)) && <p class="day">{day(moment.at)}</p>}
      <time dateTime={moment.at} class="num">
        {clock(moment.at)}
      </time>
      <span class="mark" aria-hidden="true">
        {sign}
      </span>
      <div class="told">
        {children}
        <p class={FAINT.test(moment.kind) ? "muted" : ""}>{sentence(moment.text)}</p>
        <Detail moment={moment} />
      </div>
    </li>
  );
}

/** These happen at every step, and tell a person little. */
const FAINT = /^(continued|owed|delivered|noticed|left|checkpointed|doubled|commanded)$/;

const KINDS: [RegExp, Tone, string][] = [
  [/^(ended|loop_ended|advanced|task_done|phased)$/, "good", "✓"],
  [/^(refused|errored|undelivered|malformed|changed|unread)$/, "bad", "✕"],
  [/^(asked|halted|paused|checking)$/, "warn", "!"],
  [/^(prompted|decided|approved|accepted|commanded|adopted|resumed)$/, "accent", "◆"],
  [/^stopped$/, "quiet", "❙"],
  [/^(signalled|armed|task_begun|iteration_begun)$/, "accent", "▸"],
];

function look({ kind, text }: Moment): { tone: Tone; sign: string } {
  if (kind === "gated" || kind === "looped") {
    if (/: pass\b|\bSUCCESS\b/.test(text)) return { tone: "good", sign: "✓" };
    return /: fail\b|\bfailed\b|\bFAIL/.test(text) ? { tone: "bad", sign: "✕" } : { tone: "warn", sign: "?" };
  }
  if (kind === "ended" && !/completed/.test(text)) return { tone: "quiet", sign: "■" };
  const found = KINDS.find(([pattern]) => pattern.test(kind));
  return found ? { tone: found[1], sign: found[2] } : { tone: "quiet", sign: "·" };
}

const LABELS: Record<string, string> = { gated: "Output and evidence", stopped: "In full", prompted: "In full" };

/** What does not fit a line is folded away: the output of a check, a whole message, fields. */
function Detail({ moment: { kind, detail } }: { moment: Moment }) {
  const text = inLines(detail);
  if (text === "") return null;
  const label = LABELS[kind] ?? "More";
  return (
    <details>
      <summary>{label}</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long output scrolls, also by keyboard */}
      {/* biome-ignore lint/a11y/useSemanticElements: output has to stay in a pre */}
      <pre tabIndex={0} aria-label={label} role="group">
        {text}
      </pre>
    </details>
  );
}

function inLines(detail: Moment["detail"]): string {
  return Object.entries(detail ?? {})
    .filter(([, value]) => value !== null && value !== "")
    .map(([name, value]) => field(name, value))
    .join("\n");
}

function field(name: string, value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return text.includes("\n") ? `${name}:\n${text.replace(/^/gm, "  ")}` : `${name}: ${text}`;
}
