/** Before an unattended loop: is everything there that it needs, and can the agent do what it will be asked to do? */
import { readProject } from "../definitions/project.ts";
import type { Gate } from "../kernel/types/workflow.ts";
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
import { type Check, checkSurroundings, good, type Trip, unknown } from "./preflight-checks.ts";
import { tryAgent } from "./trial.ts";

export type { Check } from "./preflight-checks.ts";

export interface PreflightOptions extends Trip {
  interrupted?: AbortSignal;
  /** tries the agent even if it passed today */
  fresh?: boolean;
  /** for the agent's turn; default: ten minutes, or the timeout of an iteration if that is less */
  timeout_ms?: number;
}

export interface Preflight {
  /** no problem is known */
  ok: boolean;
  checks: Check[];
  /** of the agent's turn; null: it took none, or the cost is unknown */
  cost_usd: number | null;
}

const LONGEST_MS = 10 * 60_000;

export async function preflight(options: PreflightOptions): Promise<Preflight> {
  const around = await checkSurroundings(options);
  if (around.some(isBad)) return done([...around, unknown("agent", "not tried: fix the problems above first")]);
  const { root, agent, fresh = false, interrupted } = options;
  const tests = testCommand(root);
  const passed = fresh ? null : recall(root, agent, tests);
  if (passed !== null) return done([...around, good("agent", `${agent.name} could edit, test and commit ${passed}`)]);
  const timeout_ms = options.timeout_ms ?? Math.min(LONGEST_MS, options.settings.timeout.value * 1000);
  const trial = await tryAgent({ root, agent, tests, timeout_ms, ...(interrupted && { interrupted }) });
  if (!trial.checks.some(isBad)) remember(root, agent, tests);
  return done([...around, ...trial.checks], trial.cost_usd);
}

const isBad = ({ ok }: Check) => ok === false;

const done = (checks: Check[], cost_usd: number | null = null): Preflight => ({
  ok: !checks.some(isBad),
  checks,
  cost_usd,
});

/** As typed in the project's folder; null: pawl.yaml has no such gate. */
function testCommand(root: string): string | null {
  const read = readProject(root);
  const gate: Partial<Gate> = ("project" in read ? read.project.gates.tests : undefined) ?? {};
  const line = (gate.tests ?? gate.run)?.map(quoted).join(" ") ?? gate.shell;
  if (line === undefined) return null;
  return gate.cwd === undefined ? line : `cd ${quoted(gate.cwd)} && ${line}`;
}

const quoted = (word: string) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

// ── A passed trial counts for a day, unless something changes ───────────────

const DAY_MS = 24 * 3_600_000;
const HOUR_MS = 3_600_000;
const LARGEST = 1024 * 1024;

/** Where agents are told what they may do, below the project and below the person's home. */
const SETTINGS = [
  ".claude/settings.json",
  ".claude/settings.local.json",
  ".codex/config.toml",
  ".copilot/config.json",
  ".gemini/settings.json",
  ".qwen/settings.json",
  "opencode.json",
  ".opencode/opencode.json",
  ".config/opencode/opencode.json",
];
const MANAGED = "/etc/claude-code/managed-settings.json";

/** "3 h ago"; null: not tried within a day, or something has changed since. */
function recall(root: string, agent: Agent, tests: string | null): string | null {
  const file = readText(memoryPath(root, agent, tests), LARGEST);
  const kept = file.ok ? parseJson(file.text) : null;
  const at = isObject(kept) && typeof kept.at === "string" ? Date.parse(kept.at) : Number.NaN;
  const age = Date.now() - at;
  if (!(age >= 0 && age < DAY_MS)) return null;
  return age < HOUR_MS ? `${Math.floor(age / 60_000)} min ago` : `${Math.floor(age / HOUR_MS)} h ago`;
}

/** If it cannot be written, the next loop just tries the agent again. */
function remember(root: string, agent: Agent, tests: string | null): void {
  try {
    const folder = statePath("preflight");
    makeDirs(folder, 0o700);
    for (const path of namesOrNone(folder).map((name) => join(folder, name)))
      if (Date.now() - (lookAt(path)?.mtimeMs ?? Date.now()) > DAY_MS) removeQuietly(path);
    const kept = { at: new Date().toISOString(), root, agent: agent.name };
    writeAtomic(memoryPath(root, agent, tests), `${JSON.stringify(kept)}\n`);
  } catch {
    // only the saving is lost
  }
}

/** Named by everything that could change the result. */
function memoryPath(root: string, agent: Agent, tests: string | null): string {
  const argv = agent.argv.filter((word) => word !== agent.session);
  const own = agent.env.CLAUDE_CONFIG_DIR;
  const files = [
    ...[root, homeDir()].flatMap((folder) => SETTINGS.map((path) => join(folder, path))),
    ...(own ? [join(own, "settings.json")] : []),
    MANAGED,
  ].map((path) => {
    const file = readText(path, LARGEST);
    return file.ok ? file.hash : file.why;
  });
  const key = JSON.stringify([root, argv, versionOf(agent), tests, process.getuid?.() ?? 0, files]);
  return statePath("preflight", `${hashOf(key).slice(0, 32)}.json`);
}

/** A changed program counts as another agent. */
function versionOf({ argv }: Agent): string {
  try {
    const { size, mtimeMs } = stat(argv[0]!);
    return `${size} ${mtimeMs}`;
  } catch {
    return "";
  }
}
