/** `pawl verify` on real projects: the binary, real git, real suites. */
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { PAWL, removePlaces } from "../harness/harness.ts";
import { basesOf, ground, put, SUITE, sh, until, verify, verifying } from "./ground.ts";

afterAll(removePlaces, 60_000);

const gates = (lines: string) => ({ "pawl.yaml": `gates:\n${lines.replace(/^/gm, "  ")}\n` });

describe("what it says, and its exit code", () => {
  test("a green suite passes, with the counts of the runner and the tree", () => {
    const place = ground({ ...SUITE, ...gates("unit: { tests: [node, --test] }\ntidy: { git: clean }") });
    const { code, out, err } = verify(place);
    expect(out).toMatch(/^✓ unit: 2 tests passed @ tree [0-9a-f]{10}\n✓ tidy: nothing is left to commit @ tree/);
    expect(out).toMatch(
      /\n\n2 of 2 gates passed @ tree [0-9a-f]{10}; receipt: \.pawl\/receipts\/[0-9a-f]{40}\.json\n$/,
    );
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(sh(place, "git status --short")).toBe("");
  });

  test("a red one fails, with the last lines", () => {
    const place = ground({
      ...SUITE,
      "add.js": "export const add = (a, b) => a - b;\n",
      ...gates("unit: { tests: [node, --test] }"),
    });
    const { code, out } = verify(place);
    expect(out).toMatch(/^✗ unit: /);
    expect(out).toContain("    $ node --test\n");
    expect(out).toMatch(/^ {4}.*fail 1$/m);
    expect(code).toBe(1);
  });

  test("what nobody approved is unproven, and never run", () => {
    const place = ground(gates("check: { shell: touch ran }"), { trust: false });
    const { code, out } = verify(place);
    expect(out).toMatch(/^\? check: its commands are not approved yet: look at them with `pawl trust`/);
    expect(code).toBe(3);
    expect(existsSync(join(place.root, "ran"))).toBe(false);
  });

  test("a failure counts more than something unproven", () => {
    const place = ground(gates('red: { run: ["false"] }\nnone: { run: [no-such-program] }'));
    const { code, out } = verify(place);
    expect(out).toMatch(/^✗ red: exit 1.*\n\? none: it could not be run/);
    expect(code).toBe(1);
  });

  test("a pass at the second attempt is called flaky", () => {
    const line = "! mkdir .pawl/jobs/second";
    const place = ground(gates(`shaky: { shell: "${line}", retries: 1 }`));
    const { code, out } = verify(place, "--markdown");
    expect(out).toContain("✅ pass (flaky)");
    expect(code).toBe(0);
  });
});

