/** The journal, newest first, read from its end: a page costs the same however long the journal is. */
import { attempt } from "../kernel/attempt.ts";
import { safeText } from "../kernel/text/safe-text.ts";
import { BOOKKEEPING, type JournalRecord, type Json } from "../kernel/types/run.ts";
import { close, FLAGS, read } from "../native/disk.ts";
import { logError } from "../store/errors.ts";
import { insideRoot, lookAt, namesOrNone, openRegular, parseJson } from "../store/files.ts";
import { type JournalLine, parseJournalLine } from "../store/journal.ts";
import { isRunId, join } from "../store/names.ts";
import type { Words } from "./now.ts";
import { RequestError } from "./security.ts";

const PAGE = 100;
const LONGEST_TEXT = 200;
const CHUNK = 256 * 1024;
const LONGEST_LINE = 8 * 1024 * 1024;
/** A search that finds nothing goes on with the next page, instead of keeping the person waiting. */
const MOST_BYTES = 32 * 1024 * 1024;
/** After so many bytes others get their turn. */
const BREATH = 512 * 1024;
const MOST_PLACES = 40;
const KEYS = new Set(["v", "at", "run", "seq", "i", "kind", "host", "session", "workflow", "stage"]);

type JournalQuery = Record<"q" | "kind" | "run" | "after" | "hide", string>;

interface LinePlace {
  file: string;
  /** the first byte of the last line that was read of it */
  start: number;
}

type Cursor = ReturnType<typeof readCursor>;

interface Head {
  root: string;
  lines: Generator<FoundLine>;
  current: FoundLine | undefined;
  /** of the last line that was taken */
  taken: (() => LinePlace) | undefined;
}

type FoundLine = { line: JournalLine | null; text: string; place: () => LinePlace };

export async function journalPage(roots: string[], search: URLSearchParams, words: Words) {
  const text = (name: string) => (search.get(name) ?? "").slice(0, LONGEST_TEXT);
  const query = {
    q: text("q"),
    kind: text("kind"),
    run: text("run"),
    after: search.get("after") ?? "",
    hide: text("hide"),
  };
  if (query.run !== "" && !isRunId(query.run)) throw new RequestError("this is no run's name");
  const cursor = readCursor(query.after);
  const heads = roots.flatMap((root) => readHead(root, cursor, query) ?? []);
  const unread = roots.filter((root) => !heads.some((head) => head.root === root));
  const rows: ReturnType<typeof buildJournalRow>[] = [];
  const seen = new Set<string>();
  let [bytes, breath, at] = [0, BREATH, ""];
  for (let head = newest(heads); head; head = newest(heads)) {
    const { line, text, place } = head.current!;
    const partial = bytes > MOST_BYTES;
    if (rows.length >= PAGE || partial) return { rows, next: writeCursor(at, heads), partial, unread };
    bytes += text.length;
    if (bytes > breath) {
      breath = bytes + BREATH;
      await Bun.sleep(0);
    }
    head.taken = place;
    head.current = head.lines.next().value ?? undefined;
    if (line === null) continue;
    at = line.at;
    const key = `${head.root} ${line.run}/${line.seq}/${line.i}`;
    if (seen.has(key) || (cursor && !cursor.places[projectKey(head.root)] && line.at > cursor.at)) continue;
    if (!matches(line, text, query, words)) continue;
    seen.add(key);
    rows.push(buildJournalRow(head.root, line, words));
  }
  return { rows, next: null, partial: false, unread };
}

/** `hide=bookkeeping` leaves out what `explain` leaves out, unless it is asked or searched for. */
function matches(line: JournalLine, text: string, { q, kind, run, hide }: JournalQuery, words: Words): boolean {
  if (hide === "bookkeeping" && kind === "" && q === "" && BOOKKEEPING.includes(line.kind)) return false;
  if (line.kind === "committed" || (kind !== "" && line.kind !== kind) || (run !== "" && line.run !== run))
    return false;
  if (q === "") return true;
  const hasIt = (where: string) => where.toLowerCase().includes(q.toLowerCase());
  return hasIt(text) || hasIt(words(line as JournalRecord));
}

function buildJournalRow(project: string, line: JournalLine, words: Words) {
  const { at, run, seq, i, kind, workflow, stage, host, session } = line;
  const rest = Object.entries(line).filter(([key, value]) => !KEYS.has(key) && value !== null && value !== "");
  const detail: Record<string, Json> | null = rest.length > 0 ? safeTexts(Object.fromEntries(rest)) : null;
  const text = safeText(words(line as JournalRecord));
  return { project, at, run, seq, i, kind, workflow, stage, host, session, text, detail };
}

/** Makes every text in it safe, however deep. */
export const safeTexts = <T>(value: T): T =>
  JSON.parse(JSON.stringify(value), (_, part) => (typeof part === "string" ? safeText(part) : part));

