/** A large session.md is mostly prose: only what says something about tasks is decoded. */
import { isUtf8 } from "node:buffer";
import { closeSync, constants, readFileSync } from "node:fs";
import { withoutProse } from "../core/tasks.ts";
import { lookAt, openRegular } from "../store/files.ts";

const LARGE = 128 * 1024;

/** null: it has to be read as any file, which also says what is wrong with it. */
export function readTelling(path: string, most: number): string | null {
  const size = lookAt(path)?.size ?? 0;
  if (size < LARGE || size > most) return null;
  try {
    const bytes = readOpened(openRegular(path, constants.O_RDONLY));
    if (bytes.length > most || !isUtf8(bytes)) return null;
    return Buffer.from(withoutProse(bytes.toString("latin1")), "latin1").toString("utf8");
  } catch {
    return null;
  }
}

function readOpened(fd: number): Buffer {
  try {
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}