describe("which gates", () => {
  const workflow = `name: ship
signals: promise
arm: ["/ship"]
stages:
  - id: build
    say: Build it.
    on:
      BUILT: { end: completed, gates: [{ use: ok }, { file: README.md }, { evidence: tests }, { git: committed }, { all: [{ branch: ["main"] }, { person: "Is it good?" }] }] }
      BROKEN: { halt: "No" }
`;
  const files = {
    ...gates('ok: { run: ["true"] }\nboss: { person: "May it go out?" }\nscope: { only: ["src/**"] }'),
    ".pawl/workflows/ship.yaml": workflow,
  };

  test("those of pawl.yaml and of workflows, each once; those that need a run are listed and do not count", () => {
    const { code, out } = verify(ground(files));
    const names = [...out.matchAll(/^([✓·]) (.*?): /gm)].map(([, sign, name]) => `${sign} ${name}`);
    expect(names).toEqual([
      "✓ ok",
      "✓ file README.md",
      "✓ branch main",
      "· boss",
      "· scope",
      "· evidence tests",
      "· git committed",
      "· Is it good?",
    ]);
    expect(out).toContain("· scope: not asked, needs --base REF");
    expect(out).toContain("· boss: not asked, needs a run");
    expect(out).toContain("3 of 3 gates passed");
    expect(code).toBe(0);
  });

  test("by name; a wrong name is wrong use", () => {
    const place = ground(files);
    expect(verify(place, "ok").out).toMatch(/^✓ ok: [^\n]*\n\n1 of 1 gate passed, not all were asked/);
    const wrong = verify(place, "okay");
    expect(wrong.err).toStartWith(
      "pawl: there is no gate okay\n  hint: the gates here: ok, boss, scope, file README.md, ",
    );
    expect(wrong.code).toBe(2);
    expect(verify(place, "boss")).toMatchObject({ code: 2, err: expect.stringContaining("boss needs a run") });
  });

  test("none: an example with this project's own check", () => {
    const { code, err, out } = verify(ground(SUITE));
    expect(err).toContain("pawl: there are no gates here\n");
    expect(err).toContain("    gates:\n      tests: { tests: [npm, test] }\n");
    expect({ code, out }).toEqual({ code: 2, out: "" });
  });

  test("a file with mistakes is no file without gates", () => {
    const broken = verify(ground({ "pawl.yaml": "gates:\n  a: { rum: [x] }\n" }, { trust: false }));
    expect(broken.err).toContain("pawl.yaml:2:");
    expect(broken.code).toBe(2);
    const flow = verify(
      ground({ ...gates('ok: { run: ["true"] }'), ".pawl/workflows/x.yaml": "name: y\n" }, { trust: false }),
    );
    expect(flow.code).toBe(2);
  });

  test.each([
    [["--check", "x", "--json"]],
    [["--wait", "ok"]],
    [["--prove", "--base", "main"]],
    [["--json", "--markdown"]],
    [["--nope"]],
    [["--base", "no-such-branch"]],
    [["--base", "-x"]],
  ])("wrong use: %j", (args) => {
    const { code, err, out } = verify(ground(files), ...args);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("hint: ");
  });
});

describe("--base", () => {
  const files = gates(
    'js: { shell: "echo x >> .pawl/jobs/ran", when_changed: ["src/**"] }\nscope: { only: ["src/**", "docs/**"] }',
  );

  test("when_changed and only speak of what changed since", () => {
    const place = ground({ ...files, "src/a.js": "1\n" });
    sh(place, "git checkout -q -b topic && mkdir -p docs && echo x > docs/a.md && git add . && git commit -q -m docs");
    const still = verify(place, "--base", "main");
    expect(still.out).toMatch(/^✓ js: skipped: no matching files changed.*\n✓ scope: nothing was changed elsewhere/);
    expect(still.code).toBe(0);
    put(place, { "other.txt": "not committed\n", "src/b.js": "2\n" });
    const moved = verify(place, "--base", "main");
    expect(moved.out).toMatch(/^✓ js: exit 0.*\n✗ scope: changed outside src\/\*\*, docs\/\*\*: other.txt/);
    expect(moved.code).toBe(1);
    expect(basesOf(place)).toEqual([]);
  });

  test("what others did on the base since is not our change", () => {
    const place = ground({ ...files, "src/a.js": "1\n" });
    sh(
      place,
      "git checkout -q -b topic && git checkout -q main && echo x > else.txt && git add . && git commit -q -m else && git checkout -q topic",
    );
    expect(verify(place, "--base", "main").code).toBe(0);
  });

  test("without it such a gate always runs", () => {
    const place = ground({ ...files, "src/a.js": "1\n" });
    expect(verify(place, "js").out).toMatch(/^✓ js: exit 0/);
  });
});

