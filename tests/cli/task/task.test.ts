/** `pawl task` on session.md: the real program, the file to the byte. */
import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { removePlaces, run, textOf } from "../../harness/harness.ts";
import { runInProcess } from "../../harness/in-process.ts";
import { done, HEAD, placeWith, session, task } from "./place.ts";

afterAll(removePlaces);

describe("add", () => {
  test("without anything: a session.md with the line of the document", () => {
    const place = placeWith();
    expect(done(task(place, "add", "Fix login bug"))).toBe(
      "- [ ] **Fix login bug** — | sonnet\n  added to session.md as fix-login-bug; undo: pawl task drop fix-login-bug\n",
    );
    expect(session(place)).toBe(`${HEAD}- [ ] **Fix login bug** — | sonnet\n`);
    expect(
      readdirSync(place.root)
        .sort()
        .filter((name) => name.startsWith(".")),
    ).toEqual([".git", ".pawl"]);
  });

  test("a remote at GitHub is no wish to publish", () => {
    const place = placeWith();
    run(place, ["git", "remote", "add", "origin", "https://github.com/o/r.git"], {});
    done(task(place, "add", "Secret plan"));
    expect(session(place)).toContain("Secret plan");
  });

  const options = ["--command", "/plan x", "--model", "opus", "--restart", "--label", "web", "--label", "ui"];
  const rows: [string[], string][] = [
    [["Plain"], "- [ ] **Plain** — | sonnet\n"],
    [["--model", "opus", "--", "-x", "--json"], "- [ ] **-x --json** — | opus\n"],
    [["several", "words"], "- [ ] **several words** — | sonnet\n"],
    [["All", ...options, "--priority", "1"], "- [ ] **All** — `/plan x` | opus | restart | p1 | #web #ui\n"],
    [["Text", "--text", "one\n- [ ] two"], "- [ ] **Text** — | sonnet\n  one\n  - [ ] two\n"],
    [["Make **this** `x` | y #z"], "- [ ] **Make \\*\\*this\\*\\* `x` | y #z** — | sonnet\n"],
    [["\u001b[31mred\u202e\nline"], "- [ ] **[31mred  line** — | sonnet\n"],
  ];
  test.each(rows)("%j", (args, line) => {
    const place = placeWith();
    done(task(place, "add", ...args));
    expect(session(place)).toBe(HEAD + line);
  });

  test("at the end of its section, in the file's own line ends, with its mark at the beginning", () => {
    const before = "\uFEFF# S\r\n\r\n## Pending Tasks\r\n- [ ] **A** — | opus\r\n  text\r\n\r\n## Notes\r\nx\r\n";
    const place = placeWith({ "session.md": before });
    done(task(place, "add", "B", "--text", "more"));
    expect(session(place)).toBe(before.replace("  text\r\n", "  text\r\n- [ ] **B** — | sonnet\r\n  more\r\n"));
  });

  test("at agents/session.md, or where pawl.yaml says", () => {
    const known = placeWith({ "agents/session.md": HEAD });
    expect(done(task(known, "add", "A"))).toContain("added to agents/session.md");
    const files = ["tracker: { path: notes/tasks.md }\n", "tracker: { kind: session-md, path: notes/tasks.md }\n"];
    const flow =
      "workflows:\n  auto-workflow:\n    tasks: { labels: [x], tracker: session-md, path: notes/tasks.md }\n";
    for (const yaml of [...files, flow]) {
      const place = placeWith({ "pawl.yaml": yaml, "session.md": HEAD });
      expect(done(task(place, "add", "A"))).toContain("added to notes/tasks.md");
      expect(session(place)).toBe(HEAD);
      expect(textOf(join(place.root, "notes/tasks.md"))).toBe(`${HEAD}- [ ] **A** — | sonnet\n`);
    }
  });

  test("--json", () => {
    const said = JSON.parse(done(task(placeWith(), "add", "A", "--json")));
    expect(said).toMatchObject({
      tracker: "session-md",
      where: "session.md",
      line: "- [ ] **A** — | sonnet",
      id: "a",
      task: { id: "a", title: "A", state: "open", model: "sonnet" },
      undo: "pawl task drop a",
    });
  });
});

