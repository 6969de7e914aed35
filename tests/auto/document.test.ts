/** Continuous work against its design document: each test bears the document's own words for the case it is about. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errorsOf, payload, removePlaces, stopFields, textOf } from "../harness/harness.ts";
import { sessionOf, type World } from "../scenarios/scenario.ts";
import * as auto from "./world.ts";

const { act, agentRuns, bd, claim, GREEN, issue, openAuto, prompt, put, RED, runNow, sh, stop, tool } = auto;
setDefaultTimeout(60_000);
afterAll(removePlaces);

const ALL = "CODING, REQUIREMENTS_REVIEW, TESTING, ORACLE_REVIEW, COMMIT_CLOSE";

/** Two tasks in beads, the first one begun. */
function begun(sequence = ALL, count = 2): auto.AutoWorld {
  const world = openAuto("beads", count, sequence);
  expect(prompt(world, "/auto").agent).toContain("CURRENT STAGE: CODING");
  return world;
}

/** No word to the agent: it ends its turn as it would without us. */
function expectAllowed(heard: { code: number | null; agent: string }): void {
  expect(heard).toMatchObject({ code: 0, agent: "" });
}

/** The tracker's program is gone from where it was found. */
const withoutBd = ({ place }: World) => ({ env: { PATH: place.env.PATH!.replace(`${auto.DOUBLES}:`, "") } });

/** A hook whose client never ends its sentence. */
async function neverEnding(world: World, beginning: string) {
  const began = performance.now();
  const hook = auto.startHook(world);
  hook.stdin.write(beginning);
  hook.stdin.flush();
  const heard = await hook.heard();
  hook.stdin.end();
  return { ...heard, ms: performance.now() - began };
}

const stopPayload = (world: World, message: string) =>
  payload(world.place, sessionOf(world), "Stop", stopFields(sessionOf(world), message));

describe("Error Handling", () => {
  test.each(["/nonexistent/transcript.jsonl", "", "\0", 7])(
    "Invalid transcript path (%j): Allow continuation",
    async (transcript_path) => {
      const world = begun();
      const heard = await auto.sendHook(world, { ...stopPayload(world, "I had a look."), transcript_path });
      expectAllowed(heard);
      expect(runNow(world)).toMatchObject({ stage: "coding" });
    },
  );

  test("`bd` command not found: Allow continuation", () => {
    const world = openAuto("beads", 1);
    const missing = withoutBd(world);
    const armed = act(world, { prompt: "/auto", ...missing });
    expectAllowed(armed);
    expect(armed.person).toContain("did not start");
    expect(armed.person).toContain("bd is not installed");
    expect(stop(world, "::: WORKFLOW_STAGE: CODING_COMPLETE :::", missing).out).toBe("");

    expect(prompt(world, "/auto").agent).toContain("CURRENT STAGE: CODING");
    const left = stop(world, "::: WORKFLOW_STAGE: CODING_COMPLETE :::", missing);
    expectAllowed(left);
    expect(left.person).toContain("bd is not installed");
    expect(runNow(world)).toMatchObject({ stage: "coding", status: "halted" });
    expect(prompt(world, "/pawl:go").agent).toContain("CURRENT STAGE: CODING");
    expect(claim(world, "CODING_COMPLETE", "It is there again.").agent).toContain("REQUIREMENTS_REVIEW");
  });

  test("No workflow issues: Allow continuation", () => {
    const world = openAuto("beads", 0);
    bd(world, "create --title='Of no label'");
    const armed = prompt(world, "/auto");
    expectAllowed(armed);
    expect(armed.person).toContain("All auto-workflow tasks complete");
    expect(claim(world, "CODING_COMPLETE").out).toBe("");
    expect(issue(world, "app-10").status).toBe("open");
  });

  test("Timeout on stdin read: Use empty input", async () => {
    const world = begun();
    const before = runNow(world).seq;
    const heard = await neverEnding(world, "");
    expect(heard).toMatchObject({ code: 0, out: "" });
    expect(heard.ms).toBeWithin(4_000, 30_000);
    expect(runNow(world).seq).toBe(before);
  });

  test("Stage detection fails: Ask agent", () => {
    const world = begun();
    const { agent } = stop(world, "Hm.");
    expect(agent).toStartWith("Unable to determine current workflow stage.\n\nWORKFLOW STAGES: CODING → ");
    expect(agent).toContain(
      "Which stage are you at? Respond with ONE of:\n- CODING_COMPLETE (finished implementing)\n",
    );
    expect(agent).toContain("Then emit: ::: WORKFLOW_STAGE: <YOUR_STAGE> :::");
    expectAllowed(stop(world, "Hm, hm."));
  });

  test("Agent actively working: Allow continuation", () => {
    const world = begun();
    tool(world, "Edit", { file_path: "src/a.ts" }, "ok");
    tool(world, "Bash", { command: "ls" }, "a");
    const { agent } = stop(world, "The first half stands.");
    expect(agent).toContain("CODING goes on (IN_PROGRESS)");
    expect(agent).not.toContain("CURRENT STAGE");
    expect(runNow(world).stage).toBe("coding");
    expect(stop(world, "A server is running.", { background: 1 }).out).toBe("");
  });
});