describe("again", () => {
  const counted = (line: string) => gates(`count: { shell: "echo x >> .pawl/jobs/count; ${line}" }`);
  const count = (root: string) => readFileSync(join(root, ".pawl/jobs/count"), "utf8").length / 2;

  test("a pass on the same tree is not run again; on another tree it is", () => {
    const place = ground(counted("exit 0"));
    verify(place);
    expect(verify(place).out).toMatch(/^✓ count: exit 0 @ tree [0-9a-f]{10} \(as before\)\n/);
    expect(count(place.root)).toBe(1);
    put(place, { "new.txt": "x\n" });
    expect(verify(place).out).not.toContain("as before");
    expect(count(place.root)).toBe(2);
  });

  test("a failure always is", () => {
    const place = ground(counted("exit 1"));
    verify(place);
    verify(place);
    expect(count(place.root)).toBe(2);
  });

  test("a pass that was compared with nothing is none with --base", () => {
    const place = ground(counted("exit 0"));
    verify(place);
    expect(verify(place, "--base", "HEAD").out).not.toContain("as before");
    expect(count(place.root)).toBe(2);
  });

  test("what git says is asked again: the same tree can be clean and not", () => {
    const place = ground(gates('both: { all: [{ git: clean }, { run: ["true"] }] }'));
    put(place, { "new.txt": "x\n" });
    sh(place, "git add . && git commit -q -m new");
    expect(verify(place).code).toBe(0);
    sh(place, "git reset -q --soft HEAD~1");
    expect(verify(place)).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^✗ both: git clean: the tree has changes/),
    });
  });

  test("a receipt that someone wrote by hand is not believed", () => {
    const place = ground(counted("exit 1"));
    verify(place);
    const [name] = readdirSync(join(place.root, ".pawl/receipts"));
    const path = `.pawl/receipts/${name}`;
    put(place, { [path]: readFileSync(join(place.root, path), "utf8").replace('"fail"', '"pass"') });
    expect(verify(place)).toMatchObject({ code: 1, out: expect.stringMatching(/^✗ count/) });
  });

  test("jobs leave nothing behind", () => {
    const place = ground(counted("exit 0"));
    verify(place);
    expect(readdirSync(join(place.root, ".pawl/jobs"))).toEqual(["count"]);
  });
});

describe("a command that changes the tree", () => {
  test("once, as a formatter does: all verdicts are about what it made", () => {
    const place = ground(gates('first: { run: ["true"] }\nformat: { shell: "echo formatted > out.txt" }'));
    const { code, out } = verify(place, "--json");
    const receipt = JSON.parse(out);
    expect(code).toBe(0);
    expect(receipt.verdicts.map(({ tree }: { tree: string }) => tree)).toEqual([receipt.tree, receipt.tree]);
    expect(verify(place, "--json").code).toBe(0);
  });

  test("each time: it proves nothing, and the file is named", () => {
    const place = ground(gates('clock: { shell: "echo x >> out.txt" }'));
    const { code, out } = verify(place);
    expect(out).toMatch(/^\? clock: the tree changes each time it runs \(out\.txt\)/);
    expect(readFileSync(join(place.root, "out.txt"), "utf8")).toBe("x\nx\n");
    expect(code).toBe(3);
  });
});

test("a gate that calls `pawl verify` does not wait for itself", () => {
  const place = ground(gates(`self: { run: [${PAWL}, verify], timeout: 20 }`));
  const { code, out } = verify(place);
  expect(out).toMatch(/^✗ self: exit 3/);
  expect(out).toContain("? self: it is running already, and this was called from a gate");
  expect(code).toBe(1);
}, 30_000);

test("the receipt is the person's alone, and git does not see it", () => {
  const place = ground(gates('ok: { run: ["true"] }'));
  verify(place);
  const [name] = readdirSync(join(place.root, ".pawl/receipts"));
  expect(statSync(join(place.root, ".pawl/receipts", name!)).mode & 0o777).toBe(0o600);
  expect(sh(place, "git status --short")).toBe("");
});

test.each(["SIGINT", "SIGTERM"] as const)(
  "%s ends the command with everything it started, and says so",
  async (signal) => {
    const place = ground(gates('slow: { shell: "sleep 300 & echo $! > .pawl/jobs/pid; wait" }'));
    const child = verifying(place);
    const pidFile = join(place.root, ".pawl/jobs/pid");
    await until("the command runs", () => existsSync(pidFile) && readFileSync(pidFile, "utf8").trim() !== "");
    const pid = Number(readFileSync(pidFile, "utf8"));
    child.kill(signal);
    expect(await child.exited).toBe(130);
    expect(await new Response(child.stderr).text()).toBe(
      "pawl: interrupted: ended slow and everything it started; nothing was recorded\n",
    );
    await until(
      "its child is gone",
      () => !existsSync(`/proc/${pid}`) || /^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, "utf8")),
    );
    expect(existsSync(join(place.root, ".pawl/receipts"))).toBe(false);
    expect(basesOf(place)).toEqual([]);
  },
  30_000,
);
