/** Shortcuts in a project with a small session.md, and in one with 5 MB: 60,000 lines of prose and 2,000 tasks. */
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Job, Row, Sample } from "./measure.ts";
import { type Copies, hookJob, type Project, promptPayload } from "./prepare.ts";

interface Place {
  folder: string;
  template: string;
  rounds: number;
  pawl: Copies;
}

type Bounded = Row & { bounds: { against: string; most: number }[]; hook: boolean };

const PROSE = "The scheduler takes jobs from the queue; a worker asks for the next and writes it.\n";
const tasks = (count: number) =>
  Array.from({ length: count }, (_, n) => `- [ ] **Task ${n}** — \`/do ${n}\` | opus | #web\n  - a note\n`).join("");
const SMALL = `# Session\n\n## Pending Tasks\n\n${tasks(5)}`;
const LARGE = `# Session\n\n## Notes\n\n${PROSE.repeat(60_000)}\n## Pending Tasks\n\n${tasks(2_000)}`;

/** Where there is no shortcut, session.md is not even looked at: such a prompt is an unarmed event like any other. */
export function shortcutRows(place: Place, unarmed: Bounded["bounds"]): Bounded[] {
  const [small, large] = [one(place, "notes-small", SMALL), one(place, "notes-large", LARGE)];
  const [smalls, larges] = [many(place, "take-small", SMALL), many(place, "take-large", LARGE)];
  const ordinary = rowOf(place, "unarmed prompt, 5 MB session.md", "fix it, then tell me what it was", () => large, "");
  const [s, x] = ["prompt s, small session.md", "prompt x, small session.md"] as const;
  return [
    { ...ordinary, starts: 4, bounds: unarmed },
    rowOf(place, s, "s", () => small, "Next: Task 0"),
    {
      ...rowOf(place, "prompt s, 5 MB session.md", "s", () => large, "Next: Task 0"),
      bounds: [{ against: s, most: 4 }],
    },
    rowOf(place, x, "x", (n) => smalls[n]!, "Invoke: /do 0"),
    {
      ...rowOf(place, "prompt x, 5 MB session.md", "x", (n) => larges[n]!, "Invoke: /do 0"),
      bounds: [{ against: x, most: 6 }],
    },
  ];
}

function rowOf(place: Place, name: string, prompt: string, of: (n: number) => Project, said: string): Bounded {
  const job = (n: number) => promptJob(place.pawl(n), of(n), prompt, n);
  const wrong = ({ out }: Sample) => (holds(out, said) ? null : `printed ${out.slice(0, 200)}`);
  // What a large file takes in memory is no measure of the hook itself.
  return { name, starts: 1, job, wrong, bounds: [], hook: !said || !name.includes("5 MB") };
}

const holds = (out: string, said: string) => (said === "" ? out === "" : out.includes(said));

const many = (place: Place, name: string, text: string) =>
  Array.from({ length: place.rounds }, (_, round) => one(place, `${name}-${round}`, text));

function one({ template, folder }: Place, name: string, text: string): Project {
  const root = join(folder, name, "project");
  const home = join(folder, name, "home");
  mkdirSync(home, { recursive: true });
  cpSync(template, root, { recursive: true });
  writeFileSync(join(root, "session.md"), text);
  return { root, home, session: `bench-${name}` };
}

/** A prompt that was heard before is not answered again. */
const promptJob = (pawl: string, project: Project, prompt: string, n: number): Job =>
  hookJob(pawl, project, { ...promptPayload(project, prompt), prompt_id: `bench-${n}` });
