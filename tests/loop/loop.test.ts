/** `pawl loop` as a process, with an agent that does what a script says. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive, numbersIn, until } from "../checks/jobs/job-place.ts";
import { eventsIn, type LoopWorld, openWorld, PLAIN, SUCCESS } from "./world.ts";

let world: LoopWorld;
beforeEach(() => {
  world = openWorld();
});
afterEach(() => world.clear());

const FAILURE = "echo '<promise>FAILURE</promise>'; echo; echo There is no database.";
const outcome = (events: { event: string; [key: string]: unknown }[]) => events.at(-1)?.outcome;
function withProcedure(name: string, text: string): void {
  world.sh("mkdir -p .pawl/procedures");
  writeFileSync(join(world.root, `.pawl/procedures/${name}.yaml`), text);
}

describe("outcomes and exit codes", () => {
  beforeEach(() => withProcedure("plain", PLAIN));

  test("SUCCESS ends it with 0, whatever the agent's exit code", () => {
    world.steps("echo more; echo 1 > a.txt", `${SUCCESS}; exit 7`);
    const { code, events } = world.loop("plain", "--json");
    expect([code, outcome(events), world.started()]).toEqual([0, "success", 2]);
  });

  test("failures in a row end it with 1", () => {
    world.steps(FAILURE);
    const { code, events } = world.loop("plain", "--json", "--failure-threshold", "2");
    expect([code, outcome(events), world.started()]).toEqual([1, "aborted", 2]);
    expect(JSON.stringify(events)).toContain("There is no database.");
  });

  test("both signals: FAILURE wins", () => {
    world.steps(`${SUCCESS}; ${FAILURE}`);
    expect(world.loop("plain", "--json", "-n", "1").events.at(-2)).toMatchObject({
      verdict: "failure",
      why: "FAILURE: There is no database.",
    });
  });

  test("both signals, FAILURE first: the reason is still its own", () => {
    world.steps(`${FAILURE}; ${SUCCESS}`);
    expect(world.loop("plain", "--json", "-n", "1").events.at(-2)).toMatchObject({
      verdict: "failure",
      why: "FAILURE: There is no database.",
    });
  });

  test("a tag in a sentence ends nothing, and the next prompt names it", () => {
    world.steps("echo 'I must not emit <promise>SUCCESS</promise> yet.'; echo 1 > a.txt", SUCCESS);
    expect([world.loop("plain", "--json").code, world.started()]).toEqual([0, 2]);
    expect(world.prompt(2)).toContain("`‹promise›SUCCESS‹/promise›` inside a line, where it does not count");
  });

  test("the iteration limit ends it with 2", () => {
    world.steps("date +%N > a.txt; echo still at it $(cat a.txt | md5sum)");
    const { code, events } = world.loop("plain", "--json", "-n", "3");
    expect([code, outcome(events), world.started()]).toEqual([2, "limit", 3]);
  });

  test("an agent that cannot be started ends it with 3", () => {
    const { code, out } = world.loop("plain", "--json", "--ai-cmd", "/no/such/agent");
    expect([code, outcome(eventsIn(out))]).toEqual([3, "not-started"]);
  });

  test("wrong words and wrong files end it with 1, and say what to do", () => {
    for (const args of [
      ["nowhere"],
      ["plain", "-n", "0"],
      ["plain", "-n", "1", "-u"],
      ["plain", "--nonsense"],
      ["plain", "--timeout", "soon"],
    ]) {
      const { code, err } = world.loop(...args);
      expect([args.join(" "), code, /hint:/.test(err)]).toEqual([args.join(" "), 1, true]);
    }
    expect(world.started()).toBe(0);
  });

  test("a timeout is a failure, also after SUCCESS, and everything it started is gone", () => {
    world.steps(`${SUCCESS}; sleep 321 & echo $! > $PLACE/child; sleep 321`);
    const { events } = world.loop("plain", "--json", "-n", "1", "--timeout", "4");
    expect(events.at(-2)).toMatchObject({ verdict: "failure" });
    const [child] = numbersIn(join(world.root, "../agent/child"));
    expect(isAlive(child!)).toBe(false);
  });
});

describe("what the next iteration hears", () => {
  beforeEach(() => withProcedure("plain", PLAIN));

  test("a malformed signal, and one in code, are named and are none", () => {
    world.steps(
      "echo '<promise>FAILURE: no key</promise>'; echo 1 > a.txt",
      "echo 'Say `<promise>SUCCESS</promise>` then.'; echo 2 > a.txt",
      SUCCESS,
    );
    const { code } = world.loop("plain", "--json");
    expect(code).toBe(0);
    expect(world.prompt(1)).not.toContain("FROM THE LAST ITERATION");
    expect(world.prompt(2)).toContain("FAILURE: no key");
    expect(world.prompt(3)).toContain("inside code or a quotation");
  });

  test("an agent that prints its prompt gives no signal by it", () => {
    world.steps('cat "$PLACE/prompt-1"; echo 1 > a.txt', SUCCESS);
    expect([world.loop("plain", "--json").code, world.started()]).toEqual([0, 2]);
  });

  test("context is in the prompt: a text, and a file with its name", () => {
    writeFileSync(join(world.root, "notes.md"), "The port is 8080.");
    world.steps(SUCCESS);
    world.loop("plain", "-c", "Mind the gap.", "-c", "notes.md");
    expect(world.prompt(1)).toContain("Mind the gap.");
    expect(world.prompt(1)).toContain("Source: notes.md");
    expect(world.prompt(1)).toContain("The port is 8080.");
  });
});

describe("checks behind SUCCESS", () => {
  test("a procedure that names its file is not over without it", () => {
    withProcedure("report", `${PLAIN.replace("name: plain", "name: report")}gates: [{ file: REPORT.md }]\n`);
    world.steps(SUCCESS, `echo found > REPORT.md; ${SUCCESS}`);
    const { code, events } = world.loop("report", "--json");
    expect(code).toBe(0);
    expect(events.filter(({ event }) => event === "iteration").map(({ verdict }) => verdict)).toEqual([
      "refused",
      "success",
    ]);
    expect(world.prompt(2)).toContain("it is not there");
  });

  test("build is over when the tracker has no ready work, not when the agent says so", () => {
    writeFileSync(
      join(world.root, "session.md"),
      "## Pending Tasks\n\n- [ ] **One** — | sonnet\n- [ ] **Two** — | sonnet\n",
    );
    world.sh("git add -A && git commit -qm tasks");
    const done = (title: string) =>
      `sed -i 's/\\[ \\] \\*\\*${title}/[x] **${title}/' session.md; git commit -qam ${title}`;
    world.steps(`${done("One")}; ${SUCCESS}`, done("Two"), SUCCESS);
    const { code, events } = world.loop("build", "--json");
    expect(code).toBe(0);
    expect(events.filter(({ event }) => event === "iteration").map(({ verdict }) => verdict)).toEqual([
      "refused",
      "continue",
      "success",
    ]);
    expect(JSON.stringify(events)).toContain("the tracker has ready work: two");
    expect(world.sh("git status --short")).toBe("");
  });
});

test("no progress: the same files and the same words end it, and it says what it saw", () => {
  withProcedure("plain", PLAIN);
  world.steps("echo Nothing to do.");
  const { code, events } = world.loop("plain", "--json", "-u");
  expect([code, world.started()]).toEqual([1, 5]);
  expect(JSON.stringify(events)).toContain("no progress");
});

describe("going on", () => {
  beforeEach(() => withProcedure("plain", PLAIN));

  test("kill -9 in the middle: the same count goes on, the left-over agent is ended", async () => {
    world.steps("echo 1 > a.txt; echo one", "echo ready; echo $$ > $PLACE/agent-pid; exec sleep 300", SUCCESS);
    const loop = world.start("plain", "--json", "-n", "5");
    const pid = await appears(join(world.root, "../agent/agent-pid"));
    loop.kill("SIGKILL");
    await loop.exited;
    const { code, events } = world.loop("--resume", "--json");
    expect([code, outcome(events)]).toEqual([0, "success"]);
    await ends(pid);
    expect(events.at(-1)).toMatchObject({ iterations: 2 });
    expect(world.started()).toBe(3);
  });

  test("Ctrl+C ends the agent and the loop with 130; --resume goes on", async () => {
    world.steps("trap '' TERM; echo $$ > $PLACE/agent-pid; sleep 300 & wait", SUCCESS);
    const loop = world.start("plain", "--json");
    const pid = await appears(join(world.root, "../agent/agent-pid"));
    loop.kill("SIGINT");
    expect(await loop.exited).toBe(130);
    expect(isAlive(pid)).toBe(false);
    expect(world.loop("--resume", "--json").code).toBe(0);
  }, 60_000);

  test("Ctrl+C between two iterations: no agent is started any more", async () => {
    world.steps("echo 'Error: rate limit reached, try again in 2 hours' >&2; exit 1", SUCCESS);
    const loop = world.start("plain", "--json", "--time-limit", "8h");
    const reader = loop.stdout.getReader();
    for (let out = ""; !out.includes('"waiting"'); ) out += new TextDecoder().decode((await reader.read()).value);
    loop.kill("SIGINT");
    expect([await loop.exited, world.started()]).toEqual([130, 1]);
  }, 60_000);

  test("a limit that was reached can be raised", () => {
    world.steps("echo 1 > a.txt; echo one", SUCCESS);
    expect(world.loop("plain", "--json", "-n", "1").code).toBe(2);
    expect(world.loop("--resume", "--json", "-n", "3").code).toBe(0);
    expect(world.loop("--resume", "--json").code).toBe(1);
  });

  test("a second loop in the same tree is refused while the first is alive", async () => {
    world.steps("echo $$ > $PLACE/agent-pid; exec sleep 300");
    const loop = world.start("plain", "--json");
    await appears(join(world.root, "../agent/agent-pid"));
    const second = world.loop("plain", "--json");
    loop.kill("SIGTERM");
    await loop.exited;
    expect(second.code).toBe(1);
    expect(second.err).toContain("a loop is already running here");
  }, 60_000);
});

test("of five that begin at the same moment one is at work, the others are refused", async () => {
  withProcedure("plain", PLAIN);
  world.steps("exec sleep 300");
  const loops = Array.from({ length: 5 }, () => world.start("plain", "--json"));
  try {
    await until("four refusals", () => loops.filter(({ exitCode }) => exitCode === 1).length >= 4);
  } finally {
    for (const loop of loops) loop.kill("SIGTERM");
  }
  const said = await Promise.all(loops.map(({ stderr }) => new Response(stderr).text()));
  expect(said.filter((text) => text.includes("a loop is already running here"))).toHaveLength(4);
  expect(await Promise.all(loops.map(({ exited }) => exited)).then((codes) => codes.toSorted())).toEqual([
    1, 1, 1, 1, 130,
  ]);
}, 60_000);

test("a usage limit is waited for, and is no iteration", () => {
  withProcedure("plain", PLAIN);
  world.steps("echo 'Error: rate limit reached, try again in 1 second' >&2; exit 1", SUCCESS);
  const { code, events } = world.loop("plain", "--json", "--time-limit", "120");
  const waits = events.filter(({ event }) => event === "waiting");
  expect([code, waits.length]).toEqual([0, 1]);
  expect(events.at(-1)).toMatchObject({ iterations: 1 });
}, 60_000);

test("--dry-run starts nothing, and tells where each setting comes from", () => {
  writeFileSync(join(world.root, "pawl.yaml"), "loop: { budget: 3 }\n");
  const { code, out } = world.loop("build", "-d", "-n", "2");
  expect([code, world.started()]).toEqual([0, 0]);
  expect(out).toMatch(/max_iterations +2 +--max-iterations/);
  expect(out).toMatch(/budget +3 +pawl\.yaml/);
  expect(out).toMatch(/timeout +3600 +built in/);
  expect(out).toContain("PHASE 1: OBSERVE");
});

test("what is printed in a pipe: plain lines, one outcome, one screen at the end", () => {
  withProcedure("plain", PLAIN);
  world.steps("echo 1 > a.txt; echo one", SUCCESS);
  const { err } = world.loop("plain");
  expect(err).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] INFO Starting iteration 1\/5/m);
  expect(err).toMatch(/INFO Completed iteration 2 elapsed=\S+ status=success/);
  expect(err).toMatch(/INFO Loop completed status=success iterations=2 total_elapsed=/);
  expect(err).toMatch(/INFO Iteration timing: count=2 min=\S+ max=\S+ mean=\S+ stddev=\S+/);
  expect(err.match(/Loop completed/g)).toHaveLength(1);
});

test("the journal tells of each iteration", () => {
  withProcedure("report", `${PLAIN.replace("name: plain", "name: report")}gates: [{ file: REPORT.md }]\n`);
  world.steps(`echo found > REPORT.md; ${SUCCESS}`);
  world.loop("report");
  expect(world.pawl("log").out).toContain("iteration 1: success");
  expect(readFileSync(join(world.root, "REPORT.md"), "utf8")).toBe("found\n");
});

/** The number of a process. */
const appears = (path: string) => until(path, () => numbersIn(path)[0]);
const ends = (pid: number) => until("its end", () => !isAlive(pid));

test("what an earlier iteration made counts for a later SUCCESS", () => {
  withProcedure("report", `${PLAIN.replace("name: plain", "name: report")}gates: [{ artefact: "reports/*.md" }]\n`);
  world.steps("mkdir reports; echo found > reports/a.md; echo written", SUCCESS);
  const { events } = world.loop("report", "--json");
  expect(events.filter(({ event }) => event === "iteration").map(({ verdict }) => verdict)).toEqual([
    "continue",
    "success",
  ]);
});

test("a command of the repository is no check before the person trusts it; pawl trust knows it", () => {
  withProcedure("checked", `${PLAIN.replace("name: plain", "name: checked")}gates: [{ run: ["true"] }]\n`);
  world.steps(SUCCESS);
  const { events } = world.loop("checked", "--json", "-n", "1");
  expect(JSON.stringify(events)).toContain("trust");
  const { out, err } = world.pawl("trust", "--show");
  expect(out + err).toContain("true");
});
