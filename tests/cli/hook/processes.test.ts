import { afterAll, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  makePlace,
  openSession,
  PAWL,
  type Place,
  payload,
  removePlaces,
  runHook,
  type Session,
} from "../../harness/harness.ts";

/** Real hook processes at the same moment, and killed in the middle. */
afterAll(removePlaces);

function start(place: Place, body: unknown, via: string) {
  return Bun.spawn({
    cmd: [PAWL, "hook", "claude", "--via", via],
    cwd: place.root,
    env: place.env,
    stdin: new TextEncoder().encode(`${JSON.stringify(body)}\n`),
    stdout: "pipe",
    stderr: "pipe",
  });
}

async function together(place: Place, bodies: { body: unknown; via: string }[]): Promise<string[]> {
  const processes = bodies.map(({ body, via }) => start(place, body, via));
  const outputs = await Promise.all(processes.map((one) => new Response(one.stdout).text()));
  for (const one of processes) expect(await one.exited).toBe(0);
  return outputs.filter((text) => text !== "");
}

const turnOf = (place: Place, session: Session, name: string, fields: Record<string, unknown>) => ({
  ...payload(place, session, name, fields),
  prompt_id: "turn-1",
});

const liveRuns = (place: Place) => readdirSync(join(place.root, ".pawl/runs"));
const stop = (message: string) => ({ last_assistant_message: message, stop_hook_active: false, background_tasks: [] });
const tag = (name: string) => `<promise>${name}</promise>`;
const WAYS = ["plugin", "project", "local", "user", "extra", "more", "again", "last"];

test("eight ways deliver one prompt and one stop at the same moment: one run, one answer each", async () => {
  for (let round = 0; round < 5; round++) {
    const place = makePlace();
    const session = openSession(place, `r${round}`);
    const prompt = turnOf(place, session, "UserPromptSubmit", { prompt: "/complete-work" });
    const armed = await together(
      place,
      WAYS.map((via) => ({ body: prompt, via })),
    );
    expect(armed).toHaveLength(1);
    expect(liveRuns(place)).toHaveLength(1);
    const claim = turnOf(place, session, "Stop", stop(`done\n\n${tag("MEMORY_UPDATED")}`));
    const continued = await together(
      place,
      WAYS.map((via) => ({ body: claim, via })),
    );
    expect(continued).toHaveLength(1);
    expect(continued[0]).toContain("step 2 of 4");
    const log = readFileSync(join(place.root, ".claude/logs/work-completion.log"), "utf8");
    expect(log.match(/MEMORY_UPDATED/g)).toHaveLength(1);
  }
}, 120_000);

test("eight sub-agents end at the same moment: every report is kept", async () => {
  const place = makePlace();
  const session = openSession(place, "sub");
  runHook(place, turnOf(place, session, "UserPromptSubmit", { prompt: "/complete-work review" }));
  const reports = WAYS.map((name) => ({
    body: turnOf(place, session, "SubagentStop", {
      agent_id: name,
      agent_type: "deep-reviewer",
      last_assistant_message: `report ${name}`,
    }),
    via: "local",
  }));
  await together(place, reports);
  const folder = join(place.root, ".pawl/runs", liveRuns(place)[0]!, "reports");
  const texts = readdirSync(folder).map((file) => readFileSync(join(folder, file), "utf8"));
  expect(texts.sort()).toEqual(WAYS.map((name) => `report ${name}`).sort());
}, 120_000);

/** kill -9 after n milliseconds, for many n: whatever the moment, the workflow comes to its end with nothing lost. */
test("killed at any moment, the run goes on and nothing is lost or doubled", async () => {
  const place = makePlace();
  const session = openSession(place, "kill");
  runHook(place, turnOf(place, session, "UserPromptSubmit", { prompt: "/complete-work" }));
  const signals = ["MEMORY_UPDATED", "REVIEW_COMPLETE", "CLEANUP_SKIPPED"];
  let killed = 0;
  for (const [step, signal] of signals.entries()) {
    for (let delay = 0; delay < 12; delay++) {
      const message = `try ${delay}\n\n${tag(signal)}`;
      const victim = start(place, turnOf(place, session, "Stop", stop(message)), "local");
      await Bun.sleep(delay * 1.5);
      victim.kill("SIGKILL");
      await victim.exited;
      if (victim.signalCode === "SIGKILL") killed += 1;
    }
    const again = runHook(place, turnOf(place, session, "Stop", stop(`once more\n\n${tag(signal)}`)));
    expect(again.code).toBe(0);
    if (again.out !== "") JSON.parse(again.out);
    const newest = JSON.parse(newestCommit(place)) as { run: { stage: string; seq: number } };
    expect(newest.run.stage).toBe(["review", "cleanup", "commit"][step]!);
  }
  expect(killed).toBeGreaterThan(0);
  const done = runHook(place, turnOf(place, session, "Stop", stop(`all\n\n${tag("WORKFLOW_COMPLETE")}`)));
  expect(done.out).toContain("Work completion workflow finished");
  expect(existsSync(join(place.root, ".claude/work-completion.local.md"))).toBe(false);
  expect(journalGaps(place)).toEqual([]);
  for (const signal of [...signals, "WORKFLOW_COMPLETE"]) {
    expect(logLines(place).filter((line) => line.endsWith(`] ${signal}`))).toHaveLength(1);
  }
}, 120_000);

function newestCommit(place: Place): string {
  const folder = join(place.root, ".pawl/runs", liveRuns(place)[0]!);
  const last = readdirSync(folder)
    .filter((name) => /^\d+\.json$/.test(name))
    .sort()
    .at(-1)!;
  return readFileSync(join(folder, last), "utf8");
}

const logLines = (place: Place) =>
  readFileSync(join(place.root, ".claude/logs/work-completion.log"), "utf8").split("\n");

/** Every commit's every record is in the journal. */
function journalGaps(place: Place): string[] {
  const journal = join(place.root, ".pawl/journal");
  const lines = readdirSync(journal).flatMap((file) => readFileSync(join(journal, file), "utf8").split("\n"));
  const there = new Set(
    lines
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line))
      .map((one) => `${one.seq}.${one.i}`),
  );
  const archive = join(place.root, ".pawl/archive");
  const commits = readFileSync(join(archive, readdirSync(archive)[0]!, "commits.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  return commits.flatMap((commit, n) => {
    const seq = commit.run?.seq ?? commit.seq ?? n + 1;
    return (commit.records as unknown[]).map((_record, i) => `${seq}.${i}`).filter((key) => !there.has(key));
  });
}
