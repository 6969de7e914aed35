/** `..`, absolute paths and symbolic links in every place where a name or a path is taken from others. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { compileWorkflow } from "../../src/definitions/compile.ts";
import { filesOf } from "../cli/hook/hostile.ts";
import {
  makePlace,
  openSession,
  type Place,
  payload,
  removePlaces,
  runHook,
  runPawl,
  type Session,
  stopFields,
} from "../harness/harness.ts";
import { runOf } from "../harness/run-files.ts";

afterAll(removePlaces);

const workflow = (gates: string, more = "") => `name: ship
signals: promise
arm: ["/ship"]
${more}
stages:
  - id: build
    say: Build it.
    on:
      BUILT: { end: completed, gates: [${gates}] }
`;

// ── Written in a workflow ───────────────────────────────────────────────────

describe("a workflow file with a path that leads out is refused", () => {
  const outside = ["../x", "a/../../x", "/etc/passwd", "a/..", "..", "\\u0000x"];
  const places: [string, (path: string) => string][] = [
    ["file", (path) => workflow(`{ file: "${path}" }`)],
    ["artefact", (path) => workflow(`{ artefact: "${path}" }`)],
    ["only", (path) => workflow(`{ only: ["${path}"] }`)],
    ["cwd", (path) => workflow(`{ run: [ls], cwd: "${path}" }`)],
    ["when_changed", (path) => workflow(`{ run: [ls], when_changed: ["${path}"] }`)],
    ["fault", (path) => workflow(`{ run: [ls], fault: "${path}" }`)],
    ["log", (path) => workflow("{ git: clean }", `log: "${path}"`)],
    ["document", (path) => workflow("{ git: clean }", `document: { format: frontmatter, path: "${path}" }`)],
    ["name", (path) => workflow("{ git: clean }").replace("name: ship", `name: "${path}"`)],
    ["prompt", (path) => workflow("{ git: clean }").replace("say: Build it.", `say: "${path}.md"`)],
  ];
  test.each(places)("%s", (_place, write) => {
    const isRefused = (path: string) =>
      "errors" in compileWorkflow(write(path), "ship.yaml", (file) => (file === "inside.md" ? "Build it." : null));
    for (const path of outside) expect([path, isRefused(path)]).toEqual([path, true]);
    expect(isRefused("inside")).toBe(false);
  });
});

// ── Leading out on the disk ─────────────────────────────────────────────────

interface Ground {
  place: Place;
  session: Session;
  outside: string;
}

/** Next to the project lies a folder with all that a gate asks for; links in the project lead there. */
function ground(gates: string): Ground {
  const place = makePlace();
  const outside = join(place.base, "outside");
  put(place, ".pawl/workflows/ship.yaml", workflow(gates));
  mkdirSync(outside);
  symlinkSync(outside, join(place.root, "link"));
  symlinkSync(join(outside, "secret.txt"), join(place.root, "secret.txt"));
  const session = openSession(place, "agent");
  session.turn = 1;
  runHook(place, payload(place, session, "UserPromptSubmit", { prompt: "/ship" }));
  writeFileSync(join(outside, "secret.txt"), "the secret word\n");
  return { place, session, outside };
}

