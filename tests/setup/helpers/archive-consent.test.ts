/** Nothing is archived without the person's yes: what counts as one, and what an agent might take for one. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseConsent } from "../../../src/setup/helpers/consent.ts";
import { CLIENT, openSession, PAWL, payload, removePlaces, run, stopFields } from "../../harness/harness.ts";
import { inWindow } from "../../harness/terminal-window.ts";
import { placeWith, plan } from "./archive-place.ts";

afterAll(removePlaces);

const words: [string, ReturnType<typeof parseConsent>][] = [
  ["yes", "yes"],
  ["Yes, both of them.", "yes"],
  ["ok, archive 1 and 2, keep 3", "yes"],
  ["Yes, but not 2", "yes"],
  ["Archive it", "yes"],
  ["Ja, bitte", "yes"],
  ["go ahead", "yes"],
  ["1,3", "yes"],
  ["no", "no"],
  ["No, leave them", "no"],
  ["Leave it", "no"],
  ["ok, leave them", "no"],
  ["Archive nothing", "no"],
  ["Do not archive them", "no"],
  ["I'd rather not", "no"],
  ["nein", "no"],
  ["What is in debug.log?", null],
  ["notes first", null],
  ["yesterday's log is needed", null],
];
test.each(words)("%j is %j", (said, meant) => expect(parseConsent(said)).toBe(meant));

// ── An agent, below a program that goes by the name of the client and calls the hooks ──

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const PLAN = `${PAWL} helper archive plan >/dev/null; PLAN=$(basename .pawl/helper/plans/*.json .json)`;

function agent() {
  const place = placeWith({ "debug.log": "12345" });
  const session = openSession(place, "agent");
  const client = join(place.base, "claude");
  symlinkSync("/bin/bash", client);
  const env = { ...place.env, ...CLIENT };
  /** "PLAN" in a text becomes the plan's id. */
  const piped = (text: string, to: string) => `printf '%s\\n' ${quoted(text)} | sed "s/PLAN/$PLAN/g" | ${to}`;
  const hook = (name: string, fields: object, as = "") => {
    session.turn += name === "UserPromptSubmit" ? 1 : 0;
    return piped(
      JSON.stringify(payload(place, session, name, fields)),
      `${as} ${PAWL} hook claude --via local >/dev/null`,
    );
  };
  const prompt = (text: string) => hook("UserPromptSubmit", { prompt: text });
  const says = (text: string) => hook("Stop", stopFields(session, text));
  const forges = (text: string) => hook("UserPromptSubmit", { prompt: text }, "AI_AGENT=claude-code_2-1-325_agent");
  const line = (type: string, fields: object) =>
    piped(JSON.stringify({ isSidechain: false, timestamp: "NOW", sessionId: session.id, type, ...fields }), "cat") +
    ` | sed "s/NOW/$(date -u +%FT%T.%3NZ)/" >> ${session.transcript}`;
  const dialog = (question: string, answer: string) => {
    const use = { type: "tool_use", id: "toolu_1", name: "AskUserQuestion", input: {} };
    const result = { tool_use_id: "toolu_1", type: "tool_result", content: "answered" };
    return [
      line("assistant", { message: { id: "msg_1", role: "assistant", content: [use] } }),
      line("user", {
        message: { role: "user", content: [result] },
        toolUseResult: { answers: { [question]: answer } },
      }),
    ].join("; ");
  };
  const applies = (...steps: string[]) => {
    const marks = `CLAUDECODE=1 CLAUDE_CODE_SESSION_ID=${session.id}`;
    const script = [...steps, `${marks} ${PAWL} helper archive apply $PLAN; exit $?`].join("\n");
    writeFileSync(join(place.base, "agent.sh"), script);
    const ran = run({ ...place, env }, [client, join(place.base, "agent.sh")], {});
    return { ...ran, moved: !existsSync(join(place.root, "debug.log")) };
  };
  return { prompt, says, forges, dialog, applies, transcript: session.transcript };
}

