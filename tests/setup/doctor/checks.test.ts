/** The small parts on their own: what needs another clock, another administrator, or a program that misbehaves. */
import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { clean, type DoctorContext, type Finding, formatAge } from "../../../src/setup/doctor/finding.ts";
import { type ProgramEnd, runBounded } from "../../../src/setup/doctor/process.ts";
import { judge } from "../../../src/setup/doctor/program.ts";
import { checkClock } from "../../../src/setup/doctor/project.ts";
import { checkDisabled } from "../../../src/setup/doctor/settings.ts";
import { measureDepth, readAllSettings } from "../../../src/setup/doctor/settings-files.ts";
import { checkEnvironment } from "../../../src/setup/doctor/surroundings.ts";
import { isAlive, until } from "../../checks/jobs/job-place.ts";
import { PAWL, type Place, removePlaces } from "../../harness/harness.ts";
import { runInProcess } from "../../harness/in-process.ts";
import { atTerminal } from "../../harness/last-words.ts";
import { bare, healthy, user, write } from "./clinic.ts";

afterAll(removePlaces);

const ground = ({ root, home, base }: Place, more: Partial<DoctorContext> = {}): DoctorContext => ({
  root,
  home,
  claude: join(home, ".claude"),
  managed: join(base, "managed"),
  env: { HOME: home },
  now: Date.UTC(2026, 0, 1),
  ...more,
});

const ids = (found: Finding[]) => found.map(({ id, level }) => `${level} ${id}`);

describe("the hook's answer", () => {
  const fine: ProgramEnd = { code: 0, out: "", err: "", ms: 12, late: false };
  const answers: [string, Partial<ProgramEnd>, string][] = [
    ["silent", {}, "ok hook"],
    ["JSON", { out: '{"systemMessage":"hello"}\n' }, "ok hook"],
    ["plain words", { out: "hello" }, "trouble hook-garbage"],
    ["half of an answer", { out: '{"a":' }, "trouble hook-garbage"],
    ["exit 2", { code: 2 }, "trouble hook-fails"],
    ["a signal", { code: null }, "trouble hook-fails"],
    ["too late", { code: null, late: true }, "trouble hook-hangs"],
    ["a second", { ms: 1_000 }, "ok hook"],
    ["more than a second", { ms: 1_001 }, "trouble hook-slow"],
  ];
  test.each(answers)("%s", (_name, ended, id) => {
    expect(ids(judge("x", { ...fine, ...ended }))).toEqual([id]);
  });
});

describe("a program that misbehaves", () => {
  const run = (script: string, most = 20_000) => runBounded(["/bin/sh", "-c", script], { cwd: "/", most });

  test("hangs", async () => {
    expect(await run("echo begun; sleep 60", 3_000)).toMatchObject({ code: null, late: true, out: "begun\n" });
  });
  test("ignores what it is asked to do", async () => {
    expect((await run("trap '' TERM INT HUP; while :; do sleep 1; done", 300)).late).toBe(true);
  });
  test("leaves a child behind that holds its output, and the child ends too", async () => {
    const { code, out, ms } = await run("sleep 60 & echo $!; exit 3");
    expect(code).toBe(3);
    expect(ms).toBeLessThan(20_000);
    await until("its end", () => !isAlive(Number(out)));
  });
  test("floods", async () => {
    const { out } = await run("yes", 3_000);
    expect(out.length).toBe(256 * 1024);
  });
  test("reads nothing of a long input", async () => {
    const { code } = await runBounded(["/bin/sh", "-c", "exit 0"], { cwd: "/", input: "x".repeat(1 << 20) });
    expect(code).toBe(0);
  });
});

describe("who has the last word on disableAllHooks", () => {
  const files: [string, Record<string, string>, string[]][] = [
    ["nobody", {}, []],
    ["the person", { user: "true" }, ["trouble hooks-disabled"]],
    ["the project, against the person", { user: "true", project: "false" }, []],
    ["the person's own, against the project", { project: "false", local: "true" }, ["trouble hooks-disabled"]],
    ["the administrator", { local: "false", managed: "true" }, ["trouble hooks-disabled"]],
    ["no yes or no", { user: '"true"' }, []],
  ];
  test.each(files)("%s", (_name, said, found) => {
    const place = bare();
    const paths: Record<string, string> = {
      user: "home/.claude/settings.json",
      project: "project/.claude/settings.json",
      local: "project/.claude/settings.local.json",
      managed: "managed/managed-settings.json",
    };
    for (const [scope, value] of Object.entries(said)) write(place.base, paths[scope]!, `{"disableAllHooks":${value}}`);
    expect(ids(checkDisabled(readAllSettings(ground(place))))).toEqual(found);
  });

  test.each(["managed-settings.json", "managed-settings.d/10-hooks.json"])("only managed hooks: %s", (name) => {
    const place = bare();
    write(place.base, `managed/${name}`, '{"allowManagedHooksOnly":true}');
    expect(ids(checkDisabled(readAllSettings(ground(place))))).toEqual(["trouble managed-hooks-only"]);
  });

  test("the same words in a project mean nothing", () => {
    const place = bare();
    user(place, '{"allowManagedHooksOnly":true}');
    expect(checkDisabled(readAllSettings(ground(place)))).toEqual([]);
  });
});

