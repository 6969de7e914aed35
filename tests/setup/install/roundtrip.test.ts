import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type Place, removePlaces, shell, textOf } from "../../harness/harness.ts";
import { runInProcess } from "../../harness/in-process.ts";
import { ground, put, SETTINGS, snapshot } from "./ground.ts";

afterAll(removePlaces);

function pawl(place: Place, ...args: string[]): string {
  const { code, out, err } = runInProcess(place, args);
  expect({ args, code, err }).toEqual({ args, code: 0, err: "" });
  return out;
}

const eventsIn = (text: string | null) => {
  const settings = Bun.JSONC.parse((text ?? "").replace("\uFEFF", "")) as { hooks: object };
  return Object.keys(settings.hooks);
};

/** In, in again, out: the second time changes nothing, and afterwards nothing shows that we were there. */
function thereAndBack(place: Place, base: string, flags: string[], settings: string): void {
  const before = snapshot(base);
  pawl(place, "init", "--with", "all", "--yes", ...flags);
  const installed = snapshot(base);
  const text = textOf(join(base, settings));
  expect(eventsIn(text)).toContain("SessionEnd");
  expect(text).toContain('exec \\"$h\\" hook claude --via ');
  expect(text?.includes('exec \\"$p\\" statusline')).toBe(!flags.includes("--team") || flags.includes("--statusline"));
  expect(pawl(place, "init", "--with", "all", "--yes", ...flags)).toContain("nothing to do");
  expect(snapshot(base)).toEqual(installed);
  pawl(place, "uninstall", "--purge", "--yes", ...flags.filter((flag) => flag !== "--statusline"));
  expect(snapshot(base)).toEqual(before);
}

describe("init, then uninstall --purge: everything as it was", () => {
  test("an empty folder", () => {
    const place = ground({}, { git: false });
    thereAndBack(place, place.root, [], ".claude/settings.local.json");
  });
  test("an empty .claude stays, an empty .pawl too", () => {
    const place = ground({}, { git: false });
    mkdirSync(join(place.root, ".claude/agents"), { recursive: true });
    mkdirSync(join(place.root, ".pawl"));
    thereAndBack(place, place.root, [], ".claude/settings.local.json");
  });
  test("a git project, for one person: git sees nothing", () => {
    const place = ground();
    pawl(place, "init", "--with", "all", "--yes");
    expect(shell(place, "git --no-optional-locks status --porcelain -uall").out).toBe("");
    pawl(place, "uninstall", "--yes");
    thereAndBack(place, place.root, [], ".claude/settings.local.json");
  });
  test("a git project, for the team: git sees what is to be committed", () => {
    const place = ground();
    pawl(place, "init", "--with", "all", "--yes", "--team");
    const seen = shell(place, "git --no-optional-locks status --porcelain -uall").out;
    expect(seen).toContain(".claude/settings.json\n");
    expect(seen).toContain(".claude/commands/complete-work.md\n");
    expect(seen).not.toContain(".pawl");
    pawl(place, "uninstall", "--yes", "--team");
    thereAndBack(place, place.root, ["--team"], ".claude/settings.json");
  });
  test("an exclude file of one's own without a last newline, or none at all", () => {
    const place = ground();
    put(place.root, ".git/info/exclude", "mine");
    thereAndBack(place, place.root, [], ".claude/settings.local.json");
    shell(place, "rm -r .git/info");
    thereAndBack(place, place.root, [], ".claude/settings.local.json");
  });
  test("a folder of a larger repository that was a project already", () => {
    const place = ground({ "packages/a b/pawl.yaml": "" });
    const inner = { ...place, root: join(place.root, "packages/a b") };
    const before = snapshot(place.root);
    pawl(inner, "init", "--with", "all", "--yes");
    expect(shell(place, "git --no-optional-locks status --porcelain -uall").out).toBe('?? "packages/a b/pawl.yaml"\n');
    pawl(inner, "uninstall", "--purge", "--yes");
    expect(snapshot(place.root)).toEqual(before);
  });
  test("other settings that are links are none of our business", () => {
    const place = ground();
    symlinkSync("elsewhere", join(place.home, ".claude"));
    mkdirSync(join(place.root, ".claude"));
    symlinkSync("../elsewhere", join(place.root, ".claude/settings.json"));
    thereAndBack(place, place.root, [], ".claude/settings.local.json");
  });
  test("with everything that is only done on request", () => {
    const place = ground({ "CLAUDE.md": "# Mine", "package.json": '{"scripts":{"test":"x"}}' });
    const before = snapshot(place.root);
    pawl(place, "init", "--with", "all", "--yes", "--claude-md", "--with-config", "--fragment", "--no-shortcuts");
    expect(textOf(join(place.root, "CLAUDE.md"))).toStartWith("# Mine\n\n<!-- pawl");
    expect(textOf(join(place.root, "pawl.yaml"))).toContain("done:\n  - tests: [npm, test]\nguard: send-back");
    pawl(place, "uninstall", "--purge", "--yes");
    expect(snapshot(place.root)).toEqual(before);
  });
  test("a git project, for the team, with a status line", () => {
    const place = ground({ ".claude/settings.json": SETTINGS["hooks of others"]! });
    thereAndBack(place, place.root, ["--team", "--statusline"], ".claude/settings.json");
  });
  for (const [name, text] of Object.entries(SETTINGS)) {
    test(`settings with ${name}`, () => {
      const place = ground({ ".claude/settings.local.json": text }, { git: false });
      thereAndBack(place, place.root, [], ".claude/settings.local.json");
    });
  }
  test("for one person in every project", () => {
    const place = ground();
    const project = snapshot(place.root);
    mkdirSync(join(place.home, ".claude"));
    for (const text of [null, SETTINGS.tabs, SETTINGS.minified, SETTINGS["hooks of others"]]) {
      if (text) put(place.home, ".claude/settings.json", text);
      thereAndBack(place, join(place.home, ".claude"), ["--user"], "settings.json");
    }
    expect(snapshot(place.root)).toEqual(project);
    expect(Object.keys(snapshot(place.home)).filter((path) => path.startsWith(".local"))).toEqual([]);
  });
});

