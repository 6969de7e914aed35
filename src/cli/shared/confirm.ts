import { readSync } from "node:fs";
import { UserError } from "../../kernel/user-error.ts";
import { InstallError } from "../../setup/install/error.ts";
import type { Io } from "./args.ts";

/** y or yes; anything else, and the end of the input, is a no. */
export function confirm(io: Io, question: string): boolean {
  io.out(`${question} [y/N] `);
  return /^y(es)?$/i.test(readLine().trim());
}

/** Only n or no is a no. */
export function confirmUnlessNo(io: Io, question: string): boolean {
  io.out(`${question} [Y/n] `);
  return !/^no?$/i.test(readLine().trim());
}

export function readAnswer(io: Io, question: string): string {
  io.out(question);
  return readLine().trim();
}

export const isInteractive = (io: Io) => io.isTTY && process.stdin.isTTY === true;

function readLine(): string {
  const byte = new Uint8Array(1);
  const bytes: number[] = [];
  for (;;) {
    try {
      if (readSync(0, byte) === 0 || byte[0] === 10) return Buffer.from(bytes).toString("utf8");
      bytes.push(byte[0]!);
    } catch (error) {
      if ((error as { code?: string }).code !== "EAGAIN") return "";
      Bun.sleepSync(10);
    }
  }
}

/** What can be fixed is told with its remedy, not as a failure of ours. */
export function orUserError<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof InstallError ? new UserError(error.message, error.hint, 1) : error;
  }
}
