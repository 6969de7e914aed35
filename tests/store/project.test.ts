import { afterEach, describe, expect, test } from "bun:test";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Effect } from "../../src/kernel/types/run.ts";
import { hashOf } from "../../src/store/files.ts";
import { appendJournal, hasJournal, readJournal } from "../../src/store/journal.ts";
import { project, recover } from "../../src/store/project.ts";
import { commitRun, pinWorkflow } from "../../src/store/runs.ts";
import { ownHome } from "../harness/sealing.ts";
import { ID, removeTemps, sampleCommit, tempRoot, workflow } from "./samples.ts";

ownHome();
afterEach(removeTemps);

const DOCUMENT = ".claude/doc.md";
const JOURNAL = ".pawl/journal/2025-03.jsonl";

/** Commits, and lets follow what follows. */
function done(root: string, effects: Effect[], seq = 1) {
  const commit = sampleCommit(seq, { effects });
  if (seq === 1) pinWorkflow(root, ID, workflow);
  expect(commitRun(root, commit)).toBe("committed");
  return { commit, problems: project(root, commit) };
}

function write(root: string, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

const read = (root: string, path: string) =>
  existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : null;
const kept = (root: string) => read(root, `.pawl/runs/${ID}/document.md`);

describe("documents", () => {
  const cases: { what: string; before: string | null; text: string | null; expect: string; after: string | null }[] = [
    { what: "new", before: null, text: "new", expect: "", after: "new" },
    { what: "over what we know", before: "old", text: "new", expect: hashOf("old"), after: "new" },
    { what: "not over an edit", before: "edited", text: "new", expect: hashOf("old"), after: "edited" },
    { what: "not over a stranger", before: "theirs", text: "new", expect: "", after: "theirs" },
    { what: "not where it was removed", before: null, text: "new", expect: hashOf("old"), after: null },
    { what: "taken away", before: "old", text: null, expect: hashOf("old"), after: null },
    { what: "an edit is not taken away", before: "edited", text: null, expect: hashOf("old"), after: "edited" },
    { what: "taken away already", before: null, text: null, expect: hashOf("old"), after: null },
  ];
  for (const { what, before, text, expect: known, after } of cases) {
    test(what, () => {
      const root = tempRoot();
      if (before !== null) write(root, DOCUMENT, before);
      const { commit, problems } = done(root, [{ kind: "document", path: DOCUMENT, text, expect: known }]);
      expect(problems).toEqual([]);
      for (const again of [false, true]) {
        if (again) rmSync(join(root, JOURNAL));
        if (again) expect(recover(root, commit)).toEqual([]);
        expect(read(root, DOCUMENT)).toBe(after);
        expect(kept(root)).toBe(text === null && before === "old" ? "old" : null);
      }
    });
  }
  test("one taken away never covers an earlier one", () => {
    const root = tempRoot();
    const away: Effect = { kind: "document", path: DOCUMENT, text: null, expect: hashOf("old") };
    for (const seq of [1, 2]) {
      write(root, DOCUMENT, "old");
      done(root, [away], seq);
    }
    expect(kept(root)).toBe("old");
    expect(read(root, `.pawl/runs/${ID}/document-2.md`)).toBe("old");
  });
  test("a broken one goes aside once, and what followed it stays", () => {
    const root = tempRoot();
    write(root, DOCUMENT, "broken");
    pinWorkflow(root, ID, workflow);
    const commit = sampleCommit(1, {
      at: new Date(Date.now() - 1000).toISOString(),
      effects: [
        { kind: "quarantine", path: DOCUMENT },
        { kind: "document", path: DOCUMENT, text: "new", expect: "" },
      ],
    });
    commitRun(root, commit);
    expect(project(root, commit)).toEqual([]);
    rmSync(join(root, ".pawl/journal"), { recursive: true });
    write(root, DOCUMENT, "new and edited");
    expect(recover(root, commit)).toEqual([]);
    expect(read(root, DOCUMENT)).toBe("new and edited");
    expect(read(root, `${DOCUMENT}.corrupt`)).toBe("broken");
    expect(readdirSync(join(root, ".claude")).sort()).toEqual(["doc.md", "doc.md.corrupt"]);
  });
});

describe("logs and reports", () => {
  const log = (...lines: string[]): Effect => ({ kind: "log", path: "logs/日本語.log", lines });
  const stamp = /^\[2025-03-0[345] \d\d:\d\d:07\] /gm;
  test("lines with the local time, each on one line, not doubled by recovery", () => {
    const root = tempRoot();
    const { commit } = done(root, [log("one", "two\nlines")]);
    rmSync(join(root, JOURNAL));
    recover(root, commit);
    const text = read(root, "logs/日本語.log") ?? "";
    expect(text.match(stamp)).toHaveLength(2);
    expect(text.replace(stamp, "")).toBe("one\ntwo lines\n");
  });
  test("reports are kept with the run", () => {
    const root = tempRoot();
    done(root, [{ kind: "report", file: "1-日本語.md", text: "r" }]);
    expect(read(root, `.pawl/runs/${ID}/reports/1-日本語.md`)).toBe("r");
  });
});

describe("one failure keeps nothing else from happening", () => {
  const bad: Effect[] = [
    { kind: "document", path: "../doc", text: "x", expect: "" },
    { kind: "document", path: ".git/hooks/x", text: "x", expect: "" },
    { kind: "document", path: `.pawl/runs/${ID}/000002.json`, text: "x", expect: "" },
    { kind: "document", path: "folder", text: "x", expect: "" },
    { kind: "document", path: "n".repeat(300), text: "x", expect: "" },
    { kind: "log", path: "folder", lines: ["x"] },
    { kind: "log", path: "/etc/pawl", lines: ["x"] },
    { kind: "log", path: `./.pawl//journal/x`, lines: ["x"] },
    { kind: "log", path: "nul\0", lines: ["x"] },
    { kind: "report", file: "../x", text: "x" },
    { kind: "report", file: "", text: "x" },
    { kind: "quarantine", path: ".pawl/runs" },
  ];
  for (const effect of bad) {
    test(JSON.stringify(effect).slice(0, 60), () => {
      const root = tempRoot();
      mkdirSync(join(root, "folder"));
      const { problems } = done(root, [effect, { kind: "log", path: "log", lines: ["after"] }, { kind: "archive" }]);
      expect(problems).toHaveLength(1);
      expect(problems[0]).toStartWith(effect.kind);
      expect(read(root, "log")).toEndWith("after\n");
      expect([...readJournal(root)]).toHaveLength(2);
      expect(readdirSync(root).sort()).toEqual([".pawl", "folder", "log"]);
      expect(readdirSync(join(root, ".pawl/archive"))).toEqual([ID]);
    });
  }
  test("a journal that cannot be written keeps the run live, for the next load to mend", () => {
    const root = tempRoot();
    write(root, ".pawl/journal", "in the way");
    const { commit, problems } = done(root, [{ kind: "archive" }]);
    expect(problems.length).toBeGreaterThan(0);
    expect(readdirSync(join(root, ".pawl/runs"))).toEqual([ID]);
    rmSync(join(root, ".pawl/journal"));
    expect(recover(root, commit)).toEqual([]);
    expect([...readJournal(root)]).toHaveLength(2);
    expect(readdirSync(join(root, ".pawl/runs"))).toEqual([]);
  });
});

describe("the journal", () => {
  test("a line says it all, and a record cannot pretend to be another", () => {
    const root = tempRoot();
    const commit = sampleCommit(7);
    commit.records = [{ kind: "advanced", stage: "review", seq: 99, v: 2, run: "x", why: "日本語\n" }];
    appendJournal(root, commit);
    const about = { host: "claude", session: "s", workflow: "complete-work", stage: "review", why: "日本語\n" };
    const expected = { v: 1, at: commit.event.at, run: ID, seq: 7, i: 0, kind: "advanced", ...about };
    expect(read(root, JOURNAL)).toBe(`\n${JSON.stringify(expected)}\n`);
    expect([...readJournal(root)]).toEqual([expected as never]);
  });
  test("doubles are dropped, torn lines counted, months in order", () => {
    const root = tempRoot();
    appendJournal(root, sampleCommit(2, { at: "2025-04-01T00:00:00Z" }));
    appendJournal(root, sampleCommit(1));
    appendFileSync(join(root, JOURNAL), '{"v":1,"run":"to');
    appendJournal(root, sampleCommit(1));
    write(root, ".pawl/journal/2025-05.jsonl", '[]\n{"v":1}\nnull\n');
    mkdirSync(join(root, ".pawl/journal/2025-06.jsonl"));
    const stats = { skipped: 0 };
    expect([...readJournal(root, {}, stats)].map((line) => `${line.seq}.${line.i}`)).toEqual([
      "1.0",
      "1.1",
      "2.0",
      "2.1",
    ]);
    expect(stats.skipped).toBe(5);
    expect([...readJournal(root, { run: "other" })]).toEqual([]);
  });
  test("lines of any length come back, wherever the reader's chunks end", () => {
    const root = tempRoot();
    const lengths = [10, 1024 * 1024 - 100, 3 * 1024 * 1024, 0, 5];
    for (const [index, length] of lengths.entries()) {
      const commit = sampleCommit(index + 1);
      commit.records = [{ kind: "long", text: "é".repeat(length) }];
      appendJournal(root, commit);
    }
    expect([...readJournal(root)].map((line) => String(line.text).length)).toEqual(lengths);
  });
  test("is known to hold a commit, whole, near the end or farther back", () => {
    const root = tempRoot();
    const commit = sampleCommit(1);
    expect(hasJournal(root, commit)).toBe(false);
    appendJournal(root, commit);
    expect(hasJournal(root, commit)).toBe(true);
    expect(hasJournal(root, sampleCommit(2))).toBe(false);
    for (let seq = 2; seq < 600; seq++) appendJournal(root, sampleCommit(seq));
    expect(read(root, JOURNAL)?.length).toBeGreaterThan(100_000);
    expect(hasJournal(root, commit)).toBe(true);
    const first = (read(root, JOURNAL) ?? "").split("\n")[1];
    write(root, JOURNAL, `\n${first}\n`);
    expect(hasJournal(root, commit)).toBe(false);
  });
  test("gets back everything a power cut took from its end", () => {
    const root = tempRoot();
    for (let seq = 1; seq <= 4; seq++) done(root, [], seq);
    const whole = read(root, JOURNAL) ?? "";
    write(root, JOURNAL, whole.slice(0, whole.length / 2 - 20));
    expect(recover(root, sampleCommit(4))).toEqual([]);
    expect([...readJournal(root)].map((line) => `${line.seq}.${line.i}`)).toEqual(
      [1, 2, 3, 4].flatMap((seq) => [`${seq}.0`, `${seq}.1`]),
    );
  });
  test("a commit without records, or without a real time, is remembered too", () => {
    const root = tempRoot();
    for (const at of ["2025-03-04T05:06:07.000Z", "../../x"]) {
      const commit = { ...sampleCommit(1, { at }), records: [] };
      appendJournal(root, commit);
      expect(hasJournal(root, commit)).toBe(true);
    }
    expect(readdirSync(join(root, ".pawl/journal")).sort()).toEqual(["2025-03.jsonl", "undated.jsonl"]);
  });
});
