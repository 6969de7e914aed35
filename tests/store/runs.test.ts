import { afterEach, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PathError } from "../../src/store/files.ts";
import { readJournal } from "../../src/store/journal.ts";
import { recover } from "../../src/store/project.ts";
import {
  archiveRun,
  commitRun,
  listArchived,
  listRuns,
  loadRun,
  ownerGone,
  pinWorkflow,
  RunError,
  readCommits,
} from "../../src/store/runs.ts";
import { ownHome, sealedCommit } from "../harness/sealing.ts";
import { ID, removeTemps, sampleCommit, sampleRun, tempRoot, workflow } from "./samples.ts";

ownHome();
afterEach(removeTemps);

function rootWith(commits: number): string {
  const root = tempRoot();
  pinWorkflow(root, ID, workflow);
  for (let seq = 1; seq <= commits; seq++) expect(commitRun(root, sampleCommit(seq))).toBe("committed");
  return root;
}

const file = (root: string, seq: number) => join(root, ".pawl/runs", ID, `00000${seq}.json`);
const names = (root: string, where = `.pawl/runs/${ID}`) => readdirSync(join(root, where)).sort();
const errors = (root: string) => readFileSync(join(root, ".pawl/errors.log"), "utf8");
const seqs = (root: string) => readCommits(root, ID).map((commit) => commit.run.seq);

describe("commits", () => {
  test("come back, with the workflow that was pinned", () => {
    const root = rootWith(3);
    expect(loadRun(root, ID)).toEqual({ commit: sampleCommit(3), workflow });
    expect(readCommits(root, ID)).toEqual([1, 2, 3].map((seq) => sampleCommit(seq)));
    expect(names(root)).toEqual(["000001.json", "000002.json", "000003.json", "workflow.json"]);
  });
  test("are lost where someone was first, or the run is gone", () => {
    const root = rootWith(2);
    const late = sampleCommit(2, { run: { status: "halted" } });
    expect(commitRun(root, late)).toBe("lost");
    expect(loadRun(root, ID)?.commit).toEqual(sampleCommit(2));
    archiveRun(root, ID);
    expect(commitRun(root, sampleCommit(3))).toBe("lost");
    pinWorkflow(root, ID, workflow);
    expect(commitRun(root, sampleCommit(1))).toBe("lost");
    expect(names(root, ".pawl/runs")).toEqual([]);
    expect(commitRun(tempRoot(), sampleCommit(2))).toBe("lost");
  });
  for (const id of ["", "..", "a/b", "A", "-a", "a.b", "日本語", "a\0", "a".repeat(65)]) {
    test(`no run is called ${JSON.stringify(id.slice(0, 12))}`, () => {
      const root = tempRoot();
      expect(() => commitRun(root, sampleCommit(1, { run: { id } }))).toThrow(RunError);
      expect(() => pinWorkflow(root, id, workflow)).toThrow(RunError);
      expect([loadRun(root, id), readCommits(root, id)]).toEqual([null, []]);
      expect(readdirSync(root)).toEqual([]);
    });
  }
  test("no number but a counting one", () => {
    for (const seq of [0, -1, 1.5, Number.NaN])
      expect(() => commitRun(tempRoot(), sampleCommit(seq))).toThrow(RunError);
  });
  test("a pin is not changed", () => {
    const root = rootWith(1);
    pinWorkflow(root, ID, workflow);
    expect(() => pinWorkflow(root, ID, { ...workflow, title: "Other" })).toThrow(RunError);
    expect(loadRun(root, ID)?.workflow).toEqual(workflow);
  });
  test("a crash between pin and first commit is no run, and no obstacle", () => {
    const root = tempRoot();
    pinWorkflow(root, ID, workflow);
    expect([loadRun(root, ID), listRuns(root)]).toEqual([null, []]);
    pinWorkflow(root, ID, workflow);
    expect(commitRun(root, sampleCommit(1))).toBe("committed");
  });
});

