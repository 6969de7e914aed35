/** The agents' output on disk, for `--attach`: the loop writes it, at most twice the bound; others follow its end. */
import { closeSync, constants, fstatSync, openSync, readSync, renameSync, statSync, writeSync } from "node:fs";
import { attempt } from "../kernel/attempt.ts";
import { ensureDir, openRegular } from "../store/files.ts";
import { outputPath } from "../store/loops.ts";

const MOST_BYTES = 8 << 20;
const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDONLY, O_TRUNC, O_WRONLY } = constants;

/** A full disk or a missing file must not stop the loop. */
const tried = <T>(work: () => T) => attempt(work, undefined);

// ── Writing ─────────────────────────────────────────────────────────────────

export function openOutputLog(root: string, id: string) {
  ensureDir(root, `.pawl/loops/${id}`);
  const path = outputPath(root, id);
  const open = () => tried(() => openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_TRUNC, 0o600));
  let size = 0;
  let fd = open();
  const close = () => tried(() => fd !== undefined && closeSync(fd));
  return {
    add(bytes: Uint8Array): void {
      if (fd === undefined) return;
      if (size + bytes.length > MOST_BYTES) {
        close();
        tried(() => renameSync(path, `${path}.1`));
        fd = open();
        size = 0;
      }
      size += tried(() => writeSync(fd!, bytes.subarray(-MOST_BYTES))) ?? 0;
    },
    close,
  };
}

// ── Following ───────────────────────────────────────────────────────────────

const MOST_READ = 128 << 10;
const NEWLINE = 10;
const NOTHING = new Uint8Array(0);

export type Tail = ReturnType<typeof openTail>;

export function openTail(path: string) {
  let fd: number | undefined;
  let at = 0;
  let torn = false;
  const open = () => tried(() => openRegular(path, O_RDONLY));
  const leave = () => {
    if (fd !== undefined) closeSync(fd);
    fd = undefined;
    at = 0;
    torn = false;
  };
  const newest = (file: number): Uint8Array => {
    const { size } = fstatSync(file);
    // The next iteration has truncated it.
    if (size < at) at = 0;
    const from = Math.max(at, size - MOST_READ);
    torn ||= from > at;
    const bytes = readAt(file, from);
    at = from + bytes.length;
    const line = torn ? bytes.indexOf(NEWLINE) + 1 : 0;
    if (torn && line === 0) return NOTHING;
    torn = false;
    return bytes.subarray(line);
  };
  const read = () => {
    fd ??= open();
    if (fd === undefined) return [];
    const old = newest(fd);
    if (fstatSync(fd).ino === tried(() => statSync(path).ino)) return [old];
    // The open file was renamed: that was its rest, and a new file has its place.
    leave();
    fd = open();
    return fd === undefined ? [old] : [old, newest(fd)];
  };
  return {
    /** what was added; if that is much, the newest part, from the beginning of a line */
    read,
    /** from the beginning: another iteration writes the file now */
    restart: leave,
    close: leave,
  };
}

function readAt(fd: number, from: number): Uint8Array {
  const buffer = new Uint8Array(MOST_READ);
  let used = 0;
  for (let got = -1; got !== 0 && used < MOST_READ; used += got) {
    got = readSync(fd, buffer, used, MOST_READ - used, from + used);
  }
  return buffer.subarray(0, used);
}
