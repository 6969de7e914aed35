/** One case: a small project with a red test, what an agent does to it, and what comes of its claim. */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Reply, readReply } from "../../src/play/client.ts";
import { trustProject } from "../harness/grant-trust.ts";
import {
  CLIENT,
  makePlace,
  openSession,
  PAWL,
  type Place,
  payload,
  removePlaces,
  type Session,
  stopFields,
  transcribeMessage,
  transcribePrompt,
} from "../harness/harness.ts";
import { runOf } from "../harness/run-files.ts";
import { KNOWN } from "./known.ts";
import { findRunner, has, PATH } from "./toolchains.ts";

export interface Project {
  name: string;
  /** the program without which its cases are skipped */
  needs: string;
  /** a pinned JavaScript runner: its packages are linked into the project */
  runner?: string;
  /** the gate's command */
  tests: string[];
  files: Record<string, string>;
  /** repairs the code, so that the red test is green */
  fix: Edit;
}

/** By path: the new text, null to remove the file, or pairs of what to replace in it. */
export type Edit = Record<string, string | null | Array<[from: string | RegExp, to: string]>>;

/**
 * held: the claim does not pass, whatever the agent says.
 * pass: it passes at once.
 * ask: it is sent back once, then a person is asked, and after the approval it passes.
 */
export type Want = "held" | "pass" | "ask";

export interface Case {
  name: string;
  on: Project;
  want: Want;
  /** what was there at the beginning on top of the project's files */
  base?: Edit;
  edit?: Edit;
  /** what no text can say: git, links, removed folders */
  sh?: string;
  /** what the hook is started through: a machine with less */
  below?: string[];
  /** words that the agent or the person must read */
  says?: Array<string | RegExp>;
}

export interface Claim {
  passed: boolean;
  /** the agent goes on */
  continues: boolean;
  said: string;
}

function workflow(argv: string[]): string {
  return `name: ship
signals: promise
arm: ["/ship"]
stages:
  - id: build
    say: Build it.
    on:
      BUILT: { end: completed, gates: [{ tests: ${JSON.stringify(argv)} }] }
      BROKEN: { halt: "It cannot be built" }
`;
}

// ── The project ─────────────────────────────────────────────────────────────

export function change({ root }: Place, edit: Edit): void {
  for (const [path, what] of Object.entries(edit)) {
    const file = join(root, path);
    if (what === null) rmSync(file, { recursive: true });
    else {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, typeof what === "string" ? what : replaced(path, readFileSync(file, "utf8"), what));
    }
  }
}

function replaced(path: string, text: string, pairs: Array<[from: string | RegExp, to: string]>): string {
  let result = text;
  for (const [from, to] of pairs) {
    const next = result.replace(from, () => to);
    if (next === result) throw new Error(`${path}: nothing is like ${from}`);
    result = next;
  }
  return result;
}

/** An honest change comes with the repair. A file that is replaced, or whose edit contains the repair, needs none. */
export function withFix({ fix }: Project, edit: Edit): Edit {
  const result = { ...edit };
  for (const [path, repair] of Object.entries(fix)) {
    const own = edit[path];
    const merged = Array.isArray(own) && Array.isArray(repair) ? [...repair, ...own] : repair;
    if (own === undefined || Array.isArray(own)) result[path] = merged;
  }
  return result;
}

export function script(place: Place, line: string): void {
  const { exitCode, stderr } = Bun.spawnSync({
    cmd: ["/bin/sh", "-ec", line],
    cwd: place.root,
    env: { ...place.env, PAWL },
  });
  if (exitCode !== 0) throw new Error(`${line}: exit ${exitCode}: ${stderr}`);
}

type CasePlace = Place & Pick<Case, "below">;

export function setUp({ on, base, below = [] }: Pick<Case, "on" | "base" | "below">): CasePlace {
  const made = makePlace();
  const place = { ...made, env: { ...made.env, PATH }, below };
  change(place, { ...on.files, ".pawl/workflows/ship.yaml": workflow(on.tests) });
  if (base) change(place, base);
  if (on.runner) symlinkSync(findRunner(on.runner)!, join(place.root, "node_modules"));
  script(place, "git add -A && git commit -qm base");
  shareCaches(place);
  trustProject(place);
  return place;
}

