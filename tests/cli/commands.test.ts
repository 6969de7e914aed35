/** The commands as a person types them: whole output and exit code, from real processes. */
import { afterAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import pkg from "../../package.json";
import { makePlace, PAWL, type Place, payload, type Ran, removePlaces, runHook, shell } from "../harness/harness.ts";
import { runInProcess } from "../harness/in-process.ts";
import { journalOf, runOf } from "../harness/run-files.ts";
import { type Armed, armed, CLAIM, stop } from "./hook/hostile.ts";

afterAll(removePlaces);

const pawl = (place: Place, words: string) => runInProcess(place, words === "" ? [] : words.split(" "));
const runIdOf = ({ place, session }: Armed) => runOf(place.root, session.id)!.id;

/** Times, ids and places differ from run to run. */
function plain(text: string, state?: Armed): string {
  const named = state ? text.replaceAll(runIdOf(state), "RUN").replaceAll(state.place.root, "ROOT") : text;
  return named.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "TIME").replace(/\b\d\d:\d\d:\d\d\b/g, "CLOCK");
}

test("pawl alone, where it is installed: what is on, what needs you, what to type next", () => {
  const place = makePlace();
  pawl(place, "init --yes");
  expect(pawl(place, "").out).toMatch(
    /^Pawl \S+ in .*\n\n {2}on {4}hooks for you, complete-work\n {2}done {2}not defined, .*\n {2}you {3}nothing needs you\n {2}next {2}pawl init {3}pawl report/,
  );
  shell(place, "printf 'done: [{ run: [sh, x.sh] }]\\n' > pawl.yaml");
  expect(pawl(place, "").out).toContain("sh x.sh: not approved, so not checked");
  expect(pawl(place, "help").out).toContain("your agent says done, Pawl checks");
});

test("schema prints what an editor needs, and names the schemas that there are", () => {
  const place = makePlace();
  for (const name of ["workflow", "project", "procedure"])
    expect(JSON.parse(pawl(place, `schema ${name}`).out)).toMatchObject({ type: "object", title: expect.any(String) });
  expect(pawl(place, "schema projekt")).toMatchObject({ code: 2, err: expect.stringContaining("project") });
});

describe("help", () => {
  const HEAD = `pawl ${pkg.version}: your agent says done, Pawl checks.\n`;

  test("pawl, help, --help and -h are the same page, for a newcomer", () => {
    const place = makePlace();
    const page = pawl(place, "");
    expect(page).toMatchObject({ code: 0, err: "" });
    expect(page.out).toStartWith(HEAD);
    for (const word of ["/complete-work", "demo", "runs", "explain", "log", "off", "on", "pawl help all", "PAWL=0"])
      expect(page.out).toContain(word);
    expect(page.out.split("\n").every((line) => line.length <= 120)).toBe(true);
    for (const words of ["--help", "-h", "help"]) expect(pawl(place, words)).toEqual(page);
  });

  test("help all adds the rest, and every command has its own page", () => {
    const place = makePlace();
    const all = pawl(place, "help all");
    expect(all).toMatchObject({ code: 0, err: "" });
    expect(all.out).toStartWith(HEAD);
    const commands = [...all.out.matchAll(/^ {2}([a-z]+) {2,}\S/gm)].map((match) => match[1]!);
    expect(commands).toEqual(expect.arrayContaining(["demo", "runs", "check", "list", "show", "graph", "hook", "on"]));
    for (const name of commands.filter((command) => command !== "pawl")) {
      const page = pawl(place, `${name} --help`);
      expect(pawl(place, `help ${name}`)).toEqual(page);
      expect(page).toMatchObject({ code: 0, err: "" });
      expect(page.out).toStartWith(`usage: pawl ${name}`);
    }
  });

  test.each(["hook", "rewake"])("%s, which the client calls, has a page too, and is silent without --help", (name) => {
    const place = makePlace();
    const page = shell(place, `${PAWL} ${name} --help </dev/null`);
    expect(page).toMatchObject({ code: 0, err: "" });
    expect(page.out).toStartWith(`usage: pawl ${name} claude`);
    expect(shell(place, `${PAWL} ${name} claude </dev/null`)).toMatchObject({ code: 0, out: "" });
  });

  test("--version", () => {
    const place = makePlace();
    expect(pawl(place, "--version")).toEqual({ code: 0, out: `pawl ${pkg.version}\n`, err: "" });
    for (const word of ["-v", "version"])
      expect(pawl(place, word)).toEqual({ code: 0, out: `pawl ${pkg.version}\n`, err: "" });
  });
});

