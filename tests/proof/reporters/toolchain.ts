/** Tests with the runners of other languages: each is skipped loudly where its toolchain is missing. */
import { afterEach, describe, expect, setDefaultTimeout } from "bun:test";
import { homedir } from "node:os";
import { join } from "node:path";
import type { NamedReport } from "../../../src/kernel/types/verdict.ts";
import { makeRunnerProject, type RunnerProject, removeProjects } from "../../checks/reporters/runner-project.ts";
import { PATH } from "../toolchains.ts";

setDefaultTimeout(180_000);
afterEach(removeProjects);

// The same programs as in the cases, without wrappers that look into HOME.
process.env.PATH = PATH;
// Each project has a home of its own; toolchains and build caches stay where they are.
process.env.RUSTUP_HOME ??= join(homedir(), ".rustup");
process.env.CARGO_HOME ??= join(homedir(), ".cargo");
process.env.GOCACHE ??= join(homedir(), ".cache/go-build");
process.env.RUST_BACKTRACE = "0";

export function withToolchain(program: string, debianPackage: string, body: () => void): void {
  const found = Bun.which(program) !== null;
  if (!found) console.error(`SKIPPED: ${program} is missing (apt-get install ${debianPackage})`);
  describe.skipIf(!found)(program, body);
}

export interface Wanted {
  exit: number;
  tests: NamedReport["tests"];
  /** all of them by default */
  ended?: number;
  runners?: number;
  incomplete?: string;
}

export function projectWith(files: Record<string, string>): RunnerProject {
  const project = makeRunnerProject();
  for (const [name, text] of Object.entries(files)) project.write(name, text);
  return project;
}

/** The names are right, and the exit status and the output are those of a run without our reporters. */
export function expectReport(
  project: RunnerProject,
  line: string,
  wanted: Wanted,
  steady = (text: string) => text,
): void {
  const plain = project.plain(line);
  const { exit, named, output } = project.run(line);
  expect(named?.tests ?? {}).toEqual(wanted.tests);
  expect(named?.runners.length).toBe(wanted.runners ?? 1);
  expect(named?.ended).toBe(wanted.ended ?? wanted.runners ?? 1);
  expect(named?.incomplete).toBe(wanted.incomplete as string);
  expect(exit).toBe(wanted.exit);
  expect(plain.exit).toBe(wanted.exit);
  expect(steady(output)).toBe(steady(plain.output));
}
