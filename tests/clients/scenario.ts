/** A project, a scripted model and clients between them; everything ends with the scenario. */
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Commit, Run } from "../../src/kernel/types/run.ts";
import { conversation, type HookOutput, type PrintOptions, print } from "./client.ts";
import { type Script, say, startModel } from "./model.ts";
import { type ProjectOptions, startProject } from "./project.ts";
import { terminal } from "./terminal.ts";

export const DOCUMENT = ".claude/work-completion.local.md";
const LOG = ".claude/logs/work-completion.log";

/** A message that ends with a promise, as the prompts ask for it. */
export const promise = (name: string, before = "Done.") => say(`${before}\n\n<promise>${name}</promise>`);

export async function openScenario(script: Script, options: ProjectOptions = {}) {
  const project = await startProject(options);
  const model = startModel(script);
  const ends: (() => unknown)[] = [() => project.remove(), () => model.stop()];

  async function ending<T extends { close: () => unknown }>(opening: Promise<T>): Promise<T> {
    const opened = await opening;
    ends.push(() => opened.close());
    return opened;
  }

  return {
    project,
    model,
    print: (prompt: string, other = model, options: PrintOptions = {}) => print(project, other, prompt, options),
    converse: (other = model, options: PrintOptions = {}) => ending(conversation(project, other, options)),
    look: () => ending(terminal(project, model)),
    run: () => newestRun(project.root),
    log: () => logOf(project.root),
    async [Symbol.asyncDispose]() {
      for (const end of ends.reverse()) await end();
    },
  };
}

/** The run as it was committed last, live or archived, and the folder it lives in. */
async function newestRun(root: string): Promise<Run & { folder: string }> {
  const runs = join(root, ".pawl");
  const names = await readdir(runs, { recursive: true });
  const files = names.filter((name) => /^(runs|archive)\/[^/]+\/(\d+\.json|commits\.jsonl)$/.test(name));
  const commits = (await Promise.all(files.map((name) => readCommits(join(runs, name))))).flat();
  const newest = commits.sort((a, b) => a.seq - b.seq).at(-1);
  if (!newest) throw new Error("no run was ever committed");
  return newest;
}

async function readCommits(path: string): Promise<(Run & { folder: string })[]> {
  const text = await readFile(path, "utf8");
  const lines = path.endsWith(".jsonl") ? text.split("\n").filter((line) => line !== "") : [text];
  return lines.map((line) => ({ ...(JSON.parse(line) as Commit).run, folder: dirname(path) }));
}

/** The human log without its times; every line must have had one. */
async function logOf(root: string): Promise<string[]> {
  const text = await readFile(join(root, LOG), "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.replace(/^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] /, ""));
}

/** The lines of a text that come from us. */
export function ours(text: string): string[] {
  return text.split("\n").flatMap((line) => {
    const at = line.indexOf("[pawl]");
    return at < 0 ? [] : [line.slice(at)];
  });
}

/** What our hook told the person, one text per answer. */
export function told(outputs: HookOutput[]): string[] {
  return answers(outputs).flatMap((answer) => (answer.systemMessage === undefined ? [] : [answer.systemMessage]));
}

export interface HookAnswer {
  event: string;
  decision?: string;
  reason?: string;
  systemMessage?: string;
}

/** Our hook's answers of an event kind, or of all; silence is left out. */
export function answers(outputs: HookOutput[], event?: string): HookAnswer[] {
  return outputs
    .filter((output) => output.stdout.startsWith("{") && (event === undefined || output.event === event))
    .map((output) => ({ ...JSON.parse(output.stdout), event: output.event }));
}
