/** The rows of the table: what each starts, what must come out, and what it may cost. */
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readToolsSince } from "../src/hosts/claude/transcript.ts";
import { compactPayload, crowdedProject, startPayload } from "./crowd.ts";
import type { Job, Row, Sample } from "./measure.ts";
import {
  type Arming,
  AUTO,
  armProject,
  type Copies,
  ENV,
  hookJob,
  lineJob,
  newestRun,
  type Project,
  promptPayload,
  stopPayload,
  withTask,
} from "./prepare.ts";
import { shortcutRows } from "./shortcuts.ts";
import { LAST_CALLS, LAST_WORDS, SIGNAL, WORDS, workOfNow, writeTranscript } from "./transcripts.ts";

export interface Bound {
  against: string;
  most: number;
}

export type Measured = Row & { bounds: Bound[]; hook: boolean };

export interface Setting {
  folder: string;
  template: string;
  rounds: number;
  empty: Copies;
  pawl: Copies;
  python: string | null;
  bash: string | null;
  gigabyte: boolean;
}

export const EMPTY = "empty binary";
export const AGAIN = "empty binary, again";
export const PYTHON = "python3, the same work";
/** What a session without a run may cost, and one with a run. */
const UNARMED: Bound[] = [{ against: EMPTY, most: 1.3 }];
const ARMED: Bound[] = [{ against: PYTHON, most: 0.45 }];
const ONE_MB = "armed Stop, 1 MB transcript";
const MESSAGE = `Memory is written: decisions.md +1 entry.\n\n${SIGNAL}`;

const silent = (sample: Sample) => (sample.out === "" ? null : `printed ${sample.out.slice(0, 200)}`);

const GROUPS: Record<string, (setting: Setting) => Measured[]> = {
  unarmed: unarmedRows,
  shortcuts: (setting) => shortcutRows(setting, UNARMED),
  line: statusLineRows,
  armed: armedRows,
  tools: toolRows,
  crowd: crowdRows,
  peers: peerRows,
};

export const GROUP_NAMES = Object.keys(GROUPS);

/** `only`: this group of rows, what it is compared with, and the floor; "" for all. */
export function makeRows(setting: Setting, only: string): Measured[] {
  const isPeer = (name: string) => name === "peers" && ["armed", "crowd"].includes(only);
  const chosen = GROUP_NAMES.filter((name) => only === "" || name === only || isPeer(name));
  return [...floorRows(setting), ...chosen.flatMap((name) => GROUPS[name]!(setting))];
}

type Start = Pick<Row, "name" | "job" | "wrong">;

const row = (start: Start, bounds: Bound[] = [], hook = false): Measured => ({ ...start, starts: 1, bounds, hook });

/** These need no fresh project, and have the tightest budget. */
const cheap = (measured: Measured): Measured => ({ ...measured, starts: 4 });

// ── Floor and unarmed ───────────────────────────────────────────────────────

function floorRows({ empty, folder }: Setting): Measured[] {
  const nobody = { root: folder, home: folder, session: "bench-nobody" };
  const input = JSON.stringify(stopPayload(nobody, "Done.", "/none.jsonl"));
  const start = (command: string): Job => ({ command: [command], env: { ...ENV, HOME: folder }, input });
  return [
    { name: EMPTY, job: (n: number) => start(empty(n)), wrong: silent },
    { name: AGAIN, job: (n: number) => start(empty(n + 1)), wrong: silent },
    { name: "/bin/true", job: () => start("/bin/true"), wrong: silent },
  ].map((floor) => cheap(row(floor)));
}

function unarmedRows({ pawl, folder }: Setting): Measured[] {
  const nobody = { root: folder, home: folder, session: "bench-nobody" };
  const stop = stopPayload(nobody, MESSAGE, "/none.jsonl");
  const wordy = stopPayload(
    nobody,
    "The scheduler takes jobs from the queue; a worker asks. ".repeat(150),
    "/none.jsonl",
  );
  const prompt = promptPayload(nobody, "fix the failing test, then tell me what it was");
  return [
    { name: "unarmed Stop", job: (n: number) => hookJob(pawl(n), nobody, stop), wrong: silent },
    { name: "unarmed Stop, long message", job: (n: number) => hookJob(pawl(n), nobody, wordy), wrong: silent },
    { name: "unarmed prompt", job: (n: number) => hookJob(pawl(n), nobody, prompt), wrong: silent },
  ].map((unarmed) => cheap(row(unarmed, UNARMED, true)));
}

// ── Status line ─────────────────────────────────────────────────────────────

