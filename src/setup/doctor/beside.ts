/** Who else listens to stops. Nothing of it is wrong; two that keep an agent going should know of each other. */
import { lookAt } from "../../store/files.ts";
import { join } from "../../store/names.ts";
import { clean, type Finding, type Ground, note, ok } from "./finding.ts";
import type { Plugin } from "./plugins.ts";
import { fieldOf, type HookEntry, hooksIn, type SettingsFile } from "./settings-files.ts";

const STOPS = ["Stop", "SubagentStop"];
const MOST = 20;

const BLOCKS =
  "it handles the same stops: if it blocks one, the agent continues although Pawl lets it end; the client waits for the slower of the two";
const JUDGES = "a model judges each stop: it may keep the agent going where Pawl lets it end";
const WATCH = "keep it if you like; `pawl explain` shows which stops Pawl itself continued";

const RALPH: [string, string] = [
  "its loop repeats one prompt at every stop: while it runs, the agent gets its text and Pawl's",
  "end the loop (/cancel-ralph) before /complete-work",
];

/** What is known of each, in one sentence, and what to do. */
const KNOWN: Readonly<Record<string, [string, string]>> = {
  "ralph-loop": RALPH,
  "ralph-wiggum": RALPH,
  superpowers: [
    "it gives the agent its own instructions at each session start; the steps of a workflow come on top of them",
    "nothing to do; Pawl checks the step that it gave",
  ],
  hookify: ["its rules may block a stop with their own text, also in the middle of a run", WATCH],
  "double-shot-latte": [
    "a second model decides at each stop whether the agent goes on, also when Pawl lets it end",
    WATCH,
  ],
  "oh-my-claudecode": [
    "its persistent modes block stops until they are cancelled",
    "cancel its mode before /complete-work",
  ],
};

export function checkBeside(ground: Ground, files: SettingsFile[], plugins: Plugin[]): Finding[] {
  const found = [
    ...files.flatMap((file) => stopsIn(file).map((entry) => besideHook(file.name, entry))),
    ...plugins.filter(({ enabled, name }) => enabled && name !== "pawl").flatMap(besidePlugin),
    ...ralphRuns(ground),
  ];
  if (found.length === 0) return [ok("alone", "no other hook or known plugin listens to stops")];
  const rest = found.length - MOST;
  return rest > 0 ? [...found.slice(0, MOST), note("beside-more", `and ${rest} more`, WATCH)] : found;
}

/** One that runs in the background cannot hold a stop up. */
const stopsIn = (file: SettingsFile): HookEntry[] =>
  hooksIn(file).filter(({ event, node, ours }) => STOPS.includes(event) && !ours && fieldOf(node, "async") !== true);

function besideHook(name: string, { event, node }: HookEntry): Finding {
  const type = String(fieldOf(node, "type"));
  const words = ["command", "url", "prompt", "tool"].map((key) => fieldOf(node, key)).find((one) => one !== undefined);
  const judges = type === "prompt" || type === "agent";
  const what = `${name}: another ${event} hook (${clean(type, 20)}: ${clean(String(words ?? ""), 60)}): ${judges ? JUDGES : BLOCKS}`;
  return note("beside-hook", what, WATCH);
}

function besidePlugin({ name, hooks }: Plugin): Finding[] {
  const known = Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined;
  if (known) return [note("beside-plugin", `the plugin ${name}: ${known[0]}`, known[1])];
  const [first] = hooks ? stopsIn(hooks) : [];
  return first ? [note("beside-plugin", `the plugin ${name} has a ${first.event} hook: ${BLOCKS}`, WATCH)] : [];
}

function ralphRuns({ root }: Ground): Finding[] {
  const state = ".claude/ralph-loop.local.md";
  if (lookAt(join(root, state)) === undefined) return [];
  return [note("beside-ralph", `${state} exists: a ralph loop is running in this folder, and ${RALPH[0]}`, RALPH[1])];
}
