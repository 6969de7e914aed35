/** The plain lists: runs, tasks, loops. */
import type { Answer } from "../api.ts";
import type { TaskView } from "../tasks.ts";
import { ask, type Project, withProjects } from "./api.ts";
import { capital, DOT, many, money, span } from "./format.ts";
import {
  Badge,
  type Column,
  Empty,
  Filter,
  Heading,
  NotReadable,
  Pager,
  ProjectFilter,
  ProjectTag,
  RunLink,
  runState,
  runTitle,
  Since,
  Table,
  type Tone,
  useFresh,
  When,
} from "./parts.tsx";
import type { View } from "./route.ts";

type With<T> = T & { projects: Project[] };

// ── Runs ────────────────────────────────────────────────────────────────────

const STATUSES = [
  ["", "All"],
  ["active", "Running"],
  ["waiting", "Needs you"],
  ["halted", "Stopped"],
  ["paused", "Paused"],
  ["ended", "Ended"],
] as const;

export const viewRuns: View<With<Answer<"runs">>> = {
  title: () => "Runs",
  load: ({ project, status, after }) => withProjects(ask("runs", { project, status, after })),
  Page: ({ data: { rows, next, projects }, query }) => (
    <>
      <Heading title="Runs" lead="Every run Pawl knows, newest first." />
      <fieldset class="filters" aria-label="Which runs">
        <Filter page="runs" query={query} name="status" label="Status" options={STATUSES} />
        <ProjectFilter page="runs" query={query} projects={projects} />
      </fieldset>
      {rows.length === 0 ? (
        <Empty title="No runs here." text="Type `/complete-work` in Claude Code to begin one." />
      ) : (
        <Table caption="Runs" columns={RUN_COLUMNS} rows={rows} keyOf={({ project, id }) => `${project} ${id}`} />
      )}
      <Pager page="runs" query={query} next={next} />
    </>
  ),
};

type RunRow = Answer<"runs">["rows"][number];

const RUN_COLUMNS: Column<RunRow>[] = [
  ["Run", "", (run) => <RunName run={run} />],
  ["State", "", (run) => <Badge {...runState(run)} />],
  ["Stage", "", ({ stage }) => stage],
  ["Project", "", ({ project }) => <ProjectTag root={project} />],
  ["Started", "nowrap", ({ started_at }) => <When at={started_at} />],
  [
    "Took",
    "right num",
    ({ started_at, ended_at }) => (ended_at ? took(started_at, ended_at) : <Since at={started_at} />),
  ],
  ["Continued", "right num", ({ continues }) => `${continues}×`],
  ["Cost", "right num", ({ cost_usd }) => money(cost_usd)],
];

const RunName = ({ run }: { run: RunRow }) => (
  <>
    <RunLink project={run.project} id={run.id} text={runTitle(run)} />
    <span class="muted">{`${run.workflow}${DOT}${run.id}`}</span>
  </>
);

const took = (from: string, to: string) => span(Date.parse(to) - Date.parse(from));

// ── Tasks ───────────────────────────────────────────────────────────────────

const GROUPS = ["in_progress", "ready", "blocked"] as const;

export const viewTasks: View<With<Answer<"tasks">>> = {
  title: () => "Tasks",
  load: ({ project }) => withProjects(ask("tasks", { project })),
  Page: ({ data: { tasks, problems, projects }, query }) => (
    <>
      <Heading title="Tasks" lead="What the projects’ trackers hold: beads, session.md, GitHub." />
      <fieldset class="filters" aria-label="Which tasks">
        <ProjectFilter page="tasks" query={query} projects={projects} />
      </fieldset>
      {problems.map((problem) => (
        <NotReadable key={problem.project} {...problem} />
      ))}
      {tasks.length + problems.length === 0 && (
        <Empty
          title="No tasks."
          text={'Add one with `pawl task add "…"`, or type `/auto` to work through those you have.'}
        />
      )}
      {GROUPS.map((status) => (
        <TaskGroup key={status} status={status} tasks={tasks.filter((task) => task.status === status)} />
      ))}
    </>
  ),
};

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

type Loop = Answer<"loops">["rows"][number];

export const viewLoops: View<With<Answer<"loops">>> = {
  title: () => "Loops",
  load: ({ project }) => withProjects(ask("loops", { project })),
  Page: ({ data: { rows, projects }, query }) => (
    <>
      <Heading title="Loops" lead={rows.length > 0 ? loopSummary(rows) : "A procedure, repeated in fresh sessions."} />
      <fieldset class="filters" aria-label="Which loops">
        <ProjectFilter page="loops" query={query} projects={projects} />
      </fieldset>
      {rows.length === 0 ? (
        <Empty title="No loops yet." text="Start one with `pawl loop <procedure>`; `pawl list` shows the procedures." />
      ) : (
        <Table caption="Loops" columns={LOOP_COLUMNS} rows={rows} keyOf={({ id }) => id} />
      )}
    </>
  ),
};

function loopSummary(rows: Loop[]): string {
  const iterations = rows.reduce((total, loop) => total + loop.iterations, 0);
  return `${many(rows.length, "loop")}, ${many(iterations, "iteration")}`;
}

const LOOP_COLUMNS: Column<Loop>[] = [
  ["Procedure", "", (loop) => <LoopName loop={loop} />],
  ["Outcome", "", (loop) => <Badge {...loopState(loop)} />],
  ["Iterations", "num nowrap", (loop) => <Iterations loop={loop} />],
  ["Failed", "right num", ({ failures }) => failures],
  ["Cost", "right num", loopCost],
  ["Project", "", ({ project }) => <ProjectTag root={project} />],
  ["Started", "nowrap", ({ started_at }) => <When at={started_at} />],
  ["Took", "right num", ({ started_at, updated_at }) => took(started_at, updated_at)],
];

const LoopName = ({ loop: { project, run, procedure, waiting, why } }: { loop: Loop }) => (
  <>
    {run ? (
      <RunLink project={project} id={run} text={procedure} />
    ) : (
      <span data-item="" tabIndex={-1}>
        {procedure}
      </span>
    )}
    <span class="muted">{waiting?.why ?? why}</span>
  </>
);

function loopCost({ approximate, cost_usd }: Loop): string {
  // Not a single iteration reported its cost.
  if (approximate && !cost_usd) return money(null);
  return `${approximate ? "≥ " : ""}${money(cost_usd)}`;
}

function loopState({ outcome, running, waiting }: Loop): { text: string; tone: Tone } {
  if (running) return waiting ? { text: "Waiting", tone: "warn" } : { text: "Running", tone: "accent" };
  if (outcome === null) return { text: "Interrupted", tone: "warn" };
  return { text: capital(outcome.toLowerCase()), tone: /success|completed|done/i.test(outcome) ? "good" : "bad" };
}

const MARKS: Record<string, string> = { failure: "✕", success: "✓" };

/** How many, and the last ones each as one sign. */
const Iterations = ({ loop: { iterations, lines } }: { loop: Loop }) => (
  <>
    {iterations}{" "}
    <span class="iterations" aria-hidden="true">
      {lines.slice(-12).map(({ iteration, verdict, why }) => (
        <span key={iteration} class={`iteration ${verdict}`} title={`${iteration}: ${verdict}${why ? `, ${why}` : ""}`}>
          {MARKS[verdict] ?? "·"}
        </span>
      ))}
    </span>
  </>
);
