/** Events that another process than the session's client sends: none moves the run, each is recorded, the person hears of it. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  CLIENT,
  errorsOf,
  makePlace,
  openSession,
  PAWL,
  type Place,
  payload,
  type Ran,
  removePlaces,
  run,
  runHook,
  type Session,
  stopFields,
  textOf,
} from "../harness/harness.ts";
import { runByPerson, runOutside } from "../harness/person.ts";
import { runOf } from "../harness/run-files.ts";

afterAll(removePlaces);

interface Scene {
  place: Place;
  session: Session;
}

const send = ({ place, session }: Scene, name: string, fields: object) =>
  runHook(place, payload(place, session, name, fields));

/** This process is the client: it starts the session and begins the run. */
function begun(): Scene {
  const place = makePlace();
  const scene = { place, session: { ...openSession(place, "mine"), turn: 1 } };
  send(scene, "SessionStart", { source: "startup" });
  expect(send(scene, "UserPromptSubmit", { prompt: "/complete-work" }).out).toContain("step 1 of 4");
  return scene;
}

const CLAIM = "Written down.\n\n<promise>MEMORY_UPDATED</promise>";
const EVENTS: [string, (session: Session) => object][] = [
  ["SessionStart", () => ({ source: "resume" })],
  ["UserPromptSubmit", () => ({ prompt: "abort" })],
  ["Stop", (session) => stopFields(session, CLAIM)],
  ["SubagentStop", (session) => ({ ...stopFields(session, "Done."), agent_id: "a1", agent_type: "memory-keeper" })],
  ["PreCompact", () => ({ trigger: "manual", custom_instructions: null })],
  ["SessionEnd", () => ({ reason: "other" })],
];

const pointerOf = ({ place, session }: Scene) => join(place.home, ".local/state/pawl/sessions", `claude-${session.id}`);
const HOOK = `'${PAWL}' hook claude --via local`;

/** A client by name, as an agent can make one. */
function renamed({ place }: Scene): string {
  const path = join(place.base, "bin/claude");
  mkdirSync(dirname(path), { recursive: true });
  if (textOf(path) === null) symlinkSync("/bin/bash", path);
  return path;
}

/** The pointer with the number of the shell that forges, as if the number had been given again. */
const numbered = (scene: Scene) =>
  `sed -i -E 's/"pid":[0-9]+/"pid":'$$'/; s/"pid_start":"[0-9]+"/"pid_start":"1"/' '${pointerOf(scene)}'; ${HOOK}; true`;

const shellOf = ({ session }: Scene) => ({
  CLAUDECODE: "1",
  CLAUDE_CODE_SESSION_ID: session.id,
  AI_AGENT: "claude-code_2-1-325_agent",
});

const PYTHON = `import subprocess; subprocess.run(["${PAWL}", "hook", "claude", "--via", "local"])`;

const FORGERIES: [string, (scene: Scene, input: string) => Ran][] = [
  ["the agent's shell", (scene, input) => by(scene, `${HOOK}; true`, input, shellOf(scene))],
  ["a shell with the environment of a hook", (scene, input) => by(scene, `${HOOK}; true`, input)],
  ["a shell renamed claude", (s, input) => run(s.place, [renamed(s), "-c", `${HOOK}; true`], { input, env: CLIENT })],
  ["exec -a claude", (scene, input) => by(scene, `exec -a claude bash -c "${HOOK}; true"`, input)],
  ["setsid", (scene, input) => by(scene, `setsid -w ${HOOK}; true`, input)],
  ["the background", (scene, input) => by(scene, `exec 3<&0; ${HOOK} <&3 & wait`, input)],
  ["nohup", (scene, input) => by(scene, `nohup ${HOOK}; true`, input)],
  ["python", ({ place }, input) => run(place, ["python3", "-c", PYTHON], { input, env: CLIENT })],
  ["the client of another session", (scene, input) => byAnother(scene, input)],
  ["a process with the number of the client, started at another time", (s, input) => by(s, numbered(s), input)],
  [
    "no one's child",
    (scene, input) =>
      by(scene, `exec 3<&0; (( ${HOOK} <&3 >out 2>&1; : >done ) &); until [ -e done ]; do :; done`, input),
  ],
];

function by({ place }: Scene, script: string, input: string, env: Record<string, string> = {}): Ran {
  return run(place, ["bash", "-c", script], { input, env: { ...CLIENT, ...env } });
}

