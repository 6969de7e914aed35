/** Which setting counts, and where it says it comes from. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type LoopFlags, type LoopSettings, resolveSettings } from "../../src/definitions/loop-config.ts";
import { AGENTS, BUILT_IN } from "../../src/definitions/schema/loop.ts";
import type { Procedure } from "../../src/kernel/types/procedure.ts";
import { AGENTS as STARTED } from "../../src/loop/agents.ts";

let folder: string;
let [root, home] = ["", ""];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "pawl-loop-config-"));
  [root, home] = [join(folder, "project"), join(folder, "home")];
  for (const dir of [root, home]) mkdirSync(dir);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

interface Said {
  flags?: LoopFlags;
  procedure?: Partial<Procedure>;
  env?: Record<string, string>;
  project?: string;
  person?: string;
}

const TIDY = { name: "tidy", gates: [] } as unknown as Procedure;

function resolved({ flags = {}, procedure = {}, env = {}, project, person }: Said) {
  if (project !== undefined) put(join(root, "pawl.yaml"), project);
  if (person !== undefined) put(join(home, ".config/pawl/config.yaml"), person);
  return resolveSettings(root, home, env, flags, { ...TIDY, ...procedure });
}

function shown(said: Said, name: keyof LoopSettings): string {
  const found = resolved(said);
  if ("errors" in found) return found.errors.map(({ what }) => what).join("\n");
  const { value, from } = found.settings[name];
  return `${value} (${from})`;
}

test("built in: all of it, finite", () => {
  const found = resolved({});
  expect("settings" in found && Object.entries(found.settings)).toEqual(
    Object.entries(BUILT_IN).map(([name, value]) => [name, { value, from: "built in" }]),
  );
  expect(BUILT_IN).toEqual({
    max_iterations: 5,
    failure_threshold: 3,
    timeout: 3600,
    time_limit: 28_800,
    budget: 20,
    ai: "claude",
    permissions: "edits",
    buffer: 10_485_760,
  });
});

describe("flag > procedure > environment > pawl.yaml > config.yaml > built in", () => {
  const layers: [keyof Said, Said][] = [
    ["flags", { flags: { max_iterations: "1" } }],
    ["procedure", { procedure: { max_iterations: 2 } }],
    ["env", { env: { PAWL_LOOP_MAX_ITERATIONS: "3" } }],
    ["project", { project: "loop: { max_iterations: 4 }\n" }],
    ["person", { person: "loop: { max_iterations: 6 }\n" }],
  ];
  const wanted = [
    "1 (--max-iterations)",
    "2 (procedure tidy)",
    "3 (PAWL_LOOP_MAX_ITERATIONS)",
    "4 (pawl.yaml)",
    "6 (~/.config/pawl/config.yaml)",
    "5 (built in)",
  ];
  test.each(wanted)("%s", (want) => {
    const said = Object.assign({}, ...layers.slice(wanted.indexOf(want)).map(([, one]) => one)) as Said;
    expect(shown(said, "max_iterations")).toBe(want);
  });
});

describe("each setting, from each place", () => {
  const ALL = "max_iterations: unlimited, failure_threshold: 7, timeout: 90, time_limit: 7200, budget: 2.5, ai: codex";
  const table: [keyof LoopSettings, Said, string][] = [
    ["max_iterations", { flags: { unlimited: true } }, "null (--unlimited)"],
    ["max_iterations", { procedure: { max_iterations: "unlimited" } }, "null (procedure tidy)"],
    ["max_iterations", { env: { PAWL_LOOP_MAX_ITERATIONS: "unlimited" } }, "null (PAWL_LOOP_MAX_ITERATIONS)"],
    ["max_iterations", { project: `loop: { ${ALL} }` }, "null (pawl.yaml)"],
    ["max_iterations", { flags: { max_iterations: "2" }, project: `loop: { ${ALL} }` }, "2 (--max-iterations)"],
    ["failure_threshold", { project: `loop: { ${ALL} }` }, "7 (pawl.yaml)"],
    [
      "failure_threshold",
      { flags: { failure_threshold: "1" }, procedure: { failure_threshold: 2 } },
      "1 (--failure-threshold)",
    ],
    ["timeout", { project: `loop: { ${ALL} }`, procedure: { timeout: 60 } }, "60 (procedure tidy)"],
    ["timeout", { flags: { timeout: "30m" } }, "1800 (--timeout)"],
    ["timeout", { env: { PAWL_LOOP_TIMEOUT: "90s" } }, "90 (PAWL_LOOP_TIMEOUT)"],
    ["time_limit", { flags: { time_limit: "2h" } }, "7200 (--time-limit)"],
    ["time_limit", { env: { PAWL_LOOP_TIME_LIMIT: "45" } }, "45 (PAWL_LOOP_TIME_LIMIT)"],
    ["budget", { flags: { budget: "$1.50" } }, "1.5 (--budget)"],
    ["budget", { env: { PAWL_LOOP_BUDGET: "3" } }, "3 (PAWL_LOOP_BUDGET)"],
    ["budget", { person: `loop: { ${ALL} }` }, "2.5 (~/.config/pawl/config.yaml)"],
    ["ai", { flags: { ai: "gemini" } }, "gemini (--ai)"],
    ["ai", { flags: { ai_cmd: "my-agent -p" } }, "my-agent -p (--ai-cmd)"],
    ["ai", { env: { PAWL_LOOP_AI: "qwen" } }, "qwen (PAWL_LOOP_AI)"],
    ["ai", { person: "loop: { ai: my-agent -p }" }, "my-agent -p (~/.config/pawl/config.yaml)"],
    ["ai", { project: `loop: { ${ALL} }` }, "codex (pawl.yaml)"],
    ["buffer", { env: { PAWL_LOOP_BUFFER: "65536" } }, "65536 (PAWL_LOOP_BUFFER)"],
    ["buffer", { project: "loop: { buffer: 131072 }" }, "131072 (pawl.yaml)"],
    ["budget", { env: { PAWL_LOOP_BUDGET: "" } }, "20 (built in)"],
  ];
  test.each(table)("%s, %j", (name, said, want) => expect(shown(said, name)).toBe(want));
});

describe("refused, with the place named", () => {
  const table: [Said, string][] = [
    [{ flags: { max_iterations: "3", unlimited: true } }, "--max-iterations and --unlimited cannot be used together"],
    [{ flags: { ai: "codex", ai_cmd: "x" } }, "--ai and --ai-cmd cannot be used together"],
    ...["0", "-1", "1.5", "NaN", "Infinity", "1e3", "", " ", "five", "100001", "99999999999999"].map(
      (text): [Said, string] => [
        { flags: { max_iterations: text } },
        `--max-iterations: "${text}" is not such a number`,
      ],
    ),
    [{ flags: { failure_threshold: "0" } }, '--failure-threshold: "0" is not such a number'],
    [{ flags: { timeout: "0" } }, '--timeout: "0" is not such a number'],
    [{ flags: { timeout: "5d" } }, '--timeout: "5d" is not such a number'],
    [{ flags: { budget: "0" } }, '--budget: "0" is not such a number'],
    [{ flags: { budget: "1,5" } }, '--budget: "1,5" is not such a number'],
    [{ flags: { ai: " " } }, "--ai is empty"],
    [{ env: { PAWL_LOOP_MAX_ITERATIONS: "many" } }, 'PAWL_LOOP_MAX_ITERATIONS: "many" is not such a number'],
    [{ env: { PAWL_LOOP_TIMEOUT: "1h30m" } }, 'PAWL_LOOP_TIMEOUT: "1h30m" is not such a number'],
    [{ env: { PAWL_LOOP_BUDGET: "-3" } }, 'PAWL_LOOP_BUDGET: "-3" is not such a number'],
    [{ env: { PAWL_LOOP_BUFFER: "10MB" } }, 'PAWL_LOOP_BUFFER: "10MB" is not such a number'],
    // What is wrong is told, though a flag outranks it.
    [{ flags: { timeout: "9" }, env: { PAWL_LOOP_TIMEOUT: "x" } }, 'PAWL_LOOP_TIMEOUT: "x" is not such a number'],
    [
      { project: "loop: { max_iterations: 0 }" },
      "pawl.yaml:1:25: expected unlimited, or a whole number from 1 to 100000, found 0",
    ],
    [{ project: "loop: { budget: .inf }" }, "pawl.yaml:1:17: expected a number from 0.01 to 100000, found Infinity"],
    [{ project: "loop: { budget: .nan }" }, "pawl.yaml:1:17: expected a number from 0.01 to 100000, found NaN"],
    [{ project: "loop: { budget: '5' }" }, "pawl.yaml:1:17: expected a number from 0.01 to 100000, found the text"],
    [{ project: "loop: { ai: 'sh -c evil' }" }, 'pawl.yaml:1:13: "sh -c evil" is not known here'],
    [{ project: "loop: { max_iteration: 3 }" }, 'pawl.yaml:1:9: unknown key "max_iteration"'],
    [{ person: "loop: { timeout: -1 }" }, "~/.config/pawl/config.yaml:1:18: expected a whole number from 1 to 604800"],
    [{ flags: { config: "none.yaml" } }, '--config: there is no file "none.yaml"'],
  ];
  test.each(table)("%j", (said, want) => expect(shown(said, "timeout")).toStartWith(want));

  test("all of it at once, each with what to do", () => {
    const found = resolved({ flags: { timeout: "x", budget: "y" }, env: { PAWL_LOOP_BUFFER: "z" } });
    expect("errors" in found && found.errors).toEqual([
      {
        what: '--timeout: "x" is not such a number',
        hint: "write a number from 1 to 604800 seconds, or as 90s, 30m, 2h",
      },
      { what: '--budget: "y" is not such a number', hint: "write a number from 0.01 to 100000 US dollars" },
      { what: 'PAWL_LOOP_BUFFER: "z" is not such a number', hint: "write a number from 65536 to 1073741824 bytes" },
    ]);
  });
});

test("a project may name the agents that can be started", () => {
  expect([...AGENTS].sort()).toEqual([...STARTED].sort());
});

test("--config is read in place of pawl.yaml", () => {
  put(join(root, "other.yaml"), "loop: { timeout: 5 }\n");
  const said = {
    project: "loop: { timeout: 7, budget: 7 }",
    person: "loop: { budget: 9 }",
    flags: { config: "other.yaml" },
  };
  expect(shown(said, "timeout")).toBe("5 (other.yaml)");
  expect(shown(said, "budget")).toBe("9 (~/.config/pawl/config.yaml)");
  put(join(root, "other.yaml"), "loop: { timeout: no }\n");
  expect(shown(said, "timeout")).toStartWith("other.yaml:1:18: expected a whole number");
});

test("permissions: by flag, environment or the person's file; a repository must not grant them", () => {
  const found = resolved({ flags: { permissions: "settings" } });
  expect("settings" in found && found.settings.permissions).toEqual({ value: "settings", from: "--permissions" });
  expect("errors" in resolved({ flags: { permissions: "all" } })).toBe(true);
  const own = resolved({ person: "loop: { permissions: skip }\n" });
  expect("settings" in own && own.settings.permissions).toEqual({ value: "skip", from: "~/.config/pawl/config.yaml" });
  expect("errors" in resolved({ project: "loop: { permissions: skip }\n" })).toBe(true);
});
