import type { Content, Phase, PhaseStatus } from "../../kernel/types/formal.ts";
import { STATUSES } from "./state.ts";

/** A formal workflow that no one registered, read from people's and agents' own notes. Nothing is made up: what is not
 * named there is not detected. */

export interface DetectedWorkflow extends Pick<Content, "phase" | "required_reading" | "context" | "key_reminders"> {
  name: string;
  type: string;
}

const LONGEST = 2_000;
const MOST_LINES = 20_000;
const MOST = 50;

export const NOTES = "CLAUDE.local.md";

export const detectIn = (text: string, path: string): DetectedWorkflow | null =>
  path === NOTES ? detectInNotes(text) : detectInPlan(text, path);

/** CLAUDE.local.md: a line `workflow: name`, one with its phase, and what is to be read. */
export function detectInNotes(text: string): DetectedWorkflow | null {
  const lines = proseLines(text);
  const name = first(lines, workflowIn);
  const phase = first(lines, phaseIn);
  if (name === null || phase === null) return null;
  return {
    name,
    type: typeIn(lines),
    phase,
    required_reading: distinct(lines.flatMap(readingIn)),
    context: {},
    key_reminders: remindersIn(lines),
  };
}

/** CLAUDE/Plan/…/PLAN.md: in progress, with a title, and of phases or a workflow. */
export function detectInPlan(text: string, path: string): DetectedWorkflow | null {
  const lines = proseLines(text);
  const title = first(lines, (line) => /^#\s+(\S.*)$/.exec(line)?.[1] ?? null);
  const name = title === null ? "" : named(title);
  const formal = lines.some((line) => /(?<![\p{L}\p{N}])(phases?|workflows?)(?![\p{L}\p{N}])/iu.test(line));
  if (name === "" || !formal || !isActive(lines)) return null;
  // `Plan 001: User Auth`, or the number of its folder.
  const titleOf = /^plan\s+#?(\d{1,9})\s*[-–—:.]?\s*(.*)$/i.exec(name);
  const number = titleOf?.[1] ?? /(?:^|\/)(\d{1,9})[-_][^/]*\/[^/]+$/.exec(path)?.[1];
  return {
    name,
    type: typeIn(lines),
    phase: first(lines, phaseIn) ?? phaseOfHeadings(lines) ?? buildPhase({}),
    required_reading: distinct([`@${path}`, ...lines.flatMap(referencesIn)]),
    context: { ...(number ? { plan_number: Number(number) } : {}), plan_name: titleOf?.[2] || name },
    key_reminders: remindersIn(lines),
  };
}

// ── Lines ───────────────────────────────────────────────────────────────────

/** The lines outside code fences and comments; no line that means something is longer. */
function proseLines(text: string): string[] {
  const prose: string[] = [];
  let fence = "";
  for (const whole of withoutComments(text).split(/\r\n|\n|\r/)) {
    // Single spaces: no pattern below can be made to try a long run of them in many ways.
    const line = whole.slice(0, LONGEST).replace(/\s+/g, " ").trimEnd();
    const marks = /^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? "";
    const closes = fence !== "" && marks.startsWith(fence) && line.trim() === marks;
    if (fence === "" && marks === "" && line !== "") prose.push(line);
    if (closes) fence = "";
    else if (fence === "") fence = marks;
  }
  return prose.slice(0, MOST_LINES);
}

function withoutComments(text: string): string {
  const [before = "", ...rest] = text.replace(/^\uFEFF/, "").split("<!--");
  return before + rest.map((piece) => (piece.includes("-->") ? piece.slice(piece.indexOf("-->") + 3) : "")).join("");
}

function first<T>(lines: string[], look: (line: string) => T | null): T | null {
  for (const line of lines) {
    const found = look(line);
    if (found !== null) return found;
  }
  return null;
}

const distinct = (items: string[]) => [...new Set(items)].slice(0, MOST);

/** Without the marks of lists, quotes, headings, bold and code around it. */
const bare = (line: string) =>
  line
    .replace(/^\s*(?:(?:[-*+>]|#{1,6}|\d{1,3}[.)])\s+)*(?:\[.\]\s+)?/, "")
    .replace(/\*\*|__|`/g, "")
    .trim();

/** The value of `key: value`. */
function field(line: string, key: RegExp): string | null {
  const colon = /\s*[:：]\s*/.exec(bare(line));
  if (!colon || !key.test(bare(line).slice(0, colon.index))) return null;
  return bare(line).slice(colon.index + colon[0].length);
}

// ── Fields ──────────────────────────────────────────────────────────────────

const NO_NAME = /^(?:none|no|n\/a|null|nil|tbd|todo|unknown|idle|-+|—|\?+|\.{3}|…|[<{[(].*[>}\])])$/i;

function named(value: string): string {
  const name = bare(value)
    .replace(/^(["'])(.*)\1$/, "$2")
    .trim();
  return NO_NAME.test(name) || !/[\p{L}\p{N}]/u.test(name) ? "" : name.slice(0, 200).toWellFormed();
}

const workflowIn = (line: string) => named(field(line, /^(?:current |active )?workflow(?:[ _]name)?$/i) ?? "") || null;

function typeIn(lines: string[]): string {
  const type = first(lines, (line) => field(line, /^(?:workflow[ _])?type$/i));
  const known = ["planning", "qa-loop", "implementation", "custom"];
  return known.find((one) => one === type?.toLowerCase().replace(/[ _]/g, "-")) ?? "custom";
}

const COUNTED = /^(?:current )?phase\s*[:：]?\s*(\d{1,4})\s*(?:\/|of)\s*(\d{1,4})(?![\d/])\s*(?:[-–—:：,.]\s*)?(.*)$/i;

/** `Phase: 4/10 - SEO Generation`, `Phase 4 of 10: SEO Generation`, `Phase: 4`, `Phase: SEO Generation`. */
function phaseIn(line: string): Phase | null {
  const counted = COUNTED.exec(bare(line));
  if (counted) return buildPhase({ current: Number(counted[1]), total: Number(counted[2]), ...titled(counted[3]!) });
  const value = /^\s*#/.test(line) ? null : field(line, /^(?:current )?phase$/i);
  if (value === null || named(value) === "") return null;
  const alone = /^(\d{1,4})(?:\s*[-–—:,.]\s*(.*))?$/.exec(value);
  if (alone) return buildPhase({ current: Number(alone[1]), ...titled(alone[2] ?? "") });
  return /\d\s*\/|\/\s*\d|^\w+\/\w+$/.test(value) ? null : buildPhase(titled(value));
}

/** A name with, perhaps, its status in brackets or as a sign. */
function titled(text: string): { name: string; status: PhaseStatus } {
  const bracket = /\s*\(([^()]{1,40})\)\s*$/.exec(text);
  const status = bracket ? STATUSES.find((one) => one === normalizeWord(bracket[1]!)) : undefined;
  const name = (status ? text.slice(0, bracket!.index) : text).replace(SIGNS, "").trim();
  // A name in brackets only: `4 of 10 (SEO)`.
  return { name: /^\(([^()]*)\)$/.exec(name)?.[1] ?? name, status: status ?? statusBySign(text) };
}

const normalizeWord = (text: string) => text.trim().toLowerCase().replace(/[ -]/g, "_");
const SIGNS = /\s*[-–—:]?\s*(?:🔄|✅|⬜|⏸️?|❌|🚫)\s*(?:in[ _-]progress|completed?|done|not[ _-]started|blocked)?/giu;

function statusBySign(text: string): PhaseStatus {
  if (text.includes("✅")) return "completed";
  if (text.includes("⬜")) return "not_started";
  return /❌|🚫/u.test(text) ? "blocked" : "in_progress";
}

function buildPhase({ current = 1, total = 1, name = "", status = "in_progress" }: Partial<Phase>): Phase {
  const at = Math.max(current, 1);
  return { current: at, total: Math.max(total, at), name: name.slice(0, 200).toWellFormed() || "In Progress", status };
}

/** Lines that begin with @, and list items with an @ path. A path out of the project is none of the project's. */
function readingIn(line: string): string[] {
  const item = /^\s*(?:[-*+]|\d{1,3}[.)])\s+/.test(line);
  if (!item && !/^\s*`?@/.test(line)) return [];
  const paths = [...line.matchAll(/(?<=^|[\s`(*"'])@([^\s`"'<>()*@]+)/g)].map((match) =>
    match[1]!.replace(/[.,;:!?]+$/, ""),
  );
  return paths.filter((path) => isInside(path) && (!item || /[./]/.test(path))).map((path) => `@${path}`);
}

const isInside = (path: string) => path !== "" && !/^[/~]/.test(path) && !path.split("/").includes("..");

function remindersIn(lines: string[]): string[] {
  const start = lines.findIndex((line) => /^(?:key |critical )?reminders\s*[:：]?$/i.test(bare(line)));
  if (start < 0) return [];
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => !/^\s*(?:[-*+]|\d{1,3}[.)])\s+\S/.test(line));
  const items = (end < 0 ? rest : rest.slice(0, end)).filter((line) => readingIn(line).length === 0);
  return distinct(items.map(bare).filter((item) => item !== ""));
}

// ── Plans ───────────────────────────────────────────────────────────────────

const IN_PROGRESS = /in[ _-]progress/i;
const NEGATED = /(?:not|no longer|never|was)\s+in[ _-]progress/i;
const OTHER_SIGNS = /✅|⬜|☐|❌|🚫/u;

/** The plan's own status decides; without one, any sign of work going on that is no legend of all the signs. */
function isActive(lines: string[]): boolean {
  const section = lines.findIndex((line) => /^##\s/.test(line));
  const head = section < 0 ? lines : lines.slice(0, section);
  const own = first(head, (line) => field(line, /^(?:[\p{L} ]+ )?status$/iu));
  if (own !== null) return saysActive(own);
  return lines.some(
    (line) => saysActive(line) && (/🔄/u.test(line) || /status/i.test(line) || /in_progress/i.test(line)),
  );
}

const saysActive = (text: string) => IN_PROGRESS.test(text) && !NEGATED.test(text) && !OTHER_SIGNS.test(text);

/** `### Phase 2: Build 🔄`: the one marked as going on, else the first that is not over. */
function phaseOfHeadings(lines: string[]): Phase | null {
  const phases = lines.flatMap((line) => {
    const match = /^#{2,5}\s+phase\s+(\d{1,4})\s*(?:[-–—:.]\s*)?(.*)$/i.exec(line.replace(/\*\*/g, ""));
    return match
      ? [{ number: Number(match[1]), title: match[2]!, going: saysActive(line) || line.includes("🔄") }]
      : [];
  });
  const open = phases.filter((phase) => !/✅|\b(?:completed?|done)\b/iu.test(phase.title));
  const current = phases.find((phase) => phase.going) ?? open[0] ?? phases.at(-1);
  if (!current) return null;
  const total = Math.max(...phases.map((phase) => phase.number));
  return buildPhase({ current: current.number, total, ...titled(current.title) });
}

const REFERENCE = /(?<![\p{L}\p{N}_/.~-])@?((?:CLAUDE|\.claude)\/[\p{L}\p{N}_./-]+\.md)(?![\p{L}\p{N}_/])/gu;

const referencesIn = (line: string) =>
  [...line.matchAll(REFERENCE)]
    .map((match) => match[1]!)
    .filter(isInside)
    .map((path) => `@${path}`);