// ── Several journals as one ─────────────────────────────────────────────────

/** null: it cannot be read, which must not hide the other journals. */
function readHead(root: string, cursor: Cursor, query: JournalQuery): Head | null {
  const place = cursor?.places[projectKey(root)];
  const lines = backwards(root, place, query);
  try {
    return { root, lines, current: lines.next().value ?? undefined, taken: place && (() => place) };
  } catch (error) {
    logError(root, "dashboard", error);
    return null;
  }
}

/** What is no record comes first: it has no time, and only has to be passed over. */
function newest(heads: Head[]): Head | undefined {
  const open = heads.filter(({ current }) => current !== undefined);
  const at = ({ current }: Head) => current?.line?.at ?? "~";
  return open.reduce<Head | undefined>((best, head) => (best && at(best) >= at(head) ? best : head), undefined);
}

const projectKey = (root: string) => new Bun.CryptoHasher("sha256").update(root).digest("hex").slice(0, 8);

function writeCursor(at: string, heads: Head[]): string {
  const places = heads.flatMap(({ root, taken }) => {
    const place = taken?.();
    return place ? [[projectKey(root), place.file, place.start]] : [];
  });
  return Buffer.from(JSON.stringify([at, places.slice(0, MOST_PLACES)])).toString("base64url");
}

/** From outside, so nothing of it is believed: file names are looked up among those that are there. */
function readCursor(text: string): { at: string; places: Record<string, LinePlace> } | null {
  if (text === "") return null;
  const value = parseJson(Buffer.from(text, "base64url").toString("utf8"));
  if (!Array.isArray(value) || typeof value[0] !== "string" || !Array.isArray(value[1]))
    throw new RequestError("this page of the journal does not exist");
  const places = value[1].flatMap((one: unknown): [string, LinePlace][] => {
    const [key, file, start] = Array.isArray(one) ? one : [];
    const isPlace = typeof key === "string" && typeof file === "string" && Number.isSafeInteger(start) && start >= 0;
    return isPlace ? [[key, { file, start }]] : [];
  });
  return { at: value[0], places: Object.fromEntries(places) };
}

// ── From the end ────────────────────────────────────────────────────────────

/** Lines that cannot be meant are passed over unread. */
function* backwards(root: string, from: LinePlace | undefined, { kind, run }: JournalQuery): Generator<FoundLine> {
  const marks = [kind && `"kind":${JSON.stringify(kind)}`, run && `"run":${JSON.stringify(run)}`];
  const isMeant = (text: string) => marks.every((mark) => text.includes(mark));
  const dir = insideRoot(root, ".pawl/journal");
  const files = namesOrNone(dir).filter((name) => name.endsWith(".jsonl"));
  for (const file of files.sort().reverse()) {
    if (from && file > from.file) continue;
    const size = attempt(() => lookAt(join(dir, file))?.size, 0) ?? 0;
    const end = from?.file === file ? Math.min(from.start, size) : size;
    for (const { text, start } of linesBack(join(dir, file), end))
      yield { line: isMeant(text) ? parseJournalLine(text) : null, text, place: () => ({ file, start: start() }) };
  }
}

function* linesBack(path: string, end: number): Generator<{ text: string; start: () => number }> {
  let rest: Buffer = Buffer.alloc(0);
  for (let at = end; at > 0; ) {
    const size = Math.min(CHUNK, at);
    at -= size;
    const whole = Buffer.concat([bytesBetween(path, at, at + size), rest]);
    // What is before the first line's end began in the chunk before.
    const cut = at === 0 ? -1 : whole.indexOf(10);
    const isInside = at > 0 && cut === -1;
    rest = isInside ? whole : whole.subarray(0, Math.max(0, cut));
    if (rest.length > LONGEST_LINE) rest = Buffer.alloc(0);
    if (isInside) continue;
    const body = whole.subarray(cut + 1);
    const base = at + cut + 1;
    const lines = body.toString("utf8").split("\n");
    for (let n = lines.length - 1; n >= 0; n--)
      if (lines[n] !== "") yield { text: lines[n]!, start: () => base + lineStart(body, n) };
  }
}

/** Opened for each look: a page that is open for days holds no file. Empty where it cannot be read: it may be gone. */
export function bytesBetween(path: string, from: number, to: number): Buffer {
  let fd: number | null = null;
  try {
    fd = openRegular(path, FLAGS.O_RDONLY);
    const bytes = Buffer.alloc(Math.max(0, to - from));
    return bytes.subarray(0, read(fd, bytes, 0, bytes.length, from));
  } catch {
    return Buffer.alloc(0);
  } finally {
    if (fd !== null) close(fd);
  }
}

/** Only asked for at the end of a page, so it may count. */
function lineStart(body: Buffer, line: number): number {
  let start = 0;
  for (let n = 0; n < line; n++) start = body.indexOf(10, start) + 1;
  return start;
}
