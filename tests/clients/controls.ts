/** A project with tasks in session.md, set up by `pawl init`, for what a person types into the real client. */
import { put } from "./gated.ts";
import type { Received, Script } from "./model.ts";
import { PAWL, type Project } from "./project.ts";
import { openScenario } from "./scenario.ts";

export const TASKS = `# Session

## Pending Tasks

- [ ] **Implement ambient awareness** — \`/plan-adhoc plans/ambient.md\` | sonnet | no restart
- [ ] **Design runbook identifiers** — \`/design plans/runbook.md\` | opus
`;

export interface Controls {
  files?: Record<string, string>;
  /** options of `pawl init`; null: nothing is installed */
  init?: string[] | null;
}

/** Files first, as they would be there, then Pawl; all of it committed. */
export async function openControls(script: Script, { files = { "session.md": TASKS }, init = [] }: Controls = {}) {
  const scene = await openScenario(script, { bare: true });
  const { project } = scene;
  for (const [path, text] of Object.entries(files)) put(project, path, text);
  if (init !== null) await pawl(project, "init", "--with", "all", "--yes", ...init);
  await project.git("add", "--all");
  await project.git("commit", "-q", "--allow-empty", "-m", "A project with tasks");
  return scene;
}

export async function pawl(project: Project, ...args: string[]): Promise<string> {
  const env = { HOME: project.home, PATH: "/usr/bin:/bin" };
  const child = Bun.spawn([PAWL, ...args], { cwd: project.root, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`pawl ${args.join(" ")}: ${err}`);
  return out;
}

/** The texts of the newest prompt, piece by piece as the model gets them. */
export function piecesOf({ body }: Received): string[] {
  const last = body.messages.findLastIndex(({ role }) => role === "assistant");
  return body.messages.slice(last + 1).flatMap(({ content }) => texts(content));
}

function texts(content: unknown): string[] {
  if (typeof content === "string") return [content];
  return (content as { type: string; text?: string }[]).flatMap(({ text }) => text ?? []);
}
