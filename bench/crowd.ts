/** A project full of runs: what a session's start and a compaction cost there. */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { commitContext, workflowContext } from "../src/store/commits.ts";
import { seal, unseal } from "../src/store/seal.ts";
import { run } from "./measure.ts";
import { hookJob, type Project } from "./prepare.ts";

const DOCUMENT = "untracked/workflow-state/bench/state-bench-20260101_000000.json";

export const startPayload = (project: Project, transcript: string, source: "compact" | "resume") => ({
  ...basics(project, transcript),
  hook_event_name: "SessionStart",
  source,
});

export const compactPayload = (project: Project, transcript: string) => ({
  ...basics(project, transcript),
  hook_event_name: "PreCompact",
  trigger: "auto",
  custom_instructions: null,
});

const basics = ({ root, session }: Project, transcript: string) => ({
  session_id: session,
  transcript_path: transcript,
  cwd: root,
  prompt_id: "bench-turn",
});

/** One formal run of the session, found by the document it wrote; the others are its copies under other names. */
export function crowdedProject(pawl: string, template: string, folder: string, live: number, ended: number) {
  const project: Project = { root: join(folder, "crowd"), home: join(folder, "crowd-home"), session: "bench-crowd" };
  cpSync(template, project.root, { recursive: true });
  mkdirSync(project.home, { recursive: true });
  put(join(project.root, DOCUMENT), JSON.stringify({ workflow: "Bench", required_reading: ["@README.md"] }));
  const transcript = join(folder, "crowd.jsonl");
  const content = [{ type: "tool_use", id: "w", name: "Write", input: { file_path: join(project.root, DOCUMENT) } }];
  const line = {
    type: "assistant",
    isSidechain: false,
    timestamp: new Date().toISOString(),
    message: { id: "m", content },
  };
  put(transcript, `${JSON.stringify(line)}\n`);
  run(hookJob(pawl, project, compactPayload(project, transcript)));
  const [id] = readdirSync(join(project.root, ".pawl/runs"));
  if (!id) throw new Error("the formal run was not begun");
  for (let n = 1; n < live; n++) copyRun(project, id, "runs", `${id}-${n}`);
  for (let n = 0; n < ended; n++) copyRun(project, id, "archive", `${id}-e${n}`);
  return { project, transcript };
}

/** Under its new name it needs a new seal, by the key of its own home. */
function copyRun({ root, home }: Project, id: string, into: string, name: string): void {
  process.env.HOME = home;
  const from = join(root, ".pawl/runs", id);
  const to = join(root, ".pawl", into, name);
  mkdirSync(to, { recursive: true });
  for (const file of readdirSync(from)) {
    const json = unseal(contextOf(id, file), readFileSync(join(from, file), "utf8"));
    if (json === null) throw new Error(`${file} is not sealed`);
    writeFileSync(join(to, file), seal(contextOf(name, file), json.replaceAll(`"${id}"`, `"${name}"`)));
  }
}

const contextOf = (id: string, file: string) =>
  file === "workflow.json" ? workflowContext(id) : commitContext(id, Number.parseInt(file, 10));

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