describe("every error says what to do next", () => {
  const cases: [string, number, string][] = [
    ["frobnicate", 2, "pawl: there is no command frobnicate\n  hint: run `pawl help all` for all commands\n"],
    ["hlep", 2, "pawl: there is no command hlep\n  hint: did you mean `pawl help`? `pawl help all` lists all\n"],
    ["verfiy", 2, "pawl: there is no command verfiy\n  hint: did you mean `pawl verify`? `pawl help all` lists all\n"],
    [
      "until npm test",
      2,
      "pawl: until is typed in the agent's client: /pawl:until npm test\n  hint: in a shell, `pawl verify` runs this project's gates, and `pawl loop` works until a procedure is done\n",
    ],
    [
      "auto",
      2,
      "pawl: auto is typed in the agent's client: /auto\n  hint: in a shell, `pawl runs start auto-workflow` begins it\n",
    ],
    [
      "complete-work",
      2,
      "pawl: complete-work is typed in the agent's client: /complete-work\n  hint: in a shell, `pawl runs start complete-work` begins it\n",
    ],
    [
      "go",
      2,
      "pawl: go is typed in the agent's client: /pawl:go\n  hint: in a shell, `pawl runs resume` lets a run go on\n",
    ],
    ["planning", 2, "pawl: planning is a workflow\n  hint: `pawl runs start planning` begins it\n"],
    ["build", 2, "pawl: build is a procedure\n  hint: `pawl loop build` runs it\n"],
    ["help nope", 2, "pawl: there is no command nope\n  hint: run `pawl help all` for all commands\n"],
    ["constructor", 2, "pawl: there is no command constructor\n  hint: run `pawl help all` for all commands\n"],
    ["loop biuld", 1, 'pawl: there is no procedure biuld\n  hint: did you mean "build"?\n'],
    [
      "runs start complete-wrok",
      2,
      'pawl: there is no workflow complete-wrok\n  hint: did you mean "complete-work"?\n',
    ],
    ["runs paus", 2, 'pawl: runs cannot paus\n  hint: did you mean "pause"?\n'],
    ["runz", 2, "pawl: there is no command runz\n  hint: did you mean `pawl runs`? `pawl help all` lists all\n"],
    ["toString", 2, "pawl: there is no command toString\n  hint: run `pawl help all` for all commands\n"],
    ["__proto__", 2, "pawl: there is no command __proto__\n  hint: run `pawl help all` for all commands\n"],
    ["loop constructor", 1, "pawl: there is no procedure constructor\n  hint: `pawl loop` lists them\n"],
    [
      "runs --bogus",
      2,
      "pawl: unknown option --bogus\n  hint: valid options: --all, --json, --why=, --run=, --accept, --name=, --phases=, --reading=, --context=, --reminder=\n",
    ],
    ["runs dance", 2, "pawl: runs cannot dance\n  hint: `pawl runs --help` lists what it can\n"],
    [
      "runs show",
      1,
      "pawl: there is no run here\n  hint: type /complete-work in your agent, or `pawl runs start complete-work`\n",
    ],
    [
      "runs abort",
      1,
      "pawl: there is no run here\n  hint: type /complete-work in your agent, or `pawl runs start complete-work`\n",
    ],
    ["runs abort nope", 1, "pawl: there is no run nope\n  hint: `pawl runs list --all` shows them\n"],
    ["runs start", 2, "pawl: which workflow?\n  hint: `pawl list` shows them\n"],
    ["runs start nope", 2, "pawl: there is no workflow nope\n  hint: `pawl list` shows them\n"],
    [
      "runs start complete-work nope",
      2,
      "pawl: complete-work has no stage nope\n  hint: it has memory, review, cleanup, commit\n",
    ],
    [
      "explain",
      1,
      "pawl: there is no run here\n  hint: type /complete-work in your agent, or `pawl runs start complete-work`\n",
    ],
    ["explain ../../x", 1, "pawl: there is no run ../../x\n  hint: `pawl runs list --all` shows them\n"],
    ["log --nope", 2, "pawl: unknown option --nope\n  hint: valid options: --follow, --json, --run=, --kind=\n"],
    ["log --run", 2, "pawl: --run needs a value\n  hint: write --run <value>\n"],
    [
      "off extra",
      2,
      "pawl: unknown argument extra\n  hint: run `pawl off`, `pawl off shortcuts` or `pawl off --session ID`\n",
    ],
    ["off --session nope", 1, "pawl: no run is bound to session nope\n  hint: `pawl runs list` shows sessions\n"],
  ];
  test.each(cases)("pawl %s", (words, code, err) => {
    expect(pawl(makePlace(), words)).toEqual({ code, out: "", err });
  });

  test.each(["show", "show nope", "graph", "graph nope", "check nope.yaml"])("pawl %s", (words) => {
    const { code, out, err } = pawl(makePlace(), words);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/^pawl: .+\n {2}hint: .+/);
  });

  test("from a folder that is gone the runtime itself says so", () => {
    const { code, err } = shell(makePlace(), `mkdir ../gone && cd ../gone && rmdir ../gone && exec ${PAWL} runs`);
    expect(code).not.toBe(0);
    expect(err).toMatch(/folder|directory/);
    expect(err).toMatch(/hint: |cd into/);
  });
});

