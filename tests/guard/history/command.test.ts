/** `pawl history` as a person types it: the whole screen, its exit codes, and Ctrl-C. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readlinkSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { until } from "../../checks/jobs/job-place.ts";
import { makePlace, PAWL, type Place, removePlaces, runPawl } from "../../harness/harness.ts";
import { edit, green, prompt, red, say } from "./ground.ts";

let place: Place;
beforeEach(() => {
  place = makePlace();
});
afterAll(removePlaces);

function write(name: string, lines: string[], config = join(place.home, ".claude")): string {
  const path = join(config, "projects", name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

const inShop = () => ({ cwd: join(place.home, "code/shop") });
const turns = () => [
  prompt("one", inShop()),
  ...edit("a.ts"),
  ...green(),
  say("Done."),
  prompt("two", inShop()),
  ...edit("a.ts"),
  ...red(),
  say("All tests pass \u001b[31mnow\u202e."),
  prompt("three", inShop()),
  ...edit(join(place.home, "code/shop/b.ts")),
  say("I've fixed it."),
];

const history = (...args: string[]) => runPawl(place, ["history", ...args]);

test("the screen: counts, bars, projects, the worst, and where the words went", () => {
  write("-code-shop/s1.jsonl", turns());
  const { code, out, err } = history("--all");
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out.replace(/\d{4}-\d\d-\d\d \d\d:\d\d/g, "DAY TIME").replace(/Read \d+ kB/, "Read N kB")).toBe(
    `3 turns changed files and then said that the work is done.
1 of them was verified.

  verified      1   33 %  ████████················  the tests passed after the last change
  stale         0    0 %  ························  changed again after the last green run
  failed        1   33 %  ████████················  the last run failed
  never         1   33 %  ████████················  no run of all tests in that turn

  project         turns  verified     stale    failed     never
  ~/code/shop         3         1         0         1         1

  DAY TIME  ~/code/shop  failed
    said: All tests pass \\u{1b}[31mnow\\u{202e}.
    but:  the last run (npm test) failed: 1 failed, 11 passed (vitest)

  DAY TIME  ~/code/shop  never
    said: I've fixed it.
    but:  no test run followed

Read N kB in 1 session, on this machine only: nothing was sent anywhere, nothing was written.
`,
  );
});

test("nothing is installed, set up or written", () => {
  write("-code-shop/s1.jsonl", turns());
  history("--all");
  expect(readdirSync(place.root).sort()).toEqual([".git", "README.md"]);
  expect(readdirSync(place.home)).toEqual([".claude"]);
});

test("--json: the same for programs", () => {
  write("-code-shop/s1.jsonl", turns());
  const read = JSON.parse(history("--all", "--json").out);
  expect(read).toMatchObject({
    since: null,
    sessions: 1,
    total: { verified: 1, stale: 0, failed: 1, never: 1 },
    projects: [{ project: inShop().cwd, counts: { verified: 1, stale: 0, failed: 1, never: 1 } }],
    unread: [],
  });
  expect(read.examples.map(({ verdict }: { verdict: string }) => verdict)).toEqual(["failed", "never"]);
});

test("--since and --project choose; 30 days if nothing is said", () => {
  write("-code-shop/s1.jsonl", turns());
  const counted = (...args: string[]) => {
    const { total } = JSON.parse(history("--json", ...args).out);
    return total.verified + total.stale + total.failed + total.never;
  };
  // these transcripts tell of a day in March 2026
  expect(counted("--since", "2026-03-01")).toBe(3);
  expect(counted("--since", "1h")).toBe(0);
  expect(counted("--all", "--project", inShop().cwd)).toBe(3);
  expect(counted("--all", "--project", join(place.home, "code/sho"))).toBe(0);
  const age = Date.now() - Date.parse("2026-03-02");
  expect(counted()).toBe(age > 30 * 86_400_000 ? 0 : 3);
});

test("CLAUDE_CONFIG_DIR is where the client keeps them then", () => {
  const config = join(place.base, "elsewhere");
  write("-code-shop/s1.jsonl", turns(), config);
  const { out } = runPawl(place, ["history", "--all"], { env: { CLAUDE_CONFIG_DIR: config } });
  expect(out).toStartWith("3 turns");
});

describe("answers and exit codes", () => {
  test("no folder", () => {
    const { code, out } = history();
    expect(code).toBe(0);
    expect(out).toStartWith("There are no transcripts: ~/.claude/projects does not exist.\n");
  });

  test("nothing of the kind in them", () => {
    write("-code-shop/s1.jsonl", [prompt("hello"), say("Hello.")]);
    const { code, out } = history("--all");
    expect(code).toBe(0);
    expect(out).toStartWith("No turn changed files and then said that the work is done.\n");
  });

  test("some files cannot be read: the rest is shown, and 1", () => {
    const path = write("-code-shop/s1.jsonl", turns());
    symlinkSync("/nowhere/at/all", join(dirname(path), "s2.jsonl"));
    const { code, out } = history("--all");
    expect(code).toBe(1);
    expect(out).toStartWith("3 turns");
    expect(out).toContain("not read: ~/.claude/projects/-code-shop/s2.jsonl: ENOENT");
  });

  test.each([
    [["--since", "someday"], "--since someday: not a time"],
    [["--since", "2099-01-01"], "it is in the future"],
    [["--since", "30d", "--all"], "--all and --since cannot be used together"],
    [["--loud"], "unknown option --loud"],
    [["shop"], "unknown argument shop"],
  ])("wrong use: %j", (args, why) => {
    const { code, err } = history(...args);
    expect(code).toBe(2);
    expect(err).toContain(why);
  });

  test("Ctrl-C ends it at once, cleanly, with 130", async () => {
    const path = write("-code-shop/s1.jsonl", turns());
    // So long that it is still being read, however late we look; it takes no room.
    truncateSync(path, 200e9);
    const child = Bun.spawn([PAWL, "history", "--all"], {
      cwd: place.root,
      env: place.env,
      stdout: "pipe",
      stderr: "pipe",
    });
    await until("it reads", () => isReading(child.pid, path));
    child.kill("SIGINT");
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    expect({ code: await child.exited, out, err }).toEqual({
      code: 130,
      out: "",
      err: "Interrupted. Nothing was written.\n",
    });
  });
});

function isReading(pid: number, path: string): boolean {
  return readdirSync(`/proc/${pid}/fd`).some((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`) === path;
    } catch {
      return false;
    }
  });
}
