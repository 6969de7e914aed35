/** Which settings file gets the status line, and what becomes of one that is there already. */
import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { statusCommand } from "../../../src/setup/install/settings.ts";
import { type Place, removePlaces, textOf } from "../../harness/harness.ts";
import { runInProcess } from "../../harness/in-process.ts";
import { ground, put, snapshot } from "./ground.ts";

afterAll(removePlaces);

const LOCAL = ".claude/settings.local.json";
const SHARED = ".claude/settings.json";
const line = (command: string) => `${JSON.stringify({ statusLine: { type: "command", command, padding: 0 } })}\n`;

function pawl(place: Place, ...args: string[]): string {
  const { code, out, err } = runInProcess(place, args);
  expect({ args, code, err }).toEqual({ args, code: 0, err: "" });
  return out;
}

const settings = (base: string, path: string) => JSON.parse(textOf(join(base, path)) ?? "{}");
const commandIn = ({ root }: Place, path = LOCAL): string | undefined => settings(root, path).statusLine?.command;
const wrapping = (command: string, from: string | null) => statusCommand({ command, from });

describe("for one person in a project: the nearest line is shown above ours", () => {
  const cases: [string, Record<string, string>, string | null, string][] = [
    ["none", {}, null, statusCommand(null)],
    ["their own file", { [LOCAL]: line("mine") }, line("yours"), wrapping("mine", null)],
    ["the team's", { [SHARED]: line("ours") }, line("yours"), wrapping("ours", SHARED)],
    ["their home's", {}, line("yours"), wrapping("yours", `~/${SHARED}`)],
    ["their home's, with a comment", {}, `// x\n${line("yours")}`, statusCommand(null)],
  ];
  test.each(cases)("%s", (_, files, user, wanted) => {
    const place = ground(files);
    if (user) put(place.home, SHARED, user);
    const before = snapshot(place.root);
    pawl(place, "init", "--with", "all", "--yes");
    expect(commandIn(place)).toBe(wanted);
    expect(pawl(place, "init", "--with", "all", "--yes")).toContain("nothing to do");
    pawl(place, "uninstall", "--yes");
    expect(snapshot(place.root)).toEqual(before);
    expect(textOf(join(place.home, SHARED))).toBe(user);
  });
  test("an edited file gets theirs back, and keeps the edit", () => {
    const place = ground({ [LOCAL]: line("mine") });
    pawl(place, "init", "--with", "all", "--yes");
    put(place.root, LOCAL, textOf(join(place.root, LOCAL))!.replace("{", '{"a":1,'));
    pawl(place, "uninstall", "--yes");
    expect(textOf(join(place.root, LOCAL))).toBe(line("mine").replace("{", '{"a":1,'));
  });
  test("a line that was changed by hand since is left, and named", () => {
    const place = ground({ [LOCAL]: line("mine") });
    pawl(place, "init", "--with", "all", "--yes");
    const now = settings(place.root, LOCAL);
    now.statusLine.command = "newer";
    put(place.root, LOCAL, JSON.stringify(now));
    expect(pawl(place, "uninstall", "--yes")).toContain(`stays   ${LOCAL}: its statusLine was changed since`);
    expect(settings(place.root, LOCAL)).toEqual({ statusLine: { type: "command", command: "newer", padding: 0 } });
  });
  test("without a record ours is known by its command", () => {
    const place = ground({ [LOCAL]: line("mine") });
    put(place.home, SHARED, line("yours"));
    pawl(place, "init", "--with", "all", "--yes");
    pawl(place, "uninstall", "--yes", "--team");
    Bun.spawnSync(["rm", "-r", join(place.root, ".pawl")]);
    pawl(place, "uninstall", "--yes");
    expect(textOf(join(place.root, LOCAL))).toBe(line("mine"));
  });
});

