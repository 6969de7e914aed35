import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makePlace, PAWL, type Place, removePlaces, runPawl, shell, textOf } from "../../harness/harness.ts";

afterAll(removePlaces);

const DECISIONS = ".claude/memory/decisions.md";
const add = (place: Place, ...args: string[]) => runPawl(place, ["helper", "memory", "add", ...args]);
const memory = (place: Place) => textOf(join(place.root, DECISIONS)) ?? "";

function put(place: Place, path: string, text: string): void {
  mkdirSync(join(place.root, path, ".."), { recursive: true });
  writeFileSync(join(place.root, path), text);
}

describe("helper memory", () => {
  test("each kind has its file, entries are dated, the newest is last", () => {
    const place = makePlace();
    for (const [kind, file] of [
      ["decision", "decisions"],
      ["issue", "issues"],
      ["progress", "progress"],
    ] as const) {
      expect(add(place, kind, "--title", "One", "--text", "First.")).toMatchObject({ code: 0, err: "" });
      expect(add(place, kind, "--text", "Second.").out).toBe(`.claude/memory/${file}.md: +1 entry\n`);
      const text = textOf(join(place.root, `.claude/memory/${file}.md`)) ?? "";
      const date = /\d{4}-\d\d-\d\d \d\d:\d\d/g;
      const title = file[0]!.toUpperCase() + file.slice(1);
      expect(text.replace(date, "DATE")).toBe(`# ${title}\n\n## DATE — One\n\nFirst.\n\n## DATE\n\nSecond.\n`);
    }
    const listed = JSON.parse(runPawl(place, ["helper", "memory", "list", "--json"]).out);
    expect(
      listed.map((entry: { kind: string; title: string; text: string }) => [entry.kind, entry.title, entry.text]),
    ).toEqual(
      ["decision", "issue", "progress"].flatMap((kind) => [
        [kind, "One", "First."],
        [kind, "", "Second."],
      ]),
    );
    const one = runPawl(place, ["helper", "memory", "list", "issue"]).out;
    expect(one).toContain("First.");
    expect(one).not.toContain("progress");
  });

  test("the text may come on stdin, with anything in it", () => {
    const place = makePlace();
    const input = 'Ünï $HOME `x` "q"\n\n# A heading\n## 2020-01-01 — another\n- item\n';
    expect(runPawl(place, ["helper", "memory", "add", "decision"], { input }).code).toBe(0);
    const listed = JSON.parse(runPawl(place, ["helper", "memory", "list", "--json"]).out);
    expect(listed).toHaveLength(1);
    expect(listed[0].text).toBe('Ünï $HOME `x` "q"\n\n### A heading\n### 2020-01-01 — another\n- item');
  });

  test.each([
    ["the same", "Use Bun for the hook."],
    ["other spaces and case", "  use   bun\nfor the HOOK"],
    ["under another title", "Use Bun for the hook."],
  ])("a duplicate is said and not added: %s", (what, text) => {
    const place = makePlace();
    put(place, DECISIONS, "# Ours\n\n## 2025-01-02\n\nUse Bun for the hook.\n");
    const before = memory(place);
    const { code, out } = add(place, "decision", "--text", text, "--title", what);
    expect(code).toBe(0);
    expect(out).toContain("has this already (2025-01-02)");
    expect(memory(place)).toBe(before);
  });

  test.each([
    ["no newline at the end", "# Notes\n\nmine: ü", "\n"],
    ["front matter and own headings", "---\nkey: 1\n---\n\n# X\n\n## mine\n\n- a\n\n\n", "\n"],
    ["Windows line ends", "# Notes\r\n\r\nmine\r\n", "\r\n"],
  ])("what was there stays to the byte: %s", (_what, before, eol) => {
    const place = makePlace();
    put(place, DECISIONS, before);
    chmodSync(join(place.root, DECISIONS), 0o664);
    expect(add(place, "decision", "--text", "New\nlines").code).toBe(0);
    expect(memory(place).startsWith(before)).toBe(true);
    expect(memory(place).endsWith(`${eol}New${eol}lines${eol}`)).toBe(true);
    expect(statSync(join(place.root, DECISIONS)).mode & 0o777).toBe(0o664);
  });

  const inTheWay: [string, (place: Place) => void, string][] = [
    ["a link in place of the file", (p) => symlink(p, DECISIONS), "symbolic link"],
    ["a link in place of the folder", (p) => symlink(p, ".claude/memory"), "symbolic link"],
    ["a link in place of .claude", (p) => symlink(p, ".claude"), "symbolic link"],
    [
      "a folder in place of the file",
      (p) => void mkdirSync(join(p.root, DECISIONS), { recursive: true }),
      "not a regular file",
    ],
    ["a file in place of the folder", (p) => put(p, ".claude/memory", "x"), "not a folder"],
    [
      "a lock that cannot be opened",
      (p) => void mkdirSync(join(p.root, ".pawl/helper/lock"), { recursive: true }),
      ".pawl/helper/lock cannot be used",
    ],
    ["a read-only file", (p) => readOnly(p), "read-only"],
    ["not UTF-8", (p) => shell(p, `mkdir -p .claude/memory; printf 'a\\377b' > ${DECISIONS}`), "not UTF-8"],
    ["a FIFO", (p) => shell(p, `mkdir -p .claude/memory; mkfifo ${DECISIONS}`), "not a regular file"],
  ];
  test.each(inTheWay)("refused, with the cause and what to do: %s", (_what, prepare, cause) => {
    const place = makePlace();
    prepare(place);
    const { code, out, err } = add(place, "decision", "--text", "x");
    expect(code).toBe(1);
    expect(out).toBe("");
    expect(err).toContain(cause);
    expect(err).toContain("MEMORY_UPDATE_FAILED");
  });

  test("a full disk leaves the old file whole", () => {
    const place = makePlace();
    put(place, DECISIONS, `# Ours\n\n${"long line\n".repeat(2000)}`);
    const before = memory(place);
    const { code, err } = shell(place, `ulimit -f 8; trap '' XFSZ; "${PAWL}" helper memory add decision --text x`);
    expect(code).toBe(1);
    expect(err).toContain(DECISIONS);
    expect(memory(place)).toBe(before);
    expect(shell(place, "ls -A .claude/memory").out).toBe("decisions.md\n");
  });

  test.each([
    [["add", "thought", "--text", "x"], "it has decision, issue, progress"],
    [["add", "decision", "--text", " \n "], "no text"],
    [["add", "decision", "two", "words"], "one argument"],
    [["forget", "decision"], "unknown helper command"],
    [["add", "decision", "--loud", "x"], "unknown option"],
  ])("wrong use is explained: %j", (args, said) => {
    const ran = runPawl(makePlace(), ["helper", "memory", ...args]);
    expect(ran.code).not.toBe(0);
    expect(ran.err).toContain(said);
    expect(ran.err).toContain("hint:");
  });

  test("many at once: nothing is lost, nothing is doubled", async () => {
    const place = makePlace();
    const texts = Array.from({ length: 24 }, (_one, at) => `fact ${at % 12}`);
    const ends = texts.map(
      (text) =>
        Bun.spawn([PAWL, "helper", "memory", "add", "decision", "--text", text], { cwd: place.root, env: place.env })
          .exited,
    );
    expect(await Promise.all(ends)).toEqual(texts.map(() => 0));
    const listed = JSON.parse(runPawl(place, ["helper", "memory", "list", "decision", "--json"]).out);
    expect(listed.map((entry: { text: string }) => entry.text).sort()).toEqual(texts.slice(0, 12).sort());
  });

  test("nothing of ours but the memory itself shows in git", () => {
    const place = makePlace();
    add(place, "decision", "--text", "x");
    expect(shell(place, "git status --porcelain -uall").out).toBe(`?? ${DECISIONS}\n`);
  });

  test("the home folder is no project", () => {
    const place = makePlace();
    const ran = runPawl(place, ["helper", "memory", "add", "decision", "--text", "x"], { cwd: place.home });
    expect(ran).toMatchObject({ code: 2, out: "" });
    expect(ran.err).toContain("home folder");
  });
});

function symlink(place: Place, path: string): void {
  mkdirSync(join(place.base, "elsewhere"), { recursive: true });
  mkdirSync(join(place.root, path, ".."), { recursive: true });
  symlinkSync(join(place.base, "elsewhere"), join(place.root, path));
}

function readOnly(place: Place): void {
  put(place, DECISIONS, "# Mine\n");
  chmodSync(join(place.root, DECISIONS), 0o444);
  expect(readFileSync(join(place.root, DECISIONS), "utf8")).toBe("# Mine\n");
}
