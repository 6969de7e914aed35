/** One contract for all trackers, against the stand-ins, and against the real programs where they are installed. */
import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Task } from "../../src/kernel/types/task.ts";
import { FIELDS } from "../../src/trackers/github.ts";
import { openTracker, type Tracker } from "../../src/trackers/index.ts";
import { ACTOR, claimers, KINDS, makeWorld, run, value, type World, word } from "./world.ts";

const LABEL = "auto-workflow";
const ids = (tasks: Task[]) => tasks.map((task) => task.id);

type Contract = (tracker: Tracker, world: World) => void | Promise<void>;

const CONTRACT: Record<string, Contract> = {
  "nothing to do is an empty list, not a failure": (tracker) => {
    expect(tracker.list({ label: "other" })).toEqual({ kind: "ok", value: [] });
    expect(tracker.ready({ labels: ["other"] })).toEqual({ kind: "ok", value: [] });
    expect(tracker.list({ state: "closed" })).toEqual({ kind: "ok", value: [] });
  },
  "a new task shows what it was given": (tracker) => {
    const made = value(
      tracker.create({ title: "Fix the login", text: "It must\nwork.", labels: [LABEL], priority: 1 }),
    );
    expect(made).toMatchObject({ title: "Fix the login", state: "open", labels: expect.arrayContaining([LABEL]) });
    expect(made).toMatchObject({ priority: 1, owner: null, blocked_by: [], text: "It must\nwork." });
    expect(value(tracker.show(made.id))).toEqual(made);
    expect(ids(value(tracker.list({ label: LABEL })))).toContain(made.id);
  },
  "text that looks like options, shell or tasks stays text": (tracker) => {
    const text = "--help $(touch x) `id`; \"quotes\" 'single'\n- [ ] **Not a task**";
    const made = value(tracker.create({ title: "--title -x $HOME; rm 2**3  *", text }));
    expect(value(tracker.show(made.id))).toMatchObject({ title: "--title -x $HOME; rm 2**3  *", text });
  },
  "ready: priority first, then age; what waits for another, or is claimed or closed, is not in it": (tracker) => {
    const label = LABEL;
    const low = value(tracker.create({ title: "Low", labels: [label], priority: 3 }));
    const old = value(tracker.create({ title: "Zebra, the older one", labels: [label] }));
    const young = value(tracker.create({ title: "Aardvark, the younger one", labels: [label] }));
    const first = value(tracker.create({ title: "First", labels: [label], priority: 0 }));
    const waits = value(tracker.create({ title: "Waits", labels: [label], priority: 0, blocked_by: [first.id] }));
    const taken = value(tracker.create({ title: "Taken", labels: [label], priority: 0 }));
    value(tracker.create({ title: "Of another scope", labels: ["other"], priority: 0 }));
    value(tracker.claim(taken.id, "pawl-other"));
    const scope = { labels: [label] };
    expect(ids(value(tracker.ready(scope)))).toEqual([first.id, old.id, young.id, low.id]);
    expect(value(tracker.show(waits.id)).blocked_by).toEqual([first.id]);
    value(tracker.close(first.id, "done"));
    expect(ids(value(tracker.ready(scope)))).toEqual([waits.id, old.id, young.id, low.id]);
    expect(value(tracker.show(waits.id)).blocked_by).toEqual([]);
    expect(ids(value(tracker.list({ label, state: "claimed" })))).toEqual([taken.id]);
    expect(ids(value(tracker.list({ label, state: "closed" })))).toEqual([first.id]);
  },
  "ready: several labels are alternatives, a star stands for an ending": (tracker) => {
    const plain = value(tracker.create({ title: "Plain", labels: [LABEL], priority: 1 }));
    const quick = value(tracker.create({ title: "Quick", labels: ["auto-workflow:quick-fix"], priority: 0 }));
    value(tracker.create({ title: "Other", labels: ["other"] }));
    expect(ids(value(tracker.ready({ labels: [LABEL, "auto-workflow:quick-fix"] })))).toEqual([quick.id, plain.id]);
    expect(ids(value(tracker.ready({ labels: ["auto-workflow:*"] })))).toEqual([quick.id]);
    expect(value(tracker.ready({ labels: [] })).length).toBe(3);
  },
  "claim: whose it is and since when; again by the same is the same": (tracker) => {
    const { id } = value(tracker.create({ title: "Claim me" }));
    const claimed = value(tracker.claim(id, ACTOR));
    expect(claimed).toMatchObject({ id, state: "claimed", owner: ACTOR, claimed_on: tracker.here });
    expect(Math.abs(Date.parse(claimed.claimed_at!) - Date.now())).toBeLessThan(60_000);
    expect(word(tracker.claim(id, ACTOR))).toBe("ok");
    expect(value(tracker.show(id)).owner).toBe(ACTOR);
  },
  "claim: taken by another, or closed": (tracker) => {
    const { id } = value(tracker.create({ title: "Claim me" }));
    value(tracker.claim(id, "pawl-other"));
    expect(tracker.claim(id, ACTOR)).toMatchObject({
      kind: "failed",
      code: "taken",
      why: expect.stringContaining("pawl-other"),
    });
    expect(value(tracker.show(id)).owner).toBe("pawl-other");
    value(tracker.close(id, "done"));
    expect(word(tracker.claim(id, ACTOR))).toBe("refused");
  },
  "claim: of eight processes one wins": async (tracker, world) => {
    const { id } = value(tracker.create({ title: "Race", labels: [LABEL] }));
    const racers = await claimers(world, id, 8);
    const won = racers.filter((racer) => racer.word === "ok");
    expect(racers.map((racer) => racer.word).sort()).toEqual([...Array(1).fill("ok"), ...Array(7).fill("taken")]);
    expect(value(tracker.show(id))).toMatchObject({ state: "claimed", owner: won[0]!.actor });
  },
  "close and reopen: nobody's again": (tracker) => {
    const { id } = value(tracker.create({ title: "Close me", labels: [LABEL] }));
    value(tracker.claim(id, ACTOR));
    expect(value(tracker.close(id, "all done -- really"))).toMatchObject({ state: "closed" });
    expect(word(tracker.close(id, "again"))).toBe("ok");
    expect(ids(value(tracker.list({ label: LABEL })))).not.toContain(id);
    expect(value(tracker.reopen(id))).toMatchObject({ state: "open", owner: null });
    expect(word(tracker.reopen(id))).toBe("ok");
    expect(value(tracker.claim(id, "pawl-next"))).toMatchObject({ owner: "pawl-next" });
    expect(value(tracker.reopen(id))).toMatchObject({ state: "open", owner: null });
  },
  "labels: added once, removed, also when they are not there": (tracker) => {
    const { id } = value(tracker.create({ title: "Label me", labels: [LABEL] }));
    expect(value(tracker.label(id, ["needs-review", LABEL], [])).labels.sort()).toEqual([LABEL, "needs-review"]);
    expect(value(tracker.label(id, ["other"], [LABEL, "blocked"])).labels.sort()).toEqual(["needs-review", "other"]);
    expect(ids(value(tracker.list({ label: LABEL })))).not.toContain(id);
  },
  "update: title, text, priority": (tracker) => {
    const { id } = value(tracker.create({ title: "Change me", text: "old" }));
    const changed = value(tracker.update(id, { title: "Changed", text: "new\nlines", priority: 0 }));
    expect(changed).toMatchObject({ title: "Changed", text: "new\nlines", priority: 0 });
    expect(value(tracker.show(changed.id))).toMatchObject({ title: "Changed", text: "new\nlines", priority: 0 });
  },
  "update: blocked, open again, dropped": (tracker) => {
    const { id } = value(tracker.create({ title: "Block me" }));
    expect(value(tracker.update(id, { state: "blocked" })).state).toBe("blocked");
    expect(ids(value(tracker.ready({ labels: [] })))).toEqual([]);
    expect(word(tracker.claim(id, ACTOR))).toBe("refused");
    expect(value(tracker.update(id, { state: "open" })).state).toBe("open");
    expect(["closed", "dropped"]).toContain(value(tracker.update(id, { state: "dropped" })).state);
    expect(value(tracker.list({}))).toEqual([]);
  },
  "comment: kept, and the task stays as it is": (tracker) => {
    const { id } = value(tracker.create({ title: "Talk to me" }));
    value(tracker.create({ title: "Another" }));
    const before = value(tracker.show(id));
    const after = value(tracker.comment(id, "--body one $(id)\n- [ ] **Two**\n## Three Tasks"));
    expect({ ...after, text: "" }).toEqual({ ...before, text: "" });
    expect(value(tracker.list({})).length).toBe(2);
  },
  "an unknown id is an unknown id, whatever is asked": (tracker) => {
    value(tracker.create({ title: "There is one" }));
    const id = tracker.name === "github" ? "4711" : "app-4711";
    const words = [
      tracker.show(id),
      tracker.claim(id, ACTOR),
      tracker.close(id, "x"),
      tracker.reopen(id),
      tracker.update(id, { title: "x" }),
      tracker.label(id, [LABEL], []),
      tracker.comment(id, "x"),
    ].map(word);
    expect(words).toEqual(Array(7).fill("unknown-id"));
  },
  "what could be an option is no id, label or actor": (tracker) => {
    const bad = ["--help", "-x", "a b", "", "../x", "a;b", "x\n--y", "a".repeat(300)];
    for (const id of bad) expect(["bad-argument", "unknown-id"]).toContain(word(tracker.show(id)));
    for (const id of bad) expect(["bad-argument", "unknown-id"]).toContain(word(tracker.close(id, "x")));
    const { id } = value(tracker.create({ title: "Good" }));
    for (const name of ["--help", "-x", "", "a,b", "x\ny"])
      expect(word(tracker.label(id, [name], []))).toBe("bad-argument");
    for (const actor of ["--help", "", "a b", "a@b"]) expect(word(tracker.claim(id, actor))).toBe("bad-argument");
    expect(word(tracker.create({ title: " " }))).toBe("bad-argument");
    expect(word(tracker.create({ title: "x", priority: 7 }))).toBe("bad-argument");
    expect(word(tracker.comment(id, "x\0y"))).toBe("bad-argument");
  },
};

