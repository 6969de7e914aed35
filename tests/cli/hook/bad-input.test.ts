/** Hostile input on stdin and in the payload's fields. The session under test has a run, so that there is something to lose. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  makePlace,
  openSession,
  PAWL,
  payload,
  removePlaces,
  runHook,
  runPawl,
  shell,
  transcribeMessage,
} from "../../harness/harness.ts";
import { runOf, runsOf } from "../../harness/run-files.ts";
import { type Armed, armed, CLAIM, expectAnswer, expectGoesOn, expectHarmless, stop, type Wanted } from "./hostile.ts";

afterAll(removePlaces);

const HOOK = ["hook", "claude", "--via", "local"];
const NOT_JSON = { home: "stdin is not JSON" };
const NO_OBJECT = { home: "the payload" };
const NO_SESSION = { home: "session id" };
const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part as Parameters<typeof Buffer.from>[0])));
const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

describe("stdin", () => {
  const text = (state: Armed) => JSON.stringify(stop(state, "Nothing to say."));
  const cases: [string, (state: Armed) => string | Uint8Array, Wanted["error"]][] = [
    ["no JSON", () => "hello", NOT_JSON],
    ["nothing", () => "", NOT_JSON],
    ["only a line break", () => "\n", NOT_JSON],
    ["half a payload", (state) => text(state).slice(0, 200), NOT_JSON],
    ["all but the last brace", (state) => text(state).slice(0, -1), NOT_JSON],
    ["two payloads", (state) => text(state) + text(state), NOT_JSON],
    ["binary", () => new Uint8Array(4096).map((_, i) => i % 256), NOT_JSON],
    ["UTF-16", (state) => Buffer.from(text(state), "utf16le"), NOT_JSON],
    ["null", () => "null", NO_OBJECT],
    ["a number", () => "42", NO_OBJECT],
    ["a string", () => '"Stop"', NO_OBJECT],
    ["an array", () => "[]", NO_OBJECT],
    ["an array of payloads", (state) => `[${text(state)}]`, NO_OBJECT],
    ["an empty object", () => "{}", NO_OBJECT],
    ["a lone surrogate for a session", () => '{"session_id":"\\ud800"}', NO_OBJECT],
    ["lone surrogates everywhere", () => '{"\\udfff":{"\\ud800":["\\udc00"]},"session_id":"a\\ud800"}', NO_OBJECT],
    ["deep nesting", () => nested(2_000_000), { home: "hook: " }],
    ["100 MB of one message", (state) => JSON.stringify(stop(state, "x".repeat(100e6))), { home: "more than 8 MB" }],
    ["100 MB of nothing", () => new Uint8Array(100e6), { home: "more than 8 MB" }],
  ];
  test.each(cases)("%s", (_name, input, error) => {
    const state = armed();
    const ran = expectHarmless(state.place, { error }, () => runPawl(state.place, HOOK, { input: input(state) }));
    expect(ran.out).toBe("");
    expectGoesOn(state);
  });

  const usable: [string, (state: Armed) => string | Uint8Array][] = [
    ["with a byte order mark", (state) => `\uFEFF${JSON.stringify(stop(state, CLAIM))}`],
    ["pretty-printed", (state) => JSON.stringify(stop(state, CLAIM), null, 2)],
    ["with a deeply nested field", (state) => JSON.stringify(stop(state, CLAIM)).replace("{", `{"x":${nested(400)},`)],
    ["with hostile keys", (state) => JSON.stringify(stop(state, CLAIM)).replace("{", '{"__proto__":{"cwd":1},')],
    ["with lone surrogates", (state) => JSON.stringify(stop(state, CLAIM)).replace("Written", "\\ud800")],
    [
      "with invalid UTF-8 in the message",
      (state) => {
        const [head = "", tail = ""] = JSON.stringify(stop(state, CLAIM)).split("Written");
        return bytes(head, [0xff, 0xfe, 0xc0], tail);
      },
    ],
    ["with 4 MB before the claim", (state) => JSON.stringify(stop(state, `${"word ".repeat(8e5)}\n\n${CLAIM}`))],
  ];
  test.each(usable)("a payload %s is still understood", (_name, input) => {
    const state = armed();
    const ran = expectHarmless(state.place, { error: null }, () => runPawl(state.place, HOOK, { input: input(state) }));
    expect(ran.out).toContain("step 2 of 4");
  });
});

describe("stdin that is none", () => {
  const cases: [string, string, Wanted["error"]][] = [
    ["closed", "<&-", { home: "stdin" }],
    ["a folder", "< /", { home: "stdin" }],
    ["/dev/null", "< /dev/null", NOT_JSON],
    ["without an end", "< /dev/zero", { home: "more than 8 MB" }],
  ];
  test.each(cases)(
    "%s",
    (_name, redirect, error) => {
      const state = armed();
      expectHarmless(state.place, { error, ms: 30_000 }, () =>
        shell(state.place, `exec ${PAWL} hook claude ${redirect}`),
      );
      expectGoesOn(state);
    },
    15_000,
  );
});

test("stdin that never closes ends by itself, and a whole payload does not wait for the end", async () => {
  const cases: { send: (state: Armed) => string; trickle?: true; answer: string; error: string; ms: number }[] = [
    { send: () => "", answer: "", error: "did not end within 5 s", ms: 30_000 },
    { send: (state) => JSON.stringify(stop(state, CLAIM)).slice(0, 300), answer: "", error: "did not end", ms: 30_000 },
    { send: () => " ", trickle: true, answer: "", error: "did not end within 5 s", ms: 30_000 },
    { send: (state) => `${JSON.stringify(stop(state, CLAIM))}\n`, answer: "step 2 of 4", error: "", ms: 4_500 },
  ];
  const play = async ({ send, trickle, answer, error, ms }: (typeof cases)[number]) => {
    const state = armed();
    const { root: cwd, env, home } = state.place;
    const begun = performance.now();
    const child = Bun.spawn([PAWL, ...HOOK], { cwd, env, stdin: "pipe", stdout: "pipe", stderr: "pipe" });
    const write = () => {
      child.stdin.write(send(state));
      child.stdin.flush();
    };
    write();
    const timer = trickle && setInterval(write, 100);
    const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    clearInterval(timer);
    expect(performance.now() - begun).toBeLessThan(ms);
    expectAnswer({ code, out, err });
    expect(out).toContain(answer);
    expect(
      (
        await Bun.file(join(home, ".local/state/pawl/errors.log"))
          .text()
          .catch(() => "")
      ).includes(error),
    ).toBe(true);
    if (answer === "") expectGoesOn(state);
  };
  await Promise.all(cases.map(play));
}, 60_000);

const WRONG: unknown[] = [
  null,
  42,
  true,
  [],
  {},
  "",
  "\0",
  "\ud800",
  "/tmp/\udc00",
  "x".repeat(9_000),
  [["Stop"]],
  { toString: 1 },
];

describe("fields", () => {
  const events: [string, Record<string, unknown>][] = [
    ["Stop", { stop_hook_active: false, last_assistant_message: "Nothing.", background_tasks: [], session_crons: [] }],
    ["UserPromptSubmit", { prompt: "hello" }],
    ["SubagentStop", { agent_id: "a1", agent_type: "memory-updater", last_assistant_message: "Nothing." }],
    ["SessionStart", { source: "startup" }],
    ["PreCompact", { trigger: "auto" }],
    ["SessionEnd", { reason: "other" }],
  ];
  test.each(events)(
    "%s: each field of each wrong type, and missing",
    (name, fields) => {
      const state = armed();
      transcribeMessage(state.session, [{ type: "text", text: "Nothing." }]);
      const whole: Record<string, unknown> = payload(state.place, state.session, name, fields);
      const common = ["Stop", "UserPromptSubmit"].includes(name) ? Object.keys(whole) : ["hook_event_name"];
      for (const key of new Set([...common, ...Object.keys(fields)])) {
        const { [key]: _gone, ...without } = whole;
        for (const sent of [without, ...WRONG.map((value) => ({ ...whole, [key]: value }))]) {
          const ran = runHook(state.place, sent);
          expect({ key, code: ran.code, err: ran.err }).toEqual({ key, code: 0, err: "" });
          if (name !== "PreCompact" && ran.out !== "") expectAnswer(ran);
        }
      }
      expect(runOf(state.place.root, state.session.id)).toMatchObject({ stage: "memory", status: "active" });
      expect(runsOf(state.place.root)).toHaveLength(1);
      state.session.turn += 1;
      expectGoesOn(state);
    },
    60_000,
  );

  const unknown = [
    "PostToolUse",
    "NoSuchEvent",
    "__proto__",
    "constructor",
    "stop",
    "S".repeat(300),
    "../Stop",
    "日本語",
  ];
  test.each(unknown)("the event %s is nobody's business", (name) => {
    const state = armed();
    const sent = { ...stop(state, CLAIM), hook_event_name: name };
    expect(expectHarmless(state.place, { error: null }, () => runHook(state.place, sent)).out).toBe("");
    expectGoesOn(state);
  });
});

describe("session ids", () => {
  const bad = ["../../x", "a/b", "/etc/x", "a\0b", "x".repeat(300), "日本語", "", ".", "..", ".hidden", "a b", "a\nb"];
  bad.push("\ud800", "a\udc00b");
  test.each(bad.map((id) => [JSON.stringify(id).slice(0, 30), id]))("%s is never bound", (_name, id) => {
    const place = makePlace();
    mkdirSync(join(place.base, "x"));
    const session = { ...openSession(place, "A"), id, turn: 1 };
    const error = NO_SESSION;
    const send = (name: string, fields: Record<string, unknown>) =>
      expectHarmless(place, { error }, () => runHook(place, payload(place, session, name, fields)));
    expect(JSON.parse(send("UserPromptSubmit", { prompt: "/complete-work" }).out).systemMessage).toContain("session");
    expect(send("Stop", { last_assistant_message: CLAIM }).out).toBe("");
    expect(runsOf(place.root)).toEqual([]);
  });

  test.each(["-rf", "a..b", "A_1", "x".repeat(128)])("%s is odd but a name", (id) => {
    const place = makePlace();
    const session = { ...openSession(place, "A"), id, turn: 1 };
    const prompt = payload(place, session, "UserPromptSubmit", { prompt: "/complete-work" });
    expect(expectHarmless(place, { error: null }, () => runHook(place, prompt)).out).toContain("step 1 of 4");
    expect(runHook(place, stop({ place, session }, CLAIM)).out).toContain("step 2 of 4");
  });
});

test.each(["hook claude", "hook auto", "hook \ud800", "rewake", "statusline"])(
  "pawl %s with lone surrogates",
  (words) => {
    const place = makePlace();
    const fields = { prompt: "/complete-work \ud800", cwd: `${place.root}/\udc00`, "\ud800": "\ud800" };
    for (const id of ["\ud800", "a-session", "a\udc00"]) {
      const session = { ...openSession(place, "A"), id, turn: 1 };
      for (const name of ["UserPromptSubmit", "Stop", "SessionStart", "Notification", "\ud800"]) {
        const input = JSON.stringify({
          ...payload(place, session, name, fields),
          last_assistant_message: "Done. \udfff",
        });
        const { code, err } = runPawl(place, words.split(" "), { input });
        expect({ id, name, code, err }).toEqual({ id, name, code: 0, err: "" });
      }
    }
  },
);

describe("transcripts", () => {
  const LINES =
    '{"type":"assistant","message":null}\n{"type":"assistant","message":{"id":[],"content":{}}}\n[1\nnull\n';
  const paths: [string, (folder: string) => unknown][] = [
    ["missing", (folder) => join(folder, "none.jsonl")],
    ["a folder", (folder) => folder],
    ["a FIFO", (folder) => fifo(join(folder, "fifo"))],
    ["below a file", () => "/etc/passwd/x"],
    ["somebody else's file", () => "/etc/passwd"],
    ["/dev/zero", () => "/dev/zero"],
    ["/dev/stdin", () => "/dev/stdin"],
    ["/proc/self/mem", () => "/proc/self/mem"],
    ["relative", () => "../../x"],
    ["with a NUL", () => "/tmp/a\0b"],
    ["5,000 characters", () => `/${"x/".repeat(2_500)}`],
    ["a link to itself", (folder) => link(join(folder, "loop"), "loop")],
    ["a claim from nowhere", (folder) => written(folder, `${LINES}${CLAIM}`)],
    [
      "binary",
      (folder) =>
        written(
          folder,
          new Uint8Array(1e6).map((_, i) => (i * 7) % 256),
        ),
    ],
    ["one line of 30 MB", (folder) => written(folder, `{"type":"assistant","x":"${"y".repeat(30e6)}"`)],
  ];
  test.each(paths)("%s: no claim is read from it, and nothing hangs", (_name, path) => {
    const state = armed();
    const folder = join(state.place.base, "transcripts");
    mkdirSync(folder);
    const transcript_path = path(folder);
    const sent = stop(state, "I have nothing to claim.", { transcript_path });
    const ran = expectHarmless(state.place, { error: null, ms: 3_000 }, () => runHook(state.place, sent));
    expect(JSON.parse(ran.out).systemMessage).toContain("no signal");
    expectGoesOn(state);
  });

  test.each(paths)("%s: an open question stays open", (_name, path) => {
    const state = armed();
    runHook(state.place, stop(state, CLAIM));
    runHook(state.place, stop(state, "Critical:\n- a bug\n\n<promise>REVIEW_ISSUES_FOUND</promise>"));
    const folder = join(state.place.base, "transcripts");
    mkdirSync(folder);
    const sent = stop(state, "Well?", { transcript_path: path(folder) });
    expect(expectHarmless(state.place, { error: null, ms: 3_000 }, () => runHook(state.place, sent)).out).toBe("");
    expect(runOf(state.place.root, state.session.id)).toMatchObject({ status: "waiting", stage: "review" });
  });
});

function fifo(path: string): string {
  Bun.spawnSync(["mkfifo", path]);
  return path;
}

function link(path: string, target: string): string {
  symlinkSync(target, path);
  return path;
}

function written(folder: string, content: string | Uint8Array): string {
  const path = join(folder, "t.jsonl");
  writeFileSync(path, content);
  return path;
}
