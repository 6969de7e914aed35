/** A project whose tasks are in beads (its stand-in) or in session.md, and sessions that work through them. */
import { Database } from "bun:sqlite";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CLIENT, makePlace, PAWL, type Place, shell } from "./harness.ts";
import { type RunOnDisk, runOf } from "./run-files.ts";
import { perform, type Step, sessionOf, type World } from "./scenario.ts";

export const DOUBLES = join(import.meta.dir, "doubles");
type Kind = "beads" | "session-md";
export const KINDS: Kind[] = ["beads", "session-md"];

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
  const world: AutoWorld = { place, sessions: {}, current: "A", last: null, kind };
  if (kind === "beads") mkdirSync(join(place.root, ".beads"));
  else writeFileSync(join(place.root, "session.md"), "## Pending Tasks\n");
  writeFileSync(join(place.root, ".gitignore"), ".beads/\n");
  for (let nth = 1; nth <= count; nth++) addTask(world, `Task ${nth}`);
  if (sequence !== "") put(world, "pawl.yaml", sequenceFile(sequence));
  sh(world, "git add -A && git commit -qm tasks");
  return world;
}

const sequenceFile = (stages: string) =>
  `workflows:\n  auto-workflow:\n    sequences: { auto-workflow: [${stages}] }\n`;

export function put({ place }: World, path: string, text: string): void {
  writeFileSync(join(place.root, path), text);
}

export function addTask(world: AutoWorld, title: string): void {
  if (world.kind === "beads") return void bd(world, `create --title='${title}' --labels=auto-workflow`);
  const path = join(world.place.root, "session.md");
  writeFileSync(path, `${readFileSync(path, "utf8")}- [ ] **${title}** — | sonnet | #auto-workflow\n`);
}

export function sh({ place }: World, script: string): string {
  const { code, out, err } = shell(place, script);
  if (code !== 0) throw new Error(`${script}: exit ${code}: ${err}`);
  return out;
}

export const bd = (world: World, args: string) => sh(world, `bd ${args}`);
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
  const lines =
    world.kind === "beads"
      ? JSON.parse(bd(world, "list --limit 0 --json")).map((one: { id: string; assignee?: string }) => [
          one.id,
          one.assignee ?? "",
        ])
      : readFileSync(join(world.place.root, "session.md"), "utf8")
          .split("\n")
          .flatMap((line) => {
            const [, title, rest] = /\*\*(.+?)\*\*(.*)$/.exec(line) ?? [];
            return title ? [[title, /@(\S+)/.exec(rest!)?.[1] ?? ""]] : [];
          });
  return Object.fromEntries(lines.filter(([, owner]: [string, string]) => owner !== ""));
}

/** What was claimed was claimed an hour before. */
export function ageClaims({ place, kind }: AutoWorld): void {
  const then = new Date(Date.now() - 3_600_000).toISOString().replace(/\.\d+/, "");
  if (kind === "session-md") {
    const path = join(place.root, "session.md");
    writeFileSync(path, readFileSync(path, "utf8").replace(/since \S+/g, `since ${then}`));
    return;
  }
  const db = new Database(join(place.root, ".beads/double.sqlite"));
  const { text } = db.query("SELECT text FROM doc").get() as { text: string };
  db.run("UPDATE doc SET text = ?", [text.replace(/"started_at":"[^"]*"/g, `"started_at":"${then}"`)]);
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
