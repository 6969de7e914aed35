/** Calls functions of the store in a process (and a home) of its own: [[name, ...arguments], ...] → results. */
import { logError } from "../../src/store/errors.ts";
import { takeLock } from "../../src/store/lock.ts";
import * as place from "../../src/store/place.ts";
import { describeParent } from "../../src/store/processes/owner.ts";
import * as projecting from "../../src/store/project.ts";
import * as runs from "../../src/store/runs.ts";

const known: Record<string, (...args: never[]) => unknown> = {
  ...{ ...place, ...projecting, ...runs, logError, describeParent },
  takeLock: (...args: Parameters<typeof takeLock>) => void takeLock(...args),
} as never;
const [calls, uid] = process.argv.slice(2) as [string, string | undefined];
if (uid !== undefined) process.setuid?.(Number(uid));

const results = (JSON.parse(calls) as [string, ...never[]][]).map(([name, ...args]) => {
  try {
    return known[name]?.(...args) ?? null;
  } catch (error) {
    return { thrown: error instanceof Error ? error.name : "?", message: String(error) };
  }
});
console.log(JSON.stringify(results));
