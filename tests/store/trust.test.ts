import { afterEach, describe, expect, test } from "bun:test";
import { lstatSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { computeClosure } from "../../src/checks/closure/closure.ts";
import type { TrustState } from "../../src/store/trust.ts";
import { removeTemps } from "./samples.ts";
import { approvals, call, FILES, GATES, grant, ground, isTrusted, put, SHARE, start } from "./trust-ground.ts";

afterEach(removeTemps);

describe("an approval", () => {
  test("holds for exactly what was approved, until it is revoked", () => {
    const place = ground(FILES);
    expect(isTrusted(place)).toEqual({ trusted: false, why: "its commands are not approved yet" });
    grant(place);
    expect(isTrusted(place)).toEqual({ trusted: true, at: expect.stringMatching(/^20.*Z$/) });
    expect(isTrusted(place, place.root, GATES.slice(1))).toMatchObject({ trusted: true });
    expect(isTrusted(place, place.root, [...GATES, { shell: "true" }])).toMatchObject({ trusted: false });
    expect(call(place, ["revokeTrust", place.root], ["revokeTrust", place.root])).toEqual([1, 0]);
    expect(isTrusted(place)).toMatchObject({ trusted: false });
  });

  test("is not needed where nothing would run", () => {
    const place = ground();
    const harmless = [
      { git: "clean" },
      { typed: true, shell: "rm -rf x" },
      { all: [{ name: "f", id: "f", file: "a" }] },
    ];
    expect(isTrusted(place, place.root, harmless)).toEqual({ trusted: true, at: "" });
    expect(computeClosure(place.root, [])).toEqual({ hash: "", items: [] });
    grant(place, place.root, harmless);
    expect(approvals(place)).toEqual([]);
  });

  test("is kept for the person alone, and can be shown again", () => {
    const place = ground(FILES);
    grant(place);
    const [file] = approvals(place);
    const mode = (path: string) => (lstatSync(path).mode & 0o777).toString(8);
    expect([mode(file!), mode(dirname(file!)), mode(join(place.home, SHARE, "trust"))]).toEqual(["600", "700", "700"]);
    const [last] = call(place, ["lastTrusted", place.root]) as [{ items: { text: string }[] }];
    expect(last.items.map(({ text }) => text)).toEqual(['["npm","test"]', '["scripts/check.sh","--all"]']);
  });

  test("is one of the twenty newest", () => {
    const place = ground();
    const many = Array.from({ length: 23 }, (_, at) => ["grant", place.root, [{ shell: `echo ${at}` }]]);
    call(place, ...many);
    expect(approvals(place)).toHaveLength(20);
    expect(isTrusted(place, place.root, [{ shell: "echo 22" }])).toMatchObject({ trusted: true });
    expect(isTrusted(place, place.root, [{ shell: "echo 0" }])).toMatchObject({ trusted: false });
  });

  test("is not lost when several are given at once", async () => {
    const place = ground();
    const gates = Array.from({ length: 8 }, (_, at) => [{ shell: `echo ${at}` }]);
    const all = gates.map((one) => start(place, [["grant", place.root, one]]));
    expect(await Promise.all(all.map((child) => new Response(child.stdout).json()))).toEqual(gates.map(() => [null]));
    const states = call(place, ...gates.map((one) => ["trusted", place.root, one]));
    expect(states.map((state) => (state as TrustState).trusted)).toEqual(gates.map(() => true));
  });
});

const CHANGES: [string, (root: string) => void][] = [
  ["the script named by argv", (root) => put(root, { "scripts/check.sh": "#!/bin/sh\nrm -rf ~\n" })],
  [
    "a script of package.json",
    (root) => put(root, { "package.json": FILES["package.json"].replace("run.mjs", "evil.mjs") }),
  ],
  [
    "what runs before it",
    (root) => put(root, { "package.json": FILES["package.json"].replace("prepare.sh", "-c evil") }),
  ],
  [
    "what runs after it",
    (root) => put(root, { "package.json": FILES["package.json"].replace('"lint"', '"posttest"') }),
  ],
  ["a file that the script names", (root) => put(root, { "run.mjs": "2\n" })],
  ["a file that comes to be missing", (root) => rmSync(join(root, "run.mjs"))],
  ["a nearer configuration of the runner", (root) => put(root, { ".npmrc": "script-shell=./evil.sh\n" })],
  [
    "a link in place of the script, to the same text",
    (root) => {
      renameSync(join(root, "scripts/check.sh"), join(root, "elsewhere.sh"));
      symlinkSync("../elsewhere.sh", join(root, "scripts/check.sh"));
    },
  ],
  [
    "a link that leads out of the project",
    (root) => {
      renameSync(join(root, "scripts/check.sh"), join(root, "../outside.sh"));
      symlinkSync("../../outside.sh", join(root, "scripts/check.sh"));
    },
  ],
];

describe("no longer trusted", () => {
  for (const [name, change] of CHANGES) {
    test(name, () => {
      const place = ground(FILES);
      grant(place);
      change(place.root);
      expect(isTrusted(place)).toEqual({ trusted: false, why: "its commands changed since they were approved" });
    });
  }

  test("another variable, another folder, another word", () => {
    const place = ground({ ...FILES, "a/x": "" });
    grant(place);
    for (const more of [
      { env: { MODE: "lax" } },
      { cwd: "a" },
      { run: ["scripts/check.sh"] },
      { shell: "scripts/check.sh --all", run: undefined },
    ])
      expect(isTrusted(place, place.root, [{ ...GATES[1], ...more }])).toMatchObject({ trusted: false });
  });

  test("what else the project holds may change", () => {
    const place = ground(FILES);
    grant(place);
    put(place.root, { "src/a.ts": "1", "package.json": FILES["package.json"].replace("eslint", "biome") });
    expect(isTrusted(place)).toMatchObject({ trusted: true });
  });
});