describe("a commit that cannot be read", () => {
  const damages: [string, (path: string) => void][] = [
    ["empty", (path) => truncateSync(path, 0)],
    ["truncated", (path) => truncateSync(path, 40)],
    ["zeroes", (path) => writeFileSync(path, Buffer.alloc(300))],
    ["another run's", (path) => writeFileSync(path, sealed(sampleCommit(3, { run: { id: "other" } })))],
    ["another number", (path) => writeFileSync(path, sealed(sampleCommit(2)))],
    ["other JSON", (path) => writeFileSync(path, sealed({ run: { v: 2 }, event: null }))],
    ["not UTF-8", (path) => writeFileSync(path, Buffer.from([0xff, 0xfe]))],
    ["a folder", (path) => replace(path, () => mkdirSync(path))],
    ["a FIFO", (path) => replace(path, () => execFileSync("mkfifo", [path]))],
    ["a link", (path) => replace(path, () => symlinkSync("/etc/passwd", path))],
  ];
  /** Even under our own seal it has to be what it should. */
  const sealed = (commit: object) => sealedCommit(ID, 3, commit);
  const replace = (path: string, by: () => void) => {
    rmSync(path);
    by();
  };
  for (const [what, damage] of damages) {
    test(`${what}: kept aside, said, and the run goes on from the one before`, () => {
      const root = rootWith(3);
      damage(file(root, 3));
      const loaded = loadRun(root, ID);
      expect(loaded?.commit.run).toEqual({ ...sampleCommit(2).run, seq: 3 });
      expect(names(root)).toContain("000003.json.corrupt");
      expect(errors(root)).toContain("000003.json.corrupt");
      // Its number stays taken: a writer that still knows only commit 2 must not be told "committed".
      expect(commitRun(root, sampleCommit(3))).toBe("lost");
      expect(commitRun(root, sampleCommit(4))).toBe("committed");
      expect(loadRun(root, ID)?.commit).toEqual(sampleCommit(4));
      expect(seqs(root)).toEqual([1, 2, 3, 4]);
    });
  }
  test("two in a row, and again later", () => {
    const root = rootWith(4);
    for (const seq of [3, 4]) truncateSync(file(root, seq), 10);
    expect(loadRun(root, ID)?.commit.run).toEqual({ ...sampleCommit(2).run, seq: 4 });
    truncateSync(file(root, 4), 10);
    expect(loadRun(root, ID)?.commit.run).toEqual({ ...sampleCommit(2).run, seq: 4 });
    expect(names(root).filter((name) => name.includes("corrupt"))).toEqual(
      ["3.json.corrupt", "4.json.corrupt", "4.json.corrupt-2"].map((name) => `00000${name}`),
    );
    expect(seqs(root)).toEqual([1, 2, 3, 4]);
  });
  test("the journal tells it", () => {
    const root = rootWith(2);
    truncateSync(file(root, 2), 10);
    const loaded = loadRun(root, ID);
    expect(recover(root, loaded!.commit)).toEqual([]);
    const kinds = [...readJournal(root)].map((line) => `${line.seq} ${line.kind}`);
    expect(kinds.sort()).toEqual(["1 continued", "1 stopped", "2 errored"]);
  });
  test("what only a newer Pawl understands is left alone", () => {
    const root = rootWith(1);
    const newer = sealedCommit(ID, 2, { run: { v: 3 } });
    writeFileSync(file(root, 2), newer);
    expect(() => loadRun(root, ID)).toThrow("newer");
    expect(readFileSync(file(root, 2), "utf8")).toBe(newer);
  });
  test.each([loadRun, listRuns])("a run of an older format is archived with one line, and not read", (look) => {
    const root = rootWith(2);
    const older = (seq: number) => sealedCommit(ID, seq, { ...sampleCommit(seq), run: { ...sampleRun(seq), v: 1 } });
    for (const seq of [1, 2]) writeFileSync(file(root, seq), older(seq));
    expect(look(root, ID) ?? []).toEqual([]);
    expect([loadRun(root, ID), listRuns(root), listArchived(root)]).toEqual([null, [], []]);
    expect(readFileSync(join(root, ".pawl/archive", ID, "000002.json"), "utf8")).toBe(older(2));
    expect(errors(root).match(/older/g)).toHaveLength(1);
    expect(commitRun(root, sampleCommit(3))).toBe("lost");
  });
  for (const broken of ["000001.json", "workflow.json"]) {
    test(`${broken}: the whole run steps aside, loudly and once`, () => {
      const root = rootWith(1);
      truncateSync(join(root, ".pawl/runs", ID, broken), 5);
      expect(() => loadRun(root, ID)).toThrow(RunError);
      expect(loadRun(root, ID)).toBeNull();
      expect(names(root, ".pawl/runs")).toEqual([`${ID}.corrupt`]);
      expect(errors(root)).toContain("damaged");
    });
  }
  test("strange names in the folder mean nothing", () => {
    const root = rootWith(1);
    for (const name of ["1.json", "000000.json", "000009.json.corrupt", "x", ".pawl-tmp-1-a"]) {
      writeFileSync(join(root, ".pawl/runs", ID, name), "{");
    }
    expect(loadRun(root, ID)?.commit).toEqual(sampleCommit(1));
  });
  test("a run's folder that is a link is refused", () => {
    const root = rootWith(1);
    symlinkSync(ID, join(root, ".pawl/runs/linked"));
    expect(() => loadRun(root, "linked")).toThrow(PathError);
    expect(listRuns(root).map((run) => run.id)).toEqual([ID]);
  });
});

