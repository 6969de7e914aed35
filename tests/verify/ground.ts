/** A project with gates that a person approved, and `pawl verify` in it. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { trustProject } from "../harness/grant-trust.ts";
import { makePlace, PAWL, type Place, type Ran, shell } from "../harness/harness.ts";
import { runInProcess } from "../harness/in-process.ts";

/** Committed as they are, except `pawl.yaml`, which is committed too: the tree is clean. */
export function ground(files: Record<string, string>, options: { trust?: boolean } = {}): Place {
  const place = makePlace();
  const temp = join(place.base, "tmp");
  mkdirSync(temp);
  const { AI_AGENT: _agent, ...env } = place.env;
  const own = { ...place, env: { ...env, NO_COLOR: "1", TMPDIR: temp } };
  put(own, files);
  sh(own, "git add -A && git commit -q -m files");
  if (options.trust !== false) trust(own);
  return own;
}

export function put({ root }: Place, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

export function sh(place: Place, script: string): string {
  const { code, out, err } = shell(place, script);
  if (code !== 0) throw new Error(`${script}: exit ${code}: ${err}`);
  return out;
}

export const trust = trustProject;

export const verify = (place: Place, ...args: string[]): Ran => runInProcess(place, ["verify", ...args]);

/** In the background, to be waited for or told to end. */
export const verifying = (place: Place, ...args: string[]) =>
  Bun.spawn({ cmd: [PAWL, "verify", ...args], cwd: place.root, env: place.env, stdout: "pipe", stderr: "pipe" });

export async function until(what: string, isSo: () => boolean, ms = 20_000): Promise<void> {
  const end = performance.now() + ms;
  while (!isSo()) {
    if (performance.now() > end) throw new Error(`it did not come to this: ${what}`);
    await Bun.sleep(20);
  }
}

/** Everything in the project but git's and Pawl's own, with what git ignores. */
export const fingerprint = (place: Place) =>
  sh(
    place,
    "find . -path ./.git -prune -o -path ./.pawl -prune -o -print0 | sort -z | xargs -0 ls -ld --time-style=full-iso; find . -path ./.git -prune -o -path ./.pawl -prune -o -type f -print0 | sort -z | xargs -0 sha256sum; git worktree list; git stash list; cat .git/config",
  );

export const scratches = (place: Place) =>
  readdirSync(join(place.base, "tmp")).filter((name) => name.startsWith("pawl-prove-"));

export const SUITE = {
  "package.json": '{"type":"module","scripts":{"test":"node --test"}}',
  "add.js": "export const add = (a, b) => a + b;\n",
  "test/add.test.js": `import assert from "node:assert";
import test from "node:test";
import { add } from "../add.js";
test("adds", () => assert.equal(add(1, 2), 3));
test("adds nothing", () => assert.equal(add(1, 0), 1));
`,
};

/** The folders in which trees to compare with are kept for this home's projects. */
export const basesOf = (place: Place): string[] => {
  const all = join(place.env.HOME!, ".local/state/pawl/bases");
  const projects = existsSync(all) ? readdirSync(all) : [];
  return projects.flatMap((project) => readdirSync(join(all, project))).filter((name) => name !== "results");
};
