/** The pieces that several pages share. Text only ever becomes text nodes and attributes: nothing here reads markup. */
import { type ComponentChildren, createContext } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { RunRow } from "../../insight/types.ts";
import type { StageView } from "../now.ts";
import type { Project } from "./api.ts";
import { ago, capital, moment, projectName, stageName, ticking } from "./format.ts";
import { link, type PageName, type Query, refine } from "./route.ts";
import { closeDialog } from "./state.ts";

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

type Children = { children?: ComponentChildren };

export const Heading = ({ title, lead, children }: Children & { title: string; lead?: ComponentChildren }) => (
  <div class="heading">
    <div class="heading-text">
      <h1 tabIndex={-1}>{title}</h1>
      {lead && <p class="lead">{lead}</p>}
    </div>
    {children}
  </div>
);

/** `state`: as the run's own view names it. */
export function runState(run: Pick<RunRow, "outcome"> & { state: string }): { text: string; tone: Tone } {
  if (run.state === "waiting") return { text: "Needs you", tone: "warn" };
  if (run.state === "paused") return { text: "Paused", tone: "warn" };
  if (run.state === "halted") return { text: "Stopped", tone: "warn" };
  if (run.state === "active") return { text: "Running", tone: "accent" };
  const outcome = run.outcome ?? "ended";
  if (/^(completed|success|done)/i.test(outcome)) return { text: "Completed", tone: "good" };
  return { text: capital(outcome), tone: /^(aborted|cancelled|handed)/i.test(outcome) ? "quiet" : "bad" };
}

// ── Times ───────────────────────────────────────────────────────────────────

/** Drawn again every second. */
function Time({ at, text, kind }: { at: string; text(at: string): string; kind?: string }) {
  const [, draw] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => draw((count) => count + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <time dateTime={at} title={moment(at)} class={kind}>
      {text(at)}
    </time>
  );
}

/** How long ago, as a running clock. */
export const Since = ({ at }: { at: string }) => (
  <Time at={at} text={() => ticking(Date.now() - Date.parse(at))} kind="num" />
);

export const When = ({ at }: { at: string }) => <Time at={at} text={ago} />;

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

export const RunLink = ({ project, id, text }: { project: string; id: string; text: string }) => (
  <a href={link("run", { project, id })} data-item="">
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

/** Text between backticks is something to type. */
export const Typed = ({ text }: { text: string }) => (
  <>{text.split("`").map((part, i) => (i % 2 === 1 ? <code key={part}>{part}</code> : part))}</>
);

export const Empty = ({ title, text, children }: Children & { title: string; text: string }) => (
  <div class="empty">
    <p class="empty-title">{title}</p>
    <p>
      <Typed text={text} />
    </p>
    {children}
  </div>
);

export const NotReadable = ({ project, why = "" }: { project: string; why?: string }) => (
  <p class="card notice">
    <Badge text="Not readable" tone="warn" /> <ProjectTag root={project} /> {why}
  </p>
);

/** What a row shows in a column; the first column is the row's heading. */
export type Column<Row> = [name: string, kind: string, cell: (row: Row) => ComponentChildren];

type TableProps<Row> = { caption: string; columns: Column<Row>[]; rows: Row[]; keyOf(row: Row): string };

export const Table = <Row,>({ caption, columns, rows, keyOf }: TableProps<Row>) => (
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
      <tbody>
        {rows.map((row) => (
          <TableRow key={keyOf(row)} row={row} columns={columns} />
        ))}
      </tbody>
    </table>
  </div>
);

/** On a phone a row becomes a card, and each cell a line of it with its column's name. */
const TableRow = <Row,>({ row, columns }: { row: Row; columns: Column<Row>[] }) => (
  <tr class={useFresh()}>
    {columns.map(([name, kind, cell], i) =>
      i === 0 ? (
        <th key={name} scope="row">
          {cell(row)}
        </th>
      ) : (
        <td key={name} data-label={name} class={kind}>
          <div class="value">{cell(row)}</div>
        </td>
      ),
    )}
  </tr>
);

interface FilterProps {
  page: PageName;
  query: Query;
  name: string;
  label: string;
  options: readonly (readonly [value: string, text: string])[];
  usual?: string;
}

export const Filter = ({ page, query, name, label, options, usual = "" }: FilterProps) => (
  <label class="field">
    <span>{label}</span>
    <select
      value={query[name] ?? usual}
      onChange={({ currentTarget: { value } }) => refine(page, { ...query, [name]: value, after: null })}
    >
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  </label>
);

export function ProjectFilter({ projects, ...place }: Pick<FilterProps, "page" | "query"> & { projects: Project[] }) {
  const options = projects.map(({ root, name }) => [root, name] as const);
  return <Filter {...place} name="project" label="Project" options={[["", "All projects"], ...options]} />;
}

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

// ── Dialogs ─────────────────────────────────────────────────────────────────

const showModal = (dialog: HTMLDialogElement | null) => dialog?.showModal();

/** The browser's own dialog keeps the focus inside. The first field or button in it has the focus, unless another one has `autofocus`. */
export function Dialog({ title, children }: { title: string; children: ComponentChildren }) {
  // A press next to the dialog closes it; Escape does the same for the keyboard.
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the browser closes a dialog with Escape by itself
    <dialog
      ref={showModal}
      aria-labelledby="dialog-title"
      onClose={closeDialog}
      onClick={({ target, currentTarget }) => target === currentTarget && currentTarget.close()}
    >
      <h2 id="dialog-title">{title}</h2>
      {children}
    </dialog>
  );
}
