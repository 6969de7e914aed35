/** A trial that went well counts for a day, as long as nothing changes that could make it go otherwise. */
import { stat } from "../native/disk.ts";
import {
  hashOf,
  isObject,
  lookAt,
  makeDirs,
  namesOrNone,
  parseJson,
  readText,
  removeQuietly,
  writeAtomic,
} from "../store/files.ts";
import { homeDir, statePath } from "../store/home.ts";
import { join } from "../store/names.ts";
import type { Agent } from "./agents.ts";

const DAY_MS = 24 * 3_600_000;
const LARGEST = 1024 * 1024;

/** What says what an agent may do. */
const OF_PROJECT = [
  ".claude/settings.json",
  ".claude/settings.local.json",
  ".codex/config.toml",
  ".gemini/settings.json",
  ".qwen/settings.json",
  "opencode.json",
  ".opencode/opencode.json",
];
const OF_PERSON = [
  ".claude/settings.json",
  ".codex/config.toml",
  ".copilot/config.json",
  ".gemini/settings.json",
  ".qwen/settings.json",
  ".config/opencode/opencode.json",
];
const OF_MACHINE = ["/etc/claude-code/managed-settings.json"];

/** "3 h ago"; null: not tried in a day, or something is different now. */
export function recall(root: string, agent: Agent, tests: string | null): string | null {
  const file = readText(pathOf(root, agent, tests), LARGEST);
  const kept = file.ok ? parseJson(file.text) : null;
  const at = isObject(kept) && typeof kept.at === "string" ? Date.parse(kept.at) : Number.NaN;
  const age = Date.now() - at;
  if (!(age >= 0 && age < DAY_MS)) return null;
  return age < 3_600_000 ? `${Math.floor(age / 60_000)} min ago` : `${Math.floor(age / 3_600_000)} h ago`;
}

/** It saves a turn; if it cannot be kept, the next loop asks again. */
export function remember(root: string, agent: Agent, tests: string | null): void {
  try {
    makeDirs(statePath("preflight"), 0o700);
    forgetOld();
    const kept = { at: new Date().toISOString(), root, agent: agent.name };
    writeAtomic(pathOf(root, agent, tests), `${JSON.stringify(kept)}\n`);
  } catch {
    // nothing is lost but the saving
  }
}

function forgetOld(): void {
  const paths = namesOrNone(statePath("preflight")).map((name) => statePath("preflight", name));
  for (const path of paths) if (Date.now() - (lookAt(path)?.mtimeMs ?? Date.now()) > DAY_MS) removeQuietly(path);
}

function pathOf(root: string, agent: Agent, tests: string | null): string {
  const argv = agent.argv.filter((word) => word !== agent.session);
  const files = [
    ...OF_PROJECT.map((path) => join(root, path)),
    ...OF_PERSON.map((path) => join(homeDir(), path)),
    ...(agent.env.CLAUDE_CONFIG_DIR ? [join(agent.env.CLAUDE_CONFIG_DIR, "settings.json")] : []),
    ...OF_MACHINE,
  ];
  const key = JSON.stringify([root, argv, programOf(agent), tests, process.getuid?.() ?? 0, files.map(contentOf)]);
  return statePath("preflight", `${hashOf(key).slice(0, 32)}.json`);
}

/** Another version is another program. */
function programOf({ argv }: Agent): string {
  try {
    const { size, mtimeMs } = stat(argv[0]!);
    return `${size} ${mtimeMs}`;
  } catch {
    return "";
  }
}

function contentOf(path: string): string {
  const file = readText(path, LARGEST);
  return file.ok ? file.hash : file.why;
}
