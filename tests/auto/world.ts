/** A project whose tasks are in beads or at GitHub (their stand-ins) or in session.md, and sessions that work through them. */
import { Database } from "bun:sqlite";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CLIENT, makePlace, PAWL, type Place, shell } from "../harness/harness.ts";
import { type RunOnDisk, runOf } from "../harness/run-files.ts";
import { perform, type Step, sessionOf, type World } from "../scenarios/scenario.ts";

export const DOUBLES = join(import.meta.dir, "../doubles");
type Kind = "beads" | "session-md" | "github";
export const KINDS: Kind[] = ["beads", "session-md", "github"];

export interface Heard {
  code: number | null;
  out: string;
  /** what the agent goes on with, "" where the turn ends */
  agent: string;
  person: string;
}

export interface AutoWorld extends World {
  kind: Kind;
}

/** Titles are numbered; where a sequence is given, the label has it instead of all stages. */
export function openAuto(kind: Kind, count: number, sequence = ""): AutoWorld {
  const place = makePlace();
  place.env.PATH = `${DOUBLES}:${place.env.PATH}`;
  place.env.DOUBLE_BUN = process.execPath;
  place.env.GH_DOUBLE_STATE = join(place.base, "github.sqlite");
  const world: AutoWorld = { place, sessions: {}, current: "A", last: null, kind };
  BEGIN[kind](world);
  writeFileSync(join(place.root, ".gitignore"), ".beads/\n");
  for (let nth = 1; nth <= count; nth++) addTask(world, `Task ${nth}`);
  if (sequence !== "") put(world, "pawl.yaml", sequenceFile(sequence));
  sh(world, "git add -A && git commit -qm tasks");
  return world;
}

const BEGIN: Record<Kind, (world: World) => unknown> = {
  beads: ({ place }) => mkdirSync(join(place.root, ".beads")),
  "session-md": (world) => put(world, "session.md", "## Pending Tasks\n"),
  github: (world) => sh(world, "git remote add origin https://github.com/o/r.git && gh label create auto-workflow"),
};

const sequenceFile = (stages: string) =>
  `workflows:\n  auto-workflow:\n    sequences: { auto-workflow: [${stages}] }\n`;

export function put({ place }: World, path: string, text: string): void {
  writeFileSync(join(place.root, path), text);
}

export function addTask(world: AutoWorld, title: string): void {
  if (world.kind === "beads") return void bd(world, `create --title='${title}' --labels=auto-workflow`);
  if (world.kind === "github") return void gh(world, `create --title='${title}' --label=auto-workflow`);
  const path = join(world.place.root, "session.md");
  writeFileSync(path, `${readFileSync(path, "utf8")}- [ ] **${title}** — | sonnet | #auto-workflow\n`);
}

export function sh({ place }: World, script: string): string {
  const { code, out, err } = shell(place, script);
  if (code !== 0) throw new Error(`${script}: exit ${code}: ${err}`);
  return out;
}

export const bd = (world: World, args: string) => sh(world, `bd ${args}`);
export const gh = (world: World, args: string) => sh(world, `gh issue ${args} --repo github.com/o/r`);
export const issue = (world: World, id: string) => JSON.parse(bd(world, `show ${id} --json`))[0];

// ── Sessions ────────────────────────────────────────────────────────────────

export function hear({ code, out, err }: { code: number | null; out: string; err: string }): Heard {
  if (err !== "") throw new Error(`the hook wrote to stderr: ${err}`);
  const said = out === "" ? {} : JSON.parse(out);
  const agent = said.decision === "block" ? said.reason : (said.hookSpecificOutput?.additionalContext ?? "");
  return { code, out, agent, person: said.systemMessage ?? "" };
}

export const act = (world: World, step: Step): Heard => hear(perform(world, step).ran!);
export const prompt = (world: World, text: string) => act(world, { prompt: text });
export const stop = (world: World, text: string, more: Step = {}) => act(world, { stop: text, ...more });
export const claim = (world: World, name: string, before = "So it is.") =>
  stop(world, `${before}\n\n::: WORKFLOW_STAGE: ${name} :::`);

/** The agent's tool calls as its transcript shows them. */
export function tool(world: World, name: string, input: Record<string, string>, result: string): void {
  perform(world, { tool: { name, input, result } });
}

/** Really run, and shown in the transcript. */
export function agentRuns(world: World, command: string): void {
  tool(world, "Bash", { command }, sh(world, command));
}

