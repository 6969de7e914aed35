import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Place, removePlaces } from "../../harness/harness.ts";
import { APPLY, apply, archive, folders, placeWith, plan, snapshot } from "./archive-place.ts";

afterAll(removePlaces);

const MANY = 10_000;
const many = () =>
  Object.fromEntries(Array.from({ length: MANY }, (_one, at) => [`d${at % 50}/${at}.log`, `file ${at}`]));

const manifestOf = (place: Place) => join(place.root, ".archive", folders(place)[0]!, "MANIFEST.md");
const inArchive = (place: Place) =>
  readdirSync(join(place.root, ".archive", folders(place)[0]!), { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".log"),
  ).length;

/** A machine that stood still at the wrong moment lets it come to its end; then once more. */
async function killedInside(tries = 5) {
  const place = placeWith(many());
  const before = snapshot(place);
  const { id, files } = plan(place);
  expect(files).toHaveLength(MANY);
  const cmd = [...APPLY, id];
  const first = Bun.spawn(cmd, { cwd: place.root, env: place.env, stdout: "ignore" });
  const hasBegun = () =>
    folders(place).length > 0 && existsSync(join(place.root, ".archive", folders(place)[0]!, "d1"));
  while (first.exitCode === null && !hasBegun()) await Bun.sleep(1);
  first.kill("SIGKILL");
  await first.exited;
  if (first.signalCode !== "SIGKILL" && tries > 1) return killedInside(tries - 1);
  expect(first.signalCode).toBe("SIGKILL");
  return { place, before, id };
}

describe("ten thousand files and a kill in the middle", () => {
  test("running again completes the same folder, and a restore brings everything back", async () => {
    const { place, before, id } = await killedInside();
    expect(readFileSync(manifestOf(place), "utf8")).toContain(
      `Unfinished: \`pawl helper archive apply ${id}\` completes it.`,
    );
    expect(inArchive(place)).toBeGreaterThan(0);
    expect(inArchive(place)).toBeLessThan(MANY);

    expect(apply(place, id)).toMatchObject({ code: 0, left: [] });
    expect(folders(place)).toHaveLength(1);
    expect(inArchive(place)).toBe(MANY);
    expect(readFileSync(manifestOf(place), "utf8")).toContain(`${MANY} files, `);
    expect(Object.keys(snapshot(place))).toEqual(["README.md"]);

    expect(archive(place, "restore", folders(place)[0]!).out).toBe(`restored: ${MANY} files\n`);
    expect(snapshot(place)).toEqual(before);
  }, 120_000);

  test.each([
    ["before the first move", ["a.log", "b.log"]],
    ["after the first move", ["b.log"]],
    ["after the last move", []],
  ])("died %s", (_when, back) => {
    const place = placeWith({ "a.log": "aa", "b.log": "b" });
    const { id } = plan(place);
    apply(place, id);
    const text = readFileSync(manifestOf(place), "utf8");
    writeFileSync(manifestOf(place), text.replaceAll('"archived"', '"planned"').replace('"done"', '"moving"'));
    for (const name of back) renameSync(join(manifestOf(place), "..", name), join(place.root, name));
    expect(apply(place, id)).toMatchObject({ code: 0, archived: [{ from: "a.log" }, { from: "b.log" }], left: [] });
    expect(folders(place)).toHaveLength(1);
    expect(readFileSync(manifestOf(place), "utf8")).toContain("2 files, 3 B freed");
  });

  test("a file changed between the crash and the second run stays where it is", () => {
    const place = placeWith({ "a.log": "aa", "b.log": "b" });
    const { id } = plan(place);
    apply(place, id);
    const text = readFileSync(manifestOf(place), "utf8");
    writeFileSync(manifestOf(place), text.replaceAll('"archived"', '"planned"').replace('"done"', '"moving"'));
    renameSync(join(manifestOf(place), "..", "b.log"), join(place.root, "b.log"));
    writeFileSync(join(place.root, "b.log"), "changed");
    expect(apply(place, id)).toMatchObject({ code: 1, archived: [{ from: "a.log" }], left: [{ path: "b.log" }] });
    expect(readFileSync(join(place.root, "b.log"), "utf8")).toBe("changed");
  });
});