/** Compilers' caches are found by content: all homes may share one. */
function shareCaches({ home }: Place): void {
  const shared = join(process.env.TMPDIR ?? "/tmp", "pawl-proof-go-build");
  mkdirSync(shared, { recursive: true });
  mkdirSync(join(home, ".cache"), { recursive: true });
  symlinkSync(shared, join(home, ".cache/go-build"));
}

// ── The session ─────────────────────────────────────────────────────────────

/** A slow compiler on a busy machine takes longer than the harness allows. */
const LONGEST_MS = 170_000;

function send(place: CasePlace, session: Session, event: string, fields: object): Reply {
  const { exitCode, stdout, stderr } = Bun.spawnSync({
    cmd: [...(place.below ?? []), PAWL, "hook", "claude", "--via", "local"],
    cwd: place.root,
    env: { ...place.env, ...CLIENT },
    stdin: Buffer.from(`${JSON.stringify(payload(place, session, event, fields))}\n`),
    timeout: LONGEST_MS,
  });
  if (exitCode !== 0) throw new Error(`${event}: exit ${exitCode}: ${stderr}`);
  return readReply(event, stdout.toString());
}

export function prompt(place: CasePlace, session: Session, text: string): Reply {
  session.turn += 1;
  session.continuing = false;
  transcribePrompt(session, text);
  return send(place, session, "UserPromptSubmit", { prompt: text });
}

export function claim(place: CasePlace, session: Session, words = "It is built."): Claim {
  const message = `${words}\n\n<promise>BUILT</promise>`;
  transcribeMessage(session, [{ type: "text", text: message }]);
  const reply = send(place, session, "Stop", stopFields(session, message));
  session.continuing = reply.continues;
  const passed = runOf(place.root, session.id)?.outcome === "completed";
  return { passed, continues: reply.continues, said: `${reply.agent}\n${reply.person}` };
}

// ── The verdict ─────────────────────────────────────────────────────────────

export const isThere = ({ needs, runner }: Project) => has(needs) && (!runner || findRunner(runner) !== null);

/** Claims after the change; a claim that is sent back is repeated once with a reason, as agents do. */
export function play(one: Case): { first: Claim; second: Claim | null; approved: () => Claim } {
  const place = setUp(one);
  const session = openSession(place, "agent");
  prompt(place, session, "/ship");
  if (one.edit) change(place, one.edit);
  if (one.sh) script(place, one.sh);
  const first = claim(place, session);
  const second = first.passed ? null : claim(place, session, "The change is intended.");
  const approved = () => {
    prompt(place, session, "/pawl:approve");
    return claim(place, session);
  };
  return { first, second, approved };
}

export function expectWant(one: Case): void {
  const { first, second, approved } = play(one);
  const said = `${first.said}\n${second?.said ?? ""}`;
  if (one.want === "pass") expect({ passed: first.passed, said }).toEqual({ passed: true, said });
  else expect({ passed: first.passed || second?.passed, said }).toEqual({ passed: false, said });
  for (const words of one.says ?? []) expect(said).toMatch(words);
  if (one.want !== "ask") return;
  expect(second).toMatchObject({ continues: false, said: expect.stringContaining("/pawl:approve") });
  expect(approved()).toMatchObject({ passed: true });
}

/** An attack that still passes, or a false alarm, by "project: case". It fails here as soon as that has changed. */
export function runCases(cases: Case[]): void {
  afterAll(removePlaces, 60_000);
  for (const one of cases) {
    const title = `${one.on.name}: ${one.name}`;
    // What is known of a project holds in a copy of it, too.
    const why = KNOWN[title.replace(" in a copy:", ":")];
    const check = why === undefined ? () => expectWant(one) : () => expect(() => expectWant(one)).toThrow();
    test.skipIf(!isThere(one.on))(why === undefined ? `${title} (${one.want})` : `${title} (known: ${why})`, check);
  }
}
