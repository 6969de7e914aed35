/// <reference lib="dom" />
/** The plain lists: runs, tasks, loops. */
import type { RunRow } from "../../insight/types.ts";
import type { LoopData, NowData, TasksData } from "../api.ts";
import type { TaskView } from "../tasks.ts";
import { ask, type Project } from "./api.ts";
import { capital, DOT, many, money, span } from "./format.ts";
import {
  Badge,
  Cell,
  Empty,
  Heading,
  Pager,
  ProjectFilter,
  ProjectTag,
  RunLink,
  runState,
  runTitle,
  Select,
  Since,
  Table,
  type Tone,
  useFresh,
  type View,
  When,
} from "./parts.tsx";
import { refine } from "./route.ts";

interface Listed<Row> {
  rows: Row[];
  next: string | null;
  projects: Project[];
}

async function withProjects<T>(answer: Promise<T>): Promise<T & { projects: Project[] }> {
  const [data, { projects }] = await Promise.all([answer, ask<NowData>("now")]);
  return { ...data, projects };
}

// ── Runs ────────────────────────────────────────────────────────────────────

const STATUSES = [
  ["", "All"],
  ["active", "Running"],
  ["waiting", "Needs you"],
  ["halted", "Stopped"],
  ["ended", "Ended"],
] as const;

const RUN_COLUMNS: [string, string?][] = [
  ["Run"],
  ["State"],
  ["Stage"],
  ["Project"],
  ["Started"],
  ["Took", "right"],
  ["Continued", "right"],
  ["Cost", "right"],
];

export const viewRuns: View<Listed<RunRow>> = {
  title: () => "Runs",
  load: ({ project, status, after }) => withProjects(ask("runs", { project, status, after })),
  Page: ({ data: { rows, next, projects }, query }) => (
    <>
      <Heading title="Runs" lead="Every run Pawl knows, newest first." />
      <fieldset class="filters" aria-label="Which runs">
        <Select
          label="Status"
          options={[...STATUSES]}
          value={query.status ?? ""}
          onPick={(status) => refine("runs", { ...query, status, after: null })}
        />
        <ProjectFilter page="runs" query={query} projects={projects} />
      </fieldset>
      {rows.length === 0 ? (
        <Empty
          title="No runs here."
          text={
            <>
              Type <code>/complete-work</code> in Claude Code to begin one.
            </>
          }
        />
      ) : (
        <Table caption="Runs" columns={RUN_COLUMNS}>
          {rows.map((run) => (
            <RunLine key={`${run.project} ${run.id}`} run={run} />
          ))}
        </Table>
      )}
      <Pager page="runs" query={query} next={next} />
    </>
  ),
};

const RunLine = ({ run }: { run: RunRow }) => (
  <tr class={useFresh()}>
    <th scope="row">
      <RunLink project={run.project} id={run.id} text={runTitle(run)} />
      <span class="muted">{`${run.workflow}${DOT}${run.id}`}</span>
    </th>
    <Cell label="State">
      <Badge {...runState(run)} />
    </Cell>
    <Cell label="Stage">{run.stage}</Cell>
    <Cell label="Project">
      <ProjectTag root={run.project} />
    </Cell>
    <Cell label="Started" kind="nowrap">
      <When at={run.started_at} />
    </Cell>
    <Cell label="Took" kind="right num nowrap">
      {run.ended_at ? span(Date.parse(run.ended_at) - Date.parse(run.started_at)) : <Since at={run.started_at} />}
    </Cell>
    <Cell label="Continued" kind="right num">{`${run.continues}×`}</Cell>
    <Cell label="Cost" kind="right num">
      {money(run.cost_usd)}
    </Cell>
  </tr>
);

// ── Tasks ───────────────────────────────────────────────────────────────────

const GROUPS = ["in_progress", "ready", "blocked"] as const;

export const viewTasks: View<TasksData & { projects: Project[] }> = {
  title: () => "Tasks",
  load: ({ project }) => withProjects(ask<TasksData>("tasks", { project })),
  Page: ({ data: { tasks, problems, projects }, query }) => (
    <>
      <Heading title="Tasks" lead="What the projects’ trackers hold: beads, session.md, GitHub." />
      <fieldset class="filters" aria-label="Which tasks">
        <ProjectFilter page="tasks" query={query} projects={projects} />
      </fieldset>
      {problems.map(({ project, why }) => (
        <p key={project} class="card notice">
          <Badge text="Not readable" tone="warn" /> <ProjectTag root={project} /> {why}
        </p>
      ))}
      {tasks.length + problems.length === 0 && <NoTask />}
      {GROUPS.map((status) => (
        <TaskGroup key={status} status={status} tasks={tasks.filter((task) => task.status === status)} />
      ))}
    </>
  ),
};

const NoTask = () => (
  <Empty
    title="No tasks."
    text={
      <>
        Add one with <code>pawl task add "…"</code>, or type <code>/auto</code> to work through those you have.
      </>
    }
  />
);