describe("not wanted", () => {
  test("theirs stays as it is; the no is remembered until a yes", () => {
    const place = ground({ [LOCAL]: line("mine") });
    pawl(place, "init", "--yes", "--no-statusline");
    expect(commandIn(place)).toBe("mine");
    expect(pawl(place, "init", "--yes")).toContain("nothing to do");
    pawl(place, "init", "--yes", "--statusline");
    expect(commandIn(place)).toBe(wrapping("mine", null));
    expect(pawl(place, "init", "--yes")).toContain("nothing to do");
    pawl(place, "init", "--yes", "--no-statusline");
    expect(commandIn(place)).toBe("mine");
    pawl(place, "uninstall", "--yes");
    expect(textOf(join(place.root, LOCAL))).toBe(line("mine"));
  });
  test("a team has none unless it says so", () => {
    const place = ground();
    put(place.home, SHARED, line("yours"));
    pawl(place, "init", "--with", "all", "--yes", "--team");
    expect(commandIn(place, SHARED)).toBeUndefined();
    expect(pawl(place, "init", "--with", "all", "--yes", "--team", "--statusline")).toContain("which the team's hides");
    expect(commandIn(place, SHARED)).toBe(statusCommand(null));
    expect(pawl(place, "init", "--with", "all", "--yes", "--team")).toContain("nothing to do");
  });
});

describe("Pawl is there already", () => {
  test("for the team, and the person wants the line: only the line comes, and stays alone", () => {
    const place = ground();
    pawl(place, "init", "--with", "all", "--yes", "--team");
    const before = snapshot(place.root);
    pawl(place, "init", "--with", "all", "--yes", "--statusline");
    expect(Object.keys(settings(place.root, LOCAL))).toEqual(["statusLine"]);
    expect(pawl(place, "init", "--with", "all", "--yes")).toContain("nothing to do");
    pawl(place, "init", "--with", "all", "--yes", "--no-statusline");
    expect(settings(place.root, LOCAL)).toEqual({});
    expect(before[LOCAL]).toBeUndefined();
  });
  test("for the person in every project: no line around a line of ours", () => {
    const place = ground();
    pawl(place, "init", "--with", "all", "--yes", "--user");
    expect(pawl(place, "init", "--with", "all", "--yes", "--statusline")).toContain("shows Pawl's status line already");
    expect(commandIn(place)).toBeUndefined();
  });
  test("in the project, then in every project: neither runs the other", () => {
    const place = ground();
    pawl(place, "init", "--with", "all", "--yes");
    pawl(place, "init", "--with", "all", "--yes", "--user");
    expect(pawl(place, "init", "--with", "all", "--yes")).toContain("nothing to do");
    expect(commandIn(place)).toBe(statusCommand(null));
    expect(settings(place.home, SHARED).statusLine.command).toBe(statusCommand(null));
  });
  test.each([["{"], ["[]"]])(
    "but the person's own file cannot be edited: %s is refused, or none of our business",
    (text) => {
      const place = ground();
      pawl(place, "init", "--with", "all", "--yes", "--team");
      put(place.root, LOCAL, text);
      const before = snapshot(place.root);
      expect(runInProcess(place, ["init", "--with", "all", "--yes", "--statusline"])).toMatchObject({
        code: 1,
        out: "",
      });
      expect(runInProcess(place, ["init", "--with", "all", "--yes", "--statusline"]).err).toContain(`${LOCAL}, line 1`);
      expect(snapshot(place.root)).toEqual(before);
      expect(pawl(place, "init", "--yes")).toContain("nothing to do");
    },
  );
  test("and the person's own file is empty: the line comes, and goes", () => {
    const place = ground({ [LOCAL]: "" });
    pawl(place, "init", "--with", "all", "--yes", "--team");
    pawl(place, "init", "--with", "all", "--yes", "--statusline");
    expect(commandIn(place)).toBe(statusCommand(null));
    pawl(place, "uninstall", "--yes");
    expect(textOf(join(place.root, LOCAL))).toBe("");
  });
  test("for the person in every project, but a line of the project's own hides it: ours goes around that", () => {
    const place = ground({ [LOCAL]: line("mine") });
    pawl(place, "init", "--with", "all", "--yes", "--user");
    pawl(place, "init", "--with", "all", "--yes", "--statusline");
    expect(commandIn(place)).toBe(wrapping("mine", null));
    pawl(place, "uninstall", "--yes");
    expect(textOf(join(place.root, LOCAL))).toBe(line("mine"));
  });
});