describe("Edge Cases & Handling", () => {
  test("1. Agent Forgets Marker", () => {
    const world = begun("CODING, COMMIT_CLOSE");
    expect(claim(world, "CODING_COMPLETE").agent).toContain("CURRENT STAGE: COMMIT_CLOSE");
    tool(world, "Bash", { command: "bd close app-10" }, "✓ Closed app-10");
    expect(stop(world, "Closed.").agent).toContain("the tracker says app-10 is claimed, not closed");
    agentRuns(world, "bd close app-10 --reason done");
    const { agent } = stop(world, "That was it.");
    expect(agent).toContain("Issue closed successfully.");
    expect(agent).toContain("app-11");
    expect(textOf(join(world.place.root, ".claude/workflow_orchestrator.log"))).toContain(
      "Inferred ISSUE_CLOSED: a tool call closed app-10",
    );
  });

  test("2. Tests Fail", () => {
    const world = begun("CODING, TESTING, ORACLE_REVIEW");
    claim(world, "CODING_COMPLETE");
    tool(world, "Bash", { command: "npx vitest run" }, RED);
    const { agent } = stop(world, "Some are red.");
    expect(agent).toContain("TESTING goes on (IN_TESTING)");
    expect(runNow(world).stage).toBe("testing");
    expect(claim(world, "TESTS_PASSING", "They pass.").agent).toContain("TESTS_PASSING was not believed");
    expect(runNow(world).stage).toBe("testing");
    tool(world, "Bash", { command: "npx vitest run" }, GREEN);
    expect(claim(world, "TESTS_PASSING", "Now they do.").agent).toContain("CURRENT STAGE: ORACLE_REVIEW");
  });

  test("3. Oracle Review Rejects", () => {
    const world = begun("CODING, ORACLE_REVIEW, COMMIT_CLOSE");
    claim(world, "CODING_COMPLETE");
    const reviewed = (verdict: string) => tool(world, "Task", { subagent_type: "oracle-reviewer" }, verdict);
    reviewed("- src/a.ts:1 is wrong\n\nCHANGES REQUESTED");
    expect(stop(world, "It was reviewed.").agent).toContain("ORACLE_REVIEW goes on (IN_ORACLE_REVIEW)");
    expect(claim(world, "ORACLE_APPROVED", "Fine.").agent).toContain("ORACLE_APPROVED was not believed");
    expect(runNow(world).stage).toBe("oracle-review");
    tool(world, "Edit", { file_path: "src/a.ts" }, "ok");
    reviewed("APPROVED");
    expect(claim(world, "ORACLE_APPROVED", "Now it is.").agent).toContain("CURRENT STAGE: COMMIT_CLOSE");
  });

  test("4. No More Issues", () => {
    const world = begun("CODING, COMMIT_CLOSE", 1);
    claim(world, "CODING_COMPLETE");
    agentRuns(world, "bd close app-10 --reason done");
    const last = claim(world, "ISSUE_CLOSED");
    expectAllowed(last);
    expect(last.person).toContain("All auto-workflow tasks complete");
    expect(runNow(world)).toMatchObject({ outcome: "completed", archived: true });
    expect(claim(world, "SESSION_CLEARED").out).toBe("");
  });

  test("5. Hook Script Error", () => {
    const world = begun();
    const runs = join(world.place.root, ".pawl/runs");
    rmSync(runs, { recursive: true });
    writeFileSync(runs, "no folder");
    const heard = claim(world, "CODING_COMPLETE");
    expectAllowed(heard);
    expect(errorsOf(world.place)).not.toBe("");
    expectAllowed(stop(world, "And again."));
    expectAllowed(prompt(world, "What is going on?"));
  });

  test("6. Ambiguous Stage", () => {
    const world = begun();
    expect(stop(world, "Well.").agent).toContain("Unable to determine current workflow stage.");
    const { agent } = claim(world, "CODING_COMPLETE", "I have finished implementing.");
    expect(agent).toContain("CURRENT STAGE: REQUIREMENTS_REVIEW");
  });

  test("7. Session Interrupted", () => {
    const world = begun("CODING, TESTING, ORACLE_REVIEW");
    claim(world, "CODING_COMPLETE");
    tool(world, "Bash", { command: "npx vitest run" }, GREEN);
    act(world, { end: "other" });
    const resumed = act(world, { start: "resume" });
    expect(resumed.agent).toContain("CURRENT STAGE: TESTING");
    expect(stop(world, "Where was I?").agent).toContain("CURRENT STAGE: ORACLE_REVIEW");
    expect(issue(world, "app-10").status).toBe("in_progress");
  });

  test("8. Manual Intervention", () => {
    const world = begun("CODING, TESTING, COMMIT_CLOSE");
    claim(world, "CODING_COMPLETE");
    const before = runNow(world).seq;
    put(world, "by-hand.txt", "x\n");
    sh(world, "git add -A && git commit -qm 'by hand'");
    bd(world, "label add app-10 by-hand");
    expect(runNow(world).seq).toBe(before);

    expect(prompt(world, "What does this file do?").agent).not.toContain("CURRENT STAGE: COMMIT_CLOSE");
    expectAllowed(stop(world, "It holds an x."));
    expect(runNow(world).stage).toBe("testing");
    expect(prompt(world, "/pawl:go").agent).toContain("CURRENT STAGE: TESTING");
    tool(world, "Bash", { command: "npx vitest run" }, GREEN);
    expect(stop(world, "Green.").agent).toContain("CURRENT STAGE: COMMIT_CLOSE");
  });
});

