import { afterAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { removePlaces, shell } from "../../harness/harness.ts";
import { APPLY, apply, archive, folders, placeWith, plan, planned, put, snapshot } from "./archive-place.ts";

afterAll(removePlaces);

const ODD = ["a b.log", "nëw\nline.log", "-x.log", '"q".log', "tab\t|pipe.log", "deep/er/è.log"];

describe("helper archive apply", () => {
  test("moves exactly the plan, with a manifest, and git sees nothing of it", () => {
    const place = placeWith({ "a.log": "aaa", "deep/b.tmp": "bb", "kept.md": "k" });
    const { id } = plan(place);
    put(place, "later.log", "not in the plan");
    const { code, out } = archive(place, "apply", id);
    const [folder] = folders(place);
    expect(code).toBe(0);
    expect(folder).toMatch(/^\d{4}-\d\d-\d\d-\d\d-\d\d$/);
    expect(out).toContain(`✓ 2 files archived to .archive/${folder}/\n✓ 5 B freed`);
    expect(out).toContain("✓ MANIFEST.md created\n");
    expect(out).toContain("info/exclude");
    expect(Object.keys(snapshot(place))).toEqual(["README.md", "kept.md", "later.log"]);
    expect(readFileSync(join(place.root, ".archive", folder!, "deep/b.tmp"), "utf8")).toBe("bb");
    const manifest = readFileSync(join(place.root, ".archive", folder!, "MANIFEST.md"), "utf8");
    const sha = new Bun.CryptoHasher("sha256").update("aaa").digest("hex");
    expect(manifest).toContain(`| archived | 3 B | log | a.log | .archive/${folder}/a.log | ${sha} |`);
    expect(manifest).toContain(`Plan ${id}`);
    expect(manifest).toContain("2 files, 5 B freed");
    expect(shell(place, "git status --porcelain").out).toBe("?? kept.md\n?? later.log\n");
    expect(shell(place, "cat .git/info/exclude").out).toMatch(/^\/\.archive\/$/m);
  });

  test("an .archive that is ignored already needs no line of ours", () => {
    const place = placeWith({ ".gitignore": ".archive/\n", "a.log": "x" });
    expect(apply(place, plan(place).id).excluded).toBe("already");
    expect(shell(place, "cat .git/info/exclude").out).not.toContain("archive` moved");
  });

  test("only some of them; the others later, into a folder of their own", () => {
    const place = placeWith({ "1.log": "4444", "2.log": "333", "3.log": "22", "4.log": "1" });
    const { id } = plan(place);
    expect(apply(place, id, "--only", "1,3-4")).toMatchObject({ code: 0, left: [], before: [] });
    expect(planned(place)).toEqual(["2.log"]);
    const second = apply(place, id);
    expect(second).toMatchObject({ code: 0, archived: [{ from: "2.log" }] });
    expect(second.before.sort()).toEqual(["1.log", "3.log", "4.log"]);
    expect(folders(place)).toHaveLength(2);
    expect(archive(place, "apply", id).out).toBe("archived before by this plan: 4 files\nNothing was moved.\n");
    expect(folders(place)).toHaveLength(2);
  });

  const races: [string, (root: string, base: string) => void, string][] = [
    ["other bytes, same size", (root) => writeFileSync(join(root, "d/a.log"), "yyy"), "changed"],
    ["other time", (root) => utimesSync(join(root, "d/a.log"), 1, 1), "changed"],
    ["gone", (root) => rmSync(join(root, "d/a.log")), "gone"],
    ["a link now", (root, base) => replace(join(root, "d/a.log"), join(base, "secret")), "no longer a plain file"],
    ["in a linked folder now", (root, base) => linkFolder(root, base), "no longer a plain file"],
    ["a folder now", (root) => folderNow(join(root, "d/a.log")), "no longer a plain file"],
    [
      "git tracks it now",
      (root) => void Bun.spawnSync(["git", "add", "-f", "d/a.log"], { cwd: root }),
      "git tracks it",
    ],
  ];
  test.each(races)("what changed since the plan is left and said: %s", (_what, change, said) => {
    const place = placeWith({ "d/a.log": "xxx", "b.log": "b" });
    writeFileSync(join(place.base, "secret"), "xxx");
    const { id } = plan(place);
    change(place.root, place.base);
    const ran = archive(place, "apply", id);
    expect(ran.code).toBe(1);
    expect(ran.out).toMatch(new RegExp(`left: d/a\\.log \\(.*${said}`));
    expect(ran.out).toContain("✓ 1 file archived");
    expect(existsSync(join(place.root, ".archive", folders(place)[0]!, "d"))).toBe(false);
    expect(readFileSync(join(place.base, "secret"), "utf8")).toBe("xxx");
  });

  test("never through a link in place of .archive", () => {
    const place = placeWith({ "a.log": "x" });
    mkdirSync(join(place.base, "outside"));
    symlinkSync(join(place.base, "outside"), join(place.root, ".archive"));
    const { id } = plan(place);
    const { code, err } = archive(place, "apply", id);
    expect(code).toBe(1);
    expect(err).toContain("symbolic link");
    expect(shell(place, "ls -A ../outside; ls a.log").out).toBe("a.log\n");
  });

  test.each([
    ["0123456789ab", "no plan 0123456789ab"],
    ["../../etc/passwd", "is no plan's id"],
    ["", "is no plan's id"],
  ])("an unknown plan moves nothing: %j", (id, said) => {
    const place = placeWith({ "a.log": "x" });
    plan(place);
    const { code, err } = archive(place, "apply", id);
    expect(code).toBe(1);
    expect(err).toContain(said);
    expect(folders(place)).toEqual([]);
  });

  test("a plan that was edited is refused, also one that leads out of the project", () => {
    const place = placeWith({ "a.log": "x" });
    const { id } = plan(place);
    const file = join(place.root, ".pawl/helper/plans", `${id}.json`);
    writeFileSync(file, readFileSync(file, "utf8").replace("a.log", "../x.log"));
    expect(archive(place, "apply", id).err).toContain("was changed on disk");
  });

  test.each([["9"], ["0"], ["1-9"], ["x"], ["1,,2"]])("--only %s is wrong use", (only) => {
    const place = placeWith({ "a.log": "x", "b.log": "x" });
    const ran = archive(place, "apply", plan(place).id, "--only", only);
    expect(ran.code).not.toBe(0);
    expect(folders(place)).toEqual([]);
  });

  test("what was approved before is suggested again, and moved by nobody", () => {
    const place = placeWith({});
    put(place, "export-2026-01-01.csv", "x", 300);
    put(place, "a.log", "x");
    apply(place, plan(place).id);
    put(place, "export-2026-02-02.csv", "new");
    put(place, "report-2026-02-02.csv", "new");
    put(place, "b.log", "x");
    const { files } = plan(place);
    const today = new Date().toISOString().slice(0, 10);
    expect(files.map(({ path, reason }) => [path, reason])).toEqual([
      ["export-2026-02-02.csv", `like /export-*-*-*.csv, approved before (${today})`],
      ["b.log", `log, approved before (${today})`],
    ]);
    expect(existsSync(join(place.root, "export-2026-02-02.csv"))).toBe(true);
  });

  test("two at once move each file once", async () => {
    const names = Array.from({ length: 200 }, (_one, at) => `${at}.log`);
    const place = placeWith(Object.fromEntries(names.map((name) => [name, name])));
    const { id } = plan(place);
    const both = [1, 2].map(async () => {
      const cmd = [...APPLY, id, "--json"];
      return JSON.parse(await new Response(Bun.spawn(cmd, { cwd: place.root, env: place.env }).stdout).text());
    });
    const [one, two] = await Promise.all(both);
    expect(one.archived.length + two.archived.length).toBe(200);
    expect([...one.left, ...two.left]).toEqual([]);
    expect(folders(place)).toHaveLength(1);
  });
});

describe("helper archive restore", () => {
  test("a round trip brings back bytes, times and modes of all names", () => {
    const place = placeWith(Object.fromEntries(ODD.map((name) => [name, `bytes of ${name}`])));
    for (const [at, name] of ODD.entries()) utimesSync(join(place.root, name), 1_000_000 + at, 1_600_000_000.125 + at);
    chmodSync(join(place.root, "a b.log"), 0o755);
    const before = snapshot(place);
    apply(place, plan(place).id);
    expect(Object.keys(snapshot(place))).toEqual(["README.md"]);
    rmSync(join(place.root, "deep"), { recursive: true });
    const [folder] = folders(place);
    expect(archive(place, "restore", `.archive/${folder}/`)).toEqual({
      code: 0,
      out: `restored: ${ODD.length} files\n`,
      err: "",
    });
    expect(snapshot(place)).toEqual(before);
    expect(archive(place, "restore", folder!).out).toBe("restored: 0 files\n");
    expect(apply(place, plan(place).id).archived).toHaveLength(ODD.length);
  });

  test("never over another file; the same one is left in peace", () => {
    const place = placeWith({ "a.log": "aaa", "b.log": "bb", "c.log": "c" });
    apply(place, plan(place).id);
    put(place, "a.log", "mine");
    put(place, "b.log", "bb");
    const [folder] = folders(place);
    const { code, out } = archive(place, "restore", folder!);
    expect(code).toBe(1);
    expect(out).toContain("restored: 2 files\nb.log: the same file is there already");
    expect(out).toContain("left: a.log (another file is there now");
    expect(readFileSync(join(place.root, "a.log"), "utf8")).toBe("mine");
    expect(readFileSync(join(place.root, ".archive", folder!, "a.log"), "utf8")).toBe("aaa");
    rmSync(join(place.root, "a.log"));
    expect(archive(place, "restore", folder!).out).toBe("restored: 1 file\n");
  });

  test("only some; not through links; not what is gone", () => {
    const place = placeWith({ "a.log": "aaa", "d/b.log": "bb", "c.log": "c" });
    apply(place, plan(place).id);
    const [folder] = folders(place);
    expect(archive(place, "restore", folder!, "--only", "1").out).toBe("restored: 1 file\n");
    rmSync(join(place.root, "d"), { recursive: true });
    mkdirSync(join(place.base, "outside"));
    symlinkSync(join(place.base, "outside"), join(place.root, "d"));
    rmSync(join(place.root, ".archive", folder!, "c.log"));
    const { code, out } = archive(place, "restore", folder!);
    expect(code).toBe(1);
    expect(out).toMatch(/left: d\/b\.log \(.*symbolic link/);
    expect(out).toContain("left: c.log (it is not in the archive any more)");
    expect(shell(place, "ls -A ../outside").out).toBe("");
  });

  test.each([
    ["../elsewhere", "is no folder of .archive/"],
    ["/etc", "is no folder of .archive/"],
    ["2020-01-01-00-00", "has no MANIFEST.md"],
  ])("what is no archive is refused: %s", (folder, said) => {
    const { code, err } = archive(placeWith({}), "restore", folder);
    expect(code).toBe(1);
    expect(err).toContain(said);
  });

  test("a manifest that leads elsewhere is not followed", () => {
    const place = placeWith({ "a.log": "x" });
    apply(place, plan(place).id);
    const [folder] = folders(place);
    const file = join(place.root, ".archive", folder!, "MANIFEST.md");
    writeFileSync(file, readFileSync(file, "utf8").replace('"from":"a.log"', '"from":"../../../a.log"'));
    expect(archive(place, "restore", folder!).err).toContain("MANIFEST.md");
  });
});

function replace(path: string, target: string): void {
  rmSync(path);
  symlinkSync(target, path);
}

function linkFolder(root: string, base: string): void {
  renameSync(join(root, "d"), join(base, "d"));
  symlinkSync(join(base, "d"), join(root, "d"));
}

function folderNow(path: string): void {
  rmSync(path);
  mkdirSync(path);
}
