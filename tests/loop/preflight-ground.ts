/** A project, a home and fake agents to try preflight on. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { computeClosure } from "../../src/checks/closure/closure.ts";
import { findHooks } from "../../src/cli/shared/doctor-context.ts";
import type { LoopSettings } from "../../src/definitions/loop-config.ts";
import { readProject } from "../../src/definitions/project.ts";
import type { Procedure } from "../../src/kernel/types/procedure.ts";
import { agentFor } from "../../src/loop/agents.ts";
import { type PreflightOptions, preflight } from "../../src/loop/preflight.ts";
import { grantTrust } from "../../src/store/trust.ts";

const HOME = process.env.HOME;
export let base = "";
export let root = "";

export function prepare(): void {
  base = realpathSync(mkdtempSync(join(tmpdir(), "pawl-preflight-")));
  root = join(base, "project");
  process.env.HOME = join(base, "home");
  mkdirSync(process.env.HOME);
  mkdirSync(root);
  writeFileSync(join(root, "README.md"), "# A project\n");
  git("init", "-q", "-b", "main");
  git("config", "user.name", "A Person");
  git("config", "user.email", "person@example.com");
  git("add", "README.md");
  git("commit", "-q", "-m", "Start");
  for (const name of ["claude", "my-agent"]) {
    const path = join(base, name);
    writeFileSync(
      path,
      `#!/bin/sh\nexec '${process.execPath}' '${resolve(import.meta.dir, "../doubles/trial-agent.ts")}' "$@"\n`,
    );
    chmodSync(path, 0o755);
  }
}

export function clearAway(): void {
  process.env.HOME = HOME;
  rmSync(base, { recursive: true, force: true });
}

export function git(...args: string[]): string {
  const done = Bun.spawnSync(["git", ...args], { cwd: root, env: { PATH: process.env.PATH, HOME: base } });
  if (done.exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${done.stderr}`);
  return done.stdout.toString().trim();
}

export const procedure = (more: Partial<Procedure> = {}): Procedure => ({
  name: "agents-sync",
  title: "",
  about: "",
  success: "",
  again: "",
  failure: "",
  phases: { observe: [], orient: [], decide: [], act: [] },
  gates: [],
  source: "builtin:agents-sync",
  ...more,
});

const setting = <T>(value: T) => ({ value, from: "built in" });
export const settings = (budget = 20): LoopSettings => ({
  max_iterations: setting<number | null>(5),
  failure_threshold: setting(3),
  timeout: setting(60),
  time_limit: setting(600),
  budget: setting(budget),
  ai: setting("claude"),
  permissions: setting("edits" as const),
  buffer: setting(1 << 20),
});

const env = (mode: string) => ({
  PATH: `${base}:${process.env.PATH}`,
  HOME: process.env.HOME,
  FAKE: mode,
  FAKE_LOG: join(base, "asked.log"),
});

export function agent(mode: string, name = "claude") {
  const found = agentFor(`${name}${name === "claude" ? " --output-format stream-json" : ""}`, {
    session: "s",
    root: false,
    env: env(mode),
  });
  if ("error" in found) throw new Error(found.error);
  return found.agent;
}

export async function fly(mode: string, more: Partial<PreflightOptions> = {}, name = "claude") {
  const found = await preflight({
    root,
    procedure: procedure(),
    agent: agent(mode, name),
    settings: settings(),
    hooks: () => findHooks(root, env(mode), false),
    ...more,
  });
  const of = (check: string) => found.checks.find((one) => one.name === check);
  return { ...found, of };
}

export const asked = () =>
  existsSync(join(base, "asked.log")) ? readFileSync(join(base, "asked.log"), "utf8").trim().split("\n").length : 0;

export function withTests(command = '["sh", "-c", "exit 0"]', gate = "tests", kind = "run"): void {
  writeFileSync(join(root, "pawl.yaml"), `gates:\n  ${gate}:\n    ${kind}: ${command}\n`);
  git("add", "pawl.yaml");
  git("commit", "-q", "-m", "Gates");
}

export function approve(): void {
  const read = readProject(root);
  if ("errors" in read) throw new Error(JSON.stringify(read.errors));
  grantTrust(root, computeClosure(root, Object.values(read.project.gates)), "test");
}

export function put(folder: string, name: string, text: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), text);
}