const TaskGroup = ({ status, tasks }: { status: string; tasks: TaskView[] }) =>
  tasks.length === 0 ? null : (
    <section>
      <h2>
        {capital(status)} <span class="count">{tasks.length}</span>
      </h2>
      <ul class="card rows">
        {tasks.map((task) => (
          <TaskRow key={`${task.project} ${task.id}`} task={task} />
        ))}
      </ul>
    </section>
  );

/** How Pawl marks what a session of its own has taken. */
const OWN_SESSION = /^pawl-(?=[0-9a-f]{8}$)/;

function TaskRow({ task }: { task: TaskView }) {
  const hints = [task.command, task.model, ...task.after.slice(0, 3).map((id) => `after ${id}`)];
  return (
    <li class={useFresh()} data-item="" tabIndex={-1}>
      <code>{task.id}</code>
      <span class="grow">{task.title}</span>
      {task.next && <Badge text="Next" tone="accent" />}
      {hints.filter(Boolean).map((hint) => (
        <span key={hint} class="tag">
          {hint}
        </span>
      ))}
      {task.assignee && <span class="muted">{task.assignee.replace(OWN_SESSION, "session ")}</span>}
      <ProjectTag root={task.project} />
    </li>
  );
}

// ── Loops ───────────────────────────────────────────────────────────────────

const LOOP_COLUMNS: [string, string?][] = [
  ["Procedure"],
  ["Outcome"],
  ["Iterations"],
  ["Failed", "right"],
  ["Cost", "right"],
  ["Project"],
  ["Started"],
  ["Took", "right"],
];

export const viewLoops: View<Listed<LoopData>> = {
  title: () => "Loops",
  load: ({ project }) => withProjects(ask("loops", { project })),
  Page: ({ data: { rows, projects }, query }) => (
    <>
      <Heading title="Loops" lead={rows.length > 0 ? loopSummary(rows) : "A procedure, repeated in fresh sessions."} />
      <fieldset class="filters" aria-label="Which loops">
        <ProjectFilter page="loops" query={query} projects={projects} />
      </fieldset>
      {rows.length === 0 ? (
        <Empty
          title="No loops yet."
          text={
            <>
              Start one with <code>pawl loop &lt;procedure&gt;</code>; <code>pawl list</code> shows the procedures.
            </>
          }
        />
      ) : (
        <Table caption="Loops" columns={LOOP_COLUMNS}>
          {rows.map((loop) => (
            <LoopLine key={loop.id} loop={loop} />
          ))}
        </Table>
      )}
    </>
  ),
};

const loopSummary = (rows: LoopData[]) =>
  `${many(rows.length, "loop")}, ${many(
    rows.reduce((total, { iterations }) => total + iterations, 0),
    "iteration",
  )}`;

function LoopLine({ loop }: { loop: LoopData }) {
  // Not a single iteration reported its cost.
  const isUnknown = loop.approximate && !loop.cost_usd;
  return (
    <tr class={useFresh()}>
      <th scope="row">
        {loop.run ? (
          <RunLink project={loop.project} id={loop.run} text={loop.procedure} />
        ) : (
          <span data-item="" tabIndex={-1}>
            {loop.procedure}
          </span>
        )}
        <span class="muted">{loop.waiting?.why ?? loop.why}</span>
      </th>
      <Cell label="Outcome">
        <Badge {...loopState(loop)} />
      </Cell>
      <Cell label="Iterations" kind="num nowrap">
        {loop.iterations} <IterationMarks loop={loop} />
      </Cell>
      <Cell label="Failed" kind="right num">
        {loop.failures}
      </Cell>
      <Cell label="Cost" kind="right num">
        {isUnknown ? money(null) : `${loop.approximate ? "≥ " : ""}${money(loop.cost_usd)}`}
      </Cell>
      <Cell label="Project">
        <ProjectTag root={loop.project} />
      </Cell>
      <Cell label="Started" kind="nowrap">
        <When at={loop.started_at} />
      </Cell>
      <Cell label="Took" kind="right num nowrap">
        {span(Date.parse(loop.updated_at) - Date.parse(loop.started_at))}
      </Cell>
    </tr>
  );
}

function loopState({ outcome, running, waiting }: LoopData): { text: string; tone: Tone } {
  if (running) return waiting ? { text: "Waiting", tone: "warn" } : { text: "Running", tone: "accent" };
  if (outcome === null) return { text: "Interrupted", tone: "warn" };
  return { text: capital(outcome.toLowerCase()), tone: /success|completed|done/i.test(outcome) ? "good" : "bad" };
}

const MARKS: Record<string, string> = { failure: "✕", success: "✓" };

/** The last iterations, each as one sign. */
const IterationMarks = ({ loop: { lines } }: { loop: LoopData }) => (
  <span class="iterations" aria-hidden="true">
    {lines.slice(-12).map(({ iteration, verdict, why }) => (
      <span key={iteration} class={`iteration ${verdict}`} title={`${iteration}: ${verdict}${why ? `, ${why}` : ""}`}>
        {MARKS[verdict] ?? "·"}
      </span>
    ))}
  </span>
);