describe("Error Path Tests", () => {
  test("1. Kill bd process mid-workflow → Verify graceful degradation", async () => {
    const world = begun();
    const pids = join(world.place.base, "pids");
    const sent = stopPayload(world, "Coded.\n\n::: WORKFLOW_STAGE: CODING_COMPLETE :::");
    const hook = auto.sendHook(world, sent, { BD_DOUBLE_FAULT: "hang", BD_DOUBLE_PIDS: pids });
    for (const end = Date.now() + 7_000; (textOf(pids) ?? "").split("\n").length < 3; await Bun.sleep(10))
      if (Date.now() > end) throw new Error("bd was never asked");
    for (const pid of textOf(pids)!.trim().split("\n")) process.kill(Number(pid), "SIGKILL");
    const heard = await hook;
    expectAllowed(heard);
    expect(heard.person).toContain("the tracker does not answer: bd was ended by SIGKILL");
    expect(runNow(world)).toMatchObject({ stage: "coding", status: "halted" });

    expect(prompt(world, "/pawl:go").agent).toContain("CURRENT STAGE: CODING");
    expect(claim(world, "CODING_COMPLETE", "Once more.").agent).toContain("CURRENT STAGE: REQUIREMENTS_REVIEW");
  });

  test("2. Remove all `auto-workflow` labels → Verify hook becomes inactive", () => {
    const world = begun();
    for (const id of ["app-10", "app-11"]) bd(world, `label remove ${id} auto-workflow`);
    const heard = claim(world, "CODING_COMPLETE");
    expectAllowed(heard);
    expect(heard.person).toContain("auto-workflow");
    expect(runNow(world).stage).toBe("coding");
    expectAllowed(stop(world, "I go on by myself."));
  });

  test("3. Corrupt transcript file → Verify continuation allowed", () => {
    const world = begun();
    const { transcript } = sessionOf(world);
    writeFileSync(transcript, Buffer.from(Array.from({ length: 100_000 }, (_, at) => (at * 7919) % 256)));
    expectAllowed(stop(world, "Hm."));
    writeFileSync(transcript, '{"type":"assistant","message":{"content":[{"type":"tool_use"');
    expectAllowed(stop(world, "Hm, hm."));
    expect(errorsOf(world.place)).toBe("");
    expect(claim(world, "CODING_COMPLETE").agent).toContain("CURRENT STAGE: REQUIREMENTS_REVIEW");
  });

  test("4. Timeout stdin read → Verify empty input handling", async () => {
    const world = begun();
    const before = runNow(world).seq;
    const sent = JSON.stringify(stopPayload(world, "x"));
    const heard = await neverEnding(world, sent.slice(0, -10));
    expect(heard).toMatchObject({ code: 0, out: "" });
    expect(heard.ms).toBeWithin(4_000, 30_000);
    expect(runNow(world).seq).toBe(before);
  });
});
