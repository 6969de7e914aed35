/// <reference lib="dom" />
/** The pieces that several pages share. Text only ever becomes text nodes and attributes: nothing here reads markup. */
import { type ComponentChildren, createContext, type JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { RunRow } from "../../insight/types.ts";
import type { StageView } from "../now.ts";
import type { Project } from "./api.ts";
import { ago, capital, moment, projectName, stageName, ticking } from "./format.ts";
import { link, type PageName, type Query, refine } from "./route.ts";

export interface View<T> {
  title(data: T): string;
  load(query: Query): Promise<T>;
  Page(props: { data: T; query: Query }): JSX.Element;
  /** milliseconds after which it is asked for again, though no change was announced */
  again?(data: T): number | null;
}

/** The page may look, but change nothing. */
export const ReadOnly = createContext(false);

export type Tone = "good" | "bad" | "warn" | "accent" | "quiet";

const SIGNS: Record<Tone, string> = { good: "✓", bad: "✕", warn: "!", accent: "●", quiet: "○" };

export const Badge = ({ text, tone }: { text: string; tone: Tone }) => (
  <span class={`badge ${tone}`}>
    <span aria-hidden="true" class="sign">
      {SIGNS[tone]}
    </span>
    {text}
  </span>
);

export const Heading = ({
  title,
  lead,
  children,
}: {
  title: string;
  lead?: ComponentChildren;
  children?: ComponentChildren;
}) => (
  <div class="heading">
    <div class="heading-text">
      <h1 tabIndex={-1}>{title}</h1>
      {lead && <p class="lead">{lead}</p>}
    </div>
    {children}
  </div>
);

export function runState(run: Pick<RunRow, "status" | "outcome">): { text: string; tone: Tone } {
  if (run.status === "waiting") return { text: "Needs you", tone: "warn" };
  if (run.status === "halted") return { text: "Stopped", tone: "warn" };
  if (run.status === "active") return { text: "Running", tone: "accent" };
  const outcome = run.outcome ?? "ended";
  if (/^(completed|success|done)/i.test(outcome)) return { text: "Completed", tone: "good" };
  return { text: capital(outcome), tone: /^(aborted|cancelled|handed)/i.test(outcome) ? "quiet" : "bad" };
}

// ── Times ───────────────────────────────────────────────────────────────────

/** Draws the component again every second. */
function useClock(): void {
  const [, draw] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => draw((count) => count + 1), 1000);
    return () => clearInterval(timer);
  }, []);
}

/** How long ago, as a running clock. */
export function Since({ at }: { at: string }) {
  useClock();
  return (
    <time dateTime={at} title={moment(at)} class="num">
      {ticking(Date.now() - Date.parse(at))}
    </time>
  );
}

export function When({ at }: { at: string }) {
  useClock();
  return (
    <time dateTime={at} title={moment(at)}>
      {ago(at)}
    </time>
  );
}

// ── What is new ─────────────────────────────────────────────────────────────

const FRESH_MS = 2_400;
let marksNew = false;

/** Set before a page is drawn: only what joins a page that was there already is marked as new. */
export function markNew(is: boolean): void {
  marksNew = is;
}

/** A class for an element that has just appeared, for a moment. */
export function useFresh(): string {
  const [fresh, setFresh] = useState(marksNew);
  useEffect(() => {
    if (!fresh) return;
    const timer = setTimeout(() => setFresh(false), FRESH_MS);
    return () => clearTimeout(timer);
  }, [fresh]);
  return fresh ? " fresh" : "";
}

// ── Runs and stages ─────────────────────────────────────────────────────────

const STATES = { done: "done", now: "now", open: "to come" } as const;

export const StageTrack = ({ stages }: { stages: StageView[] }) => (
  <ol class="track" aria-label="Stages">
    {stages.map(({ title, id, state }) => (
      <li key={id} class={state} aria-current={state === "now" ? "step" : undefined}>
        <span class="mark" aria-hidden="true">
          {state === "done" ? "✓" : ""}
        </span>
        <span class="name">{stageName(title || id)}</span>
        <span class="visually-hidden"> ({STATES[state]})</span>
      </li>
    ))}
  </ol>
);

export const RunLink = ({
  project,
  id,
  text,
  class: name,
}: {
  project: string;
  id: string;
  text: string;
  class?: string;
}) => (
  <a href={link("run", { project, id })} class={name} data-item="">
    {text}
  </a>
);

export const ProjectTag = ({ root }: { root: string }) => (
  <span class="project" title={root}>
    {projectName(root)}
  </span>
);

export const runTitle = (run: { title: string | null; task: string | null; workflow: string }): string =>
  run.title || run.task || run.workflow;

// ── Lists ───────────────────────────────────────────────────────────────────

export const Empty = ({
  title,
  text,
  children,
}: {
  title: string;
  text: ComponentChildren;
  children?: ComponentChildren;
}) => (
  <div class="empty">
    <p class="empty-title">{title}</p>
    <p>{text}</p>
    {children}
  </div>
);

/** Text between backticks is something to type. */
export const Typed = ({ text }: { text: string }) => (
  <>{text.split("`").map((part, i) => (i % 2 === 1 ? <code key={part}>{part}</code> : part))}</>
);

/** A cell of a table that on a phone becomes a line of a card, with its column's name. */
export const Cell = ({ label, kind, children }: { label: string; kind?: string; children: ComponentChildren }) => (
  <td data-label={label} class={kind}>
    <div class="value">{children}</div>
  </td>
);

export const Table = ({
  caption,
  columns,
  children,
}: {
  caption: string;
  columns: [string, string?][];
  children: ComponentChildren;
}) => (
  <div class="card table-card">
    <table>
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map(([name, kind]) => (
            <th key={name} scope="col" class={kind}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
);

interface SelectProps {
  label: string;
  options: (readonly [value: string, text: string])[];
  value: string;
  onPick(to: string): void;
}

export const Select = ({ label, options, value, onPick }: SelectProps) => (
  <label class="field">
    <span>{label}</span>
    <select value={value} onChange={({ currentTarget }) => onPick(currentTarget.value)}>
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  </label>
);

interface FilterProps {
  page: PageName;
  query: Query;
  projects: Project[];
}

export const ProjectFilter = ({ page, query, projects }: FilterProps) => (
  <Select
    label="Project"
    options={[["", "All projects"], ...projects.map(({ root, name }) => [root, name] as const)]}
    value={query.project ?? ""}
    onPick={(project) => refine(page, { ...query, project, after: null })}
  />
);

export function Pager({ page, query, next }: { page: PageName; query: Query; next: string | null }) {
  if (!next && !query.after) return null;
  return (
    <nav class="pager" aria-label="Pages of this list">
      {query.after && (
        <a class="button" href={link(page, { ...query, after: null })}>
          Newest
        </a>
      )}
      {next && (
        <a class="button" href={link(page, { ...query, after: next })}>
          Older
        </a>
      )}
    </nav>
  );
}