/** It has a session of its own, with a run. */
function byAnother(scene: Scene, input: string): Ran {
  const { place } = scene;
  const other = { ...openSession(place, "other"), turn: 1 };
  const begin = join(place.base, "begin.json");
  writeFileSync(begin, JSON.stringify(payload(place, other, "UserPromptSubmit", { prompt: "/complete-work" })));
  return by(scene, `${HOOK} < '${begin}' >/dev/null; ${HOOK}; true`, input);
}

describe.each(FORGERIES)("from %s", (name, forge) => {
  test.each(EVENTS)("%s", (event, fields) => {
    const scene = begun();
    const { place, session } = scene;
    const pointer = readFileSync(pointerOf(scene), "utf8");
    const before = runOf(place.root, session.id);
    const input = `${JSON.stringify(payload(place, session, event, fields(session)))}\n`;
    forge(scene, input);
    expect(runOf(place.root, session.id)).toEqual(before);
    expect(errorsOf(place)).toContain("not obeyed");
    if (name.includes("number")) writeFileSync(pointerOf(scene), pointer);
    expect(readFileSync(pointerOf(scene), "utf8")).toBe(pointer);
    const real = send(scene, "Stop", stopFields(session, CLAIM));
    expect(real.out).toContain("step 2 of 4");
    expect(JSON.parse(real.out).systemMessage).toContain("another process sent an event of this session");
    expect(send(scene, "Stop", stopFields(session, "And?")).out).not.toContain("another process");
  });
});

describe("another process of the same session", () => {
  const second = (scene: Scene, name: string, fields: object) =>
    by(scene, `${HOOK}; true`, JSON.stringify(payload(scene.place, scene.session, name, fields)));

  test("hears why it is not obeyed while the first one lives, and how to take the run", () => {
    const scene = begun();
    const said = JSON.parse(second(scene, "SessionStart", { source: "resume" }).out).systemMessage;
    expect(said).toContain(`the session belongs to process ${process.pid}, which is still running`);
    expect(said).toContain(`pawl runs adopt ${runOf(scene.place.root, scene.session.id)!.id}`);
  });

  test("has it after `pawl runs adopt`", () => {
    const scene = begun();
    expect(runByPerson(scene.place, ["runs", "adopt"]).code).toBe(0);
    const client = renamed(scene);
    const again = { ...scene.session, turn: 2 };
    const prompt = payload(scene.place, again, "UserPromptSubmit", { prompt: "/complete-work" });
    const files = ["prompt.json", "stop.json"].map((name) => join(scene.place.base, name));
    writeFileSync(files[0]!, JSON.stringify(prompt));
    writeFileSync(files[1]!, JSON.stringify(payload(scene.place, again, "Stop", stopFields(again, CLAIM))));
    const lines = `${HOOK} < ${files[0]}; ${HOOK} < ${files[1]}; true`;
    const ran = runOutside(scene.place, [client, "-c", lines], { env: CLIENT });
    expect(ran.out).toContain("step 2 of 4");
  });

  test("has it as soon as the first one is gone", () => {
    const place = makePlace();
    const scene = { place, session: { ...openSession(place, "mine"), turn: 1 } };
    second(scene, "SessionStart", { source: "startup" });
    expect(second(scene, "UserPromptSubmit", { prompt: "/complete-work" }).out).toContain("step 1 of 4");
    expect(send(scene, "Stop", stopFields(scene.session, CLAIM)).out).toContain("step 2 of 4");
    expect(JSON.parse(readFileSync(pointerOf(scene), "utf8"))).toMatchObject({ pid: process.pid });
    expect(errorsOf(place)).toBe("");
  });
});

test("a session without a run: what the agent's shell sends begins none", () => {
  const place = makePlace();
  const scene = { place, session: { ...openSession(place, "mine"), turn: 1 } };
  send(scene, "SessionStart", { source: "startup" });
  const input = JSON.stringify(payload(place, scene.session, "UserPromptSubmit", { prompt: "/complete-work" }));
  expect(by(scene, `${HOOK}; true`, input).out).toBe("");
  expect(runOf(place.root, scene.session.id)).toBeNull();
  expect(errorsOf(place)).toContain("called from below its client");
  expect(send(scene, "UserPromptSubmit", { prompt: "/complete-work" }).out).toContain("step 1 of 4");
});