describe("runs", () => {
  test("in an empty folder", () => {
    const place = makePlace({ git: false });
    const none = "No run here. Type /complete-work in your agent to begin one.\n";
    for (const words of ["runs", "runs list", "runs list --all"])
      expect(pawl(place, words)).toEqual({ code: 0, out: none, err: "" });
    const { out, code } = pawl(place, "runs --json");
    expect({ code, ...JSON.parse(out) }).toEqual({ code: 0, root: place.root, runs: [] });
  });

  test("list and show tell where a run stands; a beginning of its id is enough", () => {
    const state = armed();
    const list = pawl(state.place, "runs");
    expect(plain(list.out, state)).toMatch(/^RUN\s+complete-work\s+active\s+memory\s+0 min ago {2}session 41000000\n$/);
    const { runs } = JSON.parse(pawl(state.place, "runs --json").out);
    expect(runs).toMatchObject([{ id: runIdOf(state), stage: "memory", status: "active", owner_gone: false }]);
    const show = pawl(state.place, `runs show ${runIdOf(state).slice(0, 5)}`);
    expect(show).toMatchObject({ code: 0, err: "" });
    for (const part of ["RUN\n", "▶  memory", "⊙  review", "`pawl explain RUN`"])
      expect(plain(show.out, state)).toContain(part);
    expect(JSON.parse(pawl(state.place, "runs show --json").out)).toMatchObject({ id: runIdOf(state) });
  });

  test("of two runs one has to be named", () => {
    const state = armed();
    const other = payload(state.place, { ...state.session, id: "b-other" }, "UserPromptSubmit", {});
    runHook(state.place, { ...other, prompt: "/complete-work" });
    const { code, err } = pawl(state.place, "runs abort");
    expect(code).toBe(2);
    expect(err).toMatch(/^pawl: which run\?\n {2}hint: use one of cw-\w+, cw-\w+\n$/);
    expect(pawl(state.place, `runs abort ${runIdOf(state)}`)).toMatchObject({ code: 0, err: "" });
  });
});

test("explain tells the story of a run", () => {
  const state = armed();
  runHook(state.place, stop(state, CLAIM));
  const story = pawl(state.place, "explain");
  expect(story).toMatchObject({ code: 0, err: "" });
  expect(plain(story.out, state)).toBe(`RUN: complete-work, active at review

CLOCK    1  a run begins: memory → review → cleanup → commit
CLOCK    2  the agent wants to stop: “Written down. <promise>MEMORY_UPDATED</promise>”
               it claims MEMORY_UPDATED
               memory is done → review
               ⇒ the agent goes on

What proved each stage
  ✓ memory: claimed with MEMORY_UPDATED, nothing was checked
  ⊙ review: not done
  ⊙ cleanup: not done
  ⊙ commit: not done
`);
  expect(plain(pawl(state.place, "explain --all").out, state)).toContain("the instruction has arrived");
  const commits: { seq: number }[] = JSON.parse(pawl(state.place, "explain --json").out);
  expect(commits.map(({ seq }) => seq)).toEqual([1, 2]);
});

