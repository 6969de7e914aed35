import { readSync } from "node:fs";
import { UserError } from "../../kernel/user-error.ts";
import { agentOfSession } from "../../store/processes/person.ts";
import type { Io, Parsed } from "./args.ts";

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

/** With space and enter; null: the person left. */
export async function chooseMany<T extends string>(
  message: string,
  options: { value: T; label: string }[],
  initialValues: T[],
): Promise<T[] | null> {
  const { isCancel, multiselect } = await import("@clack/prompts");
  const chosen = await multiselect<string>({ message, options, initialValues, required: false });
  return isCancel(chosen) ? null : (chosen as T[]);
}

/** null: go on. Otherwise the exit code: 2 where the person cannot be asked, 1 after a no. */
export function confirmOrRefuse({ flags }: Parsed, io: Io, hint: string): number | null {
  if (flags.has("--yes")) return null;
  if (flags.has("--json")) return 2;
  if (!isInteractive(io)) {
    io.err(`pawl: nothing was changed\n  hint: ${hint}\n`);
    return 2;
  }
  if (confirm(io, "\nContinue?")) return null;
  io.out("Nothing was changed.\n");
  return 1;
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

/** Where an agent could free itself from Pawl, only the person may act. */
export function refuseAgent(what: string): void {
  const agent = agentOfSession();
  if (agent === null) return;
  const hint = "tell the person why; they can run it in their own terminal";
  throw new UserError(`an agent cannot ${what} (${agent})`, hint, 1);
}
