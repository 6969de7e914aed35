import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  makePlace,
  openSession,
  type Place,
  payload,
  removePlaces,
  runHook,
  runPawl,
  type Session,
  stopFields,
  transcribeMessage,
  transcribePrompt,
  transcribeTool,
} from "../harness/harness.ts";
import { inHome, sealedCommit } from "../harness/sealing.ts";

/** Formal workflows through the real binary: what an agent and a host do, and what is left after it. */
afterAll(removePlaces);

const STATE = "untracked/workflow-state";
const START = [
  ...["runs", "start", "implementation", "--name", "Feature Implementation (User Auth)"],
  ...["--phases", "Design, Build Components,Test", "--reading", "docs/a.md", "--reading", "@docs/b.md"],
  ...["--context", "plan_number=1", "--context", "feature_name=user-auth", "--reminder", "Run tests"],
];

interface Document {
  workflow: string;
  phase: { current: number; total: number; name: string; status: string };
  required_reading: string[];
  context: Record<string, unknown>;
  key_reminders: string[];
  created_at: string;
  run: string;
  session_id: string | null;
  [key: string]: unknown;
}

const documents = (place: Place) =>
  existsSync(join(place.root, STATE))
    ? [...new Bun.Glob("*/*.json").scanSync({ cwd: join(place.root, STATE) })].map((path) =>
        join(place.root, STATE, path),
      )
    : [];
const read = (place: Place) => JSON.parse(readFileSync(documents(place)[0]!, "utf8")) as Document;
const edit = (place: Place, change: (document: Document) => void) => {
  const document = read(place);
  change(document);
  writeFileSync(documents(place)[0]!, JSON.stringify(document));
};

function begun(args = START, files = ["a.md", "b.md"]): { place: Place; session: Session; id: string } {
  const place = makePlace();
  const session = openSession(place, "formal");
  mkdirSync(join(place.root, "docs"));
  for (const name of files) writeFileSync(join(place.root, "docs", name), name);
  writeFileSync(join(place.root, ".git/info/exclude"), "/docs/\n");
  say(place, session, "begin");
  const ran = runPawl(place, args, { env: { CLAUDE_CODE_SESSION_ID: session.id } });
  expect([ran.code, ran.err]).toEqual([0, ""]);
  transcribeTool(session, "Bash", ran.out);
  expect(stop(place, session, "Begun.")).toBe("");
  return { place, session, id: read(place).run };
}

function say(place: Place, session: Session, text: string): string {
  session.turn += 1;
  session.continuing = false;
  transcribePrompt(session, text);
  return runHook(place, payload(place, session, "UserPromptSubmit", { prompt: text })).out;
}

function stop(place: Place, session: Session, text: string): string {
  transcribeMessage(session, [{ type: "text", text }]);
  const { out } = runHook(place, payload(place, session, "Stop", stopFields(session, text)));
  session.continuing = out.includes("additionalContext");
  return out;
}

function compact(place: Place, session: Session): { summary: string; guidance: string } {
  const summary = runHook(
    place,
    payload(place, session, "PreCompact", { trigger: "auto", custom_instructions: null }),
  ).out;
  const { out } = runHook(place, payload(place, session, "SessionStart", { source: "compact" }));
  return { summary, guidance: out === "" ? "" : (JSON.parse(out).hookSpecificOutput.additionalContext as string) };
}

const readFile = (session: Session, path: string) => {
  transcribeMessage(session, [{ type: "tool_use", id: `r-${path}`, name: "Read", input: { file_path: path } }]);
  transcribeToolResult(session, `r-${path}`);
};
function transcribeToolResult(session: Session, id: string): void {
  const line = {
    ...{ type: "user", isSidechain: false, timestamp: new Date().toISOString() },
    message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "text" }] },
  };
  writeFileSync(session.transcript, `${JSON.stringify(line)}\n`, { flag: "a" });
}

test("the document has the seed's path and fields, and becomes the session's own", () => {
  const { place, session, id } = begun();
  const [path] = documents(place);
  expect(path!.slice(join(place.root, STATE).length)).toMatch(
    /^\/feature-implementation-user-auth\/state-feature-implementation-user-auth-\d{8}_\d{6}\.json$/,
  );
  expect(read(place)).toMatchObject({
    workflow: "Feature Implementation (User Auth)",
    workflow_type: "implementation",
    phase: { current: 1, total: 3, name: "Design", status: "in_progress" },
    required_reading: ["@docs/a.md", "@docs/b.md"],
    context: { plan_number: 1, feature_name: "user-auth" },
    key_reminders: ["Run tests"],
    session_id: session.id,
    run: id,
  });
  expect(runPawl(place, ["runs"]).out).toContain("1/3");
  expect(Bun.spawnSync(["git", "status", "--short"], { cwd: place.root, env: place.env }).stdout.toString()).toBe("");
});

