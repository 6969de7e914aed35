/** The line below the prompt of the real client's screen: the next task, the run at work, the person's own above it. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readCost } from "../../src/store/cost.ts";
import { inHome } from "../harness/sealing.ts";
import { openControls, pawl, TASKS } from "./controls.ts";
import { bash, until } from "./gated.ts";
import { type Reply, say } from "./model.ts";
import type { Project } from "./project.ts";
import { promise } from "./scenario.ts";

setDefaultTimeout(120_000);

/** The agent's own command lasts until the test has seen what it wants to see. */
const pause = (name: string): Reply =>
  bash(`for i in $(seq 1200); do [ -e "$HOME/${name}" ] && exit 0; sleep 0.05; done; exit 1`);
const goOn = ({ home }: Project, name: string) => writeFileSync(join(home, name), "");

const NEXT = /^ *Next: Implement ambient awareness\b/m;
/** Theirs reads what the client gives it, and says which folder it runs in. */
const OWN = `node -e 'const {model} = JSON.parse(require("fs").readFileSync(0, "utf8")); console.log("MINE: " + model.id + " in " + process.cwd())'`;
const ownLine = (root: string) => new RegExp(`^ *MINE: claude-\\S+ in ${RegExp.escape(root)}(\\s|$)`, "m");

const OWN_SETTINGS = JSON.stringify({ statusLine: { type: "command", command: OWN, padding: 1 } });

test("without a run the next task; with one its stages; when it is over, the next task again", async () => {
  const turns = [
    pause("first"),
    promise("MEMORY_UPDATED"),
    pause("second"),
    promise("REVIEW_COMPLETE"),
    promise("CLEANUP_SKIPPED"),
    promise("WORKFLOW_COMPLETE"),
  ];
  await using scene = await openControls({ turns });
  const screen = await scene.look();
  await screen.waitFor(NEXT);
  await screen.submit("/complete-work");
  await screen.waitFor(/^ *complete-work {2}◉ ○ ○ ○ {2}MEMORY {2}1 of 4, 0 min\b/m);
  expect(screen.screen()).not.toMatch(NEXT);
  goOn(scene.project, "first");
  await screen.waitFor(/^ *complete-work {2}● ◉ ○ ○ {2}REVIEW {2}2 of 4, \d min\b/m);
  goOn(scene.project, "second");
  await screen.waitFor(NEXT);
  await until(async () => (await scene.run()).outcome === "completed");
  expect(screen.frames().filter((frame) => /hook error/i.test(frame))).toEqual([]);
});

test("x takes the task: the line goes on to the one after it", async () => {
  await using scene = await openControls({ turns: [], otherwise: () => say("So be it.") });
  const screen = await scene.look();
  await screen.waitFor(NEXT);
  await screen.submit("x");
  await screen.waitFor(/^ *Next: Design runbook identifiers\b/m);
});

test("a task that is done elsewhere: the line changes by itself, without a key pressed", async () => {
  await using scene = await openControls({ turns: [] });
  const screen = await scene.look();
  await screen.waitFor(NEXT);
  const path = join(scene.project.root, "session.md");
  const text = readFileSync(path, "utf8");
  writeFileSync(path, text.replace(/^- \[ \](.*Implement ambient awareness)/m, "- [x]$1"));
  await screen.waitFor(/^ *Next: Design runbook identifiers\b/m);
});

test("what the client says a run costs is kept with it", async () => {
  await using scene = await openControls({ turns: [promise("MEMORY_UPDATED"), pause("first"), pause("second")] });
  const screen = await scene.look();
  await screen.waitFor(NEXT);
  await screen.submit("/complete-work");
  await screen.waitFor(/● ◉ ○ ○ {2}REVIEW/);
  const { id } = await scene.run();
  await until(async () => costOf(scene.project, id) !== null);
  goOn(scene.project, "first");
  await until(async () => costOf(scene.project, id)!.usd > 0);
  goOn(scene.project, "second");
});

const costOf = ({ root, home }: Project, id: string) => inHome(home, () => readCost(root, id));

describe("the person's own line", () => {
  const ways: [where: string, path: string][] = [
    ["in this project, for them alone", "project/.claude/settings.local.json"],
    ["in this project, the team's", "project/.claude/settings.json"],
    ["in their home", "home/.claude/settings.json"],
  ];

  /** Theirs and what stands right below it. */
  function pair(screen: string, own: RegExp): string[] {
    const lines = screen.split("\n");
    const at = lines.findIndex((line) => own.test(line));
    return lines.slice(at, at + 2);
  }

  test("stays above the stages of a chain that a shortcut began", async () => {
    await using scene = await openControls(
      { turns: [pause("seen")], otherwise: () => say("So be it.") },
      { files: { "session.md": TASKS, ".claude/settings.json": OWN_SETTINGS } },
    );
    const own = ownLine(scene.project.root);
    const screen = await scene.look();
    await screen.waitFor(NEXT);
    await screen.submit("hc");
    const bar = /^ *tail {2}◉ ○ ○ {2}HANDOFF {2}1 of 3, 0 min\b/m;
    await screen.waitFor(bar);
    expect(pair(screen.screen(), own)).toEqual([expect.stringMatching(own), expect.stringMatching(bar)]);
    goOn(scene.project, "seen");
    await screen.waitFor(/ended without handoff/);
    await screen.waitFor(NEXT);
  });

  test.each(ways)("%s: theirs is still shown, ours below it, and theirs alone after uninstall", async (_, path) => {
    await using scene = await openControls({ turns: [] }, { files: { "session.md": TASKS }, init: null });
    const { project } = scene;
    const file = join(project.root, "..", path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, OWN_SETTINGS);
    const own = ownLine(project.root);
    const plain = await scene.look();
    await plain.waitFor(own);
    expect(plain.screen()).not.toMatch(NEXT);
    await plain.close();

    await pawl(project, "init", "--with", "all", "--yes");
    const both = await scene.look();
    await both.waitFor(NEXT);
    expect(pair(both.screen(), own)).toEqual([expect.stringMatching(own), expect.stringMatching(NEXT)]);
    await both.close();

    await pawl(project, "uninstall", "--yes");
    expect(readFileSync(file, "utf8")).toBe(OWN_SETTINGS);
    const again = await scene.look();
    await again.waitFor(own);
    expect(again.frames().filter((frame) => NEXT.test(frame))).toEqual([]);
  });
});
