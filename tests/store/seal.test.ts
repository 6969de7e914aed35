/** Whoever is not Pawl cannot move a run by writing its files. */
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { archiveRun, commitRun, listArchived, loadRun, pinWorkflow, readCommits } from "../../src/store/runs.ts";
import { keyPath, seal, unseal } from "../../src/store/seal.ts";
import {
  errorsOf,
  makePlace,
  openSession,
  type Place,
  payload,
  removePlaces,
  runHook,
  runPawl,
  type Session,
  stopFields,
} from "../harness/harness.ts";
import { journalOf, runOf } from "../harness/run-files.ts";
import { inHome, ownHome, sealedCommit } from "../harness/sealing.ts";
import { childEnv, ID, removeTemps, sampleCommit, tempRoot, workflow } from "./samples.ts";

ownHome();
afterEach(removeTemps);
afterAll(removePlaces);

describe("a seal", () => {
  const JSON_TEXT = '{"a":"日本語 \\u0000","b":[1]}';
  test("gives back what was sealed, and the text stays an object with one field more", () => {
    const text = seal("here", JSON_TEXT);
    expect(unseal("here", text)).toBe(JSON_TEXT);
    expect(JSON.parse(text)).toEqual({ ...JSON.parse(JSON_TEXT), seal: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });
  test("holds for one text, one place and one home", () => {
    const text = seal("here", JSON_TEXT);
    const others = [JSON_TEXT, "", "{}", text.slice(0, -1), text.replace("[1]", "[2]"), text.replace(/.{70}/, "$& ")];
    for (const other of others) expect(unseal("here", other)).toBeNull();
    expect(unseal("elsewhere", text)).toBeNull();
    expect(unseal("her", text.replace('{"seal', 'e{"seal'))).toBeNull();
    expect(inHome(tempRoot(), () => unseal("here", text))).toBeNull();
    expect(inHome(tempRoot(), () => unseal("here", seal("here", JSON_TEXT)))).toBe(JSON_TEXT);
  });
  test("is not made by looking", () => {
    const home = tempRoot();
    inHome(home, () => unseal("here", seal_of_nobody));
    expect(readdirSync(home)).toEqual([]);
  });
  const seal_of_nobody = `{"seal":"${"0".repeat(64)}","a":1}`;
  test("a key that others can read, or that is damaged, is refused, and nothing is put aside for it", () => {
    const home = tempRoot();
    const root = tempRoot();
    inHome(home, () => {
      pinWorkflow(root, ID, workflow);
      commitRun(root, sampleCommit(1));
    });
    const damages: [() => void, string][] = [
      [() => chmodSync(inHome(home, keyPath), 0o640), "chmod 600"],
      [() => chmodSync(inHome(home, keyPath), 0o600), "loads"],
      [() => writeFileSync(inHome(home, keyPath), "short"), "is damaged"],
    ];
    for (const [damage, words] of damages) {
      damage();
      const script = `import { loadRun } from ${JSON.stringify(join(import.meta.dir, "../../src/store/runs.ts"))};
        try { console.log("loads", loadRun(${JSON.stringify(root)}, "${ID}").commit.run.seq) } catch (e) { console.log(e.message) }`;
      const done = Bun.spawnSync([process.execPath, "-e", script], { env: childEnv(home) });
      expect(done.stdout.toString()).toContain(words);
      expect(readdirSync(join(root, ".pawl/runs"))).toEqual([ID]);
    }
  });
  test("of eight processes that need the first key, all have the same", async () => {
    const home = tempRoot();
    const script = `import { seal } from ${JSON.stringify(join(import.meta.dir, "../../src/store/seal.ts"))};
      console.log(seal("x", "{}"))`;
    const children = Array.from({ length: 8 }, () =>
      Bun.spawn([process.execPath, "-e", script], { env: childEnv(home), stdout: "pipe" }),
    );
    const said = await Promise.all(children.map((child) => new Response(child.stdout).text()));
    expect(said[0]).toContain('{"seal":"');
    expect(new Set(said).size).toBe(1);
    expect(readdirSync(join(home, ".local/share/pawl"))).toEqual(["key"]);
  });
});

// ── An agent that writes into .pawl/runs ────────────────────────────────────

interface Armed {
  place: Place;
  session: Session;
  id: string;
  dir: string;
}

/** A run at its review: commit 2 is the newest. */
function armed(): Armed {
  const place = makePlace();
  const session = openSession(place, "agent");
  session.turn = 1;
  runHook(place, payload(place, session, "UserPromptSubmit", { prompt: "/complete-work" }));
  const state = { place, session, id: "", dir: "" };
  expect(stop(state, "<promise>MEMORY_UPDATED</promise>")).toContain("step 2 of 4");
  const { id } = runOf(place.root, session.id)!;
  return { ...state, id, dir: join(place.root, ".pawl/runs", id) };
}

function stop({ place, session }: Armed, message: string): string {
  const { code, out } = runHook(place, payload(place, session, "Stop", stopFields(session, message)));
  expect(code).toBe(0);
  session.continuing = true;
  return out;
}

const fileOf = ({ dir }: Armed, seq: number) => join(dir, `${String(seq).padStart(6, "0")}.json`);
const read = (path: string) => JSON.parse(readFileSync(path, "utf8"));

/** What an agent would like to be true. */
const finished = (commit: { run: object }, seq: number) => ({
  ...commit,
  run: { ...commit.run, seq, stage: "commit", status: "ended", outcome: "completed" },
  event: { ...read_event, id: `forged-${seq}` },
  records: [],
  effects: [{ kind: "archive" }],
});
const read_event = { at: "2025-01-01T00:00:00Z", host: "claude", session: "s", via: "local", kind: "stop" };

const forgeries: [name: string, forge: (state: Armed) => void, aside: string][] = [
  [
    "the newest commit edited in place",
    (state) => writeFileSync(fileOf(state, 2), JSON.stringify(finished(read(fileOf(state, 2)), 2))),
    "000002.json.corrupt",
  ],
  [
    "one byte of it changed",
    (state) => writeFileSync(fileOf(state, 2), readFileSync(fileOf(state, 2), "utf8").replace('"idle":0', '"idle":1')),
    "000002.json.corrupt",
  ],
  [
    "a next one that says it is over",
    (state) => writeFileSync(fileOf(state, 3), JSON.stringify(finished(read(fileOf(state, 2)), 3))),
    "000003.json.corrupt",
  ],
  [
    "a next one under a seal of its own making",
    (state) =>
      writeFileSync(
        fileOf(state, 3),
        inHome(tempRoot(), () => sealedCommit(state.id, 3, finished(read(fileOf(state, 2)), 3))),
      ),
    "000003.json.corrupt",
  ],
  [
    "an older commit under the next number",
    (state) => cpSync(fileOf(state, 1), fileOf(state, 3)),
    "000003.json.corrupt",
  ],
  [
    "a next one that calls itself newer",
    (state) => writeFileSync(fileOf(state, 3), '{"run":{"v":3}}'),
    "000003.json.corrupt",
  ],
  [
    "the highest number there is",
    (state) =>
      writeFileSync(join(state.dir, "999999999999999.json"), JSON.stringify(finished(read(fileOf(state, 2)), 3))),
    "999999999999999.json.corrupt",
  ],
];

describe("a commit that Pawl did not write", () => {
  test.each(forgeries)("%s: put aside, said, and the run goes on with its gates", (_name, forge, aside) => {
    const state = armed();
    forge(state);
    const claim = stop(state, "<promise>WORKFLOW_COMPLETE</promise>");
    const { place, id, dir, session } = state;
    expect(claim).not.toContain("finished");
    expect(readdirSync(dir)).toContain(aside);
    expect(readFileSync(join(dir, aside), "utf8")).toContain('"run"');
    expect(errorsOf(place)).toContain("not written by Pawl");
    const told = journalOf(place.root).filter((line) => line.kind === "errored");
    expect(told.map(({ what }) => what)).toEqual([expect.stringContaining("was not written by Pawl; the run goes on")]);
    expect(told[0]!.forged).toBe(true);
    expect(runPawl(place, ["explain", id]).out).toContain("was not written by Pawl");
    // It is still alive, at a stage it had really reached.
    expect(["memory", "review"]).toContain(runOf(place.root, session.id)!.stage);
    const way = ["<promise>MEMORY_UPDATED</promise>", "<promise>REVIEW_COMPLETE</promise>"];
    expect(way.map((signal) => stop(state, `Now then.\n\n${signal}`)).join()).toContain("step 3 of 4");
    expect(runOf(place.root, session.id)).toMatchObject({ stage: "cleanup", archived: false });
  });

  test("a commit of another run: the same", () => {
    const [state, other] = [armed(), armed()];
    cpSync(fileOf(other, 2), fileOf(state, 3));
    stop(state, "<promise>REVIEW_COMPLETE</promise>");
    expect(readdirSync(state.dir)).toContain("000003.json.corrupt");
    expect(runOf(state.place.root, state.session.id)!.stage).toBe("cleanup");
  });

  test("all of them: the run steps aside, and the person is told why", () => {
    const state = armed();
    for (const seq of [1, 2])
      writeFileSync(fileOf(state, seq), `${JSON.stringify(read(fileOf(state, seq))).slice(0, -1)} }`);
    expect(stop(state, "<promise>REVIEW_COMPLETE</promise>")).toContain("not written by Pawl");
    expect(readdirSync(join(state.place.root, ".pawl/runs"))).toEqual([`${state.id}.corrupt`]);
  });
});

test("a pinned workflow without gates: the run steps aside, and the person is told why", () => {
  const state = armed();
  const path = join(state.dir, "workflow.json");
  const { seal: _seal, ...open } = read(path);
  expect(JSON.stringify(open)).toContain('"gates":[{');
  for (const stage of open.stages) for (const way of Object.values<object>(stage.on)) Object.assign(way, { gates: [] });
  writeFileSync(path, JSON.stringify({ seal: _seal, ...open }));
  const said = stop(state, "<promise>REVIEW_COMPLETE</promise>");
  expect(said).toContain("its pinned workflow was not written by Pawl");
  expect(errorsOf(state.place)).toContain("its pinned workflow was not written by Pawl");
  expect(readdirSync(join(state.place.root, ".pawl/runs"))).toEqual([`${state.id}.corrupt`]);
});

test("another run's folder under this run's name: nothing of it counts", () => {
  const state = armed();
  const other = armed();
  rmSync(state.dir, { recursive: true });
  renameSync(other.dir, state.dir);
  expect(stop(state, "<promise>REVIEW_COMPLETE</promise>")).toContain("not written by Pawl");
});

// ── Archived ────────────────────────────────────────────────────────────────

function archived(): string {
  const root = tempRoot();
  pinWorkflow(root, ID, workflow);
  for (const seq of [1, 2, 3]) commitRun(root, sampleCommit(seq));
  return root;
}

const inArchive = (root: string, name: string) => join(root, ".pawl/archive", ID, name);
const marks = (root: string) => readCommits(root, ID).map(({ run, forged }) => `${run.seq}${forged ? " forged" : ""}`);

describe("an archived run", () => {
  test("that is untouched has no marks", () => {
    const root = archived();
    archiveRun(root, ID);
    expect(marks(root)).toEqual(["1", "2", "3"]);
    expect(readCommits(root, ID)).toEqual([1, 2, 3].map((seq) => sampleCommit(seq)));
  });
  test("whose last commit was changed is shown, marked", () => {
    const root = archived();
    archiveRun(root, ID);
    // Of this one there is a sealed copy.
    writeFileSync(inArchive(root, "000003.json"), JSON.stringify(sampleCommit(3, { run: { outcome: "completed" } })));
    expect(listArchived(root)).toEqual([{ id: ID, commit: sampleCommit(3) }]);
    const forged = sampleCommit(4, { run: { outcome: "completed" } });
    writeFileSync(inArchive(root, "000004.json"), JSON.stringify(forged));
    expect(marks(root)).toEqual(["1", "2", "3", "4 forged"]);
    expect(listArchived(root)).toEqual([{ id: ID, commit: { ...forged, forged: true } }]);
    const place = makePlace();
    mkdirSync(join(place.root, ".pawl"));
    renameSync(join(root, ".pawl/archive"), join(place.root, ".pawl/archive"));
    for (const args of [
      ["runs", "--all"],
      ["runs", "show", ID],
      ["explain", ID],
    ])
      expect(runPawl(place, args).out).toContain("not written by Pawl");
    expect(JSON.parse(runPawl(place, ["runs", "--all", "--json"]).out).runs[0].forged).toBe(true);
  });
  test("whose lines were changed is shown, marked, and never sealed again", () => {
    const root = archived();
    archiveRun(root, ID);
    const lines = readFileSync(inArchive(root, "commits.jsonl"), "utf8").replace('"stopped","n":1', '"stopped","n":7');
    writeFileSync(inArchive(root, "commits.jsonl"), lines);
    archiveRun(root, ID);
    expect(marks(root)).toEqual(["1 forged", "2", "3"]);
    expect(readFileSync(inArchive(root, "commits.jsonl"), "utf8")).toBe(lines);
  });
  test("a forged commit is not sealed by archiving, nor cleared away", () => {
    const root = archived();
    const forged = JSON.stringify(sampleCommit(2));
    writeFileSync(join(root, ".pawl/runs", ID, "000002.json"), forged);
    expect(marks(root)).toEqual(["1", "3"]);
    for (const _ of [1, 2]) {
      archiveRun(root, ID);
      expect(marks(root)).toEqual(["1", "2 forged", "3"]);
      expect(readFileSync(inArchive(root, "000002.json"), "utf8")).toBe(forged);
      expect(readFileSync(inArchive(root, "commits.jsonl"), "utf8")).not.toContain('"seq":2');
    }
  });
  test("a line of it is no commit of a live run", () => {
    const root = archived();
    archiveRun(root, ID);
    const [first] = readFileSync(inArchive(root, "commits.jsonl"), "utf8").split("\n");
    const live = join(root, ".pawl/runs", ID);
    mkdirSync(live, { recursive: true });
    cpSync(inArchive(root, "workflow.json"), join(live, "workflow.json"));
    writeFileSync(join(live, "000001.json"), first!);
    expect(() => loadRun(root, ID)).toThrow("not written by Pawl");
  });
});