describe.each(KINDS)("%s", (kind) => {
  for (const [name, contract] of Object.entries(CONTRACT)) {
    test(name, async () => {
      const world = makeWorld(kind);
      try {
        await contract(world.tracker, world);
      } finally {
        world.remove();
      }
    }, 60_000);
  }
});

// ── The real programs ───────────────────────────────────────────────────────

const BD = Bun.which("bd");

describe.skipIf(BD === null)(`the real bd (${BD ?? "not installed, so skipped"})`, () => {
  for (const [name, contract] of Object.entries(CONTRACT)) {
    test(name, async () => {
      const root = mkdtempSync(join(tmpdir(), "pawl-real-bd-"));
      try {
        run(["git", "init", "-q"], root);
        run(["bd", "init", "--prefix", "app"], root);
        const tracker = value(openTracker(root, { kind: "beads", deadline_ms: 60_000 }));
        await contract(tracker, { root, tracker, remove() {} });
      } finally {
        rmSync(root, { recursive: true, force: true });
      }
    }, 120_000);
  }
});

const GH = Bun.which("gh");

/** Without an account and a repository to write to, its own help has to do: does it know what we ask? */
describe.skipIf(GH === null)(`the real gh (${GH ?? "not installed, so skipped"})`, () => {
  const rows: [string, string[]][] = [
    ["list", ["--state", "--limit", "--label", "--json", "--repo", ...FIELDS.split(",")]],
    ["view", ["--json", ...FIELDS.split(",")]],
    ["create", ["--title", "--body", "--label", "--milestone"]],
    ["edit", ["--title", "--body", "--add-label", "--remove-label", "--add-assignee", "--remove-assignee"]],
    ["close", ["--reason", "--comment"]],
    ["reopen", ["--repo"]],
    ["comment", ["--body"]],
  ];
  test.each(rows)("gh issue %s", (command, words) => {
    const help = run(["gh", "issue", command, "--help"], tmpdir());
    for (const word of words) expect(help).toContain(word);
  });
});