describe("archiving", () => {
  test("keeps every commit in two files, and can be repeated", () => {
    const root = rootWith(4);
    writeFileSync(join(root, ".pawl/runs", ID, ".pawl-tmp-1-a"), "left by a crash");
    for (const _ of [1, 2]) {
      archiveRun(root, ID);
      expect(names(root, `.pawl/archive/${ID}`)).toEqual(["000004.json", "commits.jsonl", "workflow.json"]);
      expect(readCommits(root, ID)).toEqual([1, 2, 3, 4].map((seq) => sampleCommit(seq)));
    }
    expect([loadRun(root, ID), listRuns(root)]).toEqual([null, []]);
    expect(listArchived(root)).toEqual([{ id: ID, commit: sampleCommit(4) }]);
  });
  test("an unreadable commit is never cleared away", () => {
    const root = rootWith(3);
    truncateSync(file(root, 2), 10);
    archiveRun(root, ID);
    expect(names(root, `.pawl/archive/${ID}`)).toEqual([
      "000002.json",
      "000003.json",
      "commits.jsonl",
      "workflow.json",
    ]);
    expect(seqs(root)).toEqual([1, 3]);
  });
  test("a broken compacted file is not written over", () => {
    const root = rootWith(3);
    writeFileSync(join(root, ".pawl/runs", ID, "commits.jsonl"), "{half");
    archiveRun(root, ID);
    expect(readFileSync(join(root, ".pawl/archive", ID, "commits.jsonl"), "utf8")).toBe("{half");
    expect(seqs(root)).toEqual([1, 2, 3]);
  });
  test("nothing to archive is nothing done", () => {
    const root = tempRoot();
    archiveRun(root, ID);
    expect(readdirSync(root)).toEqual([]);
    expect([listArchived(root), listRuns(root), readCommits(root, ID)]).toEqual([[], [], []]);
  });
});

describe("owners", () => {
  test("a summary of each live run", () => {
    const root = rootWith(2);
    const ended = { host: "claude", session: "gone", ended_at: "2025-03-04T06:00:00Z" };
    commitRun(root, sampleCommit(1, { run: { id: "other", owner: ended } }));
    const found = listRuns(root).map(({ id, owner_gone, document_path }) => ({ id, owner_gone, document_path }));
    expect(found).toEqual([
      { id: "other", owner_gone: true, document_path: null },
      { id: ID, owner_gone: false, document_path: null },
    ]);
  });
  test("only a sure no counts as gone", () => {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const stat = readFileSync("/proc/self/stat", "utf8");
    const pid_start = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
    const alive = { root: "/", run: "r", boot, pid: process.pid, pid_start };
    const table: [object, boolean][] = [
      [{}, false],
      [{ boot: undefined }, false],
      [{ boot: "another" }, true],
      [{ pid_start: "1" }, true],
      [{ pid: 2 ** 30 }, true],
      [{ pid: undefined }, false],
      [{ pid: 2 ** 30, pid_ns: "another container" }, false],
    ];
    for (const [change, gone] of table) expect([change, ownerGone({ ...alive, ...change })]).toEqual([change, gone]);
  });
});
