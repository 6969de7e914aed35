/// <reference lib="dom" />
/** One run: what happened and why, where it is, what can be done with it. */
import type { ComponentChildren } from "preact";
import type { GateRow, StageRow } from "../../insight/types.ts";
import type { RunData } from "../api.ts";
import { AnswerButtons, ControlButtons } from "./actions.tsx";
import { ask } from "./api.ts";
import { capital, DOT, many, money, projectName, span } from "./format.ts";
import { WorkflowGraph } from "./graph.tsx";
import { Badge, Empty, Heading, runState, runTitle, Since, type View, When } from "./parts.tsx";
import { link } from "./route.ts";
import { momentKey, TimelineItem } from "./timeline.tsx";

interface Props {
  detail: RunData;
}

export const viewRun: View<RunData> = {
  title: ({ run }) => runTitle(run),
  load: ({ project = "", id = "" }) => ask<RunData>("run", { project, id }),
  Page: ({ data: detail }) => (
    <>
      <Crumbs detail={detail} />
      <Heading title={runTitle(detail.run)} lead={<Lead detail={detail} />}>
        <ControlButtons target={targetOf(detail)} detail={detail} />
      </Heading>
      <OpenQuestion detail={detail} />
      <div class="split">
        <Timeline detail={detail} />
        <div class="aside">
          <Aside detail={detail} />
        </div>
      </div>
    </>
  ),
};

const targetOf = ({ run }: RunData) => ({ project: run.project, run: run.id, name: `“${runTitle(run)}”` });

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

function Lead({ detail: { run, paused } }: Props) {
  const rests = paused && run.status === "active";
  return (
    <>
      <Badge {...(rests ? ({ text: "Paused", tone: "warn" } as const) : runState(run))} />
      {` ${run.workflow}${DOT}`}
      {run.why && run.status !== "active" ? `${run.why}${DOT}` : ""}
      {run.status === "ended" ? "" : `at ${run.stage}${DOT}`}
      last event <When at={run.updated_at} />
    </>
  );
}

function OpenQuestion({ detail }: Props) {
  const { question, canApprove, run } = detail;
  if (!question && !canApprove) return null;
  return (
    <section class="card need" aria-labelledby="question-title">
      <div class="need-text">
        <h2 id="question-title">{question ? "Your decision" : "Your approval"}</h2>
        <p class="question">{question ? question.text : `A check could not prove the claim: ${run.why}`}</p>
      </div>
      <div class="buttons">
        <AnswerButtons target={targetOf(detail)} open={detail} />
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
    <>
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
    </>
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
    ["Waited for you", run.waited_ms >= 1000 && span(run.waited_ms)],
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

const HOW = { done: "done", back: "sent back", ended: "ended here", open: "now" } as const;

const StageLine = ({ stage: { stage, visit, ms, entered_at, waited_ms, how } }: { stage: StageRow }) => (
  <li class="stage-line">
    <span class="grow">
      {stage}
      {visit > 1 && <span class="muted"> visit {visit}</span>}
    </span>
    <span class="muted">{waited_ms > 60_000 ? `${HOW[how]}, ${span(waited_ms)} waiting` : HOW[how]}</span>
    {how === "open" ? <Since at={entered_at} /> : <span class="num">{span(ms)}</span>}
  </li>
);