describe("what cannot be done is said, and nothing is written", () => {
  const FILE = `${HEAD}- [ ] **Fix login** — | sonnet\n- [ ] **Fix logout** — | sonnet\n- [x] **Old** — | sonnet\n`;
  const rows: [string[], number, string, string][] = [
    [["add"], 2, "a task needs a title", 'as in: pawl task add "Fix login bug"'],
    [["add", " \n"], 2, "a task needs a title", "as in:"],
    [["add", "x".repeat(501)], 2, "a title has at most 500 characters, this one 501", "put the rest into --text"],
    [["add", "A", "--priority", "9"], 2, "9 is not a priority", "a number from 0"],
    [["add", "A", "--label", "a b"], 1, "a label is one word", "pawl task --help"],
    [["add", "A", "--model", "a b"], 1, "a model is one word", "pawl task --help"],
    [["add", "A", "--command", "`x`"], 1, "a command is one line without backticks", "pawl task --help"],
    [["add", "A", "--bogus"], 2, "unknown option --bogus", "valid options"],
    [["dance"], 2, "task cannot dance", "it can add, list"],
    [["constructor"], 2, "task cannot constructor", "it can add, list"],
    [["list", "--state", "lost"], 2, "unknown state: lost", "pending"],
    [["list", "x"], 2, "list takes no task name", "pawl task show"],
    [["done"], 2, "which task?", "pawl task list"],
    [["done", "nope"], 1, 'there is no task "nope" in session.md', "pawl task list --all"],
    [
      ["done", "fix"],
      1,
      '"fix" matches several tasks:\n  fix-login  pending  Fix login\n  fix-logout  pending  Fix logout',
      "use the id of one of them",
    ],
    [["start", "old"], 1, "old is done", "`pawl task open old` makes it pending again"],
    [["drop", "old"], 1, "old is done", "`pawl task open old`"],
    [["edit", "old"], 2, "nothing to change", "pawl task --help"],
    [["edit", "old", "--restart", "--no-restart"], 2, "contradict", "use one"],
    [["edit", "old", "--title", "  "], 2, "a task needs a title", "as in"],
  ];
  const place = placeWith({ "session.md": FILE });
  test.each(rows)("%j", (args, code, what, hint) => {
    const ran = task(place, ...args);
    expect(ran).toMatchObject({ code, out: "" });
    expect(ran.err).toStartWith("pawl: ");
    expect(ran.err).toContain(what);
    expect(ran.err.split("\n  hint: ")[1]).toContain(hint);
    expect(session(place)).toBe(FILE);
  });

  test("a pawl.yaml that is broken: its place, and no other tracker instead", () => {
    const broken = placeWith({ "pawl.yaml": "tracker: { kind: bead }\n", "session.md": FILE });
    for (const args of [["list"], ["add", "A"], ["done", "old"]]) {
      const { code, err } = task(broken, ...args);
      expect(code).toBe(1);
      expect(err).toContain("pawl: pawl.yaml:1:");
    }
    expect(session(broken)).toBe(FILE);
    const wrong = placeWith({ "pawl.yaml": "tracker: { kind: beads, path: x.md }\n" });
    expect(task(wrong, "list").err).toContain("beads has no path");
  });

  test("a file that is read-only, one that leads outside, one that is no file", () => {
    const locked = placeWith({ "session.md": FILE });
    chmodSync(join(locked.root, "session.md"), 0o444);
    for (const args of [
      ["add", "A"],
      ["done", "fix-login"],
    ])
      expect(task(locked, ...args)).toMatchObject({ code: 1, err: expect.stringContaining("session.md is read-only") });
    expect(session(locked)).toBe(FILE);

    const linked = placeWith();
    const outside = join(linked.base, "outside.md");
    writeFileSync(outside, FILE);
    symlinkSync(outside, join(linked.root, "session.md"));
    for (const args of [["list"], ["add", "A"], ["done", "fix-login"]])
      expect(task(linked, ...args)).toMatchObject({ code: 1, err: expect.stringContaining("is a symbolic link") });
    expect(readFileSync(outside, "utf8")).toBe(FILE);

    const dangling = placeWith();
    symlinkSync(join(dangling.base, "nowhere.md"), join(dangling.root, "session.md"));
    expect(task(dangling, "add", "A").code).toBe(1);
    expect(textOf(join(dangling.base, "nowhere.md"))).toBeNull();

    const folder = placeWith({ "session.md/x": "" });
    expect(task(folder, "add", "A")).toMatchObject({ code: 1, err: expect.stringContaining("not a regular file") });
  });

  test("no tasks at all is no error to look at, and one to change", () => {
    const none = placeWith();
    expect(done(task(none))).toStartWith("No task list here: no .beads folder; no session.md");
    expect(JSON.parse(done(task(none, "list", "--json")))).toMatchObject({ tracker: null, tasks: [] });
    const ran = task(none, "done", "x");
    expect(ran.code).toBe(1);
    expect(ran.err).toContain("hint: `pawl task add` creates a session.md");
    expect(session(none)).toBeNull();
  });

  test("the home folder is no project", () => {
    const place = placeWith();
    const ran = runInProcess(place, ["task", "add", "A"], { cwd: place.home });
    expect(ran).toMatchObject({ code: 1, err: expect.stringContaining("your home folder is not a project") });
    expect(textOf(join(place.home, "session.md"))).toBeNull();
  });
});