function statusLineRows(setting: Setting): Measured[] {
  const { pawl, template, folder } = setting;
  const at = (name: string) => join(folder, name);
  const bare: Project = { root: at("line-bare"), home: at("line-home"), session: "bench-line" };
  const tasks: Project = { ...bare, root: at("line-tasks"), session: "bench-line-tasks" };
  for (const { root } of [bare, tasks]) cpSync(template, root, { recursive: true });
  mkdirSync(bare.home, { recursive: true });
  writeFileSync(join(tasks.root, "session.md"), SESSION_MD);
  const [busy, dear] = ["line-run", "line-cost"].map((name) => armProject(pawl(0), template, folder, name));
  const says = (text: string) => (sample: Sample) =>
    sample.out.startsWith(text) ? null : `printed ${sample.out.slice(0, 200)}`;
  const bounds = [{ against: EMPTY, most: 2.4 }];
  return [
    { name: "status line, nothing to say", job: (n: number) => lineJob(pawl(n), bare, 1), wrong: silent },
    { name: "status line, next task", job: (n: number) => lineJob(pawl(n), tasks, 1), wrong: says("Next: Task 0\n") },
    { name: "status line, a run", job: (n: number) => lineJob(pawl(n), busy!, 1), wrong: says("complete-work") },
    { name: "status line, new cost", job: (n: number) => lineJob(pawl(n), dear!, n), wrong: says("complete-work") },
  ].map((line) => cheap(row(line, bounds)));
}

