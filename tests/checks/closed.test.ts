/** A look-up that fails is never "nothing there", and a comparison that cannot be made is never "unchanged". */
import { describe, expect, test } from "bun:test";
import { rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { judge } from "../../src/checks/core/gate.ts";
import { gatherGit } from "../../src/checks/git.ts";
import { gatherGates } from "../../src/checks/measure.ts";
import { hashSurroundings } from "../../src/checks/tree/surroundings.ts";
import type { Facts, Gate, GateNeed, GitFact } from "../../src/kernel/types/run.ts";
import type { Verdict } from "../../src/kernel/types/verdict.ts";
import { makeWorld } from "../trackers/world.ts";
import { freshProjects, git, put, repository, root, run } from "./tree/tree-place.ts";

freshProjects();

const AT = "2026-11-18T10:00:00.000Z";

function judged(gate: Gate, facts: Facts, base: GitFact | null = null): Verdict {
  return judge(gate, { at: AT, base, entered_at: AT, most_tests: {} }, facts);
}

function measured(gate: Gate, known: Record<string, Verdict> = {}, at = root): Verdict {
  const need: GateNeed = {
    kind: "gates",
    gates: [gate],
    base_tree: "",
    since: AT,
    known,
    entered: {},
    names: {},
    resumed: false,
  };
  const tools = () => ({ ok: true as const, value: [] });
  const facts = gatherGates(need, { root: at, run: "", host: "claude", session: "s", patient: true, tools });
  return judged(gate, { gates: facts.gates } as Facts);
}

describe("git was told not to look", () => {
  const CLEAN = { id: "g", name: "git", git: "clean" } as Gate;

  function begin(): GitFact {
    const fact = gatherGit(root);
    if (!fact.ok) throw new Error(fact.why);
    return fact.value;
  }

  test("at more files than are listed", () => {
    repository();
    const paths = Array.from({ length: 1_001 }, (_, i) => `many/${i}.txt`);
    for (const path of paths) put(path);
    git("add", "-A");
    git("commit", "-qm", "many");
    const base = begin();
    run(root, ["git", "update-index", "--assume-unchanged", "--stdin"], {}, paths.join("\n"));
    put("many/1.txt", "changed\n");
    expect(judged(CLEAN, { git: gatherGit(root) } as Facts, base)).toMatchObject({ verdict: "fail" });
    const marked = begin();
    expect(judged(CLEAN, { git: gatherGit(root) } as Facts, marked)).toMatchObject({ verdict: "pass" });
  });
});

describe("none-ready", () => {
  const GATE = { id: "t", name: "tracker", tracker: "none-ready" } as Gate;

  test("the tracker lists nothing because it fails", () => {
    const world = makeWorld("beads");
    try {
      git("init", "-q", world.root);
      expect(measured(GATE, {}, world.root)).toMatchObject({ verdict: "pass", why: "no task is ready" });
      process.env.BD_DOUBLE_FAULT = "plain:list";
      expect(measured(GATE, {}, world.root)).toMatchObject({
        verdict: "unproven",
        why: expect.stringContaining("the tracker does not answer"),
      });
    } finally {
      world.remove();
    }
  });
});

describe("file", () => {
  test("an ignored file that is gone, on the same tree", () => {
    repository();
    put("build/report.txt");
    const gate = { id: "f", name: "file", file: "build/report.txt" } as Gate;
    const first = measured(gate);
    expect(first).toMatchObject({ verdict: "pass" });
    expect(measured(gate, { f: first })).toMatchObject({ verdict: "pass" });
    rmSync(join(root, "build/report.txt"));
    expect(measured(gate, { f: first })).toMatchObject({ verdict: "fail", why: "it is not there" });
  });
});

describe("surroundings", () => {
  function project(): void {
    repository();
    put(".gitignore", ".venv\nprivate/\n");
    git("add", "-A");
    git("commit", "-qm", "ignore");
  }

  test("installed packages that cannot be listed", () => {
    project();
    put(".venv/pyvenv.cfg");
    expect(hashSurroundings(root).ok).toBe(true);
    symlinkSync("lib", join(root, ".venv/lib"));
    expect(hashSurroundings(root)).toMatchObject({ ok: false });
  });

  test("an ignored folder with more files than are read", () => {
    project();
    for (let i = 0; i < 20; i++) put(`private/${i}/tests/a.py`);
    expect(hashSurroundings(root).ok).toBe(true);
    run(root, ["/bin/sh", "-ec", "mkdir private/many; cd private/many; seq 1 21000 | xargs touch"]);
    expect(hashSurroundings(root)).toMatchObject({ ok: false, why: expect.stringContaining("private/") });
  });
});
