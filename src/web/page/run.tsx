/** One run: what happened and why, where it is, what can be done with it. */
import type { ComponentChildren } from "preact";
import type { GateRow } from "../../insight/types.ts";
import type { Answer } from "../api.ts";
import type { StageView } from "../now.ts";
import type { Graph } from "../run-page.ts";
import { AnswerButtons, ControlButtons } from "./actions.tsx";
import { ask } from "./api.ts";
import { capital, DOT, many, money, projectName, sentence, span, stageName } from "./format.ts";
import { Listing, momentKey, TimelineItem } from "./journal.tsx";
import { Badge, Empty, Heading, runState, runTitle, Since, Typed, When } from "./parts.tsx";
import { link, type View } from "./route.ts";

type RunData = Answer<"run">;

type Props = { detail: RunData };

export const viewRun: View<RunData> = {
  title: ({ run }) => runTitle(run),
  load: ({ project = "", id = "" }) => ask("run", { project, id }),
  Page: ({ data: detail }) => (
    <>
      <Crumbs detail={detail} />
      <Heading title={runTitle(detail.run)} lead={<Lead detail={detail} />}>
        <ControlButtons target={runTarget(detail)} detail={detail} />
      </Heading>
      <OpenQuestion detail={detail} />
      <div class="split">
        <Timeline detail={detail} />
        <Aside detail={detail} />
      </div>
    </>
  ),
};

const runTarget = ({ run }: RunData) => ({ project: run.project, run: run.id, name: `“${runTitle(run)}”` });

const Crumbs = ({ detail: { run } }: Props) => (
  <nav class="crumbs" aria-label="Where this run belongs">
    <ol>
      <li>
        <a href={link("runs")}>Runs</a>
      </li>
      <li>
        <a href={link("runs", { project: run.project })}>{projectName(run.project)}</a>
      </li>
      <li>
        <code>{run.id}</code>
      </li>
    </ol>
  </nav>
);

function Lead({ detail: { run } }: Props) {
  return (
    <>
      <Badge {...runState(run)} />
      {` ${run.workflow}${DOT}`}
      {run.why && run.status !== "active" ? `${run.why}${DOT}` : ""}
      {run.status === "ended" ? "" : `at ${run.stage}${DOT}`}
      last event <When at={run.updated_at} />
    </>
  );
}

function approvalTitle({ question, canApprove, waits }: RunData): string {
  if (question) return "Your decision";
  return waits?.kind === "approval" ? "Your approval" : canApprove && !waits ? "Sent back by a check" : "Needs you";
}

function OpenQuestion({ detail }: Props) {
  const { question, canApprove, approval, changed_tests, waits } = detail;
  if (!question && !canApprove && !waits) return null;
  return (
    <section class="card need" aria-labelledby="question-title">
      <div class="need-text">
        <h2 id="question-title">{approvalTitle(detail)}</h2>
        <p class="question">{question ? question.text : <Typed text={sentence(approval ?? waits?.what ?? "")} />}</p>
        {changed_tests && <Listing label="Changed tests" text={changed_tests} />}
        {waits && !question && (
          <p class="meta">
            <span>
              <Typed text={sentence(waits.how)} />
            </span>
            <span>
              waiting <Since at={waits.since} />
            </span>
          </p>
        )}
      </div>
      <div class="buttons">
        <AnswerButtons target={runTarget(detail)} open={detail} />
      </div>
    </section>
  );
}

/** More than a screen or two: what happens now is far below. */
const MOST_AT_A_GLANCE = 30;

const toNewest = () => [...document.querySelectorAll<HTMLElement>(".moment")].at(-1)?.focus();

