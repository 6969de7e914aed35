/** What the agents printed, for whoever looks on from another terminal: the newest part of it, never more than twice the bound. */
import { closeSync, constants, openSync, renameSync, writeSync } from "node:fs";
import { ensureDir } from "../store/files.ts";
import { outputPath } from "../store/loops.ts";

const MOST_BYTES = 8 << 20;
const { O_APPEND, O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants;

export interface OutputLog {
  add(bytes: Uint8Array): void;
  close(): void;
}

/** Nothing that goes wrong here may keep the loop. */
export function keepOutput(root: string, id: string): OutputLog {
  ensureDir(root, `.pawl/loops/${id}`);
  const path = outputPath(root, id);
  let size = 0;
  let fd = open(path, O_TRUNC);
  return {
    add(bytes) {
      if (fd < 0) return;
      if (size + bytes.length > MOST_BYTES) {
        close(fd);
        rename(path);
        fd = open(path, O_TRUNC);
        size = 0;
      }
      size += write(fd, bytes.subarray(-MOST_BYTES));
    },
    close: () => close(fd),
  };
}

function open(path: string, how: number): number {
  try {
    return openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | how, 0o600);
  } catch {
    return -1;
  }
}

function write(fd: number, bytes: Uint8Array): number {
  try {
    return fd < 0 ? 0 : writeSync(fd, bytes);
  } catch {
    return 0;
  }
}

function rename(path: string): void {
  try {
    renameSync(path, `${path}.1`);
  } catch {
    // the older part is lost, which is what a bound is for
  }
}

function close(fd: number): void {
  try {
    if (fd >= 0) closeSync(fd);
  } catch {
    // closed already
  }
}
