/** The hook as the client calls it, and what reaches the person's own program. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  errorsOf,
  makePlace,
  openSession,
  PAWL,
  type Place,
  payload,
  removePlaces,
  runHook,
  runPawl,
  type Session,
  stopFields,
  transcribeMessage,
} from "../harness/harness.ts";
import { runByPerson } from "../harness/person.ts";
import { environments, isIdle, listening, program, put, received, until } from "./ground.ts";

/** The machine may be busy. */
setDefaultTimeout(60_000);

afterAll(removePlaces);

const WORKFLOW = `name: ship
signals: promise
arm: ["/ship"]
asks:
  broken:
    reason: The review found something
    text: Ask the person.
    person: "What now? {choices}"
    choices:
      again: { label: Once more, to: build }
      anyway: { label: Go on, to: tell }
      drop: { label: Give it up, end: failed }
stages:
  - id: build
    say: Build it.
    on:
      BUILT: { to: tell }
      DOUBTFUL: { ask: broken }
      STUCK: { halt: The build is broken }
  - id: tell
    say: Tell the world.
    on:
      TOLD: { end: completed }
      REFUSED: { end: failed }
`;

function armed(place: Place, name = "main"): Session {
  put(join(place.root, ".pawl/workflows/ship.yaml"), WORKFLOW);
  const session = openSession(place, name);
  session.turn += 1;
  const { out } = runHook(place, payload(place, session, "UserPromptSubmit", { prompt: "/ship" }));
  expect(out).toContain("Build it.");
  return session;
}

function says(place: Place, session: Session, signal: string) {
  const said = `<promise>${signal}</promise>`;
  transcribeMessage(session, [{ type: "text", text: said }]);
  return runHook(place, payload(place, session, "Stop", stopFields(session, said)));
}

const PERMISSION = { tool_name: "Bash", tool_input: { command: "curl -H 'Authorization: Bearer abc' example.org" } };
const asks = (place: Place, session: Session, fields: object = PERMISSION) =>
  runHook(place, payload(place, session, "PermissionRequest", { ...fields }));
const notifies = (place: Place, session: Session, notification_type: string) =>
  runHook(place, payload(place, session, "Notification", { notification_type, message: "…" }));

const isRung = ({ out }: { out: string }) => JSON.parse(out || "{}").terminalSequence ?? null;

describe("a run", () => {
  test.each<[string[], string, string]>([
    [["DOUBTFUL"], "question", "project: ship needs you: The review found something"],
    [["STUCK"], "halted", "project: ship stopped at build: The build is broken"],
    [["BUILT", "TOLD"], "completed", "project: ship is done"],
    [["BUILT", "REFUSED"], "failed", "project: ship failed"],
  ])("%p: %s", async (signals, what, text) => {
    const place = listening();
    const session = armed(place);
    const answers = signals.map((signal) => says(place, session, signal));
    await until(() => received(place).length > 0 && isIdle(place), "the program is called");
    const [got, ...more] = received(place);
    expect(more).toEqual([]);
    expect(got).toMatchObject({ what, text, notices: [{ what, text, project: "project", session: session.id }] });
    expect(answers.map(isRung).filter((rung) => rung !== null)).toEqual([`\u001b]0;${got!.title}\u0007\u0007`]);
    expect(errorsOf(place)).toBe("");
  });

  test("what the person does themselves is no news", async () => {
    const place = listening();
    const session = armed(place);
    says(place, session, "DOUBTFUL");
    await until(() => received(place).length > 0 && isIdle(place), "the program is called");
    session.turn += 1;
    const { out } = runHook(place, payload(place, session, "UserPromptSubmit", { prompt: "drop" }));
    expect(out).not.toBe("");
    expect(runPawl(place, ["runs", "--json"]).out).toContain('"runs": []');
    expect(isRung({ out })).toBeNull();
    expect(existsSync(join(place.home, ".local/state/pawl/notify/spool"))).toBe(false);
    expect(received(place)).toHaveLength(1);
  });

  test("a decision that a command of the person brings about is no news either", () => {
    const place = listening();
    armed(place);
    const { id } = JSON.parse(runPawl(place, ["runs", "--json"]).out).runs[0];
    expect(runPawl(place, ["runs", "finish", id]).code).toBe(0);
    expect(existsSync(join(place.home, ".local/state/pawl/notify"))).toBe(false);
  });
});

