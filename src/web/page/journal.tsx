/// <reference lib="dom" />
/** The journal: every line, to filter and to search. */
import type { JournalData, NowData } from "../api.ts";
import { ask, Locked, type Project } from "./api.ts";
import { Badge, Empty, Heading, Pager, ProjectFilter, ProjectTag, RunLink, Select, type View } from "./parts.tsx";
import { type Query, refine } from "./route.ts";
import { momentKey, TimelineItem } from "./timeline.tsx";

type Line = JournalData["rows"][number];
type Data = Pick<JournalData, "rows" | "next" | "unread"> & { projects: Project[] };

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

export const viewJournal: View<Data> = {
  title: () => "Journal",
  load: async ({ project, q, kind, run, after }) => {
    const lines = ask<JournalData>("journal", { project, q, kind, run, after });
    const [page, { projects }] = await Promise.all([run ? lines.catch(noneIfRefused) : lines, ask<NowData>("now")]);
    return { ...page, projects };
  },
  Page: ({ data: { rows, next, unread, projects }, query }) => (
    <>
      <Heading title="Journal" lead="Everything Pawl saw and decided, newest first." />
      <Filters query={query} projects={projects} />
      {unread.map((root) => (
        <p key={root} class="card notice">
          <Badge text="Not readable" tone="warn" /> <ProjectTag root={root} />
        </p>
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
function noneIfRefused(error: unknown): Omit<Data, "projects"> {
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

function Filters({ query, projects }: { query: Query; projects: Project[] }) {
  const change = (name: string) => (value: string) => refine("journal", { ...query, [name]: value, after: null });
  return (
    <search class="filters" aria-label="Search the journal">
      <SearchField label="Search" value={query.q ?? ""} onType={change("q")} />
      <Select label="What" options={[...KINDS]} value={query.kind ?? ""} onPick={change("kind")} />
      <ProjectFilter page="journal" query={query} projects={projects} />
      <SearchField label="Run" value={query.run ?? ""} onType={change("run")} />
    </search>
  );
}

const SETTLES_MS = 250;
let typing: ReturnType<typeof setTimeout> | undefined;

/** Letters may come while the answer to the ones before is on its way: a field that is typed in keeps its text. */
function SearchField({ label, value, onType }: { label: string; value: string; onType(to: string): void }) {
  const keep = (input: HTMLInputElement | null) => {
    if (input && document.activeElement !== input) input.value = value;
  };
  const type = ({ currentTarget }: { currentTarget: HTMLInputElement }) => {
    clearTimeout(typing);
    typing = setTimeout(() => onType(currentTarget.value.trim()), SETTLES_MS);
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
      <Empty
        title="The journal is empty."
        text={
          <>
            Type <code>/complete-work</code> in Claude Code: every step is written here.
          </>
        }
      />
    );
  return (
    <Empty title="No matching lines." text="Fewer filters show more.">
      <button type="button" onClick={() => refine("journal", {})}>
        Show everything
      </button>
    </Empty>
  );
}
