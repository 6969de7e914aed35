/** What a skill's text says: its front matter, its numbered steps, how it ends, and what it calls. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse } from "yaml";

export const SKILLS = resolve(import.meta.dir, "../../plugin/skills");

interface Skill {
  folder: string;
  front: Record<string, unknown>;
  body: string;
  /** the numbered steps, each with the lines below it */
  steps: string[];
  text: string;
}

type Skills = Record<string, Skill>;

export function readSkills(): Skills {
  const read = (folder: string) => readSkill(folder, readFileSync(join(SKILLS, folder, "SKILL.md"), "utf8"));
  return Object.fromEntries(
    readdirSync(SKILLS)
      .sort()
      .map((folder) => [folder, read(folder)]),
  );
}

export function readSkill(folder: string, text: string): Skill {
  const match = /^---\n(.*?)\n---\n(.+)$/s.exec(text);
  if (!match) throw new Error(`${folder}: no front matter`);
  const [, front, body] = match as unknown as [string, string, string];
  return { folder, front: parse(front), body, steps: stepsOf(body), text };
}

const stepsOf = (body: string) => body.split(/^(?=\d+\. )/m).filter((part) => /^\d+\. /.test(part));

/** What the last step does if the skill was called with these arguments. */
function endOf({ steps }: Skill, args: string): string {
  const last = steps.at(-1) ?? "";
  const branches = last.split(/^ +- (?=With)/m).slice(1);
  const wanted = args.includes("--commit") ? "With `--commit`:" : "Without `--commit`:";
  return branches.length === 0 ? last : (branches.find((branch) => branch.startsWith(wanted)) ?? "");
}

/** The skills that follow from a call, and STATUS as often as it is shown. */
export function chainOf(skills: Skills, call: string): string[] {
  const [name = "", ...args] = call.split(" ");
  const skill = skills[name];
  if (!skill) throw new Error(`there is no skill ${name}`);
  const end = endOf(skill, args.join(" "));
  const shown = [...skill.steps.slice(0, -1), end].join("\n").match(/`pawl status`/g) ?? [];
  const next = [...end.matchAll(/tail-call `\/([^`]+)`/gi)].map((match) => match[1]!);
  if (next.includes(call)) throw new Error(`${call} calls itself`);
  return [call, ...shown.map(() => "STATUS"), ...next.flatMap((one) => chainOf(skills, one))];
}

/** Every `pawl …` between backquotes, or in an indented block, without the path before it. */
export function callsOf({ body, front }: Skill): string[] {
  const quoted = [...body.matchAll(/`(?:~\/\.local\/share\/pawl\/bin\/)?pawl ([^`]+)`/g)].map((match) => match[1]!);
  const blocks = [...body.matchAll(/^ {4,}~?[\w./]*pawl (.+?)(?: {3,}.*)?$/gm)].map((match) => match[1]!);
  const allowed = String(front["allowed-tools"] ?? "").matchAll(/Bash\((?:\S+\/)?pawl ([^:]+):\*\)/g);
  return [...quoted, ...blocks, ...[...allowed].map((match) => match[1]!)];
}
