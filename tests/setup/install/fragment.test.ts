import { afterAll, describe, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import fragment from "../../../plugin/fragments/execute-rule.md" with { type: "text" };
import { type Place, removePlaces, shell, textOf } from "../../harness/harness.ts";
import { runInProcess } from "../../harness/in-process.ts";
import { ground, put, snapshot } from "./ground.ts";

afterAll(removePlaces);

const FRAGMENT = ".claude/execute-rule.md";
const BEGIN = "<!-- pawl shortcuts: begin (`pawl uninstall` removes this) -->";
const END = "<!-- pawl shortcuts: end -->";

function pawl(place: Place, ...args: string[]): string {
  const { code, out, err } = runInProcess(place, args);
  expect({ args, code, err }).toEqual({ args, code: 0, err: "" });
  return out;
}
const read = ({ root }: Place, path: string) => textOf(join(root, path));

/** As if an older version had written another text. */
function age(place: Place, path: string, field: "wrote" | "inline", hashed: string, text: string): void {
  const record = JSON.parse(read(place, ".pawl/install.json")!);
  for (const entry of record.files) if (entry.path === path) entry[field] = Bun.SHA256.hash(hashed, "hex");
  put(place.root, ".pawl/install.json", JSON.stringify(record));
  put(place.root, path, text);
}

describe("there and back", () => {
  const cases: [string, string, string, string][] = [
    ["CLAUDE.md", "# Mine\n", "# Mine\n\n", `@${FRAGMENT}`],
    ["CLAUDE.md", "# No end", "# No end\n\n", `@${FRAGMENT}`],
    ["CLAUDE.md", "# Mine\r\n\r\nmore\r\n", "# Mine\r\n\r\nmore\r\n\r\n", `@${FRAGMENT}`],
    ["CLAUDE.md", "", "", `@${FRAGMENT}`],
    [".claude/CLAUDE.md", "# Mine\n", "# Mine\n\n", "@execute-rule.md"],
  ];
  test.each(cases)("%s, %j: one import", (name, text, head, line) => {
    const place = ground({ [name]: text });
    const before = snapshot(place.root);
    pawl(place, "init", "--with", "all", "--yes", "--fragment");
    const eol = text.includes("\r\n") ? "\r\n" : "\n";
    expect(read(place, name)).toBe(`${head}${[BEGIN, line, END].join(eol)}${eol}`);
    expect(read(place, FRAGMENT)).toBe(fragment);
    for (const flags of [["--fragment"], []])
      expect(pawl(place, "init", "--with", "all", "--yes", ...flags)).toContain("nothing to do");
    pawl(place, "uninstall", "--yes");
    expect(snapshot(place.root)).toEqual(before);
  });
  test.each([["# Mine\n"], ["# Mine\r\n"]])("AGENTS.md, %j: written out", (text) => {
    const place = ground({ "AGENTS.md": text });
    const before = snapshot(place.root);
    pawl(place, "init", "--with", "all", "--yes", "--fragment");
    const now = read(place, "AGENTS.md")!;
    expect(now.replaceAll("\r\n", "\n")).toBe(`# Mine\n\n${BEGIN}\n${fragment}${END}\n`);
    expect(now.includes("\r\n")).toBe(text.includes("\r\n"));
    expect(now.replaceAll("\r\n", "").includes("\n")).toBe(!text.includes("\r\n"));
    expect(read(place, FRAGMENT)).toBeNull();
    for (const flags of [["--fragment"], []])
      expect(pawl(place, "init", "--with", "all", "--yes", ...flags)).toContain("nothing to do");
    pawl(place, "uninstall", "--yes");
    expect(snapshot(place.root)).toEqual(before);
  });
  test("both blocks in one file, one after the other and edited in between", () => {
    const place = ground({ "CLAUDE.md": "# Mine\n" });
    const before = snapshot(place.root);
    pawl(place, "init", "--with", "all", "--yes", "--claude-md");
    pawl(place, "init", "--with", "all", "--yes", "--fragment");
    expect(read(place, "CLAUDE.md")).toMatch(
      /# Mine\n\n<!-- pawl: begin[\s\S]+<!-- pawl: end -->\n\n<!-- pawl shortcuts: begin/,
    );
    put(place.root, "CLAUDE.md", `${read(place, "CLAUDE.md")}More\n`);
    pawl(place, "init", "--with", "all", "--yes", "--fragment", "--claude-md");
    pawl(place, "uninstall", "--yes");
    expect(read(place, "CLAUDE.md")).toBe("# Mine\nMore\n");
    put(place.root, "CLAUDE.md", "# Mine\n");
    expect(snapshot(place.root)).toEqual(before);
  });
  test("edited before the second block comes: the edit is what was there before, not our first block", () => {
    const place = ground({ "CLAUDE.md": "# Mine\n" });
    pawl(place, "init", "--with", "all", "--yes", "--claude-md");
    put(place.root, "CLAUDE.md", `${read(place, "CLAUDE.md")}More\n`);
    pawl(place, "init", "--with", "all", "--yes", "--fragment");
    pawl(place, "uninstall", "--yes");
    expect(read(place, "CLAUDE.md")).toBe("# Mine\nMore\n");
  });
  test("git shows both, to be committed together or not at all", () => {
    const place = ground({ "CLAUDE.md": "# Mine\n" });
    shell(place, "git add . && git commit -qm mine");
    pawl(place, "init", "--with", "all", "--yes", "--fragment");
    const seen = shell(place, "git --no-optional-locks status --porcelain -uall").out;
    expect(seen).toBe(` M CLAUDE.md\n?? ${FRAGMENT}\n`);
  });
  test("for one person in every project", () => {
    const place = ground();
    put(place.home, ".claude/CLAUDE.md", "# Me\n");
    const before = snapshot(join(place.home, ".claude"));
    pawl(place, "init", "--with", "all", "--yes", "--user", "--fragment");
    expect(textOf(join(place.home, ".claude/CLAUDE.md"))).toContain("\n@execute-rule.md\n");
    expect(textOf(join(place.home, FRAGMENT))).toBe(fragment);
    pawl(place, "uninstall", "--yes", "--user");
    expect(snapshot(join(place.home, ".claude"))).toEqual(before);
  });
});

describe("where it cannot go", () => {
  test("neither file: nothing is written, and that is said", () => {
    const place = ground();
    expect(pawl(place, "init", "--with", "all", "--yes", "--fragment")).toContain(
      "there is neither CLAUDE.md nor AGENTS.md",
    );
    expect(read(place, FRAGMENT)).toBeNull();
    expect(read(place, "CLAUDE.md")).toBeNull();
  });
  test("a CLAUDE.md that is a link to AGENTS.md: written out there", () => {
    const place = ground({ "AGENTS.md": "# Mine\n" });
    symlinkSync("AGENTS.md", join(place.root, "CLAUDE.md"));
    const before = snapshot(place.root);
    pawl(place, "init", "--with", "all", "--yes", "--fragment");
    expect(read(place, "AGENTS.md")).toContain(fragment);
    pawl(place, "uninstall", "--yes");
    expect(snapshot(place.root)).toEqual(before);
  });
  test("someone else's file of that name: left, and not imported", () => {
    const place = ground({ "CLAUDE.md": "# Mine\n", [FRAGMENT]: "mine\n" });
    expect(pawl(place, "init", "--with", "all", "--yes", "--fragment")).toContain(
      `${FRAGMENT} exists and is not Pawl's`,
    );
    expect(read(place, "CLAUDE.md")).toBe("# Mine\n");
    pawl(place, "uninstall", "--yes");
    expect(read(place, FRAGMENT)).toBe("mine\n");
  });
});

describe("an upgrade", () => {
  test("renews the file, unasked, if it is as we wrote it", () => {
    const place = ground({ "CLAUDE.md": "# Mine\n" });
    const before = snapshot(place.root);
    pawl(place, "init", "--with", "all", "--yes", "--fragment");
    age(place, FRAGMENT, "wrote", "older\n", "older\n");
    expect(pawl(place, "init", "--with", "all", "--yes")).toContain("explains the shortcuts to the agent, renewed");
    expect(read(place, FRAGMENT)).toBe(fragment);
    pawl(place, "uninstall", "--yes");
    expect(snapshot(place.root)).toEqual(before);
  });
  test("leaves what was edited, and an import that was taken out stays out", () => {
    const place = ground({ "CLAUDE.md": "# Mine\n" });
    pawl(place, "init", "--with", "all", "--yes", "--fragment");
    put(place.root, FRAGMENT, "edited\n");
    put(place.root, "CLAUDE.md", "# Mine\n");
    expect(pawl(place, "init", "--with", "all", "--yes")).toContain(
      `${FRAGMENT} was edited since it was installed: unchanged`,
    );
    expect(read(place, FRAGMENT)).toBe("edited\n");
    expect(read(place, "CLAUDE.md")).toBe("# Mine\n");
    expect(pawl(place, "uninstall", "--yes")).toContain(`stays   ${FRAGMENT}: was edited since`);
  });
  test("what is written out is renewed, or left if it was edited", () => {
    const place = ground({ "AGENTS.md": "# Mine\n" });
    pawl(place, "init", "--with", "all", "--yes", "--fragment");
    age(place, "AGENTS.md", "inline", "older\n", `# Mine, edited\n\n${BEGIN}\nolder\n${END}\n`);
    pawl(place, "init", "--with", "all", "--yes");
    expect(read(place, "AGENTS.md")).toBe(`# Mine, edited\n\n${BEGIN}\n${fragment}${END}\n`);
    put(place.root, "AGENTS.md", `# Mine\n\n${BEGIN}\nmy words\n${END}\n`);
    expect(pawl(place, "init", "--with", "all", "--yes", "--fragment")).toContain(
      "its lines about shortcuts were edited since",
    );
    expect(read(place, "AGENTS.md")).toContain("my words");
    pawl(place, "uninstall", "--yes");
    expect(read(place, "AGENTS.md")).toBe("# Mine\n");
  });
});
