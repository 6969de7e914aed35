/** The journal: every line, to filter and to search; and one such line, which a run's story shows, too. */
import type { ComponentChildren } from "preact";
import type { Answer } from "../api.ts";
import type { Moment } from "../run-page.ts";
import { ask, Locked, type Project, withProjects } from "./api.ts";
import { clock, day, sentence } from "./format.ts";
import {
  Empty,
  Filter,
  Heading,
  NotReadable,
  Pager,
  ProjectFilter,
  ProjectTag,
  RunLink,
  type Tone,
  useFresh,
} from "./parts.tsx";
import { type Query, refine, type View } from "./route.ts";

type Lines = Pick<Answer<"journal">, "rows" | "next" | "unread">;
type Line = Lines["rows"][number];

const KINDS = [
  ["", "Everything"],
  ["stopped", "Stops"],
  ["signalled", "Claims"],
  ["gated", "Checks"],
  ["refused", "Refusals"],
  ["advanced", "Moves"],
  ["asked", "Questions"],
  ["decided", "Decisions"],
  ["approved", "Approvals"],
  ["prompted", "Prompts"],
  ["armed", "Starts"],
  ["ended", "Ends"],
  ["errored", "Errors"],
] as const;

export const viewJournal: View<Lines & { projects: Project[] }> = {
  title: () => "Journal",
  load: ({ project, q, kind, run, after, all }) => {
    const hide = all ? null : "bookkeeping";
    const lines: Promise<Lines> = ask("journal", { project, q, kind, run, after, hide });
    return withProjects(run ? lines.catch(noneIfRefused) : lines);
  },
  Page: ({ data: { rows, next, unread, projects }, query }) => (
    <>
      <Heading title="Journal" lead="Everything Pawl saw and decided, newest first." />
      <Filters query={query} projects={projects} />
      {unread.map((root) => (
        <NotReadable key={root} project={root} />
      ))}
      {rows.length === 0 ? (
        <Nothing query={query} goesOn={next !== null} />
      ) : (
        <div class="card timeline-card">
          <ol class="timeline">
            {rows.map((line, i) => (
              <Item
                key={`${line.project} ${momentKey(line)}`}
                line={line}
                before={rows[i - 1]}
                isSearch={Boolean(query.q)}
              />
            ))}
          </ol>
        </div>
      )}
      <Pager page="journal" query={query} next={next} />
    </>
  ),
};

/** What is typed may not be a run's name yet. */
function noneIfRefused(error: unknown): Lines {
  if (error instanceof Locked || error instanceof TypeError) throw error;
  return { rows: [], next: null, unread: [] };
}

/** Every line has fields. Those of these kinds say more than the line itself; a search may have found any of them. */
const DETAILED = /^(gated|asked|reported|errored|changed|looped|loop_ended|noticed)$/;

function Item({ line, before, isSearch }: { line: Line; before: Line | undefined; isSearch: boolean }) {
  const detail = isSearch || DETAILED.test(line.kind) ? line.detail : null;
  return (
    <TimelineItem moment={{ ...line, detail }} before={before}>
      <p class="meta">
        <ProjectTag root={line.project} />
        <span>
          <RunLink project={line.project} id={line.run} text={line.run} />
        </span>
        <span>{line.kind}</span>
      </p>
    </TimelineItem>
  );
}

const Filters = ({ query, projects }: { query: Query; projects: Project[] }) => (
  <search class="filters" aria-label="Search the journal">
    <SearchField label="Search" name="q" query={query} />
    <Filter page="journal" query={query} name="kind" label="What" options={KINDS} />
    <ProjectFilter page="journal" query={query} projects={projects} />
    <SearchField label="Run" name="run" query={query} />
    <label class="switch">
      <input
        type="checkbox"
        checked={Boolean(query.all)}
        onChange={({ currentTarget }) =>
          refine("journal", { ...query, all: currentTarget.checked ? "1" : null, after: null })
        }
      />
      <span>Show deliveries and notices</span>
    </label>
  </search>
);

const SETTLES_MS = 250;
let typing: ReturnType<typeof setTimeout> | undefined;

/** Letters may come while the answer to the ones before is on its way: a field that is typed in keeps its text. */
function SearchField({ label, name, query }: { label: string; name: string; query: Query }) {
  const keep = (input: HTMLInputElement | null) => {
    if (input && document.activeElement !== input) input.value = query[name] ?? "";
  };
  const type = ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
    clearTimeout(typing);
    const search = () => refine("journal", { ...query, [name]: currentTarget.value.trim(), after: null });
    typing = setTimeout(search, SETTLES_MS);
  };
  return (
    <label class="field">
      <span>{label}</span>
      <input type="search" ref={keep} onInput={type} autocomplete="off" spellcheck={false} />
    </label>
  );
}

function Nothing({ query, goesOn }: { query: Query; goesOn: boolean }) {
  if (goesOn) return <Empty title="No match so far." text="This journal is long: “Older” searches further back." />;
  if (!query.q && !query.kind && !query.project && !query.run)
    return (
      <Empty title="The journal is empty." text="Type `/complete-work` in Claude Code: every step is written here." />
    );
  return (
    <Empty title="No matching lines." text="Fewer filters show more.">
      <button type="button" onClick={() => refine("journal", {})}>
        Show everything
      </button>
    </Empty>
  );
}

// ── One line ────────────────────────────────────────────────────────────────

type JournalEntry = Moment & { run?: string };

type Props = { moment: JournalEntry; before: JournalEntry | undefined; children?: ComponentChildren };

export const momentKey = ({ run = "", at, seq, kind, text }: JournalEntry) =>
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

const LOOKS: [RegExp, Tone, string][] = [
  [/^(ended|loop_ended|advanced|task_done|phased)$/, "good", "✓"],
  [/^(refused|errored|undelivered|malformed|changed|unread)$/, "bad", "✕"],
  [/^(asked|halted|paused|checking|held)$/, "warn", "!"],
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
  const found = LOOKS.find(([pattern]) => pattern.test(kind));
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
      <Listing label={label} text={text} />
    </details>
  );
}

/** Text of several lines, as it is. */
export const Listing = ({ label, text }: { label: string; text: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: long output scrolls, also by keyboard
  // biome-ignore lint/a11y/useSemanticElements: output has to stay in a pre
  <pre tabIndex={0} aria-label={label} role="group">
    {text}
  </pre>
);

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
