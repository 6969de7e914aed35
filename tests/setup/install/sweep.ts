/** In a process of its own, with faults preloaded: installs (or takes out) again and again, each time another call of the disk fails. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { applyChanges } from "../../../src/setup/install/apply.ts";
import { planInit } from "../../../src/setup/install/plan.ts";
import { planRemoval } from "../../../src/setup/install/remove.ts";
import { installTarget } from "../../../src/setup/install/target.ts";
import { sampled } from "../../harness/sampled.ts";
import type { Faults } from "../../store/faults.ts";
import { put, snapshot } from "./ground.ts";

const { faults } = globalThis as unknown as { faults: Faults };
const parts = { "complete-work": true, shortcuts: false, auto: true, formal: true, statusline: true };
const WISHES = { claudeMd: true, config: "guard: tell\n", fragment: true, parts };
const [what, base] = process.argv.slice(2) as ["in" | "out" | "once", string];

/** Counts only while the files are changed: reading is over by then. */
function applied(root: string, at: number): string {
  const target = installTarget("local", root);
  const plan = what !== "out" ? planInit(target, WISHES, "1") : planRemoval(target, ["local"], true);
  const before = JSON.stringify(snapshot(root));
  Object.assign(faults, { at, count: 0, hit: "" });
  let said = "";
  try {
    applyChanges(plan.changes);
  } catch (error) {
    said = String(error);
  }
  const { hit, count } = faults;
  Object.assign(faults, { at: 0 });
  return JSON.stringify({ at, hit, count, said, same: JSON.stringify(snapshot(root)) === before });
}

function furnished(name: string): string {
  const root = join(base, name);
  mkdirSync(join(root, ".git/objects"), { recursive: true });
  put(root, "CLAUDE.md", "# Mine\n");
  put(root, ".claude/settings.local.json", '{"a":1,"statusLine":{"type":"command","command":"date"}}');
  if (what !== "out") return root;
  const target = installTarget("local", root);
  applyChanges(planInit(target, WISHES, "1").changes);
  return root;
}

const { at: killAt } = faults;
Object.assign(faults, { at: 0 });
if (what === "once") console.log(applied(furnished("project"), killAt));
else {
  const calls = (JSON.parse(applied(furnished("whole"), 0)) as Faults).count;
  for (const at of sampled(calls, 5)) console.log(applied(furnished(String(at)), at));
}
