/** The plugin without a client: what its files say, and what its hooks do on a machine without Pawl. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { version } from "../../package.json";
import hooksFile from "../../plugin/hooks/hooks.json";
import { detectHost } from "../../src/hosts/detect.ts";
import { groupFor } from "../../src/setup/install/hooks.ts";
import {
  makePlace,
  openSession,
  PAWL,
  type Place,
  payload,
  removePlaces,
  runHook,
  runPawl,
} from "../harness/harness.ts";

afterAll(removePlaces);

const ROOT = resolve(import.meta.dir, "../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const EVENTS = [
  "SessionStart",
  "UserPromptSubmit",
  "UserPromptExpansion",
  "Stop",
  "SubagentStop",
  "StopFailure",
  "PreCompact",
  "SessionEnd",
  "PermissionRequest",
  "Notification",
];
type EventName = keyof typeof hooksFile.hooks;
const commandOf = (event: string) => hooksFile.hooks[event as EventName][0]!.hooks[0]!.command;

function fire(place: Place, event: string, fields: Record<string, unknown>, env: Record<string, string> = {}) {
  const { exitCode, stdout, stderr } = Bun.spawnSync({
    cmd: ["/bin/sh", "-c", commandOf(event)],
    cwd: place.root,
    env: { ...place.env, CLAUDECODE: "1", ...env },
    stdin: Buffer.from(`${JSON.stringify(payload(place, openSession(place, "one"), event, fields))}\n`),
  });
  return { code: exitCode, out: stdout.toString(), err: stderr.toString() };
}

describe("the plugin's files", () => {
  test("all ten events, one command each", () => {
    expect(Object.keys(hooksFile.hooks)).toEqual(EVENTS);
    for (const event of EVENTS) expect(commandOf(event)).toContain('exec "$h" hook auto --via plugin');
    const timeouts = (hooks: { timeout: number | undefined }[]) => hooks.map(({ timeout }) => timeout);
    for (const event of EVENTS)
      expect(timeouts(hooksFile.hooks[event as EventName][0]!.hooks)).toEqual(timeouts(groupFor(event, "local").hooks));
  });

  test("its version is the program's, and the marketplace offers it", () => {
    expect(JSON.parse(read("plugin/.claude-plugin/plugin.json"))).toMatchObject({ name: "pawl", version });
    const { plugins } = JSON.parse(read(".claude-plugin/marketplace.json"));
    expect(plugins).toMatchObject([{ name: "pawl", source: "./plugin" }]);
  });

  test("every agent that a workflow names is there, under its own name", () => {
    const files = ["complete-work", "auto-workflow"].map((name) => read(`workflows/${name}.yaml`));
    const named = [...files.join("\n").matchAll(/^ +agent: (.+)$/gm)].map((match) => match[1]!);
    expect(readdirSync(join(ROOT, "plugin/agents")).sort()).toEqual(named.map((name) => `${name}.md`).sort());
    for (const name of named) expect(read(`plugin/agents/${name}.md`)).toStartWith(`---\nname: ${name}\ndescription: `);
  });

  test("what the texts call exists in the program, and only planning and memory are allowed beforehand", () => {
    const place = makePlace();
    const texts = [
      ...readdirSync(join(ROOT, "plugin/agents")).map((name) => read(`plugin/agents/${name}`)),
      ...readdirSync(join(ROOT, "prompts/complete-work")).map((name) => read(`prompts/complete-work/${name}`)),
      ...readdirSync(join(ROOT, "plugin/commands")).map((name) => read(`plugin/commands/${name}`)),
    ].join("\n");
    const calls = [...texts.matchAll(/pawl\/bin\/pawl (helper \w+ ?\w*)/g)].map((match) => match[1]!.trim());
    expect(new Set(calls).size).toBeGreaterThan(3);
    const { out } = runPawl(place, ["helper", "--help"]);
    for (const call of calls) expect(out).toContain(`pawl ${call}`);
    for (const name of ["complete-work", "go"]) {
      const allowed = /^allowed-tools: (.+)$/m.exec(read(`plugin/commands/${name}.md`))?.[1];
      expect(allowed).toBe(
        "Bash(~/.local/share/pawl/bin/pawl helper memory:*), Bash(~/.local/share/pawl/bin/pawl helper archive plan:*)",
      );
    }
  });
});

describe("the skill /workflow", () => {
  const text = read("plugin/skills/workflow/SKILL.md");
  test("is short, and tells the line that is expected after a restore", () => {
    expect(text).toStartWith("---\nname: workflow\ndescription: ");
    expect(text.trimEnd().split("\n").length).toBeLessThan(40);
    expect(text).toContain("`✅ Workflow restored: {workflow}, Phase {current}/{total}`");
  });
  test("allows nothing beforehand that ends a run", () => {
    const allowed = [.../^allowed-tools: (.+)$/m.exec(text)![1]!.matchAll(/pawl runs (\w+):\*/g)].map(
      (match) => match[1],
    );
    expect(allowed).toEqual(["start", "phase", "show"]);
  });
  test("names commands that the program has", () => {
    const { out } = runPawl(makePlace(), ["runs", "--help"]);
    const calls = [...text.matchAll(/pawl\/bin\/pawl runs (\w+)/g)].map((match) => match[1]!);
    expect([...new Set(calls)].sort()).toEqual(["finish", "phase", "show", "start"]);
    for (const call of calls) expect(out).toContain(`pawl runs ${call}`);
    for (const option of text.matchAll(/--[a-z]+/g)) expect(out).toContain(option[0]);
  });
});

