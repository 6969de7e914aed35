/** What `pawl task` changes in session.md, to the byte, and the way back that it names. */
import { afterAll, describe, expect, test } from "bun:test";
import { PAWL, type Place, removePlaces, run } from "../../harness/harness.ts";
import { done, HEAD, placeWith, session, task, USER } from "./place.ts";

afterAll(removePlaces);

describe("changes and their way back", () => {
  const LINE = "- [ ] **Fix login** — `/x` | opus | restart | p1 | #web";
  const FILE = `${HEAD}${LINE}\n  more\n- [ ] **Other** — | sonnet\n`;
  const undoIn = (out: string) => /undo: (.*)$/m.exec(out)![1]!;
  const inShell = (place: Place, command: string) =>
    run(place, ["bash", "-c", command.replaceAll("pawl task", `'${PAWL}' task`)], {});

  test("start, done, open, block, drop: each says how it is undone", () => {
    const place = placeWith({ "session.md": FILE });
    const started = done(task(place, "start", "login"));
    expect(started).toBe("Started fix-login: Fix login\n  undo: pawl task open fix-login\n");
    expect(session(place)).toContain(`- [>] **Fix login** — \`/x\` | opus | restart | p1 | #web | @${USER} on `);
    expect(done(task(place, "start", "login"))).toBe("Already in progress: fix-login: Fix login\n");
    expect(done(inShell(place, undoIn(started)))).toStartWith("Opened fix-login");
    expect(session(place)).toBe(FILE);
    for (const [verb, box] of [
      ["done", "x"],
      ["block", "!"],
      ["drop", "-"],
    ] as const) {
      const said = done(task(place, verb, "login"));
      expect(session(place)).toBe(FILE.replace("[ ]", `[${box}]`));
      expect(done(task(place, verb, "login"))).toStartWith("Already ");
      done(inShell(place, undoIn(said)));
      expect(session(place)).toBe(FILE);
    }
  });

  test("what was in progress before is in progress again", () => {
    for (const verb of ["done", "block", "drop"]) {
      const place = placeWith({ "session.md": FILE });
      done(task(place, "start", "login"));
      done(inShell(place, undoIn(done(task(place, verb, "login")))));
      expect(session(place)).toMatch(/^- \[>\] \*\*Fix login\*\*.* \| @\S+ on \S+ since \S+$/m);
    }
  });

  test("a reason is kept below the task", () => {
    for (const [verb, word] of [
      ["done", "closed"],
      ["block", "blocked"],
      ["drop", "dropped"],
    ] as const) {
      const place = placeWith({ "session.md": FILE });
      done(task(place, verb, "login", "--reason", "a\n- [ ] b"));
      expect(session(place)).toContain(`  more\n  - ${word}: a - [ ] b\n- [ ] **Other**`);
      expect(JSON.parse(done(task(place, "list", "--json", "--all"))).tasks).toHaveLength(2);
    }
  });

  const edits: [string[], string][] = [
    [["--title", "It's new"], LINE.replace("Fix login", "It's new")],
    [["--command", "/y z"], LINE.replace("/x", "/y z")],
    [["--command", ""], LINE.replace("`/x` ", "")],
    [["--model", "haiku"], LINE.replace("opus", "haiku")],
    [["--no-restart"], LINE.replace(" | restart", "")],
    [["--priority", "3"], "- [ ] **Fix login** — `/x` | opus | restart | #web | p3"],
    [["--label", "ui", "--unlabel", "web"], LINE.replace("#web", "#ui")],
  ];
  test.each(edits)("edit %j", (args, line) => {
    const place = placeWith({ "session.md": FILE });
    const before = JSON.parse(done(task(place, "list", "--json"))).tasks;
    const said = done(task(place, "edit", "fix-login", ...args));
    expect(session(place)).toBe(FILE.replace(LINE, line));
    done(inShell(place, undoIn(said)));
    expect(JSON.parse(done(task(place, "list", "--json"))).tasks).toEqual(before);
  });

  test("edit --text, and back", () => {
    const place = placeWith({ "session.md": FILE });
    const said = done(task(place, "edit", "login", "--text", "one\n\n  it's two"));
    expect(session(place)).toBe(FILE.replace("  more\n", "  one\n\n    it's two\n"));
    const again = done(inShell(place, undoIn(said)));
    expect(session(place)).toBe(FILE);
    done(inShell(place, undoIn(again)));
    expect(session(place)).toContain("  one\n\n    it's two\n");
  });

  test("an edit that changes nothing says so, and has nothing to undo", () => {
    const place = placeWith({ "session.md": FILE });
    const same = [
      "--label=web",
      "--unlabel=ui",
      "--command=/x",
      "--model=opus",
      "--restart",
      "--priority=1",
      "--text=more",
    ];
    for (const option of [...same, "--title=Fix login"])
      expect(done(task(place, "edit", "fix-login", option))).toBe("Already set: fix-login: Fix login\n");
    expect(session(place)).toBe(FILE);
  });

  test("what is blocked, done or dropped is opened before it is started", () => {
    for (const verb of ["block", "done", "drop"]) {
      const place = placeWith({ "session.md": FILE });
      done(task(place, verb, "login"));
      const { code, err } = task(place, "start", "login");
      expect(code).toBe(1);
      expect(err).toContain("hint: `pawl task open fix-login` makes it pending again");
    }
  });

  test("a folder that cannot be written is not another session", () => {
    const place = placeWith({ "session.md": FILE, ".pawl": "mine" });
    const { code, err } = task(place, "start", "login");
    expect(code).toBe(1);
    expect(err).toStartWith("pawl: .pawl/tracker cannot be written: ");
    expect(session(place)).toBe(FILE);
  });

  test("--json says what changed and how it is undone", () => {
    const place = placeWith({ "session.md": FILE });
    const first = JSON.parse(done(task(place, "done", "login", "--json")));
    expect(first).toMatchObject({ changed: true, task: { state: "closed" }, undo: "pawl task open fix-login" });
    const second = JSON.parse(done(task(place, "done", "login", "--json")));
    expect(second).toMatchObject({ changed: false, task: { state: "closed" } });
    expect(second).not.toHaveProperty("undo");
  });
});
