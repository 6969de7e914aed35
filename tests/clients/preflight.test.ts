/** The real client as an agent of a loop: what it prints, and what the trial before a loop finds out about it. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { computeClosure } from "../../src/checks/closure/closure.ts";
import { findHooks } from "../../src/cli/shared/doctor-context.ts";
import type { LoopSettings } from "../../src/definitions/loop-config.ts";
import { readProject } from "../../src/definitions/project.ts";
import type { Procedure } from "../../src/kernel/types/procedure.ts";
import { type AgentOptions, agentFor } from "../../src/loop/agents.ts";
import { readOutput } from "../../src/loop/core/agent-output.ts";
import { classify } from "../../src/loop/core/failure-class.ts";
import { preflight } from "../../src/loop/preflight.ts";
import { runAgent } from "../../src/loop/process.ts";
import { grantTrust } from "../../src/store/trust.ts";
import { claudeBinary } from "./install.ts";
import { fail, type Model, type Reply, type Script, say, startModel, use } from "./model.ts";
import { type Project, startProject } from "./project.ts";

setDefaultTimeout(120_000);

const HOME = process.env.HOME;
const open: (() => unknown)[] = [];
afterEach(async () => {
  process.env.HOME = HOME;
  for (const close of open.splice(0).reverse()) await close();
});

async function scene(script: Script, files: Record<string, string> = {}) {
  const model = startModel(script);
  open.push(model.stop);
  const project = await startProject();
  open.push(project.remove);
  const bin = join(project.home, "bin");
  mkdirSync(bin);
  symlinkSync(await claudeBinary(), join(bin, "claude"));
  for (const [path, text] of Object.entries(files)) writeFileSync(join(project.root, path), text);
  process.env.HOME = project.home;
  return { model, project, bin };
}

/** As from inside another session, whose marks must not matter. */
function started(project: Project, model: Model, bin: string, more: Partial<AgentOptions> = {}) {
  const nested = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: "x", CLAUDE_CODE_ENTRYPOINT: "cli" };
  const env = { ...project.env(model.url), ...nested, PATH: `${bin}:/usr/local/bin:/usr/bin:/bin` };
  const found = agentFor("claude", { session: crypto.randomUUID(), root: process.getuid?.() === 0, env, ...more });
  if ("error" in found) throw new Error(found.error);
  return found.agent;
}

// ── What it prints ──────────────────────────────────────────────────────────

const PROMPT = "Do the work. The signal is <promise>FAILURE</promise> if you cannot.";

async function turn(script: Script, more: Partial<AgentOptions> = {}) {
  const { model, project, bin } = await scene(script, { "notes.md": "<promise>FAILURE</promise>\n" });
  const agent = started(project, model, bin, more);
  const { argv, env } = agent;
  const ended = await runAgent({ argv, env, cwd: project.root, stdin: PROMPT, timeout_ms: 60_000, buffer: 1 << 20 });
  const text = new TextDecoder().decode(ended.tail);
  const said = readOutput(agent.format, text);
  return { agent, ended, said, model, failure: classify({ ...ended, said, text }) };
}

test("its final message, its cost and its session, whatever tools printed before", async () => {
  const last = "All is done.\n\n<promise>SUCCESS</promise>";
  const { said, agent, ended, model } = await turn({ turns: [use("Read", { file_path: "notes.md" }), say(last)] });
  expect(said).toEqual({
    message: last,
    cost_usd: expect.any(Number),
    tokens: { in: 200, out: 40 },
    session: agent.session,
    error: null,
    limit: null,
  });
  expect(ended).toMatchObject({ how: "exited", exit: 0 });
  expect(model.main()[0]?.text).toContain(PROMPT);
});

const ERRORS: [number, string][] = [
  [401, "config"],
  [404, "config"],
  [429, "limit"],
  [500, "infra"],
  [529, "infra"],
];
test.each(ERRORS)("an answer %d of its API is a failure of the class %s", async (status, expected) => {
  const { said, failure, ended } = await turn({ turns: [], otherwise: () => fail(status) });
  expect([ended.exit, said.message, failure.class]).toEqual([1, "", expected]);
  expect(said.error).toBeString();
});

test("a budget ends it", async () => {
  const { said, ended } = await turn(
    { turns: [], otherwise: (nth) => (nth < 9 ? use("Read", { file_path: "notes.md" }) : say("never")) },
    { budget_usd: 0.0025 },
  );
  expect([ended.exit, said.message, said.error]).toEqual([1, "", "Reached maximum budget ($0.0025)"]);
  expect(said.cost_usd).toBeLessThan(0.005);
});

test("a model that is not there", async () => {
  const { failure } = await turn({ turns: [], otherwise: () => fail(404) }, { model: "claude-nonesuch" });
  expect(failure).toMatchObject({ class: "config", why: expect.stringContaining("claude-nonesuch") });
});

