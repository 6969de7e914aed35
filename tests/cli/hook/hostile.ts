/** What must hold whatever comes in: exit 0, one JSON object or nothing, nothing touched that is not ours, work goes on. */
import { expect } from "bun:test";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import {
  makePlace,
  openSession,
  PAWL,
  type Place,
  payload,
  type Ran,
  runHook,
  type Session,
  stopFields,
  textOf,
} from "../../harness/harness.ts";
import { runOf } from "../../harness/run-files.ts";

export interface Armed {
  place: Place;
  session: Session;
}

/** A session in the middle of its work: a run at its first stage. */
export function armed(): Armed {
  const place = makePlace();
  const session = openSession(place, "A");
  session.turn = 1;
  const { out } = runHook(place, payload(place, session, "UserPromptSubmit", { prompt: "/complete-work" }));
  expect(out).toContain("step 1 of 4");
  return { place, session };
}

export const stop = ({ place, session }: Armed, message: string, fields: Record<string, unknown> = {}) =>
  payload(place, session, "Stop", { ...stopFields(session, message), ...fields });

/** For scripts: the hook as a command, and a payload as a shell's word. */
export const HOOK = `${PAWL} hook claude --via local`;
export const quoted = (value: unknown) => `'${JSON.stringify(value).replaceAll("'", "'\\''")}'`;

export const CLAIM = "Written down.\n\n<promise>MEMORY_UPDATED</promise>";

export interface Wanted {
  /** part of a new line in the error log, and in which: the project's or the person's. null: no new line */
  error: { root: string } | { home: string } | null;
  ms?: number;
}

export function expectHarmless(place: Place, wanted: Wanted, act: () => Ran): Ran {
  const before = { files: filesOf(place), errors: logsOf(place), at: performance.now() };
  const ran = act();
  expectAnswer(ran);
  expect(performance.now() - before.at).toBeLessThan(wanted.ms ?? 15_000);
  expect(filesOf(place)).toEqual(before.files);
  expectError(wanted.error, before.errors, logsOf(place));
  return ran;
}

export function expectAnswer({ code, out, err }: Ran): void {
  expect({ code, err }).toEqual({ code: 0, err: "" });
  if (out === "") return;
  const answer: unknown = JSON.parse(out);
  expect(typeof answer === "object" && answer !== null && !Array.isArray(answer)).toBe(true);
}

interface Logs {
  root: string;
  home: string;
}

const logsOf = ({ root, home }: Place): Logs => ({
  root: readable(join(root, ".pawl/errors.log")),
  home: readable(join(home, ".local/state/pawl/errors.log")),
});

function readable(path: string): string {
  try {
    return textOf(path) ?? "";
  } catch {
    return "";
  }
}

export function expectError(wanted: Wanted["error"], before: Logs, after: Logs): void {
  const added = { root: after.root.slice(before.root.length), home: after.home.slice(before.home.length) };
  if (wanted === null) expect(added).toEqual({ root: "", home: "" });
  else if ("root" in wanted) expect(added.root).toContain(wanted.root);
  else expect(added.home).toContain(wanted.home);
}

/** The proof that nothing was lost: the session goes on with its next claim. */
export function expectGoesOn(state: Armed): void {
  expect(runOf(state.place.root, state.session.id)).toMatchObject({ stage: "memory", status: "active" });
  const { out } = runHook(state.place, stop(state, `At last. ${CLAIM}`));
  expect(out).toContain("step 2 of 4");
  expect(runOf(state.place.root, state.session.id)).toMatchObject({ stage: "review", seq: expect.any(Number) });
}

const OURS = [
  /^project\/\.pawl(\/|$)/,
  /^project\/\.claude($|\/logs(\/|$)|\/work-completion)/,
  /^project\/\.git\/info\/exclude$/,
  /^home\/\.local($|\/state$|\/state\/pawl(\/|$))/,
  /^home\/\.local\/share($|\/pawl($|\/key$))/,
];

/** Everything that is not ours to change, with its content. */
export function filesOf({ base }: Place): Record<string, string> {
  const found: Record<string, string> = {};
  const walk = (dir: string) => {
    for (const name of readdirSync(join(base, dir)).sort()) {
      const path = dir === "" ? name : `${dir}/${name}`;
      const stat = lstatSync(join(base, path));
      if (!OURS.some((pattern) => pattern.test(path))) found[path] = content(join(base, path), stat);
      if (stat.isDirectory()) walk(path);
    }
  };
  walk("");
  return found;
}

function content(path: string, stat: ReturnType<typeof lstatSync>): string {
  if (stat?.isFile()) return `${stat.mode} ${Bun.hash(readFileSync(path))}`;
  return stat?.isSymbolicLink() ? `→ ${readlinkSync(path)}` : `${stat?.mode}`;
}
