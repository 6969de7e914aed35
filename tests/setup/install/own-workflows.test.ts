import { afterAll, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makePlace, type Place, removePlaces, textOf } from "../../harness/harness.ts";
import { runInProcess } from "../../harness/in-process.ts";

afterAll(removePlaces);

const WORKFLOW = `name: ship
title: "Ship: it"
signals: promise
arm: ["/ship", "/pawl:sail", "/complete-work"]
stages:
  - { id: review, say: Look at it., on: { LOOKED: { end: completed } } }
`;
const COMMAND = ".claude/commands/ship.md";

function placeWith(name: string, text: string): Place {
  const place = makePlace();
  mkdirSync(join(place.root, ".pawl/workflows"), { recursive: true });
  writeFileSync(join(place.root, `.pawl/workflows/${name}.yaml`), text);
  return place;
}

function init(place: Place): string {
  const { code, out, err } = runInProcess(place, ["init", "--with", "all", "--yes"]);
  expect([code, err]).toEqual([0, ""]);
  return out;
}

test("a project's own workflow gets its command, and loses it with the workflow", () => {
  const place = placeWith("ship", WORKFLOW);
  expect(init(place)).toContain("the command /ship, for Ship: it");
  expect(textOf(join(place.root, COMMAND))).toStartWith('---\ndescription: "Ship: it"\nargument-hint: "[review]"\n');
  expect(textOf(join(place.root, COMMAND))).toContain("Do what Pawl's hook tells you");
  expect(textOf(join(place.root, ".claude/commands/complete-work.md"))).toContain("memory, review, cleanup, commit");
  rmSync(join(place.root, ".pawl/workflows/ship.yaml"));
  expect(init(place)).toContain("is no longer part of this installation");
  expect(textOf(join(place.root, COMMAND))).toBeNull();
});

test("a command of the person's own is left alone", () => {
  const place = placeWith("ship", WORKFLOW);
  mkdirSync(join(place.root, ".claude/commands"), { recursive: true });
  writeFileSync(join(place.root, COMMAND), "mine\n");
  expect(init(place)).toContain(`${COMMAND} exists and is not Pawl's`);
  expect(textOf(join(place.root, COMMAND))).toBe("mine\n");
});

test("a workflow with mistakes gets none", () => {
  const place = placeWith("ship", WORKFLOW.replace("Look at it.", ""));
  init(place);
  expect(textOf(join(place.root, COMMAND))).toBeNull();
});

test("a project's own workflow that is called like a skill of ours: its command goes first, ours moves aside", () => {
  const place = placeWith("ship", WORKFLOW.replace('"/ship"', '"/handoff"'));
  expect(init(place)).toContain("type Pawl's own as /pawl:handoff");
  expect(textOf(join(place.root, ".claude/commands/handoff.md"))).toContain('description: "Ship: it"');
  expect(textOf(join(place.root, ".claude/commands/pawl/handoff.md"))).toContain("name: handoff");
  expect(textOf(join(place.root, ".claude/skills/handoff/SKILL.md"))).toBeNull();
  expect(init(place)).toContain("nothing to do");
});
