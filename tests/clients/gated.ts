/** A project with a suite of its own and checks before its claims, set up by `pawl init`, for the real client. */
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Script, use } from "./model.ts";
import { PAWL, type Project } from "./project.ts";
import { openScenario } from "./scenario.ts";

export const ALLOWED = { allow: ["Bash", "Read", "Edit", "Write", "Agent", "Skill"] };
export const bash = (command: string) => use("Bash", { command, description: "Step" });

const TESTS = `import { test } from "node:test";
import assert from "node:assert";
import { add, take } from "../src/sum.mjs";
test("adds", () => assert.equal(add(1, 1), 2));
test("adds nothing", () => assert.equal(add(1, 0), 1));
test("takes", () => assert.equal(take(3, 1), 2));
`;

export const SUM = "export const add = (a, b) => a + b;\nexport const take = (a, b) => a - b;\n";
export const BROKEN_SUM = SUM.replace("a - b", "b - a");

export const suite = (sum: string) => ({ "src/sum.mjs": sum, "tests/sum.test.mjs": TESTS });

/** One stage whose only claim has to pass these gates. */
export const ship = (gates: string) => ({
  ".pawl/workflows/ship.yaml": `name: ship
signals: promise
arm: ["/ship"]
stages:
  - id: build
    say: Build it.
    on:
      BUILT: { end: completed, gates: [${gates}] }
      BROKEN: { halt: "It cannot be built" }
`,
});

export interface Ground {
  files: Record<string, string>;
  /** what no one has approved does not run */
  untrusted?: true;
}

/** Committed, approved as a person does it, installed as a person does it. */
export async function openGated(script: Script, { files, untrusted }: Ground) {
  const scene = await openScenario(script, { bare: true });
  const { project } = scene;
  for (const [path, text] of Object.entries(files)) put(project, path, text);
  await project.git("add", "--all", "--force");
  await project.git("commit", "-q", "-m", "A suite");
  if (!untrusted)
    await ran(project, [process.execPath, resolve(import.meta.dir, "../harness/grant-trust.ts"), project.root]);
  await ran(project, [PAWL, "init", "--with", "all", "--yes"]);
  return scene;
}

export function put(project: Project, path: string, text: string): void {
  const target = join(project.root, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, text);
  if (path.endsWith(".sh")) chmodSync(target, 0o755);
}

async function ran(project: Project, cmd: string[]): Promise<void> {
  const env = { HOME: project.home, PATH: "/usr/bin:/bin" };
  const child = Bun.spawn(cmd, { cwd: project.root, env, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const err = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`${cmd.join(" ")}: ${err}`);
}

/** Polls for what has to come; never sleeps and hopes. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`it never came: ${holds}`);
    await Bun.sleep(20);
  }
}
