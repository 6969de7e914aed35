/** The skills are texts; what can be wrong with them without a model is found here. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { COMMANDS } from "../../src/cli/index.ts";
import { SHORTCUTS } from "../../src/controls/core/shortcut.ts";
import { makePlace, PAWL, removePlaces, shell } from "../harness/harness.ts";
import { callsOf, chainOf, readSkill, readSkills, SKILLS } from "./skills.ts";

afterAll(removePlaces);

const skills = readSkills();
const all = Object.keys(skills);
const TAIL = "Tail: `[work] → handoff → commit → STATUS`.";
const tailed = all.filter((name) => skills[name]!.body.startsWith(TAIL));

const CHAINS: [string, string[]][] = [
  ["commit", ["STATUS"]],
  ["handoff", ["STATUS"]],
  ["handoff --commit", ["commit", "STATUS"]],
  ["handoff-haiku", ["STATUS"]],
  ["handoff-haiku --commit", ["commit", "STATUS"]],
  ["design", ["handoff --commit", "commit", "STATUS"]],
  ["plan-adhoc", ["handoff --commit", "commit", "STATUS"]],
  ["plan-tdd", ["handoff --commit", "commit", "STATUS"]],
];

describe("every skill", () => {
  test.each(all)("%s: its front matter is what the client reads", (name) => {
    const { front } = skills[name]!;
    const known = ["name", "description", "argument-hint", "allowed-tools"];
    expect(Object.keys(front).filter((key) => !known.includes(key))).toEqual([]);
    expect(front.name).toBe(name);
    for (const value of Object.values(front)) expect(value).toBeString();
    expect(String(front.description).length).toBeWithin(40, 301);
    expect(front.description).not.toMatch(/[<>]/);
  });

  test.each(all)("%s: is read on one screen", (name) => {
    expect(skills[name]!.text.trimEnd().split("\n").length).toBeLessThan(40);
    expect(skills[name]!.body.split(/\s+/).length).toBeLessThan(520);
  });

  test.each(all)("%s: its steps are numbered without a gap", (name) => {
    const numbers = skills[name]!.steps.map((step) => Number.parseInt(step, 10));
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    expect(numbers.length).toBeGreaterThan(2);
  });
});

describe("the tail", () => {
  test("all skills have it but /workflow, which hooks keep going", () => {
    expect(tailed).toEqual(all.filter((name) => name !== "workflow"));
    expect(all).toEqual(["commit", "design", "handoff", "handoff-haiku", "plan-adhoc", "plan-tdd", "workflow"]);
  });

  test.each(CHAINS)("/%s → %p", (call, rest) => expect(chainOf(skills, call)).toEqual([call, ...rest]));

  test("the workflow that watches it is armed by these skills, and asks for what they say", () => {
    const watched = parse(readFileSync(join(SKILLS, "../../workflows/tail.yaml"), "utf8"));
    const stages = watched.stages.map(({ id }: { id: string }) => id);
    const stageOf = (call: string) => stages.find((id: string) => call.toLowerCase().startsWith(id)) ?? "work";
    expect(watched.arm.toSorted()).toEqual(tailed.map((name) => `/${name}`));
    for (const call of CHAINS.map(([one]) => one))
      expect(chainOf(skills, call).map(stageOf)).toEqual(watched.chains[`/${call}`] ?? stages);
  });

  test.each(tailed)("%s: STATUS is verbatim and last, or left to the one that is called", (name) => {
    const last = skills[name]!.steps.at(-1)!;
    expect(last).toMatch(/^\d+\. \*\*End\.\*\*/);
    if (last.includes("`pawl status`"))
      expect(last).toContain("give its output verbatim as the last thing of your final message");
    if (/tail-call/i.test(last)) expect(last).toContain("Show no STATUS here");
    expect(skills[name]!.steps.slice(0, -1).join("")).not.toContain("STATUS");
  });

  test.each(tailed)("%s: what it calls is there, under its name in the plugin and beside it too", (name) => {
    const { body } = skills[name]!;
    for (const [, called] of body.matchAll(/tail-call `\/([\w-]+)/gi)) {
      expect(body).toContain(`in the plugin \`/pawl:${called}`);
      expect(body).toContain(`\`../${called}/SKILL.md\``);
    }
    for (const [, path] of body.matchAll(/`(\.\.\/[^`]+)`/g)) expect(existsSync(join(SKILLS, name, path!))).toBe(true);
    for (const [, called] of body.matchAll(/`\/(?:pawl:)?([\w-]+)[ `]/g)) expect(all).toContain(called!);
  });

  // The client asks before its Skill tool loads a skill that brings permissions, and refuses where no one can answer.
  test.each(tailed)("%s: brings no permissions, so that a tail-call is not stopped by a question", (name) => {
    expect(Object.keys(skills[name]!.front)).toEqual(["name", "description", "argument-hint"]);
  });

  test.each(tailed)("%s: says once where pawl is if it is not on the PATH", (name) => {
    expect(skills[name]!.body.match(/call `~\/\.local\/share\/pawl\/bin\/pawl`/g)).toHaveLength(1);
  });

  test.each<[string, string]>([
    ["two of them", "1. Run `pawl status`.\n2. **End.** Run `pawl status`.\n"],
    ["none", "1. Work.\n2. **End.**\n"],
    ["one here and one there", "1. Work.\n2. **End.** Run `pawl status`, then tail-call `/commit`.\n"],
    ["one branch without", "1. **End.**\n   - With `--commit`: Run `pawl status`.\n"],
  ])("a chain with %s is found", (_, body) => {
    const broken = { ...skills, broken: readSkill("broken", `---\nname: broken\n---\n${body}`) };
    expect(chainOf(broken, "broken").filter((one) => one === "STATUS")).not.toHaveLength(1);
  });
});

describe("what a skill must never tell", () => {
  test.each(all)("%s: no pushing, no adding of everything, no way around hooks", (name) => {
    const orders = skills[name]!.text.split("\n").filter((line) => !line.startsWith("Never: "));
    expect(orders.filter((line) => /\bpush|add (-A|--all|\.)|commit -a|--no-verify|--force/i.test(line))).toEqual([]);
  });
  test("commit forbids them in so many words", () => {
    const never = /^Never: (.+)$/m.exec(skills.commit!.body)?.[1];
    for (const word of ["push", "--no-verify", "git add -A", "amend"]) expect(never).toContain(word);
  });
  test.each(["handoff", "handoff-haiku"])("%s: task lines are written by pawl task alone", (name) => {
    const forbids = { handoff: /Never write, reword, sort or delete a task line/, "handoff-haiku": /verbatim/ };
    expect(skills[name]!.steps[1]).toMatch(forbids[name as keyof typeof forbids]);
    for (const verb of ["done", "start", "add"]) expect(skills[name]!.steps[1]).toContain(`\`pawl task ${verb} `);
  });
});

