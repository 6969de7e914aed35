/** What an agent can call from its shell, and what it gets by it: nothing that only a person may do. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { trustProject } from "../harness/grant-trust.ts";
import {
  makePlace,
  openSession,
  PAWL,
  type Place,
  payload,
  removePlaces,
  run,
  runHook,
  stopFields,
} from "../harness/harness.ts";
import { runOf } from "../harness/run-files.ts";
import { inWindow } from "../harness/terminal-window.ts";

afterAll(removePlaces);

const WORKFLOW = `name: ship
signals: promise
arm: ["/ship"]
stages:
  - id: build
    say: Build it.
    on:
      BUILT: { end: completed, gates: [{ run: [sh, check.sh] }] }
      BROKEN: { halt: "It cannot be built" }
`;

/** A run whose claim was just refused: everything below would set it free. */
const COMMANDS: [string, string][] = [
  ["runs finish", "Refused"],
  ["runs adopt", "an agent cannot adopt its own run"],
  ["runs abort", "an agent cannot abort its own run"],
  ["runs pause", "an agent cannot pause its own run"],
  ["off", "an agent cannot turn Pawl off"],
  ["approve", "only a person can approve"],
  ["trust", "only a person can approve"],
  ["runs resume --accept", "only a person can approve"],
];

interface Caught {
  place: Place;
  session: ReturnType<typeof openSession>;
  /** a program that goes by the name of the client, and is the one that called the hooks */
  client: string;
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

function caught(): Caught {
  const place = makePlace();
  mkdirSync(join(place.root, ".pawl/workflows"), { recursive: true });
  writeFileSync(join(place.root, ".pawl/workflows/ship.yaml"), WORKFLOW);
  writeFileSync(join(place.root, "check.sh"), "exit 1\n");
  trustProject(place);
  const client = join(place.base, "claude");
  symlinkSync("/bin/bash", client);
  return { place, session: openSession(place, "agent"), client };
}

/** The hooks of the session, as lines for the client's shell. */
function hooks({ place, session }: Caught): string {
  session.turn = 1;
  const prompt = payload(place, session, "UserPromptSubmit", { prompt: "/ship" });
  const claim = payload(place, session, "Stop", stopFields(session, "<promise>BUILT</promise>"));
  const call = (sent: unknown) =>
    `printf %s ${quoted(JSON.stringify(sent))} | ${PAWL} hook claude --via local >/dev/null`;
  return `${call(prompt)}; ${call(claim)}`;
}

/** For --accept there has to be a change; for trust something that is not approved yet. */
function change({ place }: Caught, command: string): void {
  if (command === "runs resume --accept")
    writeFileSync(join(place.root, ".pawl/workflows/ship.yaml"), WORKFLOW.replace("[sh, check.sh]", "['true']"));
  if (command === "trust") writeFileSync(join(place.root, "check.sh"), "exit 0\n");
}

const approvals = ({ place }: Caught) => readdirSync(join(place.home, ".local/share/pawl/trust"), { recursive: true });

function expectNothing(state: Caught, before: unknown, command: string): void {
  const { place, session } = state;
  const after = runOf(place.root, session.id);
  expect(after).toMatchObject({ stage: "build", status: "active", archived: false, owner: { session: session.id } });
  expect(after!.paused).toBeUndefined();
  if (command === "trust" || command.endsWith("--accept")) expect(approvals(state)).toEqual(before as string[]);
  expect(existsSync(join(place.root, ".pawl/off"))).toBe(false);
}

describe("with the client's variables in its environment", () => {
  test.each(COMMANDS)("pawl %s", (command, refusal) => {
    const state = caught();
    const { place, session } = state;
    session.turn = 1;
    runHook(place, payload(place, session, "UserPromptSubmit", { prompt: "/ship" }));
    runHook(place, payload(place, session, "Stop", stopFields(session, "<promise>BUILT</promise>")));
    change(state, command);
    const before = approvals(state);
    const env = { CLAUDECODE: "1", CLAUDE_CODE_SESSION_ID: session.id };
    const said = run(place, [PAWL, ...command.split(" ")], { env, input: "y\ny\n" });
    expect(said.err).toContain(command === "runs finish" ? "sh check.sh failed" : refusal);
    expect(said.code).toBe(1);
    expectNothing(state, before, command);
  });
});

describe("below the client, with a clean environment and a terminal of its own making", () => {
  test.each(COMMANDS)("pawl %s", async (command, refusal) => {
    const state = caught();
    const { place, client } = state;
    const faked = `env -i HOME="$HOME" PATH="$PATH" script -qec ${quoted(`${PAWL} ${command}`)} /dev/null`;
    const script = join(place.base, "deed.sh");
    writeFileSync(script, `${hooks(state)}; sh ${join(place.base, "change.sh")}; ${faked}; true\n`);
    const changed = join(place.root, ".pawl/workflows/ship.yaml");
    const deeds: Record<string, string> = {
      trust: "echo 'exit 0' > check.sh",
      "runs resume --accept": `sed -i "s/.sh, check.sh./['true']/" ${changed}`,
    };
    writeFileSync(join(place.base, "change.sh"), deeds[command] ?? "true");
    const before = approvals(state);
    const { screen } = await inWindow({ cmd: [client, script], cwd: place.root, env: place.env, answers: ["y", "y"] });
    expect(screen).toContain(refusal);
    expectNothing(state, before, command);
  });
});
