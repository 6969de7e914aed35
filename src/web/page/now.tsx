/** Now: what needs the person first, then every run in progress. */
import { useContext } from "preact/hooks";
import type { Answer } from "../api.ts";
import type { LiveRun, Need } from "../now.ts";
import { hasButtons, NeedButtons } from "./actions.tsx";
import { ask } from "./api.ts";
import { DOT, many, money, projectName, sentence } from "./format.ts";
import {
  Badge,
  Empty,
  Heading,
  ProjectTag,
  ReadOnly,
  RunLink,
  runState,
  runTitle,
  Since,
  StageTrack,
  Typed,
  useFresh,
  When,
} from "./parts.tsx";
import { link, type View } from "./route.ts";

type NowData = Answer<"now">;
type RunRow = Answer<"runs">["rows"][number];
type Data = { now: NowData; recent: RunRow[] };

const MOST_RECENT = 6;
const PERMISSION_MS = 2_000;

export const viewNow: View<Data> = {
  title: ({ now }) => (now.needs.length > 0 ? `(${now.needs.length}) Now` : "Now"),
  load,
  Page: ({ data: { now, recent } }) => (
    <>
      <Heading title="Now" lead={summary(now)} />
      <Needs now={now} />
      <Live live={now.live} />
      {recent.length > 0 && <Recent rows={recent} />}
    </>
  ),
  // No hook says that a permission was given: only another look does.
  again: ({ now }) => (now.needs.some(({ kind }) => kind === "permission") ? PERMISSION_MS : null),
};

async function load(): Promise<Data> {
  const now = await ask("now");
  // What needs the person is shown even where the figures cannot be read.
  const ended = await ask("runs", { status: "ended" }).catch(() => null);
  return { now: { ...now, at: "" }, recent: ended?.rows.slice(0, MOST_RECENT) ?? [] };
}

function summary({ needs, live, projects }: NowData): string {
  const parts = [needs.length === 1 ? "1 needs you" : needs.length > 1 && `${needs.length} need you`];
  if (live.length > 0) parts.push(`${many(live.length, "run")} in progress`);
  if (projects.length > 0) parts.push(many(projects.length, "project"));
  return parts.filter(Boolean).join(DOT);
}

// ── What needs the person ───────────────────────────────────────────────────

function Needs({ now: { needs, live } }: { now: NowData }) {
  if (needs.length === 0)
    return live.length === 0 ? null : (
      <p class="calm">
        <Badge text="Nothing needs you" tone="good" />
      </p>
    );
  return (
    <section aria-labelledby="needs-title">
      <h2 id="needs-title">Needs you</h2>
      <ul class="stack">
        {needs.map((need) => (
          <NeedCard
            key={`${need.project} ${need.run}`}
            need={need}
            run={live.find(({ project, run }) => project === need.project && run === need.run)}
          />
        ))}
      </ul>
    </section>
  );
}

function NeedCard({ need, run }: { need: Need; run: LiveRun | undefined }) {
  const fresh = useFresh();
  const acts = hasButtons(need) && !useContext(ReadOnly);
  const name = run ? runTitle(run) : need.workflow;
  const target = { project: need.project, run: need.run, name: `“${name}”` };
  return (
    <li class={`card need${fresh}`}>
      <div class="need-text">
        <p class="need-what">
          <Badge text={sentence(need.what)} tone="warn" />
        </p>
        <h3>
          <RunLink project={need.project} id={need.run} text={name} />
        </h3>
        {need.question && <p class="question">{need.question.text}</p>}
        <p class="meta">
          <ProjectTag root={need.project} />
          <span>{[need.workflow, need.run].filter(Boolean).join(" ")}</span>
          <span>
            waiting <Since at={need.since} />
          </span>
          {acts && (
            <span>
              {need.how.startsWith("`") ? "in a terminal " : "or "}
              {/* The buttons are the answers already. */}
              <Typed text={need.question ? need.how.split(":")[0]! : need.how} />
            </span>
          )}
        </p>
      </div>
      {acts ? (
        <div class="buttons">
          <NeedButtons target={target} need={need} />
        </div>
      ) : (
        <p class="how">
          <span class="visually-hidden">What to do: </span>
          <Typed text={sentence(need.how)} />
        </p>
      )}
    </li>
  );
}

// ── What is in progress ─────────────────────────────────────────────────────

function Live({ live }: { live: LiveRun[] }) {
  const projects = [...new Set(live.map(({ project }) => project))];
  return (
    <section aria-labelledby="live-title">
      <h2 id="live-title">In progress</h2>
      {projects.map((root) => (
        <div key={root} class="group">
          <h3 class="group-title" title={root}>
            {projectName(root)}
          </h3>
          <ul class="stack">
            {live
              .filter(({ project }) => project === root)
              .map((run) => (
                <LiveCard key={run.run} run={run} />
              ))}
          </ul>
        </div>
      ))}
      {projects.length === 0 && (
        <Empty
          title="Nothing is in progress."
          text="Type `/complete-work` in Claude Code, in a project that has Pawl. It shows up here at once."
        >
          <p class="muted">
            <Typed text="Not set up yet? Run `pawl init` in the project; it shows every change first." />
          </p>
        </Empty>
      )}
    </section>
  );
}

function LiveCard({ run }: { run: LiveRun }) {
  const facts = [run.workflow, run.host, run.session && `session ${run.session.slice(0, 8)}`];
  if (run.cost_usd !== null) facts.push(money(run.cost_usd));
  return (
    <li class={`card live${useFresh()}`} data-key={run.run}>
      <div class="live-head">
        <h4>
          <RunLink project={run.project} id={run.run} text={runTitle(run)} />
        </h4>
        <p class="clock" title="in this stage">
          <span class="visually-hidden">In this stage for </span>
          <Since at={run.since} />
        </p>
      </div>
      <StageTrack stages={run.stages} />
      <Doing key={run.doing} run={run} />
      <p class="meta">
        {facts.filter(Boolean).map((fact) => (
          <span key={fact}>{fact}</span>
        ))}
      </p>
    </li>
  );
}

const Doing = ({ run }: { run: LiveRun }) => (
  <p class={`doing${useFresh()}`}>
    {run.waits && <Badge text={`Needs you: ${run.waits}`} tone="warn" />}
    <span>{sentence(run.doing)}</span>
  </p>
);

// ── What has finished ───────────────────────────────────────────────────────

const Recent = ({ rows }: { rows: RunRow[] }) => (
  <section aria-labelledby="recent-title">
    <div class="section-head">
      <h2 id="recent-title">Recently finished</h2>
      <a href={link("runs")}>All runs</a>
    </div>
    <ul class="card rows">
      {rows.map((run) => (
        <RecentRow key={run.id} run={run} />
      ))}
    </ul>
  </section>
);

const RecentRow = ({ run }: { run: RunRow }) => (
  <li class={useFresh()}>
    <Badge {...runState(run)} />
    <span class="grow">
      <RunLink project={run.project} id={run.id} text={runTitle(run)} />
    </span>
    <ProjectTag root={run.project} />
    <span class="muted">
      <When at={run.ended_at ?? run.updated_at} />
    </span>
  </li>
);