const calls = [...new Set(all.flatMap((name) => callsOf(skills[name]!)))];

describe("what the skills call exists in the program", () => {
  test("calls are found", () => {
    for (const call of ["status", "task list", "verify", "task done <task>", "runs show <id>"])
      expect(calls).toContain(call);
  });

  test.each(calls)("pawl %s", async (call) => {
    const [name = "", verb = ""] = call.split(" ");
    const usage = (await COMMANDS[name]?.load())?.usage ?? "";
    const verbs = [...usage.matchAll(new RegExp(`pawl ${name} ([a-z|]+)`, "g"))].flatMap((match) =>
      match[1]!.split("|"),
    );
    expect(usage).toStartWith(`usage: pawl ${name}`);
    if (/^[a-z]+$/.test(verb)) expect(verbs).toContain(verb);
    for (const option of call.match(/ --[a-z-]+/g) ?? []) expect(usage).toContain(option.trim());
  });

  /** An agent types them as they stand, with its own words for those in angle brackets. */
  test.each(calls.filter((call) => /^(task |status)/.test(call)))("pawl %s, typed", (call) => {
    const place = makePlace();
    writeFileSync(join(place.root, "session.md"), "## Pending Tasks\n\n- [ ] **Tea** — `/tea` | opus\n");
    const typed = call.replace(/^(task \w+) <task>/, "$1 tea").replace(/<[^>]+>/g, "something new");
    const { code, err } = shell(place, `${PAWL} ${typed}`);
    expect({ code, err }).toEqual({ code: 0, err: "" });
  });
});

describe("docs/guides/controls.md", () => {
  const guide = readFileSync(join(SKILLS, "../../docs/guides/controls.md"), "utf8");
  const [on = "", off = ""] = guide.split("*off until you switch them on*");

  test.each(SHORTCUTS.map(({ key }) => key))("%s has its row, with its meaning", (wanted) => {
    const { key, means, optional, tail } = SHORTCUTS.find((one) => one.key === wanted)!;
    const row = `| \`${key.endsWith(":") ? `${key} …` : key}\` | ${means} |${tail ? " yes |" : ""}`;
    expect(optional ? off : on).toContain(row);
  });

  test.each(tailed)("%s has its row", (name) => expect(guide).toMatch(new RegExp(`^\\| \`/${name}[ \`]`, "m")));
});