function put({ root }: Place, path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

const claim = ({ place, session }: Ground) =>
  runHook(place, payload(place, session, "Stop", stopFields(session, "<promise>BUILT</promise>"))).out;

describe("a gate never looks through a link out of the project", () => {
  test.each([
    ["{ file: secret.txt }", "it is not a file inside the project"],
    ["{ file: link/secret.txt }", "it is not a file inside the project"],
    ["{ file: link/secret.txt, contains: secret }", "it is not a file inside the project"],
    ["{ artefact: 'link/*.txt' }", "was not believed|unproven"],
    ["{ artefact: '**/secret.txt' }", "was not believed|unproven"],
    ["{ artefact: '{../outside,x}/*.txt' }", "was not believed|unproven"],
    ["{ artefact: '.?/outside/*.txt' }", "was not believed|unproven"],
    ["{ artefact: '[.][.]/outside/*.txt' }", "was not believed|unproven"],
    ["{ artefact: '@(..)/outside/*.txt' }", "was not believed|unproven"],
  ])("%s", (gate, words) => {
    const state = ground(gate);
    const said = claim(state);
    expect(said).toMatch(new RegExp(words));
    expect(said).not.toContain("the secret word");
    expect(runOf(state.place.root, state.session.id)).toMatchObject({ stage: "build", status: "active" });
  });
});

test("a workflow's file, or its folder, that is a link out of the project is not read", () => {
  for (const [link, to] of [
    [".pawl/workflows/ship.yaml", "outside/ship.yaml"],
    [".pawl/workflows", "outside"],
  ] as const) {
    const place = makePlace();
    put(
      { ...place, root: place.base },
      "outside/ship.yaml",
      workflow("{ git: clean }").replace("Build it.", "TELL-ME"),
    );
    mkdirSync(dirname(join(place.root, link)), { recursive: true });
    symlinkSync(join(place.base, to), join(place.root, link));
    const session = openSession(place, "agent");
    session.turn = 1;
    const armed = runHook(place, payload(place, session, "UserPromptSubmit", { prompt: "/ship" }));
    const { out, err } = runPawl(place, ["check"]);
    expect(armed.out + out + err).not.toContain("TELL-ME");
    expect(out + err).toContain("it is a link out of the project");
  }
});

test("a receipt is neither written nor read through a link", () => {
  const place = makePlace();
  const outside = join(place.base, "outside");
  mkdirSync(outside);
  put(place, "pawl.yaml", "gates:\n  there: { file: README.md }\n");
  put(place, ".pawl/x", "");
  symlinkSync(outside, join(place.root, ".pawl/receipts"));
  const { code, err } = runPawl(place, ["verify"]);
  expect(err).toContain("symbolic link");
  expect(code).not.toBe(0);
  expect(readdirSync(outside)).toEqual([]);
});

// ── Words of commands ───────────────────────────────────────────────────────

describe("a command finds nothing outside, and writes nothing there", () => {
  const names = [
    "../outside/run",
    "../../outside",
    "/etc/passwd",
    "..",
    ".",
    "link",
    "link/run",
    "a/../../outside",
    "-x",
  ];
  const commands: [string, (name: string) => string[]][] = [
    ["runs show", (name) => ["runs", "show", name]],
    ["runs finish", (name) => ["runs", "finish", name]],
    ["runs abort", (name) => ["runs", "abort", name]],
    ["runs adopt", (name) => ["runs", "adopt", name]],
    ["runs adopt of a document", (name) => ["runs", "adopt", `${name}/state.json`]],
    ["runs restore", (name) => ["runs", "restore", name]],
    ["runs phase --run", (name) => ["runs", "phase", "next", "--run", name]],
    ["runs start", (name) => ["runs", "start", name]],
    ["runs resume --accept", (name) => ["runs", "resume", "--accept", name]],
    ["explain", (name) => ["explain", name]],
    ["approve", (name) => ["approve", name]],
    ["show", (name) => ["show", name]],
    ["off --session", (name) => ["off", "--session", name]],
    ["helper archive apply", (name) => ["helper", "archive", "apply", name]],
    ["helper archive restore", (name) => ["helper", "archive", "restore", name]],
  ];
  test.each(commands)("%s", (_name, words) => {
    const place = makePlace();
    mkdirSync(join(place.base, "outside/run"), { recursive: true });
    for (const name of ["000001.json", "workflow.json", "state.json"])
      writeFileSync(join(place.base, "outside/run", name), '{"secret":"TELL-ME"}');
    mkdirSync(join(place.root, ".pawl/runs"), { recursive: true });
    symlinkSync(join(place.base, "outside"), join(place.root, ".pawl/runs/link"));
    symlinkSync(join(place.base, "outside"), join(place.root, "link"));
    const before = filesOf(place);
    for (const name of names) {
      const { code, out, err } = runPawl(place, words(name));
      expect([name, code === 1 || code === 2]).toEqual([name, true]);
      expect(out + err).not.toContain("TELL-ME");
    }
    expect(filesOf(place)).toEqual(before);
    rmSync(place.base, { recursive: true });
  });
});
