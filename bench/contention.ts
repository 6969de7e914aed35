/** Many processes on one run and on one journal: counts, not times. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readJournal } from "../src/store/journal.ts";
import { readCommits } from "../src/store/runs.ts";
import { newestRun, type Project } from "./prepare.ts";

const WRITERS = 8;
const MOVES = 100;
const LINES = 5_000;

export interface Counted {
  name: string;
  result: string;
  problems: string[];
}

async function startWriters(what: "moves" | "journal", project: Project, id: string, count: number): Promise<number> {
  const writer = join(import.meta.dir, "writer.ts");
  // Runs are sealed with the key of their home.
  process.env.HOME = project.home;
  const env = { ...process.env, HOME: project.home };
  const children = Array.from({ length: WRITERS }, (_, k) =>
    Bun.spawn([process.execPath, writer, what, project.root, id, String(k), String(count)], { stdout: "pipe", env }),
  );
  const outs = await Promise.all(children.map((child) => new Response(child.stdout).text()));
  const codes = await Promise.all(children.map((child) => child.exited));
  if (codes.some((code) => code !== 0)) throw new Error(`a writer failed: exit ${codes.join(" ")}`);
  return outs.reduce((sum, out) => sum + Number(out), 0);
}

export async function countMoves(project: Project): Promise<Counted> {
  const { id, seq } = newestRun(project)!;
  const began = performance.now();
  const lost = await startWriters("moves", project, id, MOVES);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const commits = readCommits(project.root, id).filter((commit) => commit.run.seq > seq);
  const marks = commits.flatMap((commit) => commit.records.map((record) => `${record.writer}.${record.move}`));
  const kept = new Set(marks).size;
  return {
    name: `${WRITERS} processes on one run`,
    result: `${kept} of ${WRITERS * MOVES} moves kept, ${marks.length - kept} doubled (${lost} tries again, ${seconds} s)`,
    problems: kept === WRITERS * MOVES && marks.length === kept ? [] : ["moves were lost or doubled"],
  };
}

export async function countLines(project: Project): Promise<Counted> {
  const { id } = newestRun(project)!;
  await startWriters("journal", project, id, LINES);
  const stats = { skipped: 0 };
  const lines = [...readJournal(project.root, {}, stats)].filter(({ kind }) => kind === "benched");
  const kept = new Set(lines.map((line) => `${line.writer}.${line.move}`)).size;
  const raw = rawLines(project).filter((line) => line.includes('"kind":"benched"')).length;
  const all = WRITERS * LINES;
  return {
    name: `${WRITERS} writers on one journal`,
    result: `${kept} of ${all} lines kept, ${raw - kept} doubled, ${stats.skipped} torn`,
    problems: kept === all && raw === all && stats.skipped === 0 ? [] : ["lines were lost, torn or doubled"],
  };
}

function rawLines({ root }: Project): string[] {
  const folder = join(root, ".pawl/journal");
  return readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"));
}