describe("the plugin's hooks", () => {
  test.each(EVENTS)("without the program: %s", (event) => {
    const place = makePlace();
    const said = fire(place, event, { source: "startup", prompt: "/pawl:complete-work" });
    expect(said).toMatchObject({ code: 0, err: "" });
    if (event !== "SessionStart") expect(said.out).toBe("");
    else expect(JSON.parse(said.out)).toEqual({ systemMessage: expect.stringContaining("npm install -g") });
  });

  test.each([
    ["a compaction", { source: "compact" }, {}],
    ["another host", { source: "startup" }, { CLAUDECODE: "" }],
    ["switched off", { source: "startup" }, { PAWL: "0" }],
  ])("without the program, nothing is said at %s", (_what, fields, env) => {
    expect(fire(makePlace(), "SessionStart", fields, env as Record<string, string>)).toEqual({
      code: 0,
      out: "",
      err: "",
    });
  });

  test("with the program, /pawl:complete-work is armed", async () => {
    const place = makePlace();
    const path = join(place.home, ".local/share/pawl/bin/pawl");
    mkdirSync(dirname(path), { recursive: true });
    try {
      linkSync(PAWL, path);
    } catch {
      await copyFile(PAWL, path);
    }
    await copyFile(join(ROOT, "bin/hook.sh"), join(place.home, ".local/share/pawl/hook"));
    expect(fire(place, "SessionStart", { source: "startup" })).toEqual({ code: 0, out: "", err: "" });
    const { out } = fire(place, "UserPromptSubmit", { prompt: "/pawl:complete-work" });
    expect(JSON.parse(out).hookSpecificOutput.additionalContext).toStartWith("[pawl] ");
    expect(existsSync(join(place.root, ".pawl/runs"))).toBe(true);
  });
});