const SESSION_MD = `# Session\n\n## Pending Tasks\n${Array.from({ length: 20 }, (_, n) => `- [ ] **Task ${n}** — \`/do ${n}\` | opus\n`).join("")}`;

// ── Many runs ───────────────────────────────────────────────────────────────

function crowdRows({ pawl, template, folder }: Setting): Measured[] {
  const { project, transcript } = crowdedProject(pawl(0), template, folder, 50, 500);
  const holds = (text: string) => (sample: Sample) =>
    sample.out.includes(text) ? null : `printed ${sample.out.slice(0, 200)}`;
  const job = (payload: object) => (n: number) => hookJob(pawl(n), project, payload);
  const start = (source: "compact" | "resume") => ({
    name: `SessionStart ${source}, 50 + 500 runs`,
    job: job(startPayload(project, transcript, source)),
    wrong: holds("WORKFLOW RESTORED"),
  });
  return [
    row(start("compact"), ARMED, true),
    row(start("resume"), ARMED, true),
    row(
      {
        name: "PreCompact, 50 + 500 runs",
        job: job(compactPayload(project, transcript)),
        wrong: holds("Keep in the summary"),
      },
      ARMED,
      true,
    ),
  ];
}

// ── Armed ───────────────────────────────────────────────────────────────────

/** A project for every round: a run can be moved only once. */
function projectsFor({ rounds, pawl, template, folder }: Setting, name: string, how?: Arming): Project[] {
  const arm = (round: number) => armProject(pawl(round), template, folder, `${name}-${round}`, how);
  return Array.from({ length: rounds }, (_, round) => arm(round));
}

function armedRow(setting: Setting, name: string, short: string, bounds: Bound[], stop: StopOf): Measured {
  return stopRow(setting, name, projectsFor(setting, short), bounds, stop);
}

function stopRow(setting: Setting, name: string, projects: Project[], bounds: Bound[], stop: StopOf): Measured {
  const job = (round: number) => {
    const project = projects[round]!;
    return hookJob(setting.pawl(round), project, stopPayload(project, stop.message, stop.transcript));
  };
  const wrong = ({ out }: Sample, round: number) => problemOf(projects[round]!, out, stop.stage);
  return row({ name, job, wrong }, bounds, true);
}

interface StopOf {
  message: string;
  transcript: string;
  /** where the run has to be afterwards */
  stage: string;
}

function problemOf(project: Project, out: string, stage: string): string | null {
  const run = newestRun(project);
  if (run?.stage !== stage || run.seq !== 2) return `the run is at ${run?.stage}, seq ${run?.seq}; printed ${out}`;
  if (stage === "memory") return null;
  return isAnswer(out) ? null : `no answer: ${out.slice(0, 200)}`;
}

function isAnswer(out: string): boolean {
  try {
    return Object.keys(JSON.parse(out)).length > 0;
  } catch {
    return false;
  }
}

function armedRows(setting: Setting): Measured[] {
  const at = (name: string) => join(setting.folder, name);
  const one = writeTranscript(at("1m.jsonl"), 1, "signal");
  const plain = writeTranscript(at("plain.jsonl"), 1, "no signal");
  const image = writeTranscript(at("image.jsonl"), 1, "signal, then an image");
  const found = { message: LAST_WORDS, stage: "review" };
  const rows = [
    armedRow(setting, "armed Stop, moves a stage", "move", ARMED, {
      message: MESSAGE,
      transcript: one,
      stage: "review",
    }),
    armedRow(setting, "armed Stop, no signal", "none", ARMED, {
      message: LAST_WORDS,
      transcript: plain,
      stage: "memory",
    }),
    armedRow(setting, ONE_MB, "mb", [], { ...found, transcript: one }),
    armedRow(setting, "armed Stop, 8 MB line last", "image", [], { ...found, transcript: image }),
  ];
  if (!setting.gigabyte) return rows;
  const thousand = writeTranscript(at("1g.jsonl"), 1024, "signal");
  const flat = [{ against: ONE_MB, most: 1.2 }];
  return [...rows, armedRow(setting, "armed Stop, 1 GB transcript", "gb", flat, { ...found, transcript: thousand })];
}

// ── Tool calls ──────────────────────────────────────────────────────────────

const NEEDS_NONE = "armed Stop with its marker, 1 GB transcript";

/**
 * The same move of the same kind of run on the same transcript, to the same answer. Once the agent said its marker, and
 * no tool call has to be seen; once it forgot it, and what it did since the stage began has to show it instead. The last
 * row is the dearest kind: nothing shows an end, so test runs and reviews are looked for too, and the agent is sent on.
 */
function toolRows(setting: Setting): Measured[] {
  if (!setting.gigabyte) return [];
  const labelled = { ...setting, template: withTask(setting.template, setting.folder) };
  const [said, forgotten, silent] = ["said", "forgotten", "silent"].map((name) => projectsFor(labelled, name, AUTO));
  // Written now: only what comes after a run was armed counts for it.
  const transcript = writeTranscript(join(setting.folder, "work.jsonl"), 1024, workOfNow);
  checkCalls(transcript, [...forgotten!, ...silent!]);
  const moved = { transcript, stage: "requirements-review" };
  const twice = [{ against: NEEDS_NONE, most: 2 }];
  const marked = `${WORDS}\n\n::: WORKFLOW_STAGE: CODING_COMPLETE :::`;
  const sentOn = { transcript, message: "", stage: AUTO.stage };
  return [
    stopRow(setting, NEEDS_NONE, said!, [], { ...moved, message: marked }),
    stopRow(setting, `armed Stop, last ${LAST_CALLS} calls of 1 GB`, forgotten!, twice, { ...moved, message: WORDS }),
    stopRow(setting, `armed Stop, ${LAST_CALLS} calls show no end`, silent!, twice, sentOn),
  ];
}

function checkCalls(transcript: string, projects: Project[]): void {
  for (const project of projects) {
    const seen = readToolsSince(transcript, newestRun(project)!.entered_at);
    if (!seen.ok || seen.value.length !== LAST_CALLS)
      throw new Error(`not ${LAST_CALLS} calls: ${seen.ok ? seen.value.length : seen.why}`);
  }
}

// ── Peers ───────────────────────────────────────────────────────────────────

function peerRows(setting: Setting): Measured[] {
  const { python, bash } = setting;
  const rows: Measured[] = [];
  if (python !== null) rows.push(peerRow(setting, PYTHON, "python", [python, script("peer.py")], movedByPeer));
  if (bash !== null)
    rows.push(peerRow(setting, "bash + jq, the seed's handler", "bash", [bash, script("peer.sh")], savedByShell));
  return rows;
}

const script = (name: string) => join(import.meta.dir, name);

type Check = (project: Project, out: string) => string | null;

function peerRow(setting: Setting, name: string, short: string, command: string[], check: Check): Measured {
  const projects = projectsFor(setting, short);
  const job = (round: number) => {
    const project = projects[round]!;
    return { ...hookJob("", project, stopPayload(project, MESSAGE, "/none.jsonl")), command };
  };
  return row({ name, job, wrong: ({ out }, round) => check(projects[round]!, out) });
}

function movedByPeer(project: Project, out: string): string | null {
  const document = readFileSync(join(project.root, ".claude/work-completion.local.md"), "utf8");
  if (!document.includes('last_promise: "MEMORY_UPDATED"')) return "the document does not tell the move";
  return problemOf(project, out, "review");
}

function savedByShell(project: Project, out: string): string | null {
  const state = join(project.home, ".claude/work-completion.local.md");
  const saved = existsSync(state) && readFileSync(state, "utf8").includes("MEMORY_UPDATED");
  return saved && isAnswer(out) ? null : `nothing saved; printed ${out.slice(0, 200)}`;
}
