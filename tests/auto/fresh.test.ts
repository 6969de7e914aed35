/** fresh: each task begins in a fresh conversation. The person types /clear; the rest goes by itself. */
import { afterAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CLIENT,
  makePlace,
  openSession,
  PAWL,
  type Place,
  payload,
  removePlaces,
  run,
  runHook,
  type Session,
  shell,
  stopFields,
  transcribeMessage,
} from "../harness/harness.ts";
import { runOf, runsOf } from "../harness/run-files.ts";

afterAll(removePlaces);

const TASKS = ["- [ ] **One** — | sonnet | #auto-workflow", "- [ ] **Two** — | sonnet | #auto-workflow"];
const CONFIG = `workflows:
  auto-workflow:
    fresh: true
    sequences: { auto-workflow: [CODING, COMMIT_CLOSE, NEXT_TASK] }
    tasks: { labels: [auto-workflow] }
`;

function begun(): { place: Place; session: Session } {
  const place = makePlace();
  writeFileSync(join(place.root, "session.md"), `${TASKS.join("\n")}\n`);
  writeFileSync(join(place.root, "pawl.yaml"), CONFIG);
  expect(shell(place, "git add -A && git commit -qm tasks").code).toBe(0);
  const session = openSession(place, "first");
  session.turn += 1;
  expect(runHook(place, payload(place, session, "UserPromptSubmit", { prompt: "/auto" })).out).toContain("Task one");
  return { place, session };
}

function stop(place: Place, session: Session, signal: string): string {
  const said = `It is so.\n\n::: WORKFLOW_STAGE: ${signal} :::`;
  transcribeMessage(session, [{ type: "text", text: said }]);
  return runHook(place, payload(place, session, "Stop", stopFields(session, said))).out;
}

const close = (place: Place) => shell(place, "sed -i 's/\\[>\\]/[x]/' session.md && git commit -qam closed");

test("the turn ends with a request for /clear, and the fresh conversation has the next task and begins by itself", async () => {
  const { place, session } = begun();
  expect(stop(place, session, "CODING_COMPLETE")).toContain("CURRENT STAGE: COMMIT_CLOSE");
  close(place);
  const asked = stop(place, session, "ISSUE_CLOSED");
  expect(asked).toContain("Type /clear: the next one, two");
  expect(asked).not.toContain("additionalContext");
  expect(readFileSync(join(place.root, "session.md"), "utf8")).toContain("- [ ] **Two**");

  const turn = { prompt_id: "the-turn-of-the-clear" };
  runHook(place, payload(place, session, "SessionEnd", { reason: "clear", ...turn }));
  const fresh = openSession(place, "second");
  const started = payload(place, fresh, "SessionStart", { source: "clear", ...turn });
  const input = Buffer.from(`${JSON.stringify(started)}\n`);
  const env = { ...place.env, ...CLIENT };
  const waker = Bun.spawn([PAWL, "rewake", "claude", "--via", "local"], {
    cwd: place.root,
    env,
    stdin: input,
    stderr: "pipe",
  });
  const out = runHook(place, started).out;
  expect(out).toContain("Session cleared. Ready for next task.");
  expect(out).toContain("CURRENT STAGE: CODING");
  expect(await waker.exited).toBe(2);
  expect(await new Response(waker.stderr).text()).toContain("Begin with task two");
  expect(readFileSync(join(place.root, "session.md"), "utf8")).toMatch(/- \[>\] \*\*Two\*\*/);
  expect(runOf(place.root, fresh.id)?.stage).toBe("coding");
  expect(stop(place, session, "CODING_COMPLETE")).toBe("");

  expect(stop(place, fresh, "CODING_COMPLETE")).toContain("COMMIT_CLOSE");
  close(place);
  expect(stop(place, fresh, "ISSUE_CLOSED")).toContain("All auto-workflow tasks complete");
  expect(runsOf(place.root)).toMatchObject([{ archived: true, outcome: "completed" }]);
});

/** Both events from the client of the session, or the second from another one. */
function clear(place: Place, session: Session, fresh: Session, how: "one client" | "two clients"): string {
  const ended = runHook(place, payload(place, session, "SessionEnd", { reason: "clear" })).out;
  const start = payload(place, fresh, "SessionStart", { source: "clear" });
  if (how === "one client") return ended + runHook(place, start).out;
  return ended + fromAnother(place, start);
}

function fromAnother(place: Place, sent: object): string {
  const client = ["/bin/sh", "-c", `"${PAWL}" hook claude --via local; exit 0`];
  return run(place, client, { input: `${JSON.stringify(sent)}\n`, env: CLIENT }).out;
}

test.each(["one client", "two clients"] as const)("a newer client's /clear names no turn: %s", (how) => {
  const { place, session } = begun();
  stop(place, session, "CODING_COMPLETE");
  close(place);
  stop(place, session, "ISSUE_CLOSED");
  const fresh = openSession(place, "second");
  const isSame = how === "one client";
  expect(clear(place, session, fresh, how).includes("CURRENT STAGE: CODING")).toBe(isSame);
  expect(runsOf(place.root)).toMatchObject([{ owner: { session: isSame ? fresh.id : session.id } }]);
});

test("a conversation cleared in another turn, and one that nobody waits for, get nothing", () => {
  const { place, session } = begun();
  stop(place, session, "CODING_COMPLETE");
  close(place);
  stop(place, session, "ISSUE_CLOSED");
  runHook(place, payload(place, session, "SessionEnd", { reason: "clear", prompt_id: "one-turn" }));
  const other = openSession(place, "other");
  const started = payload(place, other, "SessionStart", { source: "clear", prompt_id: "another-turn" });
  expect(fromAnother(place, started)).not.toContain("CODING");
  expect(runsOf(place.root)).toMatchObject([{ status: "waiting", owner: { session: session.id } }]);
});