export const runNow = (world: World): RunOnDisk => {
  const run = runOf(world.place.root, sessionOf(world).id);
  if (run === null) throw new Error("there is no run");
  return run;
};

export const GREEN = " Test Files  1 passed (1)\n      Tests  2 passed (2)\n";
export const RED = " Test Files  1 failed (1)\n      Tests  1 failed | 1 passed (2)\n";

/** A hook on its way; what is written to its stdin, and when that ends, is up to the test. */
export function startHook({ place }: World, env: Record<string, string> = {}, via = "local") {
  const child = Bun.spawn([PAWL, "hook", "claude", "--via", via], {
    cwd: place.root,
    env: { ...place.env, ...CLIENT, ...env },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  const heard = async () => {
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    return hear({ code: await child.exited, out, err });
  };
  return { stdin: child.stdin, heard };
}

export function sendHook(
  world: World,
  payload: unknown,
  env: Record<string, string> = {},
  via = "local",
): Promise<Heard> {
  const { stdin, heard } = startHook(world, env, via);
  stdin.write(JSON.stringify(payload));
  stdin.end();
  return heard();
}

// ── Several at once ─────────────────────────────────────────────────────────

/** Who holds which task, as the tracker has it. */
export function holders(world: AutoWorld): Record<string, string> {
  return Object.fromEntries(HOLDERS[world.kind](world).filter(([, owner]) => owner !== ""));
}

const HOLDERS: Record<Kind, (world: World) => [task: string, owner: string][]> = {
  beads: (world) => {
    const issues: { id: string; assignee?: string }[] = JSON.parse(bd(world, "list --limit 0 --json"));
    return issues.map(({ id, assignee = "" }) => [id, assignee]);
  },
  "session-md": ({ place }) => {
    const lines = readFileSync(join(place.root, "session.md"), "utf8").split("\n");
    return lines.flatMap((line) => {
      const [, title, rest] = /\*\*(.+?)\*\*(.*)$/.exec(line) ?? [];
      return title ? [[title, /@(\S+)/.exec(rest!)?.[1] ?? ""]] : [];
    });
  },
  github: (world) => {
    const issues: { number: number; comments: { body: string }[] }[] = JSON.parse(
      gh(world, "list --state all --limit 500 --json number,comments"),
    );
    return issues.map(({ number, comments }) => [String(number), holderOf(comments.map(({ body }) => body))]);
  },
};

/** The first claim since the last release of it. */
function holderOf(comments: string[]): string {
  const marks = comments.flatMap((body) => [/^<!-- pawl:(claim|release) (\S+) /.exec(body) ?? []]);
  return marks.reduce((holder, [, verb, actor = ""]) => {
    if (verb === "claim") return holder || actor;
    return holder === actor ? "" : holder;
  }, "");
}

/** What was claimed was claimed an hour before. */
export function ageClaims({ place, kind }: AutoWorld): void {
  const then = new Date(Date.now() - 3_600_000).toISOString().replace(/\.\d+/, "");
  if (kind === "session-md") {
    const path = join(place.root, "session.md");
    writeFileSync(path, readFileSync(path, "utf8").replace(/since \S+/g, `since ${then}`));
  } else if (kind === "beads") {
    changeState(join(place.root, ".beads/double.sqlite"), /("started_at":")[^"]*/g, then);
  } else {
    changeState(place.env.GH_DOUBLE_STATE!, /("body":"<!-- pawl:(?:[^"\\]|\\.)*","createdAt":")[^"]*/g, then);
  }
}

function changeState(path: string, pattern: RegExp, then: string): void {
  const db = new Database(path);
  const { text } = db.query("SELECT text FROM doc").get() as { text: string };
  db.run("UPDATE doc SET text = ?", [text.replace(pattern, `$1${then}`)]);
  db.close();
}

/** The hook as a child of a process with the client's name, which is gone afterwards. */
export function asDeadClient(place: Place, payload: unknown): Heard {
  const inner = `"${PAWL}" hook claude --via local; exit 0`;
  const { exitCode, stdout, stderr } = Bun.spawnSync({
    cmd: ["bash", "-c", 'exec -a claude bash -c "$0"', inner],
    cwd: place.root,
    env: place.env,
    stdin: Buffer.from(`${JSON.stringify(payload)}\n`),
  });
  return hear({ code: exitCode, out: stdout.toString(), err: stderr.toString() });
}