const Timeline = ({ detail: { timeline, older, run } }: Props) => (
  <section aria-labelledby="timeline-title" class="card timeline-card">
    <div class="section-head">
      <h2 id="timeline-title">What happened</h2>
      {timeline.length > MOST_AT_A_GLANCE && (
        <button type="button" onClick={toNewest}>
          Jump to the newest
        </button>
      )}
    </div>
    {older > 0 && (
      <p class="muted">
        {many(older, "earlier event")} not shown:{" "}
        <a href={link("journal", { project: run.project, run: run.id })}>see the journal</a>
      </p>
    )}
    {timeline.length > 0 ? (
      <ol class="timeline">
        {timeline.map((moment, i) => (
          <TimelineItem key={momentKey(moment)} moment={moment} before={timeline[i - 1]} />
        ))}
      </ol>
    ) : (
      <Empty title="Nothing recorded." text="Its project or its journal is gone, or has no line about this run." />
    )}
  </section>
);

// ── Next to it ──────────────────────────────────────────────────────────────

function Aside({ detail }: Props) {
  const { graph, gates, stages, run } = detail;
  return (
    <div class="aside">
      {graph.stages.length > 0 && (
        <Side title="Workflow">
          <WorkflowGraph data={graph} outcome={run.outcome} />
        </Side>
      )}
      <Facts run={run} />
      {gates.length > 0 && (
        <Side title="Checks">
          <ul class="plain">
            {gates.map((gate) => (
              <Gate key={`${gate.stage} ${gate.gate}`} gate={gate} />
            ))}
          </ul>
        </Side>
      )}
      {stages.length > 0 && (
        <Side title="Time per stage">
          <ol class="plain">
            {stages.map((stage) => (
              <StageLine key={`${stage.stage} ${stage.entered_at}`} stage={stage} />
            ))}
          </ol>
        </Side>
      )}
    </div>
  );
}

const Side = ({ title, children }: { title: string; children: ComponentChildren }) => (
  <section class="card">
    <h2>{title}</h2>
    {children}
  </section>
);

function Facts({ run }: { run: RunData["run"] }) {
  const facts: [string, ComponentChildren][] = [
    ["Workflow", run.workflow],
    ["Task", run.task],
    ["Started", <When key="started" at={run.started_at} />],
    run.ended_at
      ? ["Took", span(Date.parse(run.ended_at) - Date.parse(run.started_at))]
      : ["For", <Since key="for" at={run.started_at} />],
    ["Waited for you", waitedText(run)],
    ["Continued", `${run.continues}×`],
    ["Sent back by checks", run.gate_fails > 0 && `${run.gate_fails}×`],
    ["Questions", String(run.asks)],
    ["Approvals", run.approvals > 0 && String(run.approvals)],
    ["Cost", run.cost_usd !== null && money(run.cost_usd)],
    ["Host", run.host],
    ["Session", run.session && <code key="session">{run.session.slice(0, 8)}</code>],
    ["Note", run.approximate && "figures are approximate"],
  ];
  return (
    <Side title="Facts">
      <dl class="facts">
        {facts.map(([name, value]) =>
          value ? (
            <>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </>
          ) : null,
        )}
      </dl>
    </Side>
  );
}

function Gate({ gate: { gate, last, pass, fail, unproven, why, tree, command } }: { gate: GateRow }) {
  const counts = [pass > 0 && `${pass} passed`, fail > 0 && `${fail} failed`, unproven > 0 && `${unproven} unproven`];
  return (
    <li class="gate">
      <p>
        <Badge text={capital(last)} tone={last === "pass" ? "good" : last === "fail" ? "bad" : "warn"} />{" "}
        <strong>{gate}</strong>
      </p>
      {command && (
        <p>
          <code>{command}</code>
        </p>
      )}
      <p class="muted">{why}</p>
      <p class="muted">
        {counts.filter(Boolean).join(", ")}
        {tree && (
          <>
            {`${DOT}tree `}
            <code>{tree.slice(0, 10)}</code>
          </>
        )}
      </p>
    </li>
  );
}