describe("log", () => {
  test("is empty before anything happened", () => {
    const err = "The journal is empty: no workflow has started here yet.\n";
    expect(pawl(makePlace(), "log")).toEqual({ code: 0, out: "", err });
    expect(pawl(makePlace(), "log --json")).toEqual({ code: 0, out: "", err: "" });
  });

  test("tells all in order, in words or as JSON, and can be narrowed", () => {
    const state = armed();
    runHook(state.place, stop(state, CLAIM));
    const { out, code, err } = pawl(state.place, "log");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(plain(out, state).split("\n")[0]).toMatch(/^TIME {2}RUN\s+memory\s+a run begins: memory → review/);
    const lines = pawl(state.place, "log --json").out.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual(journalOf(state.place.root));
    const kinds = pawl(state.place, "log --json --kind signalled").out.trimEnd().split("\n");
    expect(kinds.map((line) => JSON.parse(line).signal)).toEqual(["MEMORY_UPDATED"]);
    expect(pawl(state.place, "log --run nope")).toMatchObject({ code: 0, out: "" });
  });

  test("--follow prints what is appended later", async () => {
    const state = armed();
    const { root: cwd, env } = state.place;
    const child = Bun.spawn([PAWL, "log", "--follow"], { cwd, env, stdout: "pipe", stderr: "pipe" });
    const reader = child.stdout.getReader();
    const seen: string[] = [];
    const until = async (part: string) => {
      while (!seen.join("").includes(part)) {
        const { value, done } = await reader.read();
        if (done) throw new Error(`it ended before it said ${part}`);
        seen.push(new TextDecoder().decode(value));
      }
    };
    await until("a run begins");
    expect(seen.join("")).not.toContain("MEMORY_UPDATED");
    runHook(state.place, stop(state, CLAIM));
    await until("it claims MEMORY_UPDATED");
    expect(seen.join("").split("a run begins")).toHaveLength(2);
    child.kill("SIGTERM");
    await child.exited;
    expect(await child.stderr.text()).toBe("");
  }, 15_000);

  test("a reader that has read enough is no error", () => {
    const state = armed();
    for (let i = 0; i < 5; i++) runHook(state.place, stop(state, `${i} ${"long ".repeat(100)}`));
    const script = `{ ${PAWL} log --json; echo "exit $?" >&2; } | head -1`;
    const { out, err } = shell(state.place, script);
    expect(out.trimEnd().split("\n")).toHaveLength(1);
    expect(err).toBe("exit 0\n");
  });
});

test.each(["off", "off shortcuts"])("%s leaves git status clean", (words) => {
  const place = makePlace();
  expect(pawl(place, words).code).toBe(0);
  expect(shell(place, "git status --porcelain").out).toBe("");
  expect(pawl(place, words.replace("off", "on")).code).toBe(0);
  expect(shell(place, "git status --porcelain").out).toBe("");
});

test("off and on", () => {
  const state = armed();
  const { root } = state.place;
  const off = `Pawl is off in ${root}. \`pawl on\` turns it on again.\n`;
  expect(pawl(state.place, "off")).toEqual({ code: 0, out: off, err: "" });
  expect(pawl(state.place, "off")).toEqual({ code: 0, out: off, err: "" });
  expect(runHook(state.place, stop(state, CLAIM)).out).toBe("");
  const started: Ran = pawl(state.place, "runs start complete-work");
  expect(started).toMatchObject({ code: 1, out: "" });
  expect(started.err).toMatch(/turned off.*\n {2}hint: /);
  expect(pawl(state.place, "on")).toEqual({ code: 0, out: `Pawl is on in ${root}.\n`, err: "" });
  expect(pawl(state.place, "on")).toEqual({ code: 0, out: `Pawl is on in ${root}.\n`, err: "" });
  expect(runHook(state.place, stop(state, `Again. ${CLAIM}`)).out).toContain("step 2 of 4");
});

test("a command works from any folder of the project", () => {
  const state = armed();
  shell(state.place, "mkdir -p deep/er");
  const { out } = runInProcess(state.place, ["runs"], { cwd: join(state.place.root, "deep/er") });
  expect(out).toContain(runIdOf(state));
});
