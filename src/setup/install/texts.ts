/** Commands, agents and skills, copied where no plugin brings them: under their names, or in our own namespace where a name is taken. */
import commitManager from "../../../plugin/agents/commit-manager.md" with { type: "text" };
import deepReviewer from "../../../plugin/agents/deep-reviewer.md" with { type: "text" };
import fileCleaner from "../../../plugin/agents/file-cleaner.md" with { type: "text" };
import memoryUpdater from "../../../plugin/agents/memory-updater.md" with { type: "text" };
import oracleReviewer from "../../../plugin/agents/oracle-reviewer.md" with { type: "text" };
import approve from "../../../plugin/commands/approve.md" with { type: "text" };
import auto from "../../../plugin/commands/auto.md" with { type: "text" };
import bdStart from "../../../plugin/commands/bd-start.md" with { type: "text" };
import completeWork from "../../../plugin/commands/complete-work.md" with { type: "text" };
import go from "../../../plugin/commands/go.md" with { type: "text" };
import keys from "../../../plugin/commands/keys.md" with { type: "text" };
import oracleReview from "../../../plugin/commands/oracle-review.md" with { type: "text" };
import skip from "../../../plugin/commands/skip.md" with { type: "text" };
import until from "../../../plugin/commands/until.md" with { type: "text" };
import commitSkill from "../../../plugin/skills/commit/SKILL.md" with { type: "text" };
import design from "../../../plugin/skills/design/SKILL.md" with { type: "text" };
import handoff from "../../../plugin/skills/handoff/SKILL.md" with { type: "text" };
import handoffHaiku from "../../../plugin/skills/handoff-haiku/SKILL.md" with { type: "text" };
import planAdhoc from "../../../plugin/skills/plan-adhoc/SKILL.md" with { type: "text" };
import planTdd from "../../../plugin/skills/plan-tdd/SKILL.md" with { type: "text" };
import workflow from "../../../plugin/skills/workflow/SKILL.md" with { type: "text" };

import { listWorkflows } from "../../definitions/registry.ts";
import { attempt } from "../../kernel/attempt.ts";
import type { Workflow } from "../../kernel/types/run.ts";
import { lookAt } from "../../store/files.ts";
import { homeDir } from "../../store/home.ts";
import { join } from "../../store/names.ts";
import {
  buildChange,
  type Draft,
  installTarget,
  isAsWritten,
  type Part,
  readExisting,
  readManifest,
  readQuietly,
  record,
  type Target,
  write,
} from "./target.ts";

interface ShippedText {
  path: string;
  text: string;
  why: string;
  /** where it goes if someone else has that name */
  otherwise?: string;
  /** its name as a skill, which comes before a command of the same name */
  skill?: string;
  /** a name that anybody's project may use for something of its own */
  everyday?: true;
  /** left out: always there */
  part?: Part;
}

function commandFor(word: string, { title, stages }: Workflow): ShippedText[] {
  const name = /^\/([a-z][a-z0-9-]*)$/.exec(word)?.[1];
  if (!name || SHIPPED.some(({ path }) => path === `.claude/commands/${name}.md`)) return [];
  const head = [
    `description: ${JSON.stringify(title)}`,
    `argument-hint: ${JSON.stringify(stages.map(({ id }) => `[${id}]`).join(" "))}`,
    "disable-model-invocation: true",
  ];
  const body = completeWork.split("\n---\n").at(-1) ?? "";
  const text = `---\n${head.join("\n")}\n---\n${body}`;
  return [{ path: `.claude/commands/${name}.md`, text, why: `the command ${word}, for ${title}` }];
}

/** In our own namespace, as `/pawl:go`. */
const ownName = (name: string) => `.claude/commands/pawl/${name}.md`;

const own = (name: string, text: string): ShippedText => ({
  path: ownName(name),
  text,
  why: `the command /pawl:${name}`,
});

const command = (name: string, text: string): ShippedText => ({
  path: `.claude/commands/${name}.md`,
  text,
  why: `the command /${name}`,
  otherwise: ownName(name),
});

const agent = (name: string, text: string): ShippedText => ({
  path: `.claude/agents/${name}.md`,
  text,
  why: `the sub-agent ${name}`,
});

const skill = (name: string, text: string): ShippedText => ({
  path: `.claude/skills/${name}/SKILL.md`,
  text,
  why: `the skill /${name}`,
  otherwise: ownName(name),
  skill: name,
});

const everyday = (name: string, text: string): ShippedText => ({ ...skill(name, text), everyday: true });

const partOf = (part: Part, ...texts: ShippedText[]) => texts.map((text) => ({ ...text, part }));