describe("the present environment", () => {
  const variables: [string, Record<string, string>, string[]][] = [
    ["nothing special", { PATH: "/bin", NODE_OPTIONS: "x", BUN_INSTALL: "/x", PAWL: "1" }, ["ok env"]],
    ["BUN_OPTIONS", { BUN_OPTIONS: "--preload x" }, ["trouble env-suspicious"]],
    ["BUN_BE_BUN", { BUN_BE_BUN: "1" }, ["trouble env-suspicious"]],
    ["an empty one", { BUN_OPTIONS: "" }, ["ok env"]],
    ["LD_PRELOAD", { LD_PRELOAD: "x.so" }, ["trouble env-suspicious"]],
    ["BUN_CONFIG_x", { BUN_CONFIG_VERBOSE_FETCH: "1" }, ["note env-suspicious"]],
    ["PAWL=0", { PAWL: "0" }, ["note env-off"]],
    ["no HOME", { HOME: "" }, ["trouble env-home"]],
    ["a low cap", { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: "2" }, ["note env-cap"]],
    ["a high cap", { CLAUDE_CODE_STOP_HOOK_BLOCK_CAP: "50" }, ["ok env"]],
  ];
  test.each(variables)("%s", (_name, env, found) => {
    const place = bare({ git: false });
    expect(ids(checkEnvironment(ground(place, { env: { HOME: place.home, ...env } }), []))).toEqual(found);
  });

  test("settings that are kept elsewhere", () => {
    const place = bare({ git: false });
    const elsewhere = ground(place, { claude: "/elsewhere" });
    expect(ids(checkEnvironment(elsewhere, []))).toEqual(["note env-config-dir"]);
  });
});

test.each([
  [Date.UTC(1970, 0, 1), ["trouble clock"]],
  [Date.UTC(2024, 11, 31), ["trouble clock"]],
  [Date.UTC(2025, 0, 1), []],
])("the clock says %d", (now, found) => {
  expect(ids(checkClock(ground(bare({ git: false }), { now })))).toEqual(found);
});

test.each([
  ["", 0],
  ["{}", 1],
  ['{"a":[{"b":1}]}', 3],
  ['{"a":"[[[[","b":"\\"[["}', 1],
  ['// "\n[[]]', 2],
  ['"never ends [[', 0],
])("the depth of %p", (text, depth) => {
  expect(measureDepth(text)).toBe(depth);
});

test.each([
  ["a\u001b[31mb\u0007\nc", "a [31mb c"],
  ["\u202Eabc\u2066", "abc"],
  ["x".repeat(200), `${"x".repeat(99)}…`],
  [`${"x".repeat(98)}😀😀`, `${"x".repeat(98)}…`],
])("%p is shown as one harmless line", (text, shown) => {
  expect(clean(text)).toBe(shown);
});

test.each([
  [1, "1 min"],
  [59 * 60_000, "59 min"],
  [47 * 3_600_000, "47 h"],
  [8 * 24 * 3_600_000, "8 days"],
])("%d ms is %s", (ms, words) => {
  expect(formatAge(ms)).toBe(words);
});

describe("on the screen", () => {
  const onTerminal = async ({ root: cwd, env }: Place, more: Record<string, string>) =>
    (await atTerminal([PAWL, "doctor"], { cwd, env: { ...env, ...more } }, 200)).screen;

  test("grouped, one line each, the remedy below, a summary", () => {
    const place = healthy();
    user(place, '{"disableAllHooks":true}');
    const { out, code } = runInProcess(place, ["doctor"]);
    expect(code).toBe(1);
    expect(out).toStartWith("Installation\n  ✓ .claude/settings.local.json calls Pawl at 10 events\n");
    expect(out).toContain(
      "\n  ✗ ~/.claude/settings.json says disableAllHooks: no hook runs\n      → take that line out\n",
    );
    expect(out).toContain("\n\nProgram\n");
    expect(out).toEndWith("\n\n1 problem found (✗).\n");
  });

  test("colours on a terminal only, and not with NO_COLOR", async () => {
    const place = healthy();
    expect(await onTerminal(place, {})).toContain("\u001b[32m✓\u001b[0m");
    expect(await onTerminal(place, { NO_COLOR: "1" })).not.toContain("\u001b[32m");
    expect(runInProcess(place, ["doctor"]).out).not.toContain("\u001b");
  });

  test("a word too many", () => {
    expect(runInProcess(bare(), ["doctor", "please"])).toMatchObject({ code: 2, out: "" });
  });
});