describe("one after the other", () => {
  test("for oneself, then for the team, then both out", () => {
    const place = ground();
    const before = snapshot(place.root);
    pawl(place, "init", "--with", "all", "--yes");
    pawl(place, "init", "--with", "all", "--yes", "--team");
    expect(shell(place, "git --no-optional-locks status --porcelain -uall").out).toContain(
      "?? .claude/commands/complete-work.md",
    );
    pawl(place, "uninstall", "--yes");
    expect(snapshot(place.root)).toEqual(before);
  });
  test("only the team's part goes", () => {
    const place = ground();
    pawl(place, "init", "--with", "all", "--yes");
    pawl(place, "init", "--with", "all", "--yes", "--team");
    pawl(place, "uninstall", "--yes", "--team");
    expect(textOf(join(place.root, ".claude/settings.json"))).toBeNull();
    expect(textOf(join(place.root, ".claude/settings.local.json"))).toContain("--via local");
    expect(textOf(join(place.root, ".claude/commands/complete-work.md"))).not.toBeNull();
  });
  test("a colleague's team hooks serve; nothing is installed twice, and not taken out unasked", () => {
    const place = ground();
    pawl(place, "init", "--with", "all", "--yes", "--team");
    shell(place, "git add -A && git commit -qm team && rm -r .pawl .git/info");
    const before = snapshot(join(place.root, ".claude"));
    expect(pawl(place, "init", "--yes")).toContain(".claude/settings.json already calls Pawl here");
    expect(snapshot(join(place.root, ".claude"))).toEqual(before);
    expect(pawl(place, "uninstall", "--yes")).toContain("`pawl uninstall --team`");
    expect(snapshot(join(place.root, ".claude"))).toEqual(before);
    pawl(place, "uninstall", "--yes", "--team");
    expect(textOf(join(place.root, ".claude/settings.json"))).toBe("{}\n");
  });
});
