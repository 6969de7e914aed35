/** `pawl statusline` as Claude Code calls it: JSON on stdin, at most one line out, exit 0, whatever comes in. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive, numbersIn, until } from "../checks/jobs/job-place.ts";
import { type Armed, armed, CLAIM, stop } from "../cli/hook/hostile.ts";
import {
  errorsOf,
  makePlace,
  type Place,
  type RunOptions,
  removePlaces,
  runHook,
  runPawl,
} from "../harness/harness.ts";
import { runByPerson } from "../harness/person.ts";
import { runOf } from "../harness/run-files.ts";
import { inHome, sealedCommit } from "../harness/sealing.ts";
import { ask, FIRST, line, mine, NOTHING, told } from "./status-line.ts";

afterAll(removePlaces);

const tasks = (place: Place, text: string, name = "session.md") => writeFileSync(join(place.root, name), text);

describe("a session without a run", () => {
  test("nothing to say, nothing said, nothing written", () => {
    const place = makePlace();
    expect(line(place)).toEqual(NOTHING);
    expect(readdirSync(place.home)).toEqual([]);
  });

  test("the first task that is free, again and again, and at once another when the file says so", () => {
    const place = makePlace();
    tasks(place, "## Pending Tasks\n- [>] **Under way**\n- [ ] **Later**\n- [ ] **First** | p0\n");
    for (let n = 0; n < 3; n++) expect(line(place)).toEqual({ code: 0, out: "Next: First\n", err: "" });
    const written = Date.now() - 5_000;
    utimesSync(join(place.root, "session.md"), written / 1000, written / 1000);
    for (let n = 0; n < 3; n++) expect(line(place).out).toBe("Next: First\n");
    expect(readdirSync(place.home)).toEqual([]);
    // As long as before, and with the same time.
    tasks(place, "## Pending Tasks\n- [>] **Under way**\n- [ ] **Later**\n- [ ] **Third** | p0\n");
    utimesSync(join(place.root, "session.md"), written / 1000, written / 1000);
    expect(line(place).out).toBe("Next: Third\n");
    tasks(place, "## Pending Tasks\n");
    expect(line(place)).toEqual(NOTHING);
  });

  test("a nearer file, the switch, another tracker: each shows at once", () => {
    const place = makePlace();
    const old = Date.now() / 1000 - 60;
    mkdirSync(join(place.root, "agents"));
    tasks(place, "## Tasks\n- [ ] Below\n", "agents/session.md");
    utimesSync(join(place.root, "agents/session.md"), old, old);
    for (let n = 0; n < 2; n++) expect(line(place).out).toBe("Next: Below\n");
    tasks(place, "## Tasks\n- [ ] Above\n");
    utimesSync(join(place.root, "session.md"), old, old);
    for (let n = 0; n < 2; n++) expect(line(place).out).toBe("Next: Above\n");
    // The folder itself is there by the second time: only the switch in it is new.
    for (let n = 0; n < 2; n++) {
      runByPerson(place, ["off"]);
      expect(line(place)).toEqual(NOTHING);
      runPawl(place, ["on"]);
      for (let again = 0; again < 2; again++) expect(line(place).out).toBe("Next: Above\n");
    }
    mkdirSync(join(place.root, ".beads"));
    expect(line(place)).toEqual(NOTHING);
  });

  test("from a folder below, and from the file that pawl.yaml names", () => {
    const place = makePlace();
    tasks(place, "## Tasks\n- [ ] Here\n");
    mkdirSync(join(place.root, "src/deep"), { recursive: true });
    expect(line(place, { folder: join(place.root, "src/deep") }).out).toBe("Next: Here\n");
    tasks(place, "## Tasks\n- [ ] There\n", "todo.md");
    for (const key of ["tracker", '"tr\\x61cker"']) {
      tasks(place, `${key}: { kind: session-md, path: todo.md }\n`, "pawl.yaml");
      expect(line(place).out).toBe("Next: There\n");
    }
  });

  test.each([
    ["a link out of the project", (place: Place) => symlinkSync("/etc/passwd", join(place.root, "session.md"))],
    ["a folder", (place: Place) => mkdirSync(join(place.root, "session.md"))],
    ["too long to be read for a line", (place: Place) => tasks(place, "- [ ] x\n".repeat(20_000))],
  ])("session.md is %s: nothing", (_name, spoil) => {
    const place = makePlace();
    spoil(place);
    expect(line(place)).toEqual(NOTHING);
  });
});

describe("one line of eighty columns", () => {
  const rows: [string, string, string][] = [
    ["narrow signs", "x".repeat(200), `Next: ${"x".repeat(73)}…`],
    ["wide signs count twice", "漢".repeat(100), `Next: ${"漢".repeat(36)}…`],
    ["just fitting", "x".repeat(74), `Next: ${"x".repeat(74)}`],
    ["no colours, no control", "a\u001b[31mb\u0007c\u202ed", "Next: abcd"],
  ];
  test.each(rows)("%s", (_name, title, wanted) => {
    const place = makePlace();
    tasks(place, `## Tasks\n- [ ] **${title}**\n`);
    expect(line(place).out).toBe(`${wanted}\n`);
    expect(Bun.stringWidth(wanted)).toBeLessThanOrEqual(80);
  });
});

describe("a session with a run", () => {
  test("its stages, as it moves, and nothing of it in another session", () => {
    const state = armed();
    expect(mine(state)).toEqual({ code: 0, out: FIRST, err: "" });
    runHook(state.place, stop(state, CLAIM));
    expect(mine(state).out).toBe("complete-work  ● ◉ ○ ○  REVIEW  2 of 4, 0 min\n");
    expect(line(state.place)).toEqual(NOTHING);
  });

  test("what waits for the person is in it, within eighty columns", () => {
    const state = armed();
    runByPerson(state.place, ["runs", "pause"]);
    const { id } = runOf(state.place.root, state.session.id)!;
    const { out } = mine(state);
    expect(out).toEndWith(`paused by command: \`pawl runs resume ${id}\`\n`);
    expect(Bun.stringWidth(out.trimEnd())).toBeLessThanOrEqual(80);
    expect(out.split("\n")).toHaveLength(2);
  });

  test("a run that ended makes room for the next task", () => {
    const state = armed();
    tasks(state.place, "## Tasks\n- [ ] Afterwards\n");
    runByPerson(state.place, ["runs", "abort"]);
    expect(mine(state).out).toBe("Next: Afterwards\n");
  });

  test("one that ended and is not cleared away yet, one that another session has: not this session's", () => {
    const state = armed();
    const { id } = runOf(state.place.root, state.session.id)!;
    const folder = join(state.place.root, ".pawl/runs", id);
    const commit = JSON.parse(readFileSync(join(folder, "000001.json"), "utf8"));
    for (const change of [{ status: "ended", outcome: "completed" }, { owner: { host: "claude", session: "other" } }]) {
      const next = { ...commit, run: { ...commit.run, seq: 2, ...change } };
      writeFileSync(
        join(folder, "000002.json"),
        inHome(state.place.home, () => sealedCommit(id, 2, next)),
      );
      expect(mine(state)).toEqual(NOTHING);
    }
  });

  test("switched off: nothing", () => {
    const state = armed();
    expect(ask(state.place, told(state.place, { session: state.session.id }), [], { env: { PAWL: "0" } })).toEqual(
      NOTHING,
    );
    runByPerson(state.place, ["off"]);
    expect(mine(state)).toEqual(NOTHING);
    runPawl(state.place, ["on"]);
    expect(mine(state).out).toBe(FIRST);
    runByPerson(state.place, ["off", "--session", state.session.id]);
    expect(mine(state)).toEqual(NOTHING);
  });

  test("a damaged commit, a forged one: what Pawl wrote is shown, and nothing is changed", () => {
    const state = armed();
    const folder = join(state.place.root, ".pawl/runs", runOf(state.place.root, state.session.id)!.id);
    const forged = readFileSync(join(folder, "000001.json"), "utf8").replace(/"stage":"memory"/, '"stage":"commit"');
    writeFileSync(join(folder, "000002.json"), forged);
    writeFileSync(join(folder, "000003.json"), "half");
    expect(mine(state).out).toBe(FIRST);
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(["000002.json", "000003.json"]));
  });
});

describe("bad input", () => {
  test.each([
    ["nothing", ""],
    ["no JSON", "not json"],
    ["half", '{"session_id":'],
    ["null", "null"],
    ["a list", "[1,2]"],
    ["numbers for words", '{"session_id":7,"cwd":8,"workspace":9,"cost":"x"}'],
    ["a session that is a path", '{"session_id":"../../../etc/passwd","cwd":"/nowhere"}'],
    ["a folder that is not there", '{"session_id":"a","cwd":"/no/such/folder"}'],
    ["a relative folder", '{"session_id":"a","cwd":"."}'],
  ])("%s: nothing, and exit 0", (_name, input) => {
    const place = makePlace();
    tasks(place, "## Tasks\n- [ ] Here\n");
    expect(runPawl(place, ["statusline"], { input })).toEqual(NOTHING);
    expect(errorsOf(place)).toBe("");
  });
});

// ── Around the person's own ─────────────────────────────────────────────────

describe("--wrap", () => {
  const wrap = (state: Armed, command: string, options?: RunOptions) =>
    ask(state.place, told(state.place, { session: state.session.id }), ["--wrap", command], options);

  test.each([
    [
      "theirs as it is, ours below",
      "printf 'a  \\033[31mb\\033[0m\\n\\tc\\n'",
      `a  \u001b[31mb\u001b[0m\n\tc\n${FIRST}`,
    ],
    ["no end of line", "printf mine", `mine\n${FIRST}`],
    ["nothing", "true", FIRST],
    ["fails, having said something", "echo half; exit 3", `half\n${FIRST}`],
    ["cannot be run", "/no/such/program", FIRST],
    ["complains", "echo no >&2; echo yes", `yes\n${FIRST}`],
    ["reads nothing", "exec <&-; echo deaf", `deaf\n${FIRST}`],
  ])("%s", (_name, command, out) => expect(wrap(armed(), command)).toEqual({ code: 0, out, err: "" }));

  test("theirs gets the same bytes, also those that are no JSON", () => {
    const { place } = armed();
    for (const input of ['{"session_id" :  "x",\n "ä":1}', "not json", ""])
      expect(runPawl(place, ["statusline", "--wrap", "cat"], { input })).toEqual({ code: 0, out: input, err: "" });
  });

  test("nothing of ours: theirs as before", () => {
    const place = makePlace();
    expect(ask(place, told(place), ["--wrap=printf mine"])).toEqual({ code: 0, out: "mine", err: "" });
  });

  test("switched off: only theirs", () => {
    const state = armed();
    expect(wrap(state, "echo mine", { env: { PAWL: "0" } }).out).toBe("mine\n");
    runByPerson(state.place, ["off"]);
    expect(wrap(state, "echo mine").out).toBe("mine\n");
  });

  test("theirs hangs: two seconds, then ours, and nothing of it is left", async () => {
    const state = armed();
    const began = performance.now();
    const { out } = wrap(state, `echo early; sh -c 'echo $$ > ${state.place.base}/pid; exec sleep 60' & sleep 60`);
    expect(out).toBe(`early\n${FIRST}`);
    expect(performance.now() - began).toBeWithin(1_900, 30_000);
    await until("its end", () => !isAlive(numbersIn(join(state.place.base, "pid"))[0]!));
  });

  test("what theirs leaves behind is ended with it", async () => {
    const state = armed();
    const { out } = wrap(state, `sleep 60 >/dev/null 2>&1 & echo $! > ${state.place.base}/pid; echo mine`);
    expect(out).toBe(`mine\n${FIRST}`);
    await until("its end", () => !isAlive(numbersIn(join(state.place.base, "pid"))[0]!));
  });
});
