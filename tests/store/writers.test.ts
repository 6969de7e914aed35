import { afterEach, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readJournal } from "../../src/store/journal.ts";
import { commitRun, loadRun, pinWorkflow, readCommits } from "../../src/store/runs.ts";
import { ownHome } from "../harness/sealing.ts";
import { childEnv, commandFor, ID, removeTemps, sampleCommit, tempRoot, workflow } from "./samples.ts";

const HOME = ownHome();
afterEach(removeTemps);

const WRITERS = Array.from({ length: 8 }, (_, index) => `writer-${index}`);
const EACH = 100;

function armedRoot(): string {
  const root = tempRoot();
  pinWorkflow(root, ID, workflow);
  expect(commitRun(root, sampleCommit(1))).toBe("committed");
  return root;
}

function start(root: string, name: string) {
  return Bun.spawn(commandFor("count.ts", [root, name, String(EACH)]), { env: childEnv(HOME), stdout: "pipe" });
}

/** How many lines it wrote; `onLine` sees the count grow. */
async function acknowledged(stdout: ReadableStream<Uint8Array>, onLine: (count: number) => void): Promise<number> {
  let text = "";
  for await (const bytes of stdout) {
    text += new TextDecoder().decode(bytes);
    onLine(text.split("\n").length - 1);
  }
  return text.split("\n").length - 1;
}

/** name → which of its moves are in the run, in order; the chain itself must have no hole and no double. */
function movesByWriter(root: string): Map<string, number[]> {
  const commits = readCommits(root, ID);
  const moves = new Map<string, number[]>(WRITERS.map((name) => [name, []]));
  for (const [index, { run, records }] of commits.entries()) {
    expect(run.seq).toBe(index + 1);
    expect(run.ledger.idle).toBe(index + 1);
    const [record] = records;
    if (record?.kind === "counted") moves.get(String(record.name))?.push(Number(record.n));
  }
  return moves;
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index);

test("8 processes move one run 100 times each: 800 kept, none lost or doubled", async () => {
  const root = armedRoot();
  const children = WRITERS.map((name) => start(root, name));
  const counts = await Promise.all(children.map((child) => acknowledged(child.stdout, () => {})));
  expect(counts).toEqual(WRITERS.map(() => EACH));
  expect([...movesByWriter(root).values()]).toEqual(WRITERS.map(() => upTo(EACH)));
  expect(loadRun(root, ID)?.commit.run.seq).toBe(1 + WRITERS.length * EACH);
  expect([...readJournal(root)].filter(({ kind }) => kind === "counted")).toHaveLength(WRITERS.length * EACH);
  expect(readdirSync(join(root, ".pawl/runs", ID)).filter((name) => name.startsWith("."))).toEqual([]);
}, 120_000);

test("the same with half of them killed at random moments", async () => {
  const seed = Number(process.env.PAWL_SEED ?? Math.floor(Math.random() * 2 ** 31));
  console.log(`seed ${seed} (PAWL_SEED)`);
  const root = armedRoot();
  const killAfter = (index: number) => (index % 2 === 0 ? 1 + ((seed >> (index * 3)) % 90) : Number.POSITIVE_INFINITY);
  const counts = await Promise.all(
    WRITERS.map((name, index) => {
      const child = start(root, name);
      return acknowledged(child.stdout, (count) => count >= killAfter(index) && child.kill("SIGKILL"));
    }),
  );
  for (const [index, moves] of [...movesByWriter(root).values()].entries()) {
    expect(moves).toEqual(upTo(moves.length));
    const told = counts[index] ?? 0;
    // One more may be committed than the killed writer had the time to say.
    expect([told, told + 1]).toContain(moves.length);
    if (index % 2 === 1) expect(moves).toHaveLength(EACH);
  }
  const seq = loadRun(root, ID)?.commit.run.seq ?? 0;
  expect(commitRun(root, sampleCommit(seq + 1))).toBe("committed");
  expect(commitRun(root, sampleCommit(seq + 1))).toBe("lost");
}, 120_000);

test("8 writers of 2,000 journal lines each: none torn or doubled", async () => {
  const root = tempRoot();
  const children = WRITERS.map((name) =>
    Bun.spawn(commandFor("append.ts", [root, name, "2000"]), { env: childEnv(root) }),
  );
  expect(await Promise.all(children.map((child) => child.exited))).toEqual(WRITERS.map(() => 0));
  const stats = { skipped: 0 };
  const seqs = new Map<string, number[]>(WRITERS.map((name) => [name, []]));
  for (const line of readJournal(root, {}, stats)) seqs.get(line.run)?.push(line.seq);
  expect(stats.skipped).toBe(0);
  expect([...seqs.values()]).toEqual(WRITERS.map(() => upTo(2000).map((index) => index + 1)));
  const raw = readFileSync(join(root, ".pawl/journal/2025-03.jsonl"), "utf8");
  expect(raw.split("\n").filter((line) => line !== "")).toHaveLength(WRITERS.length * 2000);
}, 60_000);