test.if(process.getuid?.() === 0)("it refuses root what we refuse before it", async () => {
  const { model, project, bin } = await scene({ turns: [say("x")] });
  expect(() => started(project, model, bin, { permissions: "skip" })).toThrow("does not skip permissions for root");
  const { argv, env } = started(project, model, bin, { permissions: "skip", root: false });
  const ended = await runAgent({ argv, env, cwd: project.root, stdin: "x", timeout_ms: 60_000, buffer: 1 << 20 });
  const text = new TextDecoder().decode(ended.tail);
  expect(classify({ ...ended, said: readOutput("claude", text), text })).toMatchObject({ class: "config" });
});

// ── The trial ───────────────────────────────────────────────────────────────

const PROCEDURE: Procedure = {
  name: "agents-sync",
  title: "",
  about: "",
  success: "",
  again: "",
  failure: "",
  phases: { observe: [], orient: [], decide: [], act: [] },
  gates: [],
  source: "builtin:agents-sync",
};
const setting = <T>(value: T) => ({ value, from: "built in" });
const SETTINGS: LoopSettings = {
  max_iterations: setting<number | null>(5),
  failure_threshold: setting(3),
  timeout: setting(100),
  time_limit: setting(600),
  budget: setting(20),
  ai: setting("claude"),
  permissions: setting("edits" as const),
  buffer: setting(1 << 20),
};
const FILES = {
  "pawl.yaml": 'gates:\n  tests:\n    run: ["sh", "check.sh"]\n',
  "check.sh": "echo checked >> checked.log\n",
};

/** A model that does what the prompt asks for, step by step. */
function obedient(asked: () => string): (nth: number) => Reply {
  return (nth) => {
    const [, proof = "", nonce = ""] = /Write the file (\S+) with this single line: (\S+)/.exec(asked()) ?? [];
    const steps = [
      use("Write", { file_path: proof, content: `${nonce}\n` }),
      use("Bash", { command: "sh check.sh", description: "tests" }),
      use("Bash", { command: "git commit --dry-run", description: "commit" }),
    ];
    return steps[nth - 1] ?? say("I did all of it.");
  };
}

async function trial(permissions: object) {
  const asked = () => here.model.main().at(-1)?.text ?? "";
  const here = await scene({ turns: [], otherwise: obedient(asked) }, FILES);
  const { model, project, bin } = here;
  await project.git("add", "pawl.yaml", "check.sh");
  await project.git("commit", "-q", "-m", "Gates");
  const path = join(project.root, ".claude/settings.local.json");
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), permissions }));
  const read = readProject(project.root);
  if ("errors" in read) throw new Error(JSON.stringify(read.errors));
  grantTrust(project.root, computeClosure(project.root, Object.values(read.project.gates)), "test");
  const agent = started(project, model, bin);
  const hooks = () => findHooks(project.root, agent.env, false);
  const found = await preflight({ root: project.root, procedure: PROCEDURE, settings: SETTINGS, agent, hooks });
  return { found, project, model, of: (name: string) => found.checks.find((check) => check.name === name) };
}

test("with the permissions it needs, the agent is found able, and nothing is left behind", async () => {
  const { found, project, of } = await trial({ allow: ["Bash(sh check.sh)", "Bash(git commit:*)"] });
  expect([of("agent")?.ok, of("edit")?.ok, of("tests")?.ok, of("commit")?.ok]).toEqual([true, true, true, true]);
  expect(found).toMatchObject({ ok: true, cost_usd: expect.any(Number) });
  expect(project.exists("checked.log")).toBe(true);
  expect(project.exists(".pawl/preflight")).toBe(false);
  const kept = join(project.home, ".claude/projects");
  const transcripts = existsSync(kept) ? readdirSync(kept, { recursive: true }).map(String) : [];
  expect(transcripts.filter((name) => name.endsWith(".jsonl"))).toEqual([]);
  expect(await project.git("log", "--oneline")).toContain("Gates");
});

test("without permission for Bash it is refused, and the setting is named", async () => {
  const { found, project, of } = await trial({});
  expect(found.ok).toBe(false);
  expect(of("edit")?.ok).toBe(true);
  expect(of("tests")).toEqual({
    name: "tests",
    ok: false,
    detail: "it was not allowed to run the tests: sh check.sh",
    remedy: 'add "Bash(sh check.sh:*)" to permissions.allow of .claude/settings.local.json',
  });
  expect(of("commit")).toEqual({
    name: "commit",
    ok: false,
    detail: "it was not allowed to run git commit",
    remedy: 'add "Bash(git add:*)" and "Bash(git commit:*)" to permissions.allow of .claude/settings.local.json',
  });
  expect(project.exists("checked.log")).toBe(false);
});

test("what the remedies say helps", async () => {
  const { found } = await trial({ allow: ["Bash(sh check.sh:*)", "Bash(git add:*)", "Bash(git commit:*)"] });
  expect(found.ok).toBe(true);
});

test("an agent that may not edit is refused", async () => {
  const { found, of } = await trial({ allow: ["Bash(sh check.sh)", "Bash(git commit:*)"], deny: ["Write", "Edit"] });
  expect([found.ok, of("edit")?.ok, of("commit")?.ok]).toEqual([false, false, true]);
});