/** It grows as long as the run waits. */
function waitedText({
  waited_ms,
  waited_since,
}: {
  waited_ms: number;
  waited_since: string | null;
}): ComponentChildren {
  if (waited_since) return <Since at={waited_since} />;
  return waited_ms >= 1000 && span(waited_ms);
}

const HOW = { done: "done", back: "sent back", ended: "ended here", open: "now" } as const;

const StageLine = ({ stage }: { stage: RunData["stages"][number] }) => (
  <li class="stage-line">
    <span class="grow">
      {stage.stage}
      {stage.visit > 1 && <span class="muted"> visit {stage.visit}</span>}
    </span>
    <span class="muted">
      {HOW[stage.how]}
      {waitedText(stage) && <>, {waitedText(stage)} waiting</>}
    </span>
    {stage.how === "open" ? <Since at={stage.entered_at} /> : <span class="num">{span(stage.ms)}</span>}
  </li>
);

// ── The workflow as a picture: stages from top to bottom, ways back and around at their right ──

const WIDTH = 340;
const BOX = { x: 2, height: 34 };
/** The narrower the boxes, the more of the names of the ways fits next to them. */
const BOX_WIDTH = { least: 96, most: 204 };
const LETTER = 7.4;
const ROW = 62;
const LANE = 16;
const SIGNS = { done: "✓", now: "▶", open: "" } as const;
/** How many letters fit: some have a sign before them, and the current stage is bold. */
const ROOM = { done: 22, now: 19, open: 24 } as const;
const LINE = 12;
const MOST_LINES = 4;

type Edge = { from: number; to: number; label: string };

function WorkflowGraph({ data, outcome }: { data: Graph; outcome: string | null }) {
  const stages = [...data.stages, ...ends(data, outcome)];
  const rows = new Map(stages.map(({ id }, row) => [id, row]));
  const edges = data.edges.flatMap(({ from, to, label }) => {
    const [a, b] = [rows.get(from), rows.get(to)];
    return a === undefined || b === undefined ? [] : [{ from: a, to: b, label }];
  });
  const longest = stages.reduce((most, { title, id }) => Math.max(most, stageName(title || id).length), 0);
  const width = Math.min(BOX_WIDTH.most, Math.max(BOX_WIDTH.least, 52 + longest * LETTER));
  const right = BOX.x + width;
  const lanes = assignLanes(
    edges.filter((edge) => !isStep(edge)),
    right,
  );
  const words = stages.map(({ title, id, state }) => `${title || id} ${state === "open" ? "to come" : state}`);
  const height = stages.length * ROW - (ROW - BOX.height) + 8;
  return (
    <svg viewBox={`0 0 ${WIDTH} ${height}`} class="graph" role="img" aria-label={`Workflow: ${words.join(", ")}`}>
      <defs>
        <marker id="tip" viewBox="0 0 8 8" refX={7} refY={4} markerWidth={7} markerHeight={7} orient="auto">
          <path d="M0 0 8 4 0 8z" class="tip" />
        </marker>
      </defs>
      {lanes.map((lane) => (
        <Around key={lane.x} lane={lane} right={right} />
      ))}
      {edges.filter(isStep).map((edge) => (
        <Step key={edge.from} edge={edge} />
      ))}
      {lanes.map((lane) => (
        <LaneName key={lane.x} lane={lane} />
      ))}
      {stages.map((stage, row) => (
        <Box key={stage.id} stage={stage} row={row} width={width} />
      ))}
    </svg>
  );
}

/** Where a run can end are places of their own, below the stages. */
function ends({ edges }: Graph, outcome: string | null): StageView[] {
  const ids = [...new Set(edges.map(({ to }) => to).filter(isEnd))];
  return ids.slice(0, 3).map((id) => {
    const name = id.replace("end:", "");
    return { id, title: name === "halt" ? "stop, kept" : name, state: name === outcome ? "done" : "open" };
  });
}

