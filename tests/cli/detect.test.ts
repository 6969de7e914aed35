/** `pawl detect` as a person types it: the real binary, real transcripts. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  makePlace,
  openSession,
  type Place,
  removePlaces,
  runPawl,
  type Session,
  transcribeMessage,
  transcribePrompt,
  transcribeTool,
} from "../harness/harness.ts";

afterAll(removePlaces);

const GREEN = " Test Files  1 passed (1)\n      Tests  2 passed (2)\n   Start at  10:00:00\n   Duration  300ms\n";
const shared = makePlace();

interface Answer {
  stage: string;
  tier: string;
  evidence: string;
  unverified: boolean;
}

function inText(text: string): Answer & { code: number | null } {
  const { out, code, err } = runPawl(shared, ["detect", "--json"], { input: text });
  expect(err).toBe("");
  return { ...JSON.parse(out), code };
}

describe("the document's three examples", () => {
  const examples: [string, string, string, number][] = [
    ["some text ::: WORKFLOW_STAGE: CODING_COMPLETE :::", "CODING_COMPLETE", "marker", 0],
    ["ran bd close with success", "ISSUE_CLOSED", "inferred, unverified", 0],
    ["working on implementation", "UNKNOWN", "asked", 1],
  ];
  test.each(examples)("%s", (text, stage, tier, code) => {
    const typed = runPawl(shared, ["detect", ...text.split(" ")]);
    const piped = runPawl(shared, ["detect"], { input: `${text}\n` });
    expect(typed).toEqual(piped);
    expect(typed).toMatchObject({ code, err: "" });
    expect(typed.out.split("\n").slice(0, 2)).toEqual([stage, `  tier      ${tier}`]);
    expect(typed.out).toContain("  evidence  ");
  });
});

describe("a text", () => {
  const guesses: [string, string][] = [
    ["issue closed", "ISSUE_CLOSED"],
    ["ran /oracle-review: LGTM", "ORACLE_APPROVED"],
    ["ran pytest: 12 passed", "TESTS_PASSING"],
    ["bd show x: requirements satisfied", "REQUIREMENTS_REVIEWED"],
    ["The implementation is complete.", "CODING_COMPLETE"],
    ["ran /clear", "SESSION_CLEARED"],
    ["pytest passed, then bd close x", "ISSUE_CLOSED"],
  ];
  test.each(guesses)("%s: a guess, never more", (text, stage) =>
    expect(inText(text)).toMatchObject({ stage, tier: "inferred", unverified: true, code: 0 }),
  );
  const traps = [
    "pytest: 3 failed, 12 passed",
    "issue is not yet closed",
    "ran bd show x, the requirements are NOT satisfied",
    "/oracle-review: not approved",
    "I will run bd close x",
    "`bd close x`",
    "> issue closed",
    "```\n::: WORKFLOW_STAGE: TESTS_PASSING :::\n```",
    "::: WORKFLOW_STAGE: BANANA :::",
    "",
  ];
  test.each(traps)("%j: unknown", (text) =>
    expect(inText(text)).toMatchObject({ stage: "UNKNOWN", tier: "asked", unverified: false, code: 1 }),
  );
  test("the last marker of the workflow wins", () => {
    const lines = ["CODING_COMPLETE", "TESTS_PASSING", "BANANA"].map((signal) => `::: WORKFLOW_STAGE: ${signal} :::`);
    expect(inText(lines.join("\n"))).toMatchObject({ stage: "TESTS_PASSING", tier: "marker" });
  });
  test("nothing in it reaches the terminal as more than text", () => {
    const { out } = runPawl(shared, ["detect"], { input: "bd close x \u001b[31m\u202e" });
    expect(out).toStartWith("ISSUE_CLOSED\n");
    expect(out).not.toMatch(/[\u001b\u202e]/);
  });
});

// ── Transcripts ─────────────────────────────────────────────────────────────

type Act = (session: Session) => void;
const sh =
  (command: string, out: string): Act =>
  (session) =>
    transcribeTool(session, "Bash", out, { stdout: out, stderr: "", interrupted: false }, { command });
const edit =
  (file: string): Act =>
  (session) =>
    transcribeTool(session, "Edit", "ok", {}, { file_path: file });
const review =
  (text: string): Act =>
  (session) =>
    transcribeTool(session, "Task", text, {}, { subagent_type: "oracle-reviewer" });
const says =
  (text: string): Act =>
  (session) =>
    transcribeMessage(session, [{ type: "text", text }]);

function transcriptOf(place: Place, acts: Act[]): string {
  const session = openSession(place, "A");
  transcribePrompt(session, "/auto");
  for (const act of acts) act(session);
  return session.transcript;
}

function inTranscript(acts: Act[], more: string[] = ["--task", "bd-42"]): Answer & { code: number | null } {
  const place = makePlace();
  const { out, err, code } = runPawl(place, ["detect", "--transcript", transcriptOf(place, acts), "--json", ...more]);
  expect(err).toBe("");
  return { ...JSON.parse(out), code };
}

describe("a transcript", () => {
  const CLOSE = sh("bd close bd-42", "✓ Closed bd-42: Closed");
  const shown: [string, Act[], Partial<Answer>][] = [
    ["edited and said so", [edit("a.ts"), says("The implementation is complete.")], { stage: "CODING_COMPLETE" }],
    ["a green run", [edit("a.ts"), sh("npx vitest run", GREEN), says("Good.")], { stage: "TESTS_PASSING" }],
    ["a review", [sh("npx vitest run", GREEN), review("APPROVED")], { stage: "ORACLE_APPROVED" }],
    [
      "closed: the latest stage wins",
      [sh("npx vitest run", GREEN), review("APPROVED"), CLOSE],
      { stage: "ISSUE_CLOSED" },
    ],
    ["edited after the run", [sh("npx vitest run", GREEN), edit("a.ts")], { stage: "IN_PROGRESS" }],
    ["refused", [review("CHANGES REQUESTED")], { stage: "IN_ORACLE_REVIEW" }],
    ["red", [sh("npx vitest run", " Test Files  1 failed (1)\n      Tests  1 failed (1)\n")], { stage: "IN_TESTING" }],
  ];
  test.each(shown)("%s", (_, acts, wanted) =>
    expect(inTranscript(acts)).toMatchObject({ tier: "inferred", unverified: false, code: 0, ...wanted }),
  );
  test("only said: prose is no evidence here", () =>
    expect(inTranscript([says("ran bd close bd-42 with success, all tests pass, approved")])).toMatchObject({
      stage: "UNKNOWN",
      tier: "asked",
      code: 1,
    }));
  test("a marker that tool calls bear out", () => {
    const answer = inTranscript([sh("npx vitest run", GREEN), says("::: WORKFLOW_STAGE: TESTS_PASSING :::")]);
    expect(answer).toMatchObject({ stage: "TESTS_PASSING", tier: "marker", unverified: false });
    expect(answer.evidence).toContain("2 passed");
  });
  test("a marker that nothing bears out", () => {
    const answer = inTranscript([edit("a.ts"), says("::: WORKFLOW_STAGE: TESTS_PASSING :::")]);
    expect(answer).toMatchObject({ stage: "TESTS_PASSING", tier: "marker", unverified: true });
    expect(answer.evidence).toContain("no tool call shows it");
  });
  test("without the task its closing cannot be seen", () => {
    expect(inTranscript([CLOSE], [])).toMatchObject({ stage: "IN_PROGRESS" });
    expect(inTranscript([CLOSE], ["--task", "bd-43"])).toMatchObject({ stage: "IN_PROGRESS" });
  });
  test("a sub-agent's edit behind the green run", () => {
    const place = makePlace();
    const transcript = transcriptOf(place, [sh("npx vitest run", GREEN)]);
    const folder = join(transcript.replace(/\.jsonl$/, ""), "subagents");
    mkdirSync(folder, { recursive: true });
    const block = { type: "tool_use", id: "toolu_sub", name: "Edit", input: { file_path: "src/a.ts" } };
    const line = { type: "assistant", isSidechain: true, timestamp: new Date(Date.now() + 1000).toISOString() };
    writeFileSync(
      join(folder, "agent-a1.jsonl"),
      `${JSON.stringify({ ...line, message: { id: "m", content: [block] } })}\n`,
    );
    expect(runPawl(place, ["detect", "--transcript", transcript]).out).toStartWith("IN_PROGRESS\n");
  });
  test("an edit behind the green run, by its absolute path", () => {
    const place = makePlace();
    const transcript = transcriptOf(place, [sh("npx vitest run", GREEN), edit(join(place.root, "src/a.ts"))]);
    expect(runPawl(place, ["detect", "--transcript", transcript]).out).toStartWith("IN_PROGRESS\n");
  });
  test("one that is torn in the middle is read as far as it goes", () => {
    const place = makePlace();
    const transcript = transcriptOf(place, [sh("npx vitest run", GREEN)]);
    writeFileSync(transcript, '{"type":"assist', { flag: "a" });
    expect(runPawl(place, ["detect", "--transcript", transcript]).out).toStartWith("TESTS_PASSING\n");
  });
});

describe("wrong use", () => {
  const wrong: [string[], string][] = [
    [["--bogus"], "unknown option --bogus"],
    [["--transcript", "nowhere.jsonl"], "cannot read"],
    [["--transcript", "a.jsonl", "text"], "a text or a transcript, not both"],
    [["--task", "bd-42", "text"], "--task goes with --transcript"],
    [["--workflow", "nope", "text"], "there is no workflow"],
    [["--transcript"], "--transcript needs a value"],
  ];
  test.each(wrong)("%j", (args, what) => {
    const { code, out, err } = runPawl(shared, ["detect", ...args]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(what);
    expect(err).toContain("hint:");
  });
  test("another workflow has other markers", () => {
    const { out } = runPawl(shared, ["detect", "--workflow", "complete-work", "<promise>MEMORY_UPDATED</promise>"]);
    expect(out).toStartWith("MEMORY_UPDATED\n  tier      marker\n");
  });
});
