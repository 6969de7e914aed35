import { FRAGMENTS } from "../../src/definitions/builtin/fragments.ts";
import { PROCEDURES } from "../../src/definitions/builtin/procedures.ts";
import { compileProcedure, withBuiltins } from "../../src/definitions/procedure-compile.ts";
import { procedureSchema } from "../../src/definitions/schema/json.ts";
import { AGENTS, BUILT_IN } from "../../src/definitions/schema/loop.ts";
import { PROCEDURE } from "../../src/definitions/schema/procedure.ts";
import { PHASES, type Procedure } from "../../src/kernel/types/procedure.ts";
import { formatSections } from "./format.ts";
import { fenced, GENERATED, page, table } from "./markdown.ts";

const EXAMPLE = `# .pawl/procedures/changelog.yaml
name: changelog
about: Writes what changed since the last release into CHANGELOG.md.
success: CHANGELOG.md has an entry for everything since the last tag, and is committed.
again: Some commits are not described yet.
failure: There is no tag to begin from.
gates:
  - { file: CHANGELOG.md, contains: Unreleased }
  - { git: committed-or-clean }
phases:
  observe:
    - path: "builtin:observe/check_repository.md"
    - content: Read every commit since the newest tag.
  decide:
    - path: "builtin:decide/decide_signal.md"
  act:
    - { path: fragments/write_entry.md, parameters: { file: CHANGELOG.md } }
    - path: "builtin:act/commit_change.md"
    - path: "builtin:act/emit_signal.md"
`;

const SIGNALS = `A signal is a line of its own in the agent's final message, with only the word inside the tag. What there is to
explain comes after it:

\`\`\`text
<promise>SUCCESS</promise>

All ready work completed: 3 tasks, 41 tests pass.
\`\`\`

SUCCESS is about the goal of the procedure, not about one iteration: for \`build\`, no ready work remains; for plans and
audits, the output was checked to be minimal, complete and accurate; for a single task such as \`agents-sync\`, it is done.
One finished task of \`build\` is no signal: the next iteration takes the next task.`;

const OWN = `A procedure is one YAML file: \`.pawl/procedures/<name>.yaml\` in a project, \`~/.config/pawl/procedures/<name>.yaml\` for all of
yours. A project's comes before yours, yours before the built-in one of the same name: a file \`build.yaml\` replaces
\`build\`. \`pawl show build --source\` prints one to begin with, \`pawl check\` finds mistakes, \`pawl show <name> --prompts\`
shows the whole prompt. For editors: [schema/procedure.json](../../schema/procedure.json).`;

const FILLING = `A fragment's path is \`builtin:<phase>/<file>.md\`, or a file below \`.pawl/\` (below \`~/.config/pawl/\` for yours). It cannot
lead out of there, links are not followed, 64 KB is the most. \`{name}\` is filled in from \`parameters\`; a placeholder for
which nothing is given is a mistake, and so is a parameter that the text does not have. \`\${x}\`, \`@{x}\` and \`{{x}}\` mean
themselves.`;

export function proceduresReference(): string {
  const procedures = [...PROCEDURES].map(([name, text]) => compiled(name, text));
  return page(
    "# Procedures",
    GENERATED,
    "What `pawl loop <name>` asks an agent for, in a fresh process each time, until the goal is reached. How the loop goes: [iteration-loop](iteration-loop.md).",
    "## Signals",
    SIGNALS,
    "## What each one means",
    table(
      ["procedure", "SUCCESS", "no signal: go on", "FAILURE"],
      procedures.map(({ name, success, again, failure }) => [`[\`${name}\`](#${name})`, success, again, failure]),
    ),
    ...procedures.map(section),
    "## Your own",
    OWN,
    fenced(EXAMPLE, "yaml"),
    FILLING,
    ...formatSections(procedureSchema(), { gate: "workflow.md" }),
    "## Settings",
    "A flag counts more than the procedure, the procedure more than the environment, that more than `loop:` in pawl.yaml, that more than `loop:` in `~/.config/pawl/config.yaml`. `pawl loop <name> --dry-run` shows each with where it comes from.",
    table(["setting", "built in", "flag", "procedure", "environment"], settings()),
    `\`ai\` is ${AGENTS.join(", ")}, or a command line of yours. In pawl.yaml only the names are allowed: a repository does not choose what is run on your machine.`,
    "## Fragments",
    "What procedures are put together from. `pawl show <procedure> --prompts` shows their texts.",
    table(
      ["fragment", "title"],
      [...FRAGMENTS].map(([path, text]) => [`\`builtin:${path}\``, titleOf(text)]),
    ),
  );
}

export function compiled(name: string, text: string): Procedure {
  const read = compileProcedure(text, `builtin:${name}`, withBuiltins(none), {});
  if ("errors" in read) throw new Error(`${name}: ${read.errors[0]!.message}`);
  return read.procedure;
}

const none = () => ({ why: "it is not built in", hint: "" });

const titleOf = (text: string) => text.split("\n", 1)[0]!.replace(/^# /, "");

function section({ name, title, about, main, gates, drives, phases }: Procedure): string {
  const told = PHASES.filter((phase) => phases[phase].length > 0);
  const facts = [
    `**${title}.** ${about}`,
    gates.length > 0 ? `SUCCESS is believed only if: ${gates.map((gate) => gate.name).join("; ")}.` : "",
    drives === undefined ? "" : `What counts is the stage that the run of \`${drives}\` has reached.`,
    main ? "Listed first." : "",
  ];
  const phaseList = told.map((phase) => `- ${phase}: ${phases[phase].map(({ text }) => titleOf(text)).join(" · ")}`);
  return [`### ${name}`, facts.filter((fact) => fact !== "").join(" "), phaseList.join("\n")].join("\n\n");
}

function settings(): string[][] {
  const ofProcedures = Object.keys(PROCEDURE.entries);
  return Object.entries(BUILT_IN).map(([name, value]) => [
    `\`${name}\``,
    String(value),
    name === "buffer" ? "" : `\`--${name.replaceAll("_", "-")}\``,
    ofProcedures.includes(name) ? "yes" : "",
    `\`PAWL_LOOP_${name.toUpperCase()}\``,
  ]);
}
