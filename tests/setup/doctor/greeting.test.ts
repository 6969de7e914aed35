/** The one line at a project's first session: when it comes, and that it never comes twice. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makePlace, openSession, PAWL, type Place, payload, removePlaces, runHook } from "../../harness/harness.ts";
import { runInProcess } from "../../harness/in-process.ts";
import { bare } from "./clinic.ts";

afterAll(removePlaces);

const start = (place: Place, name: string, fields: object = {}, via = "local", env: Record<string, string> = {}) =>
  runHook(place, payload(place, openSession(place, name), "SessionStart", { source: "startup", ...fields }), via, {
    env,
  });

const setUp = (place: Place) => mkdirSync(join(place.root, ".pawl"));
const switchedOff = (place: Place) => {
  setUp(place);
  expect(runInProcess(place, ["off"]).code).toBe(0);
};
const markers = (place: Place) => {
  try {
    return readdirSync(join(place.home, ".local/state/pawl/greeted"));
  } catch {
    return [];
  }
};

describe("the greeting", () => {
  test("comes once, to the person only, and says how to switch off", () => {
    const place = makePlace();
    setUp(place);
    const { code, out, err } = start(place, "one");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const said = JSON.parse(out) as Record<string, string>;
    expect(Object.keys(said)).toEqual(["systemMessage"]);
    expect(said.systemMessage).toStartWith("Pawl is on in this project: /complete-work");
    expect(said.systemMessage).toContain("`pawl off`");
    expect(start(place, "two")).toEqual({ code: 0, out: "", err: "" });
    expect(markers(place)).toHaveLength(1);
  });

  const greeted: [string, (place: Place) => void, string][] = [
    ["a project with a pawl.yaml", ({ root }) => writeFileSync(join(root, "pawl.yaml"), ""), "user"],
    ["a colleague's clone: only the committed settings call us", () => {}, "project"],
  ];
  test.each(greeted)("comes in %s", (_name, prepare, via) => {
    const place = makePlace();
    prepare(place);
    expect(start(place, "one", {}, via).out).toContain("Pawl is on");
  });

  const silent: [string, (place: Place) => void, object, Record<string, string>][] = [
    ["a folder someone passes by", () => {}, {}, {}],
    ["a compaction", setUp, { source: "compact" }, {}],
    ["a resumed session", setUp, { source: "resume" }, {}],
    ["an unknown source", setUp, { source: "teleport" }, {}],
    ["a deleted folder", setUp, { cwd: "/nonexistent/folder" }, {}],
    ["no folder", setUp, { cwd: 7 }, {}],
    ["PAWL=0", setUp, {}, { PAWL: "0" }],
    ["a session without a person", setUp, {}, { CLAUDE_CODE_ENTRYPOINT: "sdk-cli" }],
    ["pawl off", switchedOff, {}, {}],
    ["a project that had a run", ({ root }) => mkdirSync(join(root, ".pawl/runs"), { recursive: true }), {}, {}],
  ];
  test.each(silent)("does not come at %s, and stays to come", (_name, prepare, fields, env) => {
    const place = makePlace();
    prepare(place);
    expect(start(place, "one", fields, "local", env)).toEqual({ code: 0, out: "", err: "" });
    expect(markers(place)).toEqual([]);
  });

  test("does not come where it could not be remembered", () => {
    const place = makePlace();
    setUp(place);
    mkdirSync(join(place.home, ".local/state"), { recursive: true });
    writeFileSync(join(place.home, ".local/state/pawl"), "in the way");
    expect(start(place, "one")).toEqual({ code: 0, out: "", err: "" });
  });

  test("comes once when the hook is installed twice and both start at the same time", async () => {
    const place = makePlace();
    setUp(place);
    const text = JSON.stringify(payload(place, openSession(place, "one"), "SessionStart", { source: "startup" }));
    const hooks = ["local", "user", "plugin", "project"].map((via) =>
      Bun.spawn([PAWL, "hook", "claude", "--via", via], { env: place.env, stdin: Buffer.from(text), stdout: "pipe" }),
    );
    const said = await Promise.all(hooks.map(({ stdout }) => new Response(stdout).text()));
    expect(said.filter((one) => one !== "")).toHaveLength(1);
    expect(said.join("")).toContain("Pawl is on");
  });

  test("each project has its own", () => {
    const place = makePlace();
    setUp(place);
    const other = makePlace();
    setUp(other);
    const elsewhere = { ...other, home: place.home, env: place.env };
    expect([start(place, "one").out, start(elsewhere, "two").out].every((out) => out.includes("Pawl is on"))).toBe(
      true,
    );
    expect(markers(place)).toHaveLength(2);
  });

  test("is not used up by `pawl init`, which starts the hook itself, and comes again after a purge", () => {
    const place = bare();
    for (const name of ["one", "two"]) {
      expect(runInProcess(place, ["init", "--with", "all", "--yes"]).code).toBe(0);
      expect(runInProcess(place, ["doctor"]).code).toBe(0);
      expect(start(place, name).out).toContain("Pawl is on");
      expect(runInProcess(place, ["uninstall", "--purge", "--yes"]).code).toBe(0);
      expect(markers(place)).toEqual([]);
    }
  });
});
