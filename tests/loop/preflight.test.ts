import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { approve, asked, base, clearAway, fly, prepare, put, root, withTests } from "./preflight-ground.ts";

beforeEach(prepare);
afterEach(clearAway);

describe("the agent's turn", () => {
  const TURNS: [mode: string, expected: Record<string, boolean | null | undefined>, remedy: string][] = [
    ["all", { agent: true, edit: true, tests: true, commit: true, untouched: undefined }, ""],
    [
      "no-edit",
      { edit: false, tests: true, commit: true },
      '"Edit" and "Write" to permissions.allow of .claude/settings.local.json',
    ],
    ["wrong-nonce", { edit: false }, "permissions.allow"],
    [
      "no-shell",
      { edit: true, tests: false, commit: false },
      `"Bash(sh -c 'exit 0':*)" to permissions.allow of .claude/settings.local.json`,
    ],
    [
      "no-commit",
      { edit: true, tests: true, commit: false },
      '"Bash(git add:*)" and "Bash(git commit:*)" to permissions.allow',
    ],
    ["forgets-tests", { edit: true, tests: false, commit: true }, "permissions.allow"],
    ["other-git", { edit: true, tests: true, commit: false }, "permissions.allow"],
    ["claims", { agent: true, edit: false, tests: false, commit: false }, "permissions.allow"],
    ["commits", { edit: true, untouched: false }, "git show"],
    ["litters", { edit: true, commit: true, untouched: null }, ""],
    ["logged-out", { agent: false, edit: undefined }, "log in to the agent"],
  ];

  test.each(TURNS)("%s", async (mode, expected, remedy) => {
    withTests();
    approve();
    const found = await fly(mode);
    for (const [name, ok] of Object.entries(expected)) expect([name, found.of(name)?.ok]).toEqual([name, ok]);
    const failed = found.checks.filter(({ ok }) => ok === false);
    expect(found.ok).toBe(failed.length === 0);
    for (const check of failed) expect(check.remedy).toBeTruthy();
    expect(failed.map((check) => check.remedy).join("\n")).toContain(remedy);
    expect(existsSync(join(root, ".pawl"))).toBe(false);
  });

  test("what a client does not show is not known, and git still tells of the commit", async () => {
    withTests();
    approve();
    const found = await fly("all", {}, "my-agent");
    expect([found.of("edit")?.ok, found.of("tests")?.ok, found.of("commit")?.ok]).toEqual([true, null, true]);
    expect(found.cost_usd).toBeNull();
    expect((await fly("claims", { fresh: true }, "my-agent")).of("commit")?.ok).toBe(false);
  });

  test("tests that fail can be run; a command that is not there cannot", async () => {
    withTests('["sh", "-c", "exit 3"]');
    approve();
    expect((await fly("all")).of("tests")).toMatchObject({
      ok: true,
      detail: expect.stringContaining("fail now"),
    });
    withTests('["nonesuch-runner"]');
    approve();
    expect((await fly("all")).of("tests")).toMatchObject({ ok: false, remedy: expect.stringContaining("pawl.yaml") });
  });

  test("a gate of that kind will do, whatever its name", async () => {
    withTests('["sh", "-c", "exit 3"]', "unit", "tests");
    expect((await fly("all")).of("trust")).toMatchObject({ ok: false, detail: expect.stringContaining("unit") });
    approve();
    expect((await fly("all")).of("tests")).toMatchObject({ ok: true, detail: expect.stringContaining("exit 3") });
  });

  test("without a gate for tests none are run", async () => {
    const found = await fly("all");
    expect(found.of("tests")).toMatchObject({ ok: null });
    expect(found).toMatchObject({ ok: true, cost_usd: 0.03 });
  });

  test("a folder that git cannot write to is no place for commits", async () => {
    // Only the agent's own git is kept from it, as a sandbox would.
    writeFileSync(
      join(base, "git"),
      `#!/bin/sh\ncase "$*" in *dry-run*) touch .git/index.lock; '${Bun.which("git")}' "$@"; code=$?; rm .git/index.lock; exit $code;; esac\nexec '${Bun.which("git")}' "$@"\n`,
    );
    chmodSync(join(base, "git"), 0o755);
    expect((await fly("all")).of("commit")).toMatchObject({ ok: false, detail: expect.stringContaining("exit 128") });
  });

  test("has an end", async () => {
    expect((await fly("hang", { timeout_ms: 300 })).of("agent")).toMatchObject({
      ok: false,
      remedy: expect.stringContaining("--timeout"),
    });
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 200);
    expect((await fly("hang", { interrupted: controller.signal })).of("agent")?.ok).toBe(false);
    expect(existsSync(join(root, ".pawl"))).toBe(false);
  });

  test("what was in .pawl stays, but for what a killed trial left", async () => {
    mkdirSync(join(root, ".pawl/runs"), { recursive: true });
    for (const name of ["old", "young"]) put(join(root, ".pawl/preflight", name), "proof.txt", "x");
    utimesSync(join(root, ".pawl/preflight/old"), 1_000, 1_000);
    await fly("all");
    expect(readdirSync(join(root, ".pawl")).sort()).toEqual(["preflight", "runs"]);
    expect(readdirSync(join(root, ".pawl/preflight"))).toEqual(["young"]);
  });
});

describe("a turn that went well", () => {
  test("is not asked for again on the same day", async () => {
    expect((await fly("all")).ok).toBe(true);
    const again = await fly("all");
    expect([asked(), again.ok, again.of("agent")?.detail]).toEqual([
      1,
      true,
      "claude could edit, test and commit 0 min ago",
    ]);
    await fly("all", { fresh: true });
    expect(asked()).toBe(2);
  });

  const CHANGES: [string, () => void, string?][] = [
    ["the settings of the project", () => put(join(root, ".claude"), "settings.local.json", "{}")],
    ["the settings of the person", () => put(join(base, "home/.claude"), "settings.json", "{}")],
    ["the agent's program", () => utimesSync(join(base, "claude"), 1_000, 1_000)],
    ["the agent", () => undefined, "my-agent"],
    ["the tests", () => [withTests(), approve()]],
    ["a day", age],
  ];
  test.each(CHANGES)("is asked for again after a change of %s", async (_, change, name = "claude") => {
    await fly("all");
    change();
    await fly("all", {}, name);
    expect(asked()).toBe(2);
  });

  test("is forgotten when it is of no use any more", async () => {
    await fly("all");
    const folder = join(base, "home/.local/state/pawl/preflight");
    const [old = ""] = readdirSync(folder);
    utimesSync(join(folder, old), 1_000, 1_000);
    await fly("all", {}, "my-agent");
    expect(readdirSync(folder)).not.toContain(old);
    expect(readdirSync(folder)).toHaveLength(1);
  });

  test("one that went badly is not remembered", async () => {
    await fly("no-edit");
    await fly("no-edit");
    expect(asked()).toBe(2);
  });
});

function age(): void {
  const folder = join(base, "home/.local/state/pawl/preflight");
  const [name = ""] = readdirSync(folder);
  writeFileSync(join(folder, name), JSON.stringify({ at: new Date(Date.now() - 86_400_001).toISOString() }));
}
