/** A private place without private mounts: what the copy has, where its links lead, and what it refuses. */
import { afterAll, describe, expect, test } from "bun:test";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { copyProject } from "../../../src/checks/baseline/copy.ts";
import { keepBase } from "../../../src/checks/baseline/keep.ts";
import { openPlace, type PlaceSpec } from "../../../src/checks/baseline/place.ts";
import { treeHash } from "../../../src/checks/tree/tree.ts";
import { objectsFolder } from "../../../src/store/bases.ts";
import { withEnvironment } from "../../harness/environment.ts";
import { makePlace, type Place, removePlaces } from "../../harness/harness.ts";

afterAll(removePlaces);

function project(files: Record<string, string>): Place {
  const place = makePlace();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place.root, path)), { recursive: true });
    writeFileSync(join(place.root, path), text);
  }
  return place;
}

const noMounts = () => false;
const asItIs: PlaceSpec = { tree: "", objects: "", restore: [], remove: [], texts: {}, copies: {} };

function copy(place: Place, spec: Partial<PlaceSpec> = {}) {
  const objects = join(place.base, "objects");
  const hashed = treeHash(place.root, objects);
  if (!hashed.ok) throw new Error(hashed.why);
  return openPlace(place.root, { ...asItIs, tree: hashed.value, objects, ...spec }, noMounts);
}

describe("a copy", () => {
  test("has the project's files, dependencies too, and nothing of git or Pawl", () => {
    const place = project({
      "a.js": "1",
      "node_modules/x/i.js": "2",
      ".pawl/jobs/j/1/spec.json": "{}",
      "p/__pycache__/a": "",
    });
    const { root, copied, close } = copy(place);
    expect(copied).toBe(true);
    expect(root.startsWith(`${place.root}/`)).toBe(false);
    expect(readFileSync(join(root, "node_modules/x/i.js"), "utf8")).toBe("2");
    for (const path of [".git", ".pawl/jobs", "p/__pycache__"]) expect(existsSync(join(root, path))).toBe(false);
    expect(lstatSync(join(root, "a.js")).ino).not.toBe(lstatSync(join(place.root, "a.js")).ino);
    close();
    expect(existsSync(root)).toBe(false);
  });

  test("has files that are new to build tools", () => {
    const place = project({ "src/a.rs": "", "Cargo.toml": "", "target/debug/a": "" });
    utimesSync(join(place.root, "src/a.rs"), 1000, 1000);
    const { root, wrap, close } = copy(place);
    expect(lstatSync(join(root, "src/a.rs")).mtimeMs).toBeGreaterThan(1_000_000_000_000);
    expect(existsSync(join(root, "target"))).toBe(false);
    const { env } = wrap({ cmd: [], cwd: place.root, env: {} });
    expect(env.CARGO_TARGET_DIR).toStartWith(dirname(dirname(root)));
    close();
  });

  test("keeps links within it, and leads none back", () => {
    const place = project({ "packages/a/i.js": "1", "node_modules/.keep": "", "deep/er/.keep": "" });
    symlinkSync("../packages/a", join(place.root, "node_modules/a"));
    symlinkSync(join(place.root, "packages/a"), join(place.root, "deep/er/b"));
    symlinkSync("../../outside", join(place.root, "deep/out"));
    const { root, close } = copy(place);
    expect(readlinkSync(join(root, "node_modules/a"))).toBe("../packages/a");
    expect(readlinkSync(join(root, "deep/er/b"))).toBe("../../packages/a");
    expect(readlinkSync(join(root, "deep/out"))).toBe(join(dirname(place.root), "outside"));
    close();
  });

  test("is refused where a link leads back on a detour", () => {
    const place = project({ "a.js": "1" });
    symlinkSync(place.root, join(place.base, "detour"));
    symlinkSync(join(place.base, "detour"), join(place.root, "link"));
    expect(() => copy(place)).toThrow("link leads back into the project");
  });

  test("is refused where the project is too large", () => {
    const place = project({ "a.js": "123456", "b.js": "1" });
    const limits = { files: 10, bytes: 100, ms: 60_000 };
    const into = (name: string, less: Partial<typeof limits>) => () =>
      copyProject(place.root, join(place.base, name), { ...limits, ...less });
    expect(into("1", { files: 1 })).toThrow("more than 1 files, too many to copy");
    expect(into("2", { bytes: 5 })).toThrow("too much to copy");
    expect(into("3", { ms: -1 })).toThrow("takes longer");
    expect(into("4", {})).not.toThrow();
  });

  test("has old files where they were, and removes nothing where a new link leads", () => {
    const place = project({ "tests/a.test.js": "old" });
    const objects = join(place.base, "objects");
    const tree = treeHash(place.root, objects);
    const other = join(place.base, "other");
    mkdirSync(other);
    writeFileSync(join(other, "a.test.js"), "theirs");
    Bun.spawnSync(["rm", "-r", join(place.root, "tests")]);
    symlinkSync(other, join(place.root, "tests"));
    const spec = { tree: tree.ok ? tree.value : "", objects, restore: ["tests/a.test.js"] };
    for (const can of [noMounts, undefined]) {
      const own = openPlace(place.root, { ...asItIs, ...spec }, can);
      const { cmd, cwd, env } = own.wrap({
        cmd: ["/bin/cat", "tests/a.test.js"],
        cwd: place.root,
        env: { PATH: "/usr/bin:/bin" },
      });
      expect(Bun.spawnSync({ cmd, cwd, env }).stdout.toString()).toBe("old");
      own.close();
    }
    expect(readFileSync(join(other, "a.test.js"), "utf8")).toBe("theirs");
  });

  test("is what the command and its variables name", () => {
    const place = project({ "pyproject.toml": "", "src/a/__init__.py": "", "sub/.keep": "" });
    const { root, wrap, close } = copy(place);
    const env = { PATH: `${place.root}/.venv/bin:/bin`, URL: "http://x:1/", PYTHONPATH: "/p" };
    const wrapped = wrap({ cmd: [`${place.root}/run`, "x"], cwd: join(place.root, "sub"), env });
    expect(wrapped).toMatchObject({ cmd: [`${root}/run`, "x"], cwd: `${root}/sub` });
    expect(wrapped.env).toMatchObject({ PATH: `${root}/.venv/bin:/bin`, URL: "http://x:1/" });
    expect(wrapped.env.PYTHONPATH).toBe(`${root}/src:${root}:/p`);
    close();
  });

  test("of the beginning has nothing of what was changed since, whether git ignores it or not", () => {
    const place = project({ "a.js": "old", "b.js": "b", ".gitignore": "conftest.py\n", "conftest.py": "old" });
    withEnvironment(place.env, () => {
      const objects = objectsFolder(place.root, "run-1")!;
      const tree = treeHash(place.root, objects);
      keepBase(place.root, "run-1", tree.ok ? tree.value : "");
      for (const [path, text] of Object.entries({ "a.js": "new", "c.js": "c", "conftest.py": "new" }))
        writeFileSync(join(place.root, path), text);
      rmSync(join(place.root, "b.js"));
      const spec = { ...asItIs, tree: tree.ok ? tree.value : "", objects, whole: "run-1" };
      const { root, copied, close } = openPlace(place.root, spec);
      expect(copied).toBe(true);
      const read = (path: string) => readFileSync(join(root, path), "utf8");
      expect(["a.js", "b.js", "conftest.py"].map(read)).toEqual(["old", "b", "old"]);
      expect(existsSync(join(root, "c.js"))).toBe(false);
      close();
    });
  });
});
