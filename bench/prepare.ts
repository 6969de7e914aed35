/** What the rows work on: binaries, projects with an armed run, payloads. Nothing here is timed. */
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { FLAGS } from "../bin/flags.mjs";
import { type Job, run } from "./measure.ts";

export const PAWL = resolve(import.meta.dir, "../dist/pawl");
export const ENV = { PATH: "/usr/bin:/bin", LANG: "C.UTF-8" };
const TURN = "a1ac2e83-dde0-4587-91d7-190eddc9c17c";

const COPIES = 3;

/** One path per copy; a row takes them in turn. */
export type Copies = (round: number) => string;

/** The kernel lays out each file's pages by chance, worth up to 15 % for as long as they are cached: copies average it. */
export function copiesOf(binary: string, folder: string, name: string): Copies {
  const paths = Array.from({ length: COPIES }, (_, i) => join(folder, `${name}-${i}`));
  for (const path of paths) copyFileSync(binary, path);
  return (round) => paths[round % COPIES]!;
}

export function buildEmpty(folder: string): string {
  const source = join(folder, "empty.ts");
  const binary = join(folder, "empty");
  writeFileSync(source, "export {};\n");
  execute([process.execPath, "build", ...FLAGS, source, "--outfile", binary]);
  return binary;
}

function execute(command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command, { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr.toString().slice(0, 500)}`);
}

/** The interpreter itself, not a version manager's shim. */
export const systemTool = (name: string) => ["/usr/bin", "/bin"].map((dir) => join(dir, name)).find(existsSync) ?? null;

// ── Projects ────────────────────────────────────────────────────────────────

export interface Project {
  root: string;
  home: string;
  session: string;
}

export function makeTemplate(folder: string): string {
  const template = join(folder, "template");
  mkdirSync(template);
  const git = ["git", "-C", template, "-c", "user.name=bench", "-c", "user.email=bench@localhost"];
  execute([...git, "init", "-q", "--template="]);
  execute([...git, "commit", "-q", "--allow-empty", "-m", "begin"]);
  return template;
}

/** How a run begins, and at which stage it is then. */
export interface Arming {
  word: string;
  stage: string;
}

const COMPLETE_WORK: Arming = { word: "/complete-work", stage: "memory" };
export const AUTO: Arming = { word: "/auto", stage: "coding" };

/** One labelled task, for runs that work through tasks. */
export function withTask(template: string, folder: string): string {
  const made = join(folder, "template-task");
  cpSync(template, made, { recursive: true });
  writeFileSync(join(made, "session.md"), "## Pending Tasks\n\n- [ ] **Mend it** — | sonnet | #auto-workflow\n");
  return made;
}

/** A project of its own with a run that was really armed: the session's pointer names the root, so none can be copied. */
export function armProject(
  pawl: string,
  template: string,
  folder: string,
  name: string,
  { word, stage }: Arming = COMPLETE_WORK,
): Project {
  const root = join(folder, name, "project");
  const home = join(folder, name, "home");
  mkdirSync(home, { recursive: true });
  cpSync(template, root, { recursive: true });
  const project = { root, home, session: `bench-${name}` };
  const armed = run(hookJob(pawl, project, promptPayload(project, word)));
  if (armed.code !== 0 || newestRun(project)?.stage !== stage) {
    throw new Error(`${word} did not arm a run: exit ${armed.code} ${armed.out}${armed.err}`);
  }
  return project;
}

interface RunNow {
  id: string;
  seq: number;
  stage: string;
  entered_at: string;
}

export function newestRun({ root }: Project): RunNow | null {
  const runs = join(root, ".pawl/runs");
  const id = existsSync(runs) ? readdirSync(runs)[0] : undefined;
  if (id === undefined) return null;
  const newest = readdirSync(join(runs, id))
    .filter((name) => /^\d+\.json$/.test(name))
    .sort()
    .at(-1);
  return newest === undefined ? null : JSON.parse(readFileSync(join(runs, id, newest), "utf8")).run;
}

// ── Payloads ────────────────────────────────────────────────────────────────

export const hookJob = (pawl: string, project: Project, payload: object): Job => ({
  command: [pawl, "hook", "claude", "--via", "local"],
  env: { ...ENV, HOME: project.home },
  input: `${JSON.stringify(payload)}\n`,
});

export const lineJob = (pawl: string, project: Project, usd: number): Job => ({
  command: [pawl, "statusline"],
  env: { ...ENV, HOME: project.home },
  input: `${JSON.stringify(linePayload(project, usd))}\n`,
});

const linePayload = ({ root, session }: Project, usd: number) => ({
  session_id: session,
  transcript_path: join(root, "none.jsonl"),
  cwd: root,
  model: { id: "claude-opus-4-8", display_name: "Opus 4.8" },
  workspace: { current_dir: root, project_dir: root, added_dirs: [] },
  version: "2.1.197",
  cost: {
    total_cost_usd: usd,
    total_duration_ms: 686,
    total_api_duration_ms: usd,
    total_lines_added: 0,
    total_lines_removed: 0,
  },
  context_window: { total_input_tokens: 0, context_window_size: 200_000, used_percentage: 4 },
});

const common = ({ root, session }: Project, transcript: string) => ({
  session_id: session,
  transcript_path: transcript,
  cwd: root,
  prompt_id: TURN,
  permission_mode: "default",
});

export const promptPayload = (project: Project, prompt: string) => ({
  ...common(project, join(project.home, "none.jsonl")),
  hook_event_name: "UserPromptSubmit",
  prompt,
});

export const stopPayload = (project: Project, message: string, transcript: string) => ({
  ...common(project, transcript),
  effort: { level: "high" },
  hook_event_name: "Stop",
  stop_hook_active: false,
  last_assistant_message: message,
  background_tasks: [],
  session_crons: [],
});
