/**
 * The part of a hook that every event of every session pays for. It answers one question with nothing imported:
 * can this event concern us at all? Most cannot, and end here.
 */
import type { Input } from "./kernel/types/input.ts";

interface Libc {
  poll(at: number, count: number, ms: number): number;
  read(fd: number, at: number, size: number): number;
  access(at: number, mode: number): number;
  _exit(code: number): void;
}
interface Ffi {
  dlopen(name: string, symbols: Record<string, { args: string[]; returns: string }>): { symbols: Libc };
  ptr(bytes: Uint8Array, offset?: number): number;
  /** a copy of the UTF-8 there: as TextDecoder makes it, without a view and a decoder to be made first */
  CString(at: number, offset: number, size: number): string;
}

/**
 * Its own calls, as libc.ts has those of the store. main.ts alone imports this file: a module that another
 * part used too would be one more to load. Reading stdin through the event loop costs half a millisecond, through
 * node:fs one and a half, these calls a quarter.
 */
const ffi = (Bun as unknown as { FFI: Ffi }).FFI;
const libc = openLibc();

function openLibc(): Libc | null {
  if (process.platform !== "linux") return null;
  try {
    return ffi.dlopen("libc.so.6", {
      poll: { args: ["ptr", "u64", "i32"], returns: "i32" },
      read: { args: ["i32", "ptr", "u64"], returns: "i64_fast" },
      access: { args: ["ptr", "i32"], returns: "i32" },
      _exit: { args: ["i32"], returns: "void" },
    }).symbols;
  } catch {
    return null;
  }
}

/**
 * Everything is written and synced by now: nothing is left for the engine to clear up, unless it was asked to write down
 * what was used (scripts/build.ts).
 */
export function leave(): never {
  if (process.env.BUN_BYTECODE_ORDER_OUT === undefined) libc?._exit(0);
  process.exit(0);
}

const LIMIT_BYTES = 8 << 20;
const DEADLINE_MS = 5_000;
const BRACE = 125;
const POLLIN = 1;
const LAST_PLAIN = 126;
const LONGEST_COMMAND = 3;
const LONGEST_DIRECTIVE = 11;

/** For all that libc reads and writes here, one after the other: a second array would cost more than any call. */
const BYTES = new Uint8Array(1 << 16);
const BYTES_AT = libc ? ffi.ptr(BYTES) : 0;

/**
 * A promise only where there is no libc to call. The first read nearly always brings it all, and each function that runs
 * for the first time costs every event: so this is one.
 */
export function readStdin(): Input | Promise<Input> {
  if (!libc) return readByStream();
  const deadline = Bun.nanoseconds() / 1e6 + DEADLINE_MS;
  BYTES[4] = POLLIN; // struct pollfd: fd 0, these events
  const size = libc.poll(BYTES_AT, 1, DEADLINE_MS) > 0 ? libc.read(0, BYTES_AT, BYTES.length) : 0;
  // A complete object needs no end of file: some hosts keep the pipe open.
  if (size > 1 && (BYTES[size - 1] === BRACE || BYTES[size - 2] === BRACE)) {
    try {
      return { value: JSON.parse(ffi.CString(BYTES_AT, 0, size)) };
    } catch {
      // not whole yet, or no JSON at all
    }
  }
  return readOn(libc, deadline, Math.max(0, size));
}

/** It came in pieces, or not at all yet. Only a pause is worth a try: trying costs more the longer the text is. */
function readOn(c: Libc, deadline: number, read: number): Input {
  let bytes = BYTES;
  let size = read;
  const stdin = new Uint8Array([0, 0, 0, 0, POLLIN, 0, 0, 0]);
  while (isReady(c, stdin, deadline)) {
    if (size === bytes.length) bytes = grown(bytes);
    const got = c.read(0, ffi.ptr(bytes, size), bytes.length - size);
    if (got === 0) return parse(bytes, size);
    if (got < 0) {
      Bun.sleepSync(5); // interrupted, not ready after all, or no stream at all: the deadline ends it
      continue;
    }
    size += got;
    if (size > LIMIT_BYTES) return tooLarge();
    if (endsObject(bytes, size) && (size === got || c.poll(ffi.ptr(stdin), 1, 0) === 0)) {
      const whole = parse(bytes, size);
      if ("value" in whole) return whole;
    }
  }
  return late();
}

const late = (): Input => ({ failed: `stdin did not end within ${DEADLINE_MS / 1000} s` });
const tooLarge = (): Input => ({ failed: `more than ${LIMIT_BYTES >> 20} MB on stdin` });

function isReady(c: Libc, stdin: Uint8Array, deadline: number): boolean {
  for (;;) {
    const left = Math.ceil(deadline - Bun.nanoseconds() / 1e6);
    if (left <= 0) return false;
    if (c.poll(ffi.ptr(stdin), 1, left) > 0) return true;
  }
}

const endsObject = (bytes: Uint8Array, size: number) =>
  bytes[size - 1] === BRACE || (bytes[size - 1] === 10 && bytes[size - 2] === BRACE);

