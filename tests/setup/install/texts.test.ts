import { afterAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { type Place, removePlaces, textOf } from "../../harness/harness.ts";
import { runInProcess } from "../../harness/in-process.ts";
import { ground, put, snapshot } from "./ground.ts";

afterAll(removePlaces);

const COMMAND = ".claude/commands/complete-work.md";
const ASIDE = ".claude/commands/pawl/complete-work.md";
const AGENT = ".claude/agents/deep-reviewer.md";
const SKILL = ".claude/skills/workflow/SKILL.md";
const REPOSITORY = join(import.meta.dir, "../../..");
const LOCAL = ".claude/settings.local.json";

const pawl = (place: Place, ...args: string[]) => {
  const { code, out, err } = runInProcess(place, args);
  expect({ args, code, err }).toEqual({ args, code: 0, err: "" });
  return out;
};
const read = ({ root }: Place, path: string) => textOf(join(root, path));

describe("a name that is taken", () => {
  test("by a command: ours goes into our own namespace, theirs is never touched", () => {
    const place = ground({ [COMMAND]: "mine\n" });
    const before = snapshot(place.root);
    const out = pawl(place, "init", "--with", "all", "--yes");
    expect(out).toContain(`${COMMAND} exists and is not Pawl's: unchanged; type Pawl's own as /pawl:complete-work`);
    expect(out).toContain("next    type /pawl:complete-work in Claude Code");
    expect(read(place, COMMAND)).toBe("mine\n");
    expect(read(place, ASIDE)).toContain("---");
    expect(pawl(place, "init", "--with", "all", "--yes")).toContain("nothing to do");
    pawl(place, "uninstall", "--purge", "--yes");
    expect(snapshot(place.root)).toEqual(before);
  });
  test.each([[SKILL], [".claude/commands/workflow.md"]])("by %s, which the skill would hide", (taken) => {
    const place = ground({ [taken]: "mine\n" });
    const before = snapshot(place.root);
    const out = pawl(place, "init", "--with", "all", "--yes");
    expect(out).toContain(`${taken} exists and is not Pawl's: unchanged; type Pawl's own as /pawl:workflow`);
    expect(read(place, taken)).toBe("mine\n");
    expect(read(place, SKILL)).toBe(taken === SKILL ? "mine\n" : null);
    expect(read(place, ".claude/commands/pawl/workflow.md")).toContain("runs phase next");
    expect(pawl(place, "init", "--with", "all", "--yes")).toContain("nothing to do");
    pawl(place, "uninstall", "--purge", "--yes");
    expect(snapshot(place.root)).toEqual(before);
  });
  test("by nobody: the skill has its own name", () => {
    const place = ground();
    expect(pawl(place, "init", "--with", "all", "--yes")).toMatch(
      /create {2}\.claude\/skills\/ \(7 files\) +\/handoff, /,
    );
    expect(read(place, SKILL)).toBe(read({ root: REPOSITORY } as Place, "plugin/skills/workflow/SKILL.md"));
  });
  const NEW = ["handoff", "handoff-haiku", "commit", "design", "plan-adhoc", "plan-tdd"];
  test.each(NEW.map((name) => [name]))("by nobody: /%s is there as it is in the plugin", (name) => {
    const place = ground();
    pawl(place, "init", "--with", "all", "--yes");
    const path = `skills/${name}/SKILL.md`;
    expect(read(place, `.claude/${path}`)).toBe(read({ root: REPOSITORY } as Place, `plugin/${path}`));
  });
  test.each([
    [".claude/skills/commit/SKILL.md", "root"],
    [".claude/commands/commit.md", "root"],
    [".claude/skills/commit/SKILL.md", "home"],
    [".claude/commands/commit.md", "home"],
  ] as const)("by %s in the %s: theirs is neither hidden nor touched", (taken, where) => {
    const place = ground();
    put(place[where], taken, "mine\n");
    const before = snapshot(place.root);
    const shown = where === "home" ? `~/${taken}` : taken;
    expect(pawl(place, "init", "--with", "all", "--yes")).toContain(
      `${shown} exists and is not Pawl's: unchanged; type Pawl's own as`,
    );
    expect(textOf(join(place[where], taken))).toBe("mine\n");
    expect(read(place, ".claude/commands/pawl/commit.md")).toContain("name: commit");
    expect(read(place, ".claude/skills/handoff/SKILL.md")).toContain("name: handoff");
    expect(pawl(place, "init", "--with", "all", "--yes")).toContain("nothing to do");
    pawl(place, "uninstall", "--purge", "--yes");
    expect(snapshot(place.root)).toEqual(before);
  });
  test("later, by a command that our skill would hide: ours moves aside", () => {
    const place = ground();
    pawl(place, "init", "--with", "all", "--yes");
    put(place.root, ".claude/commands/commit.md", "mine\n");
    pawl(place, "init", "--with", "all", "--yes");
    expect(read(place, ".claude/skills/commit/SKILL.md")).toBeNull();
    expect(read(place, ".claude/commands/pawl/commit.md")).toContain("name: commit");
  });
  test("by our own, which the person has in every project: no reason to move", () => {
    const place = ground();
    pawl(place, "init", "--with", "all", "--yes", "--user");
    expect(pawl(place, "init", "--with", "all", "--yes", "--team")).not.toContain("not Pawl's");
    expect(read(place, SKILL)).not.toBeNull();
  });
  test("perhaps in some project: for every project everyday names go into our own namespace", () => {
    const place = ground();
    const out = pawl(place, "init", "--with", "all", "--yes", "--user");
    expect(out).toContain("a personal skill would hide a project's own");
    for (const name of NEW) {
      expect(textOf(join(place.home, `.claude/skills/${name}/SKILL.md`))).toBeNull();
      expect(textOf(join(place.home, `.claude/commands/pawl/${name}.md`))).toContain(`name: ${name}`);
    }
  });
  test("by an agent: theirs is used", () => {
    const place = ground({ [AGENT]: "mine\n" });
    expect(pawl(place, "init", "--with", "all", "--yes")).toContain(
      `${AGENT} exists and is not Pawl's: unchanged, and used`,
    );
    pawl(place, "uninstall", "--purge", "--yes");
    expect(read(place, AGENT)).toBe("mine\n");
  });
  test("no longer: ours moves to its own name", () => {
    const place = ground({ [COMMAND]: "mine\n" });
    pawl(place, "init", "--with", "all", "--yes");
    rmSync(join(place.root, COMMAND));
    pawl(place, "init", "--with", "all", "--yes");
    expect(read(place, COMMAND)).toContain("---");
    expect(read(place, ASIDE)).toBeNull();
  });
});

/** As if an older version had written another text. */
function age(place: Place, path: string, text: string): void {
  const record = JSON.parse(read(place, ".pawl/install.json")!);
  record.pawl = "0.0.9";
  for (const entry of record.files) if (entry.path === path) entry.wrote = Bun.SHA256.hash(text, "hex");
  put(place.root, ".pawl/install.json", JSON.stringify(record));
  put(place.root, path, text);
}

describe("an upgrade", () => {
  test("renews what is as we wrote it, and still knows what was there before", () => {
    const place = ground({ [LOCAL]: '{"a":1,"hooks":{"Stop":[ ]}}' });
    const before = snapshot(place.root);
    pawl(place, "init", "--with", "all", "--yes");
    const fresh = read(place, AGENT);
    age(place, AGENT, "older\n");
    age(place, LOCAL, read(place, LOCAL)!.replace('"timeout":600', '"timeout":5'));
    expect(pawl(place, "init", "--with", "all", "--yes")).toContain("deep-reviewer, renewed");
    expect(read(place, AGENT)).toBe(fresh);
    expect(read(place, LOCAL)).toContain('"timeout":600');
    pawl(place, "uninstall", "--purge", "--yes");
    expect(snapshot(place.root)).toEqual(before);
  });
  test("leaves what was edited", () => {
    const place = ground();
    pawl(place, "init", "--with", "all", "--yes");
    put(place.root, AGENT, "edited\n");
    expect(pawl(place, "init", "--with", "all", "--yes")).toContain(
      `${AGENT} was edited since it was installed: unchanged`,
    );
    expect(read(place, AGENT)).toBe("edited\n");
    expect(pawl(place, "uninstall", "--purge", "--yes")).toContain(`stays   ${AGENT}: was edited since`);
    expect(read(place, AGENT)).toBe("edited\n");
    expect(read(place, LOCAL)).toBeNull();
  });
  test("takes away what is no longer part of this installation", () => {
    const place = ground();
    pawl(place, "init", "--with", "all", "--yes");
    const record = JSON.parse(read(place, ".pawl/install.json")!);
    const wrote = Bun.SHA256.hash("old agent\n", "hex");
    record.files.push({ path: ".claude/agents/old.md", kind: "text", before: null, wrote, scopes: ["local"] });
    put(place.root, ".pawl/install.json", JSON.stringify(record));
    put(place.root, ".claude/agents/old.md", "old agent\n");
    expect(pawl(place, "init", "--with", "all", "--yes")).toContain("is no longer part of this installation");
    expect(read(place, ".claude/agents/old.md")).toBeNull();
  });
  test("brings back what was deleted", () => {
    const place = ground();
    pawl(place, "init", "--with", "all", "--yes");
    rmSync(join(place.root, AGENT));
    pawl(place, "init", "--with", "all", "--yes");
    expect(read(place, AGENT)).not.toBeNull();
  });
});

describe("edited since", () => {
  const mine = '\n  "env": { "A": "1" },\n';
  test("settings keep the edits and lose only us", () => {
    const place = ground({ [LOCAL]: '{\n  "a": 1\n}\n' });
    pawl(place, "init", "--with", "all", "--yes");
    put(place.root, LOCAL, read(place, LOCAL)!.replace("{\n", `{${mine}`));
    pawl(place, "uninstall", "--yes");
    expect(read(place, LOCAL)).toBe(`{${mine}  "a": 1\n}\n`);
  });
  test("edited, then installed anew, then out: the edit is what was there before", () => {
    const place = ground();
    pawl(place, "init", "--with", "all", "--yes");
    put(place.root, LOCAL, read(place, LOCAL)!.replace("{\n", `{${mine}`).replace("--via local", "--via user"));
    pawl(place, "init", "--with", "all", "--yes");
    pawl(place, "uninstall", "--yes");
    expect(JSON.parse(read(place, LOCAL)!)).toEqual({ env: { A: "1" } });
  });
  test("settings that we made and in which nothing else is go", () => {
    const place = ground({}, { git: false });
    pawl(place, "init", "--with", "all", "--yes");
    put(place.root, LOCAL, `${read(place, LOCAL)}\n\n`);
    pawl(place, "uninstall", "--yes");
    expect(snapshot(place.root)).toEqual({});
  });
  test("settings that are broken now stay, and are named", () => {
    const place = ground();
    pawl(place, "init", "--with", "all", "--yes");
    put(place.root, LOCAL, "{");
    expect(pawl(place, "uninstall", "--yes")).toContain(`stays   ${LOCAL}: cannot be edited (line 1, column 2`);
    expect(read(place, LOCAL)).toBe("{");
  });
  test("CLAUDE.md and the exclude file lose only our lines", () => {
    const place = ground({ "CLAUDE.md": "# Mine\n" });
    const exclude = read(place, ".git/info/exclude");
    pawl(place, "init", "--with", "all", "--yes", "--claude-md", "--with-config");
    put(place.root, "CLAUDE.md", `${read(place, "CLAUDE.md")}More\n`);
    put(place.root, ".git/info/exclude", `${read(place, ".git/info/exclude")}also mine\n`);
    put(place.root, "pawl.yaml", "# mine now\n");
    pawl(place, "uninstall", "--purge", "--yes");
    expect(read(place, "CLAUDE.md")).toBe("# Mine\nMore\n");
    expect(read(place, ".git/info/exclude")).toBe(`${exclude}also mine\n`);
    expect(read(place, "pawl.yaml")).toBe("# mine now\n");
  });
  test("without a record our hooks are known by their command", () => {
    const place = ground({ [LOCAL]: '{\n  "a": 1\n}\n' });
    pawl(place, "init", "--with", "all", "--yes");
    rmSync(join(place.root, ".pawl"), { recursive: true });
    pawl(place, "uninstall", "--yes");
    expect(read(place, LOCAL)).toBe('{\n  "a": 1\n}\n');
  });
});
