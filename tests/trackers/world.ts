/** A project with one tracker, behind the stand-ins; run as a script it claims once and says what came of it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Answer, openTracker, type Tracker } from "../../src/trackers/index.ts";

export type Kind = Tracker["name"];
export const KINDS: Kind[] = ["beads", "session-md", "github"];
export const DOUBLES = join(import.meta.dir, "../doubles");
export const ACTOR = "pawl-1a2b3c4d";

export interface World {
  root: string;
  tracker: Tracker;
  remove(): void;
}

/** The labels the tests use; GitHub wants them made first. */
const LABELS = ["auto-workflow", "auto-workflow:quick-fix", "other", "needs-review", "blocked", "p0", "p1", "p3", "p4"];

export function makeWorld(kind: Kind, options: { deadline_ms?: number } = {}): World {
  const root = mkdtempSync(join(tmpdir(), "pawl-tracker-"));
  const env = {
    PATH: `${DOUBLES}:${process.env.PATH}`,
    DOUBLE_BUN: process.execPath,
    GH_DOUBLE_STATE: join(root, "github.sqlite"),
    BD_DOUBLE_FAULT: "",
    GH_DOUBLE_FAULT: "",
  };
  const before = Object.fromEntries(Object.keys(env).map((name) => [name, process.env[name]]));
  Object.assign(process.env, env);
  prepare(kind, root);
  const { deadline_ms = 20_000 } = options;
  const tracker = value(openTracker(root, { kind, deadline_ms, ...(kind === "github" && { repo: "o/r" }) }));
  const remove = () => {
    for (const [name, old] of Object.entries(before)) {
      if (old === undefined) delete process.env[name];
      else process.env[name] = old;
    }
    rmSync(root, { recursive: true, force: true });
  };
  return { root, tracker, remove };
}

function prepare(kind: Kind, root: string): void {
  if (kind === "beads") mkdirSync(join(root, ".beads"));
  if (kind === "session-md") writeFileSync(join(root, "session.md"), "# Session\n\n## Pending Tasks\n");
  if (kind !== "github") return;
  for (const label of LABELS) run(["gh", "label", "create", label], root);
}

export function run(cmd: string[], cwd: string): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync({ cmd, cwd, env: process.env });
  if (exitCode !== 0) throw new Error(`${cmd.join(" ")}: ${stderr}`);
  return stdout.toString();
}

export function value<T>(answer: Answer<T>): T {
  if (answer.kind !== "ok") throw new Error(JSON.stringify(answer));
  return answer.value;
}

/** "ok", "absent", or the failure's code. */
export const word = (answer: Answer<unknown>): string => (answer.kind === "failed" ? answer.code : answer.kind);

/** Processes of their own that all begin at the same moment. */
export async function claimers(world: World, id: string, count: number): Promise<{ actor: string; word: string }[]> {
  const { name } = world.tracker;
  const start = Date.now() + 1500;
  const children = Array.from({ length: count }, (_, at) => {
    const args = [world.root, name, id, `pawl-racer${at}`, String(start)];
    return Bun.spawn([process.execPath, import.meta.path, ...args], { env: process.env, stderr: "inherit" });
  });
  const words = await Promise.all(children.map((child) => new Response(child.stdout).text()));
  return words.map((text, at) => ({ actor: `pawl-racer${at}`, word: text.trim() }));
}

if (import.meta.main) {
  const [root, kind, id, actor, start] = process.argv.slice(2) as [string, Kind, string, string, string];
  const config = { kind, deadline_ms: 60_000, ...(kind === "github" && { repo: "o/r" }) };
  const tracker = value(openTracker(root, config));
  Bun.sleepSync(Math.max(0, Number(start) - Date.now()));
  console.log(word(tracker.claim(id, actor)));
}
