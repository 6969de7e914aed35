/** Each file in scenarios/ is one behaviour, told as a client would live it: real processes, real git, real files. */
import { afterAll, describe, expect, test } from "bun:test";
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { makePlace, removePlaces } from "../harness/harness.ts";
import { lookBefore, problemsOf } from "./expectations.ts";
import { perform, type Step, type World } from "./scenario.ts";

interface Scenario {
  about: string;
  /** false: the project is no git repository */
  git?: boolean;
  /** a folder of examples/ whose files lie in the project */
  example?: string;
  steps: Step[];
}

const FOLDER = import.meta.dir;
const EXAMPLES = join(import.meta.dir, "../../examples");
const files = readdirSync(FOLDER, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".yaml"))
  .sort();

afterAll(removePlaces);

/** Stops at the first step that is not as told: what follows would only repeat it. */
function play(scenario: Scenario): string[] {
  const place = makePlace({ git: scenario.git ?? true });
  if (scenario.example) cpSync(join(EXAMPLES, scenario.example), place.root, { recursive: true });
  const world: World = { place, sessions: {}, current: "A", last: null };
  for (const [index, step] of scenario.steps.entries()) {
    const before = lookBefore(world);
    const problems = problemsOf(world, step, perform(world, step), before);
    if (problems.length > 0) {
      const where = `step ${index + 1} (${JSON.stringify(step).slice(0, 100)})`;
      return problems.map((problem) => `${where}: ${problem}`);
    }
  }
  return [];
}

describe("scenarios", () => {
  for (const file of files) {
    const scenario: Scenario = parse(readFileSync(join(FOLDER, file), "utf8"));
    test(
      `${file}: ${scenario.about}`,
      () => expect({ file, problems: play(scenario) }).toEqual({ file, problems: [] }),
      60_000,
    );
  }
});

test("a scenario fails where the product does something else", () => {
  const wrong: Step[] = [
    { prompt: "/complete-work", context: "step 2 of 4" },
    { prompt: "/complete-work", silent: true },
    { prompt: "/complete-work", context: "step 1", document: { step: 2 } },
    { prompt: "/complete-work", context: "step 1", log: ["MEMORY_UPDATED"] },
    { prompt: "/complete-work", context: "step 1", records: ["armed"] },
    { prompt: "/complete-work", context: "step 1", status: "halted" },
    { prompt: "/complete-work", context: "step 1", contiue: "a slip of the pen" },
  ];
  for (const step of wrong) expect(play({ about: "", steps: [step] })).not.toEqual([]);
});