describe("the host asks", () => {
  test("exactly this comes on stdin and in the environment, in a session without a run", async () => {
    const place = listening();
    const session = openSession(place, "main");
    const ran = asks(place, session);
    expect(ran).toMatchObject({
      code: 0,
      err: "",
      out: JSON.stringify({ terminalSequence: "\u001b]0;Pawl: project needs you\u0007\u0007" }),
    });
    await until(() => received(place).length > 0, "the program is called");
    const text = "project: Claude asks for permission to use Bash";
    const notice = {
      what: "permission",
      text,
      root: place.root,
      run: "",
      session: session.id,
      at: expect.any(String),
      project: "project",
    };
    const title = "Pawl: project needs you";
    expect(received(place) as unknown[]).toEqual([
      { v: 1, title, text, what: "permission", project: "project", notices: [notice] },
    ]);
    expect(environments(place)).toEqual([
      `a word\nPAWL_NOTIFY_COUNT=1\nPAWL_NOTIFY_PROJECT=project\nPAWL_NOTIFY_RUN=\nPAWL_NOTIFY_TEXT=${text}\nPAWL_NOTIFY_TITLE=${title}\nPAWL_NOTIFY_WHAT=permission\n`,
    ]);
  });

  test("it asks, and says so again by a notification: one call; another question: another call", async () => {
    const place = listening();
    const session = openSession(place, "main");
    expect(isRung(asks(place, session))).not.toBeNull();
    expect(isRung(asks(place, session))).toBeNull();
    expect(isRung(notifies(place, session, "permission_prompt"))).toBeNull();
    expect(isRung(notifies(place, session, "idle_prompt"))).toBeNull();
    expect(isRung(asks(place, session, { tool_name: "Write", tool_input: {} }))).not.toBeNull();
    expect(isRung(notifies(place, openSession(place, "else"), "idle_prompt"))).not.toBeNull();
    await until(() => received(place).flatMap(({ notices }) => notices).length === 3 && isIdle(place), "three calls");
  });

  test("a sub-agent that asks is heard too", async () => {
    const place = listening();
    const session = openSession(place, "main");
    expect(isRung(asks(place, session, { ...PERMISSION, agent_id: "a1", agent_type: "x" }))).not.toBeNull();
    await until(() => received(place).length === 1, "the program is called");
  });

  test("other notifications, a project and a session that are switched off: nothing", () => {
    const place = listening();
    const session = openSession(place, "main");
    expect(notifies(place, session, "auth_success").out).toBe("");
    const off = armed(place, "off");
    expect(runByPerson(place, ["off", "--session", off.id]).code).toBe(0);
    expect(asks(place, off).out).toBe("");
    expect(runByPerson(place, ["off"]).code).toBe(0);
    expect(asks(place, session).out).toBe("");
    expect(isIdle(place)).toBe(true);
  });
});

describe("together", () => {
  test("two sessions at once: one message with both", async () => {
    // So long may one of them be late.
    const place = listening("  batch: 6\n");
    const began = Bun.nanoseconds();
    const started = ["one", "two"].map((name) => {
      const input = JSON.stringify(payload(place, openSession(place, name), "PermissionRequest", PERMISSION));
      return Bun.spawn([PAWL, "hook", "claude", "--via", "local"], {
        cwd: place.root,
        env: place.env,
        stdin: Buffer.from(input),
        stdout: "pipe",
      });
    });
    await Promise.all(started.map(({ exited }) => exited));
    await until(() => received(place).length > 0 && isIdle(place), "the program is called");
    const [got, ...more] = received(place);
    expect(more).toEqual([]);
    expect((Bun.nanoseconds() - began) / 1e6).toBeGreaterThan(6_000);
    expect(got).toMatchObject({ what: "several", title: "Pawl: 2 things to look at" });
    expect(got!.notices.map(({ session }) => session).toSorted()).toEqual(
      ["one", "two"].map((name) => openSession(place, name).id).toSorted(),
    );
  });

  test("the same event by two ways at once: one notice", async () => {
    const place = listening("  batch: 2\n");
    const input = JSON.stringify(payload(place, openSession(place, "main"), "PermissionRequest", PERMISSION));
    const started = ["local", "project"].map((via) =>
      Bun.spawn([PAWL, "hook", "claude", "--via", via], {
        cwd: place.root,
        env: place.env,
        stdin: Buffer.from(input),
        stdout: "pipe",
      }),
    );
    const said = await Promise.all(started.map(({ stdout }) => new Response(stdout).text()));
    expect(said.filter((text) => text !== "")).toHaveLength(1);
    await until(() => received(place).length > 0 && isIdle(place), "the program is called");
    expect(received(place).map(({ notices }) => notices.length)).toEqual([1]);
  });
});