describe("list and show", () => {
  const FILE = `${HEAD}- [ ] **Fix login** — \`/x\` | opus | restart | p1 | #web
  more
- [>] **Big \u001b[2J** — | sonnet | @ann
- [!] **Stuck** — | sonnet
- [x] **Old** — | sonnet | #web
- [-] **Gone** — | sonnet
- [ ] **Later** — | sonnet | after: fix-login
`;
  const rows: [string[], string][] = [
    [
      [],
      `fix-login  pending          p1  Fix login
big-2j     in progress      p2  Big \\u{1b}[2J  ann
stuck      blocked          p2  Stuck
later      pending (waits)  p2  Later
`,
    ],
    [["--state", "in-progress"], "big-2j  in progress  p2  Big \\u{1b}[2J  ann\n"],
    [["--state", "closed"], "old  done  p2  Old\n"],
    [["--state", "dropped"], "gone  dropped  p2  Gone\n"],
    [["--label", "web"], "fix-login  pending  p1  Fix login\n"],
    [["--label", "web", "--all"], "fix-login  pending  p1  Fix login\nold        done     p2  Old\n"],
    [["--label", "none"], "No such tasks in session.md.\n"],
  ];
  const place = placeWith({ "session.md": FILE });
  test.each(rows)("list %j", (args, wanted) => expect(done(task(place, "list", ...args))).toBe(wanted));

  test("list --all has them all, --json as data", () => {
    const { tracker, where, tasks } = JSON.parse(done(task(place, "list", "--all", "--json")));
    expect([tracker, where]).toEqual(["session-md", "session.md"]);
    expect(tasks.map(({ id }: { id: string }) => id)).toEqual(["fix-login", "big-2j", "stuck", "later", "old", "gone"]);
    expect(tasks[0]).toMatchObject({ command: "/x", model: "opus", restart: true, priority: 1, labels: ["web"] });
  });

  test("show, by id and by a part of the title", () => {
    const page = done(task(place, "show", "fix-login"));
    expect(page).toBe(`Fix login
  id        fix-login
  state     pending
  priority  p1
  labels    #web
  command   /x
  model     opus
  restart   yes
  in        session.md

  more
`);
    expect(done(task(place, "show", "LOGIN"))).toBe(page);
    expect(done(task(place, "show", "fix", "login"))).toBe(page);
    expect(JSON.parse(done(task(place, "show", "login", "--json"))).task.text).toBe("more");
    expect(session(place)).toBe(FILE);
  });

  test("a title that is another's beginning is named by the whole of it", () => {
    const two = placeWith({ "session.md": `${HEAD}- [ ] **Fix it** — | opus\n- [ ] **Fix it now** — | opus\n` });
    expect(JSON.parse(done(task(two, "show", "FIX IT", "--json"))).task.id).toBe("fix-it");
  });
});