describe("hook auto", () => {
  const path = (transcript_path: string) => ({ hook_event_name: "Stop", session_id: "s", transcript_path });
  const inside = { AI_AGENT: "claude-code_2-1-197_harness" };
  test.each([
    ["Claude Code", path("/home/me/.claude/projects/-home-me-x/s.jsonl"), {}, "claude"],
    ["Claude Code with its folder elsewhere", path("/etc/cc/projects/-x/s.jsonl"), {}, "claude"],
    ["Claude Code that keeps no transcript", path(""), inside, "claude"],
    ["Codex inside Claude Code", path("/home/me/.codex/sessions/2026/11/15/rollout-s.jsonl"), inside, null],
    ["Codex without a transcript", { ...path(""), turn_id: "t" }, inside, null],
    ["Copilot", path("/home/me/.copilot/session-state/s/events.jsonl"), inside, null],
    ["Gemini", path("/home/me/.gemini/tmp/x/chats/session-s.jsonl"), {}, null],
    ["Qwen", path("/home/me/.qwen/projects/-x/chats/s.jsonl"), {}, null],
    ["who knows", { session_id: "s" }, {}, null],
    ["no object", "text", inside, null],
  ])("%s", (_who, given, env, host) => {
    expect(detectHost(given, env as Record<string, string>)).toBe(host as "claude" | null);
  });

  test.each([
    ["auto", ".claude/projects/x/s.jsonl", true],
    ["auto", ".codex/sessions/s.jsonl", false],
    ["claude", ".claude/projects/x/s.jsonl", true],
    ["unheard-of", ".claude/projects/x/s.jsonl", false],
  ])("hook %s with %s", (host, transcript, heard) => {
    const place = makePlace();
    const given = { ...payload(place, openSession(place, "one"), "UserPromptSubmit"), prompt: "/complete-work" };
    const input = JSON.stringify({ ...given, transcript_path: join(place.home, transcript) });
    const { code, out, err } = runPawl(place, ["hook", host, "--via", "plugin"], { input });
    expect({ code, err, heard: out !== "" }).toEqual({ code: 0, err: "", heard });
    expect(existsSync(join(place.root, ".pawl"))).toBe(heard);
  });

  /** As Copilot 1.0.102 sent them; `source: startup` and the claim make it as hard as it can get. */
  const fromCopilot = (place: Place, id: string) => {
    const common = { session_id: id, timestamp: "2026-11-16T14:31:17.698Z", cwd: place.root };
    const transcript_path = join(place.home, `.copilot/session-state/${id}/events.jsonl`);
    return [
      { hook_event_name: "SessionStart", ...common, source: "startup", initial_prompt: "/complete-work" },
      { hook_event_name: "UserPromptSubmit", ...common, prompt: "/complete-work" },
      { hook_event_name: "UserPromptSubmit", ...common, prompt: "s" },
      { hook_event_name: "PreCompact", ...common, transcript_path, trigger: "auto", custom_instructions: "" },
      { hook_event_name: "Stop", ...common, transcript_path, stop_reason: "end_turn", stop_hook_active: false },
      { hook_event_name: "SessionEnd", ...common, reason: "complete" },
    ];
  };
  test.each(["claude", "auto"])("hook %s is silent for Copilot, which runs .claude/settings.json too", (host) => {
    const place = makePlace();
    // Started from a shell of Claude Code's, whose marks it inherits.
    const env = { COPILOT_CLI: "1", CLAUDE_PROJECT_DIR: place.root, ...inside };
    for (const sent of fromCopilot(place, "a7f3dde8-5122-41f2-8d80-5e444e7ee5e8")) {
      const ran = runPawl(place, ["hook", host, "--via", "local"], { input: JSON.stringify(sent), env });
      expect({ event: sent.hook_event_name, ...ran }).toEqual({
        event: sent.hook_event_name,
        code: 0,
        out: "",
        err: "",
      });
    }
    expect(existsSync(join(place.root, ".pawl"))).toBe(false);
    expect(existsSync(join(place.home, ".local/state/pawl/sessions"))).toBe(false);
  });
  test("a Claude Code whose payloads had a time would still be heard", () => {
    const place = makePlace();
    const sent = payload(place, openSession(place, "one"), "UserPromptSubmit", {
      prompt: "/complete-work",
      timestamp: 1,
    });
    expect(runHook(place, sent).out).toContain("step 1 of 4");
  });
});