test("compaction three times: what agent and commands wrote is there, what was removed stays removed", () => {
  const { place, session, id } = begun();
  const { created_at } = read(place);
  edit(place, (document) => {
    document.key_reminders.push("Ask before deploying");
    document.required_reading = document.required_reading.filter((entry) => entry !== "@docs/b.md");
    document.context.page = "home";
    document.my_notes = { deep: [1, 2] };
  });
  for (let cycle = 1; cycle <= 3; cycle++) {
    const { summary, guidance } = compact(place, session);
    expect(summary).toContain(`phase ${cycle}/3`);
    expect(guidance).toContain("⚠️ WORKFLOW RESTORED AFTER COMPACTION ⚠️");
    expect(guidance).toContain(
      `Phase: ${cycle}/3 - ${["Design", "Build Components", "Test"][cycle - 1]} (in_progress)`,
    );
    expect(guidance).toContain("REQUIRED READING (read ALL now with @ syntax):\n@docs/a.md");
    expect(guidance).toContain("- Ask before deploying");
    expect(guidance).toContain(`✅ Workflow restored: Feature Implementation (User Auth), Phase ${cycle}/3`);
    expect(guidance).toContain(id);
    expect(guidance).not.toContain("@docs/b.md");
    readFile(session, join(place.root, "docs/a.md"));
    expect(stop(place, session, `cycle ${cycle}`)).toBe("");
    if (cycle < 3) expect(runPawl(place, ["runs", "phase", "next", "--run", id]).out).toContain(`phase ${cycle + 1}/3`);
  }
  expect(read(place)).toMatchObject({
    created_at,
    required_reading: ["@docs/a.md"],
    key_reminders: ["Run tests", "Ask before deploying"],
    context: { plan_number: 1, feature_name: "user-auth", page: "home" },
    my_notes: { deep: [1, 2] },
    phase: { current: 3 },
  });
});

test("an agent's own phase change counts, also beside a command's change of something else", () => {
  const { place, session } = begun();
  edit(place, (document) => {
    document.phase = { current: 2, total: 4, name: "Something new", status: "blocked" };
  });
  expect(compact(place, session).guidance).toContain("Phase: 2/4 - Something new (blocked)");
});

test("required reading that was not read is asked for once", () => {
  const { place, session } = begun();
  compact(place, session);
  readFile(session, join(place.root, "docs/a.md"));
  const back = stop(place, session, "I know it all.");
  expect(back).toContain("@docs/b.md");
  expect(back).not.toContain("@docs/a.md");
  expect(stop(place, session, "Still not.")).toBe(
    JSON.stringify({ systemMessage: "Pawl: not read after the restore: @docs/b.md" }),
  );
  expect(stop(place, session, "And on.")).toBe("");
});

test("a file that does not exist or leads out of the project is named, and not insisted on", () => {
  const { place, session } = begun([...START, "--reading", "../../etc/passwd"], ["a.md"]);
  const { guidance } = compact(place, session);
  expect(guidance).toContain(
    "@docs/a.md\n@docs/b.md (does not exist)\n@../../etc/passwd (outside the project: do not read it)",
  );
  const back = stop(place, session, "going on");
  expect(back).toContain("@docs/a.md");
  expect(back).not.toContain("@docs/b.md");
});

test("a run that was idle for over a week is named to the person, and not resumed", () => {
  const { place, session, id } = begun();
  const folder = join(place.root, ".pawl/runs", id);
  const newest = join(
    folder,
    readdirSync(folder)
      .filter((name) => /^\d+\.json$/.test(name))
      .sort()
      .at(-1)!,
  );
  const commit = JSON.parse(readFileSync(newest, "utf8"));
  commit.run.updated_at = new Date(Date.now() - 8 * 24 * 3600 * 1000).toISOString();
  writeFileSync(
    newest,
    inHome(place.home, () => sealedCommit(id, commit.run.seq, commit)),
  );
  const resumed = runHook(place, payload(place, session, "SessionStart", { source: "resume" })).out;
  expect(resumed).toContain(`pawl runs restore ${id}`);
  expect(resumed).not.toContain("additionalContext");
  expect(runPawl(place, ["runs"]).out).toContain("stale");
});