describe("off", () => {
  const WAYS: [string, string | null][] = [
    ["nothing is said", null],
    ["one key", "notify: off\n"],
    ["the rest is kept", "notify:\n  send: off\n  command: [DOUBLE]\n"],
  ];
  test.each(WAYS)("%s: no process is started, no file is written", (_, config) => {
    const place = makePlace();
    const double = program(place, "double", '#!/bin/sh\ntouch "$HOME/ran"\n');
    if (config !== null) put(join(place.home, ".config/pawl/config.yaml"), config.replace("DOUBLE", double));
    expect(runPawl(place, ["notify"]).out).toContain("Notifications are off");
    const session = armed(place);
    expect(asks(place, session).out).toBe("");
    expect(isRung(says(place, session, "STUCK"))).toBeNull();
    expect(existsSync(join(place.home, ".local/state/pawl/notify"))).toBe(false);
    expect(existsSync(join(place.home, "ran"))).toBe(false);
  });

  test("switched off by hand: the next sender notices, and hooks do no more", async () => {
    const place = listening();
    const mark = join(place.home, ".local/state/pawl/notify-on");
    expect(existsSync(mark)).toBe(true);
    put(join(place.home, ".config/pawl/config.yaml"), "notify: off\n");
    asks(place, openSession(place, "main"));
    await until(() => !existsSync(mark) && isIdle(place), "the mark goes");
    expect(asks(place, openSession(place, "else")).out).toBe("");
    expect(received(place)).toEqual([]);
  });
});

test("a config that cannot be read: the log says so, and nothing is kept for the day it is mended", async () => {
  const place = listening();
  put(join(place.home, ".config/pawl/config.yaml"), "notify: [\n");
  asks(place, openSession(place, "main"));
  await until(() => errorsOf(place).includes("config.yaml:") && isIdle(place), "the log says so");
  expect(received(place)).toEqual([]);
});

test("a program that hangs holds nobody up, and is ended with its children", async () => {
  const place = listening("  batch: 0\n", '#!/bin/sh\necho $$ > "$HOME/pid"\nsleep 600 &\nwait\n');
  const began = Bun.nanoseconds();
  expect(asks(place, openSession(place, "main")).code).toBe(0);
  expect((Bun.nanoseconds() - began) / 1e6).toBeLessThan(10_000);
  await until(() => errorsOf(place).includes("took longer than 10 s and was ended"), "it is ended");
});

test.each<[string, string]>([
  ["sh is looked at by no shell: $(touch $HOME/ran)", '["DOUBLE", "$(touch $HOME/ran)", "; touch $HOME/ran"]'],
])("%s", async (_, argv) => {
  const place = listening();
  const double = join(place.home, "double");
  put(
    join(place.home, ".config/pawl/config.yaml"),
    `notify:\n  batch: 0\n  command: ${argv.replace("DOUBLE", double)}\n`,
  );
  asks(place, openSession(place, "main"));
  await until(() => received(place).length > 0, "the program is called");
  expect(environments(place)[0]).toStartWith("$(touch $HOME/ran) ; touch $HOME/ran\n");
  expect(existsSync(join(place.home, "ran"))).toBe(false);
});