function grown(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(bytes.length * 4);
  larger.set(bytes);
  return larger;
}

async function readByStream(): Promise<Input> {
  const deadline = new Promise<"late">((resolve) => setTimeout(() => resolve("late"), DEADLINE_MS));
  const reader = Bun.stdin.stream().getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const next = await Promise.race([reader.read(), deadline]);
    if (next === "late") return late();
    if (next.done) return parse(new Uint8Array(Bun.concatArrayBuffers(chunks)), size);
    chunks.push(next.value);
    size += next.value.length;
    if (size > LIMIT_BYTES) return tooLarge();
  }
}

function parse(bytes: Uint8Array, size: number): Input {
  try {
    return { value: JSON.parse(new TextDecoder().decode(bytes.subarray(0, size))) };
  } catch {
    const start = JSON.stringify(new TextDecoder().decode(bytes.subarray(0, Math.min(size, 40))));
    return { failed: `stdin is not JSON (${size} bytes, begins ${start})` };
  }
}

/** Rare, and the moment when a run may have to be found, announced or restored. */
const STARTS: unknown[] = ["startup", "resume", "clear", "compact"];

/** True only when certain: no session of ours, not a command that could arm one, nor a start that may be greeted. */
export function isUnarmed(input: Input): boolean {
  if ("failed" in input || typeof input.value !== "object" || input.value === null) return false;
  const { session_id: session, prompt, hook_event_name: name, source } = input.value as Record<string, unknown>;
  if (typeof session !== "string" || session.length > 128 || !session.isWellFormed()) return false;
  if (encodeURIComponent(session) !== session) return false;
  if (session === "" || session.startsWith(".")) return false;
  if (!process.env.HOME || name === "PreCompact" || (name === "SessionStart" && STARTS.includes(source))) return false;
  if (typeof prompt === "string" && (prompt.trimStart().startsWith("/") || mayBeShortcut(prompt))) return false;
  if (name === "Stop" && mayClaim((input.value as Record<string, unknown>).last_assistant_message)) return false;
  if (name === "Stop" && pointerExists(`${process.env.HOME}/.local/share/pawl/trust`)) return false;
  if (isCall(name) && pointerExists(`${process.env.HOME}/.local/state/pawl/notify-on`)) return false;
  return !pointerExists(`${process.env.HOME}/.local/state/pawl/sessions/claude-${session}`);
}

/** The host wants the person: with notifications on, every session's business. */
const isCall = (name: unknown) => name === "PermissionRequest" || name === "Notification";

/** Hardly an ordinary prompt is one of these; every shortcut is, since no key may be longer (author/shortcut-schema.ts). */
export function mayBeShortcut(prompt: string): boolean {
  const start = prompt.trimStart();
  const colon = start.slice(0, LONGEST_DIRECTIVE).indexOf(":");
  if (colon <= 0) return start !== "" && start.trimEnd().length <= LONGEST_COMMAND;
  const word = start.slice(0, colon);
  const next = start.charAt(colon + 1);
  return next !== "" && next.trim() === "" && !word.includes(" ") && !word.includes("\n");
}

/**
 * Every claim that core/completion.ts knows has one of these in it; most messages have none, and end here. Looked for one
 * by one, without first letters that may be capital: to compile a regular expression of them takes ten times as long.
 */
const CLAIM_STEMS =
  "done,Done,DONE,ixed,omplete,inished,mplement,solved,efactored,igrated,ewrit,ewrote,epaired,ddressed,dded,pdated,hanged,reated,emoved,enamed,eplaced,moved,Moved,onverted,orrected,xtracted,djusted,uilt,ntroduced,witched,wired,in place,pplied,closed,ready,Ready,pass,Pass,PASS,green,Green,ucce,clean, works,orking,now work,all set,All set,ood to go,ertig,rledigt,bgeschlossen,ehoben,mgesetzt,orrig,epariert,ngebaut,ngepasst, durch,rfolgreich,estehen,estanden,laufen,gr\u00fcn,fait,ermin\u00e9,erminad, fini,Fini,mpl\u00e9ment,r\u00e9,jout\u00e9,verts,au vert,listo,Listo,hecho,Hecho,rreglad,esuelt,\u00f1adid,orregid,pasan,verde,WORKFLOW_STAGE";

/** Claims stand at the ends: of a long message the middle is not looked at. */
export function mayClaim(message: unknown): boolean {
  if (typeof message !== "string") return false;
  const ends = message.length > 2_000 ? `${message.slice(0, 600)} ${message.slice(-1_000)}` : message;
  for (const stem of CLAIM_STEMS.split(",")) if (ends.includes(stem)) return true;
  return false;
}

function pointerExists(path: string): boolean {
  if (!libc) return Bun.file(path).size > 0;
  for (let at = 0; at < path.length; at++) {
    const code = path.charCodeAt(at);
    if (code > LAST_PLAIN) return Bun.file(path).size > 0;
    BYTES[at] = code;
  }
  BYTES[path.length] = 0;
  return libc.access(BYTES_AT, 0) === 0 || path.length >= BYTES.length;
}