export const SHIPPED: readonly ShippedText[] = [
  own("go", go),
  own("until", until),
  own("approve", approve),
  own("skip", skip),
  ...partOf(
    "complete-work",
    command("complete-work", completeWork),
    agent("memory-updater", memoryUpdater),
    agent("deep-reviewer", deepReviewer),
    agent("file-cleaner", fileCleaner),
    agent("commit-manager", commitManager),
  ),
  ...partOf(
    "shortcuts",
    own("keys", keys),
    everyday("handoff", handoff),
    everyday("handoff-haiku", handoffHaiku),
    everyday("commit", commitSkill),
    everyday("design", design),
    everyday("plan-adhoc", planAdhoc),
    everyday("plan-tdd", planTdd),
  ),
  ...partOf(
    "auto",
    command("auto", auto),
    command("bd-start", bdStart),
    command("oracle-review", oracleReview),
    agent("oracle-reviewer", oracleReviewer),
  ),
  ...partOf("formal", skill("workflow", workflow)),
];

// ── Planning them ───────────────────────────────────────────────────────────

export function planTexts(draft: Draft, parts: Set<Part>): void {
  const { target, entries, changes } = draft;
  // The client refuses a command it does not know, so each word that arms a workflow of the project's own gets one.
  const { scope, base } = target;
  const origin = scope === "user" ? "user" : "project";
  const commands = listWorkflows(scope === "user" ? "/" : base).flatMap((found) =>
    found.origin === origin && "workflow" in found
      ? found.workflow.arm.flatMap((word) => commandFor(word, found.workflow))
      : [],
  );
  const wanted = SHIPPED.filter(({ part }) => part === undefined || parts.has(part));
  const shipped = wanted.map((one) => placedFor(target, one));
  const clash = ({ skill }: ShippedText) => commands.find(({ path }) => path === `.claude/commands/${skill}.md`)?.path;
  const kept = new Set([...shipped, ...commands].flatMap((one) => planText(draft, one, clash(one))));
  if (target.scope === "user" && parts.has("shortcuts")) draft.notes.push(EVERYDAY);
  for (const entry of [...entries.values()]) {
    const mine = entry.kind === "text" && entry.scopes.includes(target.scope) && !kept.has(entry.path);
    const now = mine ? readExisting(target.base, entry.path) : null;
    if (!isAsWritten(entry, now)) continue;
    changes.push(buildChange(target, entry.path, now, entry.before, "is no longer part of this installation"));
    entries.delete(entry.path);
  }
}

const EVERYDAY =
  "type handoff, commit and the others as /pawl:handoff, /pawl:commit: a personal skill would hide a project's own";

/** The host takes a person's skill before a project's, whatever it is called. */
function placedFor({ scope }: Target, shipped: ShippedText): ShippedText {
  const { otherwise, everyday } = shipped;
  if (scope !== "user" || !everyday || otherwise === undefined) return shipped;
  return { path: otherwise, text: shipped.text, why: `the command ${typedName(otherwise)}` };
}

/** The paths this text has now. `clash`: a command for the project's own workflow, which a skill of ours would hide. */
function planText(draft: Draft, shipped: ShippedText, clash?: string): string[] {
  const { target, known, notes } = draft;
  const { path, text, why } = shipped;
  const entry = known.get(path);
  const now = readExisting(target.base, path);
  const ours = isAsWritten(entry, now);
  const taken = now === null || ours ? (clash ?? hiddenBy(target, shipped)) : null;
  if (taken !== null) return planAside(draft, shipped, taken);
  if (now === text) {
    if (entry) record(draft, entry, text);
  } else if (now === null) write(draft, { path, kind: "text", before: null }, now, text, why);
  else if (ours) write(draft, { path, kind: "text", before: entry.before }, now, text, `${why}, renewed`);
  else if (entry) notes.push(`${path} was edited since it was installed: unchanged`);
  else if (shipped.otherwise) return [path, ...planAside(draft, shipped, path)];
  else notes.push(`${path} exists and is not Pawl's: unchanged, and used`);
  return [path];
}

function planAside(draft: Draft, { path, text, otherwise = path }: ShippedText, taken: string): string[] {
  const typed = typedName(otherwise);
  draft.notes.push(`${taken} exists and is not Pawl's: unchanged; type Pawl's own as ${typed}`);
  return planText(draft, { path: otherwise, text, why: `the command ${typed}` });
}

const typedName = (path: string) => `/pawl:${path.split("/").at(-1)!.replace(/\.md$/, "")}`;

/** What a skill of ours in its own place would hide, or be hidden by; as a person would write its path. */
function hiddenBy({ base, scope }: Target, { path, skill }: ShippedText): string | null {
  if (skill === undefined) return null;
  const command = `.claude/commands/${skill}.md`;
  if (lookAt(join(base, command))) return scope === "user" ? `~/${command}` : command;
  if (scope === "user") return null;
  const found = [command, path].find((name) => readQuietly(homeDir(), name) !== null && !isInstalled(name));
  return found === undefined ? null : `~/${found}`;
}

/** By ourselves, for this person in every project. */
const isInstalled = (name: string) =>
  attempt(() => readManifest(installTarget("user", "")).manifest, null)?.files.some(({ path }) => path === name) ??
  false;