test("what the host swallowed comes once with the next prompt", () => {
  const { place, session } = begun();
  compact(place, session);
  expect(say(place, session, "hello")).toContain("WORKFLOW RESTORED");
  readFile(session, join(place.root, "docs/a.md"));
  readFile(session, join(place.root, "docs/b.md"));
  expect(stop(place, session, "done")).toBe("");
  expect(say(place, session, "hello again")).toBe("");
});

test("what is given once more, after a turn that was broken off, speaks of the phase of now", () => {
  const { place, session, id } = begun();
  compact(place, session);
  say(place, session, "hello");
  expect(say(place, session, "again")).toContain("Phase: 1/3 - Design");
  runPawl(place, ["runs", "phase", "next", "--run", id]);
  const later = say(place, session, "and again");
  expect(later).toContain("Phase 2/3 - Build Components");
  expect(later).not.toContain("1/3");
});

test("complete-work beside it: both are restored, each moves by its own rules", () => {
  const { place, session, id } = begun();
  expect(say(place, session, "/complete-work")).toContain("step 1 of 4");
  expect(stop(place, session, "ok\n\n<promise>MEMORY_UPDATED</promise>")).toContain("step 2 of 4");
  const { guidance } = compact(place, session);
  expect(guidance).toContain("WORKFLOW RESTORED");
  expect(guidance).toContain("step 2 of 4");
  rmSync(dirname(documents(place)[0]!), { recursive: true });
  expect(stop(place, session, "ok\n\n<promise>REVIEW_COMPLETE</promise>")).toContain("step 3 of 4");
  expect(readdirSync(join(place.root, ".pawl/archive"))).toEqual([id]);
});

test("removing the folder, as the seed tells agents, completes the run; finish does too", () => {
  for (const how of ["remove", "finish"]) {
    const { place, session, id } = begun();
    if (how === "remove") rmSync(dirname(documents(place)[0]!), { recursive: true });
    else expect(runPawl(place, ["runs", "finish", id]).code).toBe(0);
    stop(place, session, "over");
    const archive = join(place.root, ".pawl/archive", id);
    const last = readdirSync(archive)
      .filter((name) => /^\d+\.json$/.test(name))
      .at(-1)!;
    expect(JSON.parse(readFileSync(join(archive, last), "utf8")).run.outcome).toBe("completed");
    expect(documents(place)).toEqual([]);
    expect(compact(place, session)).toEqual({ summary: "", guidance: "" });
  }
});

test("a broken document is put aside and written again; compaction goes on", () => {
  for (const bad of ["", "[]", "{", "\u0000\u0001", '{"workflow": 5}']) {
    const { place, session } = begun();
    writeFileSync(documents(place)[0]!, bad);
    expect(compact(place, session).guidance).toContain("Phase: 1/3");
    expect(read(place).workflow).toBe("Feature Implementation (User Auth)");
    expect(readdirSync(dirname(documents(place)[0]!)).filter((name) => name.includes(".corrupt"))).toHaveLength(1);
  }
});

test("a QA loop counts its iterations", () => {
  const { place, id } = begun(["runs", "start", "qa-loop"]);
  for (let n = 0; n < 3; n++) runPawl(place, ["runs", "phase", "next", "--run", id]);
  expect(read(place)).toMatchObject({ phase: { current: 1, name: "Run QA" }, context: { iteration: 2 } });
});

test("phases that do not exist are refused, with a hint", () => {
  const { place, id } = begun();
  for (const words of [["set", "9"], ["set", "x"], ["jump"], []]) {
    const { code, err } = runPawl(place, ["runs", "phase", ...words, "--run", id]);
    expect(code).not.toBe(0);
    expect(err).toContain("hint:");
  }
  expect(read(place).phase.current).toBe(1);
});

test("a prompt that begins another run gets one answer, with what the formal workflow has to say", () => {
  const { place, session } = begun();
  compact(place, session);
  const answer = JSON.parse(say(place, session, "/complete-work"));
  expect(answer.hookSpecificOutput.additionalContext).toContain("WORKFLOW RESTORED");
  expect(answer.hookSpecificOutput.additionalContext).toContain("complete-work");
});
