/** The tasks of projects, as STATUS has them. Asked in a process of its own: a tracker may take its time. */
import { isObject, parseJson } from "../store/files.ts";
import { ownCommand } from "../store/home.ts";

export type TaskView = ReturnType<typeof taskView>;
type Tasks = { tasks: TaskView[]; problems: { project: string; why: string }[] };

const TIMEOUT_MS = 30_000;
const FRESH_MS = 5_000;
const AT_ONCE = 2;
const MOST_PROJECTS = 50;

const answers = new Map<string, { at: number; answer: Promise<Tasks> }>();

export async function listTasks(roots: string[]): Promise<Tasks> {
  const left = roots.slice(0, MOST_PROJECTS);
  const found: Tasks[] = [];
  const work = async () => {
    for (let root = left.shift(); root !== undefined; root = left.shift()) found.push(await remembered(root));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { tasks: found.flatMap(({ tasks }) => tasks), problems: found.flatMap(({ problems }) => problems) };
}

function remembered(root: string): Promise<Tasks> {
  const before = answers.get(root);
  if (before && performance.now() - before.at < FRESH_MS) return before.answer;
  const answer = ask(root).catch(() => failed(root, "the tracker could not be asked"));
  answers.set(root, { at: performance.now(), answer });
  return answer;
}

const failed = (project: string, why: string): Tasks => ({ tasks: [], problems: [{ project, why }] });

async function ask(root: string): Promise<Tasks> {
  const child = Bun.spawn(ownCommand("status", "--json"), {
    cwd: root,
    stdio: ["ignore", "pipe", "ignore"],
    timeout: TIMEOUT_MS,
  });
  const value = parseJson(await new Response(child.stdout).text());
  if (!isObject(value)) return failed(root, "the tracker did not answer in time");
  if (typeof value.failed === "string") return failed(root, value.failed);
  return {
    tasks: [
      ...list(value.in_progress).map((task) => taskView(root, task, "in_progress")),
      ...list([value.next]).map((task) => taskView(root, task, "ready", true)),
      ...list(value.pending).map((task) => taskView(root, task, "ready")),
      ...list(value.blocked).map((task) => taskView(root, task, "blocked")),
    ],
    problems: [],
  };
}

const list = (value: unknown) => (Array.isArray(value) ? value.filter(isObject) : []);
const text = (value: unknown) => (typeof value === "string" ? value : null);

type Status = "in_progress" | "ready" | "blocked";

const taskView = (project: string, task: Record<string, unknown>, status: Status, next = false) => ({
  project,
  id: text(task.id) ?? "",
  title: text(task.title) ?? "",
  status,
  next,
  assignee: text(task.owner),
  command: text(task.command),
  model: text(task.model),
  after: Array.isArray(task.after) ? task.after.map(String) : [],
});