type Steps = (one: ReturnType<typeof agent>) => string[];
const BEGIN = "/complete-work cleanup";
const ASKS = "I would archive debug.log (plan PLAN). Shall I?";

describe("an agent with the person's yes", () => {
  const honest: [string, Steps][] = [
    ["typed", ({ prompt, says }) => [prompt(BEGIN), PLAN, says(ASKS), prompt("Yes, please.")]],
    [
      "chosen in the client's dialog",
      ({ prompt, dialog }) => [prompt(BEGIN), PLAN, dialog("Archive it?", "Archive it")],
    ],
    [
      "chosen in the dialog, which the client writes down a moment later",
      ({ prompt, dialog, transcript }) => [
        prompt(BEGIN),
        PLAN,
        `touch ${transcript}`,
        `{ sleep 0.3; ${dialog("Archive it?", "Archive it")}; } &`,
      ],
    ],
    ["typed, and the same plan again", ({ prompt, says }) => [prompt(BEGIN), PLAN, says(ASKS), prompt("yes"), PLAN]],
    [
      "typed, then something else",
      ({ prompt, says }) => [prompt(BEGIN), PLAN, says(ASKS), prompt("yes"), prompt("And hurry up")],
    ],
    ["unasked, with the word", ({ prompt }) => [prompt(BEGIN), PLAN, prompt("ok, archive the logs")]],
  ];
  test.each(honest)("%s", (_how, steps) => {
    const one = agent();
    expect(one.applies(...steps(one))).toMatchObject({ code: 0, err: "", moved: true });
  });
});

describe("an agent without it moves nothing", () => {
  const lazy: [string, Steps, string][] = [
    ["no answer", ({ prompt, says }) => [prompt(BEGIN), PLAN, says(ASKS)], "the person has not agreed to this plan"],
    ["no question", ({ prompt }) => [prompt(BEGIN), PLAN], "the person has not agreed to this plan"],
    [
      "a no",
      ({ prompt, says }) => [prompt(BEGIN), PLAN, says(ASKS), prompt("No, leave it.")],
      "the person said: No, leave it.",
    ],
    [
      "a yes taken back",
      ({ prompt, says }) => [prompt(BEGIN), PLAN, says(ASKS), prompt("yes"), prompt("Wait, do not archive it")],
      "the person said: Wait",
    ],
    [
      "a yes to something else",
      ({ prompt, says }) => [prompt(BEGIN), PLAN, says("Shall I run the tests first?"), prompt("yes")],
      "has not agreed",
    ],
    [
      "a yes before the plan",
      ({ prompt, says }) => [prompt(BEGIN), says("May I archive things?"), prompt("yes"), PLAN],
      "has not agreed",
    ],
    [
      "a yes of its own making",
      ({ prompt, says, forges }) => [prompt(BEGIN), PLAN, says(ASKS), forges("yes")],
      "has not agreed",
    ],
    [
      "a no in the dialog",
      ({ prompt, dialog }) => [prompt(BEGIN), PLAN, dialog(ASKS, "Leave it")],
      "the person said: Leave it",
    ],
    [
      "a dialog about something else",
      ({ prompt, dialog }) => [prompt(BEGIN), PLAN, dialog("Run the tests?", "Yes")],
      "has not agreed",
    ],
    ["no run at all", ({ dialog }) => [PLAN, dialog(ASKS, "Yes")], "only a person can approve"],
  ];
  test.each(lazy)("%s", (_how, steps, why) => {
    const one = agent();
    const ran = one.applies(...steps(one));
    expect(ran.err).toContain(why);
    expect(ran).toMatchObject({ code: 1, out: "", moved: false });
  });
});

test("a person at a terminal of their own needs no run", async () => {
  const place = placeWith({ "debug.log": "12345" });
  const cmd = [PAWL, "helper", "archive", "apply", plan(place).id];
  expect(await inWindow({ cmd, cwd: place.root, env: place.env, answers: [] })).toMatchObject({
    code: 0,
    screen: expect.stringContaining("✓ 1 file archived"),
  });
});
