/** What memory and archive share: one helper at a time in a project; sizes, times and names as people read them. */
import { messageOf } from "../../store/files.ts";
import { isHeld, takeLock } from "../../store/lock.ts";

/** Below `.pawl`, one of the owned paths. */
export const HELPER_DIR = ".pawl/helper";
const TIMEOUT_MS = 20_000;

export function withLock<T>(root: string, work: () => T): T {
  const lock = takeHelperLock(root);
  try {
    return work();
  } finally {
    lock.close();
  }
}

function takeHelperLock(root: string) {
  try {
    return takeLock(root, `${HELPER_DIR}/lock`, TIMEOUT_MS);
  } catch (error) {
    if (!isHeld(error)) throw new Error(`${HELPER_DIR}/lock cannot be used: ${messageOf(error)}`);
    throw new Error("another pawl helper is running in this project; try again when it has ended");
  }
}

const two = (value: number) => String(value).padStart(2, "0");

/** YYYY-MM-DD HH:MM in local time; an archive folder has "-" throughout. */
export const localStamp = (at: Date) =>
  `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;

const UNITS = ["B", "KB", "MB", "GB", "TB"];

export function inUnits(bytes: number): string {
  const unit = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const value = bytes / 1024 ** unit;
  return `${unit === 0 || value >= 10 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

/** A name that could disturb a line is quoted. */
export const shown = (path: string) =>
  /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069"]|^\s|\s$/.test(path)
    ? JSON.stringify(path).replace(/[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, escaped)
    : path;

const escaped = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
