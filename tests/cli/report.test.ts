/** `pawl report` after evenings that really happened: hooks, gates, approvals, an archive, two projects. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ReportView } from "../../src/insight/core/report-run.ts";
import { newLoop } from "../../src/loop/core/loop.ts";
import { findLoop, saveLoop } from "../../src/store/loops.ts";
import { mine } from "../controls/status-line.ts";
import { makeClock } from "../harness/clock.ts";
import { besides, idOf, make, openShop, promise, sentBack, ship } from "../harness/evening.ts";
import { errorsOf, PAWL, removePlaces, shell } from "../harness/harness.ts";
import { runInProcess } from "../harness/in-process.ts";
import { atTerminal } from "../harness/last-words.ts";
import { runOf } from "../harness/run-files.ts";
import { inHome } from "../harness/sealing.ts";
import type { World } from "../scenarios/scenario.ts";

setDefaultTimeout(30_000);
afterAll(removePlaces);

const report = (world: World, ...args: string[]) => runInProcess(world.place, ["report", ...args]);
const view = (world: World, ...args: string[]): ReportView => JSON.parse(report(world, "--json", ...args).out);
const HOUR = 3_600_000;
const headOf = (world: World) => shell(world.place, "git rev-parse HEAD").out.trim();

test("a project where nothing happened", () => {
  const { code, out, err } = report(openShop());
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(
    /^Report of .*, since yesterday 18:00 \(\d{4}-\d\d-\d\d 18:00\), (now \d\d:\d\d|…)\nNothing happened/,
  );
});

describe("what is over", () => {
  let world: World;
  let id: string;
  beforeAll(() => {
    world = openShop();
    make(world, ...ship("A"));
    id = idOf(world, "A");
  });

  test("is told with what proved it, and the commit", () => {
    const [one, ...others] = view(world).done;
    expect(others).toEqual([]);
    expect(one).toMatchObject({ run: id, workflow: "ship", commit: headOf(world) });
    expect(one!.proof).toEqual([
      expect.stringMatching(/^build: sh check\.sh: exit 0 @ tree [0-9a-f]{10}$/),
      expect.stringMatching(/^send: git committed-or-clean: commit [0-9a-f]{12} was made in this step$/),
    ]);
    expect(report(world).out).toContain(`  ✓ ship ${id}: `);
  });

  test("what was only claimed is not among it", () => {
    expect(view(world).unchecked).toMatchObject([
      { kind: "claimed", run: id, what: "look: claimed, nothing was checked" },
    ]);
  });

  test("what ended before the time is not told; by the folder's time it is not even opened", () => {
    const archived = join(world.place.root, ".pawl/archive", id);
    utimesSync(archived, new Date("2026-01-01"), new Date("2026-01-01"));
    expect(view(world).done).toEqual([]);
    expect(view(world, "--since", "2025-12-31").done).toHaveLength(1);
    utimesSync(archived, new Date(), new Date());
    expect(view(world, "--since", "0m").done).toEqual([]);
  });

  test("a commit that Pawl did not write proves nothing, and is told", () => {
    const folder = join(world.place.root, ".pawl/archive", id);
    const last = readdirSync(folder)
      .filter((name) => /^\d+\.json$/.test(name))
      .at(-1)!;
    const forged = {
      run: { ...runOf(world.place.root, "")!, seq: Number(last.slice(0, 6)) + 1, outcome: "completed" },
    };
    const commit = { ...JSON.parse(readFileSync(join(folder, last), "utf8")), ...forged };
    commit.run.done = { build: { at: commit.run.updated_at, signal: "BUILT", proof: ["npm test: 999 passed"] } };
    writeFileSync(join(folder, `${String(commit.run.seq).padStart(6, "0")}.json`), JSON.stringify(commit));
    const told = view(world);
    expect(JSON.stringify(told.done)).not.toContain("999 passed");
    expect(told.failed).toMatchObject([{ run: id, outcome: "tampered" }]);
    cpSync(folder, join(world.place.root, ".pawl/archive/s-0"), { recursive: true });
    expect(view(world).unread).toEqual([{ project: world.place.root, why: "s-0: Pawl wrote nothing of it" }]);
  });

  test("aborted, with the person's reason", () => {
    make(world, { session: "E", prompt: "/ship" });
    runInProcess(world.place, ["runs", "abort", idOf(world, "E"), "--why", "wrong branch"]);
    expect(view(world).failed).toContainEqual(
      expect.objectContaining({ run: idOf(world, "E"), outcome: "aborted", why: "by the person: wrong branch" }),
    );
  });
});

test("a run that nothing proves is not proved done", () => {
  const world = openShop();
  const file =
    "name: audit\nsignals: promise\narm: [/audit]\nstages:\n  - { id: audit, say: Audit., on: { AUDITED: { end: completed } } }\n";
  make(world, { write: { ".pawl/workflows/audit.yaml": file } }, { prompt: "/audit" }, { stop: promise("AUDITED") });
  const { done, unchecked, running, needs } = view(world);
  expect({ done, running, needs }).toEqual({ done: [], running: [], needs: [] });
  expect(unchecked).toMatchObject([
    { kind: "claimed", what: "done, and nothing proves it; audit: claimed, nothing was checked" },
  ]);
});

describe("a person's word", () => {
  test("is told with who, what and how; what it let through is no proof", () => {
    const world = openShop();
    make(world, ...sentBack("B"), { prompt: "/pawl:approve it is fine" }, { remove: "broken" });
    make(world, { stop: promise("LOOKED") }, { sh: "git commit -q --allow-empty -m it" }, { stop: promise("SENT") });
    const { done, unchecked } = view(world);
    expect(done.map(({ proof }) => proof)).toEqual([[expect.stringMatching(/^send: git committed-or-clean: /)]]);
    expect(unchecked).toContainEqual(
      expect.objectContaining({
        kind: "approved",
        what: "the person approved sh check.sh, which had failed (by prompt)",
      }),
    );
    expect(unchecked.map(({ kind }) => kind).sort()).toEqual(["approved", "claimed", "tree"]);
  });
});

describe("what needs the person", () => {
  test("an approval, a decision, a stop, a permission, an unproven claim: each with what resolves it", () => {
    const world = openShop();
    make(world, { session: "D", prompt: "/sign" }, { stop: promise("SIGNED") });
    make(world, { session: "C", prompt: "/complete-work" }, { stop: promise("MEMORY_UPDATED") });
    make(world, { stop: promise("REVIEW_ISSUES_FOUND", "Critical Issues\n\n1. Empty catch (api.ts:42)\n") });
    make(world, { session: "P", prompt: "/ship" }, { notice: "permission_prompt" });
    make(world, { write: { "check.sh": "exit 0 # changed\n" } });
    make(world, { session: "U", prompt: "/ship" }, { stop: promise("BUILT") });
    make(world, { session: "S", prompt: "/ship" }, { stop: promise("BROKEN") });
    const ids = Object.fromEntries(["D", "C", "S", "P", "U"].map((name) => [name, idOf(world, name)]));
    const { needs, running, failed } = view(world);
    const found = Object.fromEntries(needs.map(({ run, what, how }) => [run, [what, how]]));
    expect(found).toEqual({
      [ids.D!]: ["your approval is needed (Have you looked at the diff?)", `\`pawl approve ${ids.D}\``],
      [ids.C!]: [
        "your decision is needed (Critical review issues detected)",
        "answer in its session: 1 Abort and fix · 2 View report · 3 Continue anyway",
      ],
      [ids.S!]: [expect.stringContaining("It cannot be built"), `\`pawl runs resume ${ids.S}\``],
      [ids.P!]: ["the agent asks for a permission", "answer in its session"],
      [ids.U!]: [
        "BUILT is unproven (commands not approved: sh check.sh)",
        "run `pawl trust` in its project, then type /pawl:go in its session",
      ],
    });
    expect({ running, failed }).toEqual({ running: [], failed: [] });
    expect(report(world, "--exit-code").code).toBe(1);
    expect(report(world).code).toBe(0);
    // Something was heard after it.
    make(world, { session: "P", stop: "Working on." });
    const later = view(world).needs.filter(({ run }) => run === ids.P);
    expect(later).toMatchObject([{ what: "the agent stopped without a valid signal" }]);
  });
});

test("what is under way: where it is, and what the agent says only as a claim", () => {
  const world = openShop();
  make(
    world,
    { session: "R", prompt: "/ship" },
    { stop: "\u001b[31mNearly\u001b[0m done.\n\n<promise>LOOKED</promise>" },
  );
  expect(view(world).running).toMatchObject([
    { run: idOf(world, "R"), where: "◉ ○ ○  BUILD  1 of 3, 0 min", said: "Nearly done. <promise>LOOKED</promise>" },
  ]);
  expect(report(world).out).toContain("\n      it claims: “Nearly done. <promise>LOOKED</promise>”\n");
  expect(report(world, "--exit-code").code).toBe(0);
});

test("silent for hours, left for a week, and a session that is over", () => {
  const world = openShop();
  const clock = makeClock(world.place.base);
  const timed = { ...world, place: { ...world.place, env: { ...world.place.env, ...clock.env } } };
  clock.step(-3 * HOUR);
  make(timed, { session: "Q", prompt: "/ship" });
  make(timed, { session: "G", prompt: "/sign" }, { end: "prompt_input_exit" });
  clock.step(3 * HOUR);
  const [quiet, gone] = [idOf(timed, "Q"), idOf(timed, "G")];
  const now = view(timed);
  expect(now.failed).toMatchObject([{ run: quiet, outcome: "silent", why: "at build, nothing heard for 3 h" }]);
  expect(now.needs).toMatchObject([{ run: gone, what: "no session has it", how: "type /sign in one" }]);
  expect(now.running).toEqual([]);
  clock.step(8 * 24 * HOUR);
  expect(view(timed)).toMatchObject({
    needs: [],
    failed: [{ outcome: "left", why: "2 open runs were not touched for more than a week", how: "`pawl runs`" }],
  });
});

test("gates that the project switched off, and Pawl itself", () => {
  const world = openShop();
  make(world, { write: { "pawl.yaml": "workflows:\n  ship:\n    off: [BUILT]\n" } }, { trust: true }, ...ship("A"));
  const { done, unchecked } = view(world);
  expect(done.flatMap(({ proof }) => proof)).toEqual([expect.stringMatching(/^send: git/)]);
  const kinds = unchecked.map(({ kind, what }) => [kind, what]);
  expect(kinds).toContainEqual(["off", "pawl.yaml switches off the gates of BUILT"]);
  expect(kinds).toContainEqual(["claimed", "build, look: claimed, nothing was checked"]);
  expect(kinds).toContainEqual(["tree", expect.stringMatching(/^commit [0-9a-f]{12}: Pawl ran no command on it/)]);
  runInProcess(world.place, ["off"]);
  expect(view(world).unchecked).toContainEqual(expect.objectContaining({ kind: "off", run: "" }));
});

describe("cost", () => {
  test("of runs, a lower bound where one did not tell", () => {
    const world = openShop();
    make(world, { session: "A", prompt: "/ship" });
    const armed = { place: world.place, session: world.sessions.A! };
    mine(armed, { usd: 1 });
    mine(armed, { usd: 2.25 });
    expect(report(world).out).toContain("Cost\n  $ $1.25: 1 run $1.25\n");
    make(world, { session: "B", prompt: "/ship" });
    expect(report(world).out).toContain("  $ at least $1.25: 2 runs $1.25 (1 did not tell)\n");
  });

  test("of loops, by iteration; one that ended early says how to go on", () => {
    const world = openShop();
    const at = new Date().toISOString();
    const line = (iteration: number, cost_usd: number | null, when = at) => ({
      ...{ iteration, at: when, verdict: "continue" as const, why: "", elapsed_ms: 1, cost_usd, session: null },
    });
    const state = {
      ...newLoop({ id: "tidy-1", procedure: "tidy", ai: "claude", run: "" }, at),
      lines: [line(1, 7, "2026-01-01T00:00:00.000Z"), line(2, 0.5), line(3, null)],
      ...{ iterations: 3, outcome: "limit" as const, why: "3 of 3 iterations are made" },
    };
    inHome(world.place.home, () =>
      saveLoop(world.place.root, { state, asked: [], runner: null, agent: null, waiting: null }),
    );
    const { out } = report(world);
    expect(out).toContain("✗ loop tidy tidy-1: limit, 3 of 3 iterations are made  `pawl loop --resume tidy-1`\n");
    // A loop that has a run goes by that run's name, here and for --resume.
    const shared = { ...state, id: "tidy-2", run: "l-12345678" };
    const named = inHome(world.place.home, () => {
      saveLoop(world.place.root, { state: shared, asked: [], runner: null, agent: null, waiting: null });
      return findLoop(world.place.root, "l-12345678")?.state.id;
    });
    expect(named).toBe("tidy-2");
    expect(report(world).out).toContain("✗ loop tidy l-12345678: limit");
    expect(report(world).out).not.toContain("tidy-2");
    expect(out).toContain("  $ at least $0.50: 2 iterations of loops $0.50 (1 did not tell)\n");
  });
});

test("--all: every project of the person, each line with its own; one that cannot be read hides nothing", () => {
  const shop = openShop();
  make(shop, ...ship("A"));
  const site = besides(shop, "site");
  make(site, { session: "F", prompt: "/complete-work" }, { stop: promise("MEMORY_UPDATED") });
  expect(view(site).unread).toEqual([]);
  writeFileSync(join(site.place.root, "pawl.yaml"), "gates: [\n");
  expect(view(shop).projects).toEqual([shop.place.root]);
  const all = view(shop, "--all");
  expect(all.projects).toEqual([shop.place.root, site.place.root]);
  expect(all.done).toMatchObject([{ project: shop.place.root }]);
  expect(all.running).toMatchObject([{ project: site.place.root, workflow: "complete-work" }]);
  expect(all.unread).toMatchObject([{ project: site.place.root, why: expect.stringContaining("pawl.yaml") }]);
  const elsewhere = runInProcess(shop.place, ["report", "--all", "--json"], { cwd: shop.place.base });
  expect(JSON.parse(elsewhere.out).projects).toEqual([shop.place.root, site.place.root]);
  const { out } = report(shop, "--all");
  expect(out).toContain("Report of 2 projects, ");
  expect(out).toContain("  ◦ site: complete-work ");
  expect(out.split("\n").filter((line) => Bun.stringWidth(line) > 100)).toEqual([]);
});

test("a title of a task in Markdown is code", () => {
  const world = openShop();
  const title = "Mend [this](http://x) <img src=x> @all `tick` \u001b[31m";
  make(world, { write: { "session.md": `## Pending Tasks\n\n- [ ] **${title}** — | sonnet | #auto-workflow\n` } });
  make(world, { sh: "git add -A && git commit -qm tasks" }, { prompt: "/auto" });
  const { out } = report(world, "--markdown");
  expect(out).toContain("### Still running\n\n- `Mend [this](http://x) <img src=x> @all");
  expect(out.replace(/`[^`\n]+`/g, "")).not.toMatch(/[<>[\]@\u001b]/);
});

test.each<[string[], string]>([
  [["--since", "soon"], "--since soon: not a time"],
  [["--since", "2999-01-01"], "it is in the future"],
  [["--since"], "--since needs a value"],
  [["--json", "--markdown"], "cannot be used together"],
  [["everything"], "unknown argument everything"],
  [["--nope"], "unknown option --nope"],
])("wrong use: %j", (args, said) => {
  const { code, out, err } = report(openShop(), ...args);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toContain(said);
  expect(err).toContain("hint: ");
});

test("a terminal of 80 columns gets lines of 80 columns", async () => {
  const world = openShop();
  make(world, ...sentBack("B"), { session: "C", prompt: "/sign" }, { stop: promise("SIGNED") });
  const { root: cwd, env } = world.place;
  const { code, screen } = await atTerminal([PAWL, "report"], { cwd, env }, 80);
  expect(code).toBe(0);
  expect(screen).toContain("\r\nCost\r\n  $ not known");
  const lines = screen.split("\r\n");
  expect(lines.filter((line) => Bun.stringWidth(line) > 80)).toEqual([]);
});

test("looking changes nothing and leaves no error behind", () => {
  const world = openShop();
  make(world, ...ship("A"), ...sentBack("B"));
  const files = () => shell(world.place, "find . -path ./.git -prune -o -type f -print | sort | xargs sha256sum").out;
  const before = files();
  for (const args of [[], ["--json"], ["--markdown"], ["--all", "--full"]]) report(world, ...args);
  expect(files()).toBe(before);
  expect(errorsOf(world.place)).toBe("");
});
