/** The journal, newest first, read from its end: a page costs the same however long the journal is. */
import { plain } from "../core/plain.ts";
import type { JournalRecord, Json } from "../core/types.ts";
import { insideRoot, isObject, lookAt, namesOrNone, parseJson } from "../store/files.ts";
import type { JournalLine } from "../store/journal.ts";
import { isRunId, join } from "../store/names.ts";
import { bytesBetween } from "./bytes.ts";
import type { Words } from "./now.ts";
import { AskedError } from "./projects.ts";

const PAGE = 100;
const CHUNK = 64 * 1024;
const LONGEST_LINE = 8 * 1024 * 1024;
/** A search that finds nothing goes on with the next page, instead of keeping everybody waiting. */
const MOST_BYTES = 16 * 1024 * 1024;
const MOST_PLACES = 40;
const KEYS = new Set(["v", "at", "run", "seq", "i", "kind", "host", "session", "workflow", "stage"]);

export interface JournalQuery {
  q: string;
  kind: string;
  run: string;
  after: string;
}

/** The first byte of the last line that was read of a file. */
interface Place {
  file: string;
  start: number;
}

interface Cursor {
  at: string;
  places: Record<string, Place>;
}

interface Head {
  root: string;
  lines: Generator<Found>;
  current: Found | undefined;
  place: Place | undefined;
}

type Found = { line: JournalLine | null; text: string; place: Place };

export function journalPage(roots: string[], query: JournalQuery, words: Words) {
  if (query.run !== "" && !isRunId(query.run)) throw new AskedError("this is no run's name");
  const cursor = readCursor(query.after);
  const heads = roots.map((root) => headOf(root, cursor));
  const rows: ReturnType<typeof rowOf>[] = [];
  const seen = new Set<string>();
  let bytes = 0;
  let at = "";
  for (let head = newest(heads); head; head = newest(heads)) {
    const { line, text, place } = head.current!;
    if (rows.length >= PAGE || bytes > MOST_BYTES)
      return { rows, next: writeCursor(at, heads), partial: bytes > MOST_BYTES };
    bytes += text.length;
    head.place = place;
    head.current = head.lines.next().value ?? undefined;
    if (line === null) continue;
    at = line.at;
    const key = `${head.root} ${line.run}/${line.seq}/${line.i}`;
    if (seen.has(key) || (cursor && !cursor.places[keyOf(head.root)] && line.at > cursor.at)) continue;
    if (!matches(line, text, query, words)) continue;
    seen.add(key);
    rows.push(rowOf(head.root, line, words));
  }
  return { rows, next: null, partial: false };
}

function matches(line: JournalLine, text: string, { q, kind, run }: JournalQuery, words: Words): boolean {
  if (line.kind === "committed" || (kind !== "" && line.kind !== kind) || (run !== "" && line.run !== run))
    return false;
  if (q === "") return true;
  const wanted = q.toLowerCase();
  return (
    text.toLowerCase().includes(wanted) ||
    words(line as JournalRecord)
      .toLowerCase()
      .includes(wanted)
  );
}

function rowOf(project: string, line: JournalLine, words: Words) {
  const { at, run, seq, i, kind, workflow, stage, host, session } = line;
  const rest = Object.entries(line).filter(([key, value]) => !KEYS.has(key) && value !== null && value !== "");
  const detail: Record<string, Json> | null = rest.length > 0 ? Object.fromEntries(rest) : null;
  return {
    project,
    at,
    run,
    seq,
    i,
    kind,
    workflow,
    stage,
    host,
    session,
    text: plain(words(line as JournalRecord)),
    detail,
  };
}

// ── Several journals as one ─────────────────────────────────────────────────

function headOf(root: string, cursor: Cursor | null): Head {
  const place = cursor?.places[keyOf(root)];
  const lines = backwards(root, place);
  return { root, lines, current: lines.next().value ?? undefined, place };
}

/** What is no record comes first: it has no time, and only has to be passed over. */
function newest(heads: Head[]): Head | undefined {
  const open = heads.filter(({ current }) => current !== undefined);
  const at = ({ current }: Head) => current?.line?.at ?? "~";
  return open.reduce<Head | undefined>((best, head) => (best && at(best) >= at(head) ? best : head), undefined);
}

const keyOf = (root: string) => new Bun.CryptoHasher("sha256").update(root).digest("hex").slice(0, 8);

function writeCursor(at: string, heads: Head[]): string {
  const places = heads.flatMap(({ root, place }) => (place ? [[keyOf(root), place.file, place.start]] : []));
  return Buffer.from(JSON.stringify([at, places.slice(0, MOST_PLACES)])).toString("base64url");
}

/** From outside, so nothing of it is believed: file names are looked up among those that are there. */
function readCursor(text: string): Cursor | null {
  if (text === "") return null;
  const value = parseJson(Buffer.from(text, "base64url").toString("utf8"));
  if (!Array.isArray(value) || typeof value[0] !== "string" || !Array.isArray(value[1]))
    throw new AskedError("this page of the journal does not exist");
  const places = value[1].flatMap((one: unknown): [string, Place][] => {
    const [key, file, start] = Array.isArray(one) ? one : [];
    const isPlace = typeof key === "string" && typeof file === "string" && Number.isSafeInteger(start) && start >= 0;
    return isPlace ? [[key, { file, start }]] : [];
  });
  return { at: value[0], places: Object.fromEntries(places) };
}

// ── From the end ────────────────────────────────────────────────────────────

function* backwards(root: string, from: Place | undefined): Generator<Found> {
  const dir = insideRoot(root, ".pawl/journal");
  const files = namesOrNone(dir).filter((name) => name.endsWith(".jsonl"));
  for (const file of files.sort().reverse()) {
    if (from && file > from.file) continue;
    const size = sizeOf(join(dir, file));
    const end = from?.file === file ? Math.min(from.start, size) : size;
    for (const { text, start } of linesBack(join(dir, file), end))
      yield { line: asLine(text), text, place: { file, start } };
  }
}

function sizeOf(path: string): number {
  try {
    return lookAt(path)?.size ?? 0;
  } catch {
    return 0;
  }
}

function* linesBack(path: string, end: number): Generator<{ text: string; start: number }> {
  let rest: Buffer = Buffer.alloc(0);
  for (let at = end; at > 0; ) {
    const size = Math.min(CHUNK, at);
    at -= size;
    let whole = Buffer.concat([bytesBetween(path, at, at + size), rest]);
    for (let cut = whole.lastIndexOf(10); cut !== -1; cut = whole.lastIndexOf(10)) {
      if (cut + 1 < whole.length) yield { text: whole.toString("utf8", cut + 1), start: at + cut + 1 };
      whole = whole.subarray(0, cut);
    }
    rest = whole.length > LONGEST_LINE ? Buffer.alloc(0) : whole;
  }
  if (rest.length > 0) yield { text: rest.toString("utf8"), start: 0 };
}

function asLine(text: string): JournalLine | null {
  const value = parseJson(text);
  if (!isObject(value) || value.v !== 1 || typeof value.run !== "string" || typeof value.kind !== "string") return null;
  const whole = typeof value.at === "string" && Number.isSafeInteger(value.seq) && Number.isSafeInteger(value.i);
  return whole ? (value as JournalLine) : null;
}