const isStep = ({ from, to }: Edge): boolean => to === from + 1;
const isEnd = (id: string): boolean => id.startsWith("end:") || id === "halt";
const top = (row: number): number => 4 + row * ROW;
const middle = (row: number): number => top(row) + BOX.height / 2;

function Box({ stage: { title, id, state }, row, width }: { stage: StageView; row: number; width: number }) {
  const name = stageName(title || id);
  return (
    <g class={`node ${state}${isEnd(id) ? " end" : ""}`}>
      <title>{name}</title>
      <rect x={BOX.x} y={top(row)} width={width} height={BOX.height} rx={isEnd(id) ? 17 : 8} />
      <text x={BOX.x + 14} y={middle(row) + 4.5} class="sign">
        {SIGNS[state]}
      </text>
      <text x={BOX.x + (state === "open" ? 14 : 34)} y={middle(row) + 4.5}>
        {clip(name, ROOM[state])}
      </text>
    </g>
  );
}

function Step({ edge: { from, to, label } }: { edge: Edge }) {
  const x = BOX.x + 24;
  const [y1, y2] = [top(from) + BOX.height, top(to) - 1];
  return (
    <g class="edge">
      <line x1={x} y1={y1} x2={x} y2={y2} marker-end="url(#tip)" />
      <text x={x + 10} y={(y1 + y2) / 2 + 4}>
        {clip(label, lettersIn(WIDTH - x - 10, label))}
        <title>{label}</title>
      </text>
    </g>
  );
}

/** A way that is no plain step: how far right it runs, where it leaves its box and where it arrives. */
type Lane = ReturnType<typeof assignLanes>[number];

/** Each has a lane of its own, the short ones nearest; names are above all lines. */
function assignLanes(edges: Edge[], right: number) {
  const sorted = edges.toSorted((a, b) => Math.abs(a.to - a.from) - Math.abs(b.to - b.from)).slice(0, 6);
  return sorted.map(({ from, to, label }, nth) => {
    const [y1, y2] = from === to ? [middle(from) - 7, middle(from) + 7] : [middle(from) + 5, middle(to) - 5];
    return { x: right + LANE * (nth + 1), y1, y2, label, isBack: to <= from };
  });
}

const Around = ({ lane: { x, y1, y2, label, isBack }, right }: { lane: Lane; right: number }) => (
  <g class={isBack ? "edge back" : "edge"}>
    <path
      d={`M${right} ${y1} C${x} ${y1} ${x} ${y1} ${x} ${(y1 + y2) / 2} S${x} ${y2} ${right + 2} ${y2}`}
      marker-end="url(#tip)"
    >
      <title>{label}</title>
    </path>
  </g>
);

function LaneName({ lane: { x, y1, y2, label } }: { lane: Lane }) {
  const lines = wrap(label, lettersIn(WIDTH - x - 5, label));
  const first = (y1 + y2) / 2 + 4 - ((lines.length - 1) * LINE) / 2;
  return (
    <g class="edge">
      {lines.map((line, nth) => (
        <text key={line} x={x + 5} y={first + nth * LINE}>
          {line}
        </text>
      ))}
      <title>{label}</title>
    </g>
  );
}

/** Most signals are in capitals, which are wider. */
const lettersIn = (width: number, text: string) => Math.floor(width / (text === text.toUpperCase() ? 8 : 6));

/** Broken at blanks and underscores; only what is longer than a line is cut. */
function wrap(text: string, most: number): string[] {
  if (most < 4) return [];
  const lines: string[] = [""];
  for (const part of text.split(/(?<=[ _])/)) {
    const line = lines.at(-1)! + part;
    if (line.trimEnd().length <= most || lines.at(-1) === "") lines[lines.length - 1] = line;
    else lines.push(part);
  }
  const shown = lines.map((line) => clip(line.trimEnd(), most));
  return shown.length <= MOST_LINES ? shown : [...shown.slice(0, MOST_LINES - 1), "…"];
}

const clip = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
