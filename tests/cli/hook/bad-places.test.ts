/** Hostile surroundings: folders, files and streams that are not what they should be. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  makePlace,
  openSession,
  PAWL,
  type Place,
  payload,
  type Ran,
  removePlaces,
  run,
  runHook,
  shell,
} from "../../harness/harness.ts";
import { runOf } from "../../harness/run-files.ts";
import { type Armed, armed, CLAIM, expectGoesOn, expectHarmless, HOOK, stop } from "./hostile.ts";

afterAll(removePlaces);

/** As it is installed: the runtime itself refuses to start in a folder that is gone. */
const GUARDED = `{ cd /; exec ${HOOK}; }`;
const DOCUMENT = ".claude/work-completion.local.md";
const said = ({ out }: Ran): string => JSON.parse(out).systemMessage ?? "";
const inRoot = ({ place }: Armed, path: string) => join(place.root, path);

function fresh(): Armed {
  const place = makePlace();
  return { place, session: { ...openSession(place, "A"), turn: 1 } };
}

const arming = ({ place, session }: Armed, fields: Record<string, unknown> = {}) =>
  payload(place, session, "UserPromptSubmit", { prompt: "/complete-work", ...fields });

/** Into a mount namespace of its own, which vanishes with the process. */
function mounted(place: Place, mounts: string, sent: unknown): Ran {
  return run(place, ["unshare", "-m", "sh", "-c", `${mounts} && exec ${HOOK}`], { input: JSON.stringify(sent) });
}

function inFolder(path: string, then: () => void): void {
  mkdirSync(path);
  then();
}

function instead(path: string, make: () => void): void {
  rmSync(path);
  make();
}

const canMount = Bun.spawnSync(["unshare", "-m", "true"]).exitCode === 0;
if (!canMount) console.warn("SKIPPED, nothing proven: read-only and full file systems need leave to mount");

describe("the working folder", () => {
  const gone = (state: Armed) => join(state.place.base, "gone");
  const folders: [string, (state: Armed) => string][] = [
    ["missing", gone],
    ["a file", (state) => inRoot(state, "README.md")],
    ["below a file", (state) => inRoot(state, "README.md/x")],
  ];
  test.each(folders)("%s: nothing is armed there, and the person is told", (_name, folder) => {
    const state = fresh();
    const sent = arming(state, { cwd: folder(state) });
    const ran = expectHarmless(state.place, { error: { home: "arm: " } }, () => runHook(state.place, sent));
    expect(said(ran)).toContain("/complete-work did not start");
  });

  test.each(folders)("%s: a run under way does not care", (_name, folder) => {
    const state = armed();
    const sent = stop(state, CLAIM, { cwd: folder(state) });
    expect(expectHarmless(state.place, { error: null }, () => runHook(state.place, sent)).out).toContain("step 2 of 4");
  });

  test("deleted under the process", () => {
    const state = armed();
    const cmd = ["/bin/sh", "-c", `mkdir ../gone && cd ../gone && rmdir ../gone && ${GUARDED}`];
    const act = () => run(state.place, cmd, { input: JSON.stringify(stop(state, CLAIM)) });
    expect(expectHarmless(state.place, { error: null }, act).out).toContain("step 2 of 4");
  });

  const traps: [string, Record<string, string>][] = [
    ["an .env that would switch Pawl off", { ".env": "PAWL=0\nHOME=/nowhere\n", ".env.local": "PAWL=0\n" }],
    [
      "a bunfig.toml with a preload",
      {
        "bunfig.toml": 'preload = ["./evil.ts"]\n[run]\nbun = true\n',
        "evil.ts": 'require("fs").writeFileSync("owned", "x")',
      },
    ],
    ["a broken bunfig.toml", { "bunfig.toml": "[[[ not toml" }],
    ["a broken package.json and tsconfig.json", { "package.json": "{", "tsconfig.json": "{" }],
    ["modules of the same names", { "node_modules/yaml/index.js": 'require("fs").writeFileSync("owned", "x")' }],
  ];
  test.each(traps)("%s changes nothing", (_name, files) => {
    const state = fresh();
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(state.place.root, name, ".."), { recursive: true });
      writeFileSync(join(state.place.root, name), text);
    }
    const arm = () => runHook(state.place, arming(state));
    expect(expectHarmless(state.place, { error: null }, arm).out).toContain("step 1 of 4");
    expectGoesOn(state);
  });
});

describe(".pawl", () => {
  const places: [string, (root: string, base: string) => void][] = [
    ["a file", (root) => writeFileSync(join(root, ".pawl"), "mine")],
    ["a link to outside", (root, base) => symlinkSync(base, join(root, ".pawl"))],
    ["a dangling link", (root, base) => symlinkSync(join(base, "gone"), join(root, ".pawl"))],
    ["with runs as a file", (root) => inFolder(join(root, ".pawl"), () => writeFileSync(join(root, ".pawl/runs"), ""))],
    [
      "with runs outside",
      (root, base) => inFolder(join(root, ".pawl"), () => symlinkSync(base, join(root, ".pawl/runs"))),
    ],
  ];
  test.each(places)("%s: nothing is armed, the person is told, nothing is written elsewhere", (name, prepare) => {
    const state = fresh();
    prepare(state.place.root, state.place.base);
    const error = name.startsWith("with") ? { root: "arm: " } : { home: "arm: " };
    const ran = expectHarmless(state.place, { error }, () => runHook(state.place, arming(state)));
    expect(said(ran)).toContain("/complete-work did not start");
    expect(runHook(state.place, stop(state, CLAIM)).out).toBe("");
  });

  test.each(places)("%s: a shortcut is answered, its chain is not watched, and the person is told", (name, prepare) => {
    const state = fresh();
    prepare(state.place.root, state.place.base);
    const error = name.startsWith("with") ? { root: "tail: " } : { home: "tail: " };
    const sent = payload(state.place, state.session, "UserPromptSubmit", { prompt: "ci" });
    const ran = expectHarmless(state.place, { error }, () => runHook(state.place, sent));
    expect(ran.out).toContain("[SHORTCUT: /commit]");
    expect(said(ran)).toStartWith("Pawl: this chain is not watched: ");
    expect(runHook(state.place, stop(state, "Committed.")).out).toBe("");
  });

  test.each(places)("turned into %s: told, and back again nothing is lost", (name, prepare) => {
    const state = armed();
    renameSync(inRoot(state, ".pawl"), join(state.place.base, "kept"));
    prepare(state.place.root, state.place.base);
    const error = name.startsWith("with") ? { root: "hook: " } : { home: "hook: " };
    const ran = expectHarmless(state.place, { error }, () => runHook(state.place, stop(state, CLAIM)));
    expect(said(ran)).toContain("Pawl hit an internal error");
    rmSync(inRoot(state, ".pawl"), { recursive: true });
    renameSync(join(state.place.base, "kept"), inRoot(state, ".pawl"));
    expectGoesOn(state);
  });

  test.skipIf(!canMount)("read-only: told, and writable again the work goes on", () => {
    const state = armed();
    const mounts = "mount --bind .pawl .pawl && mount -o remount,bind,ro .pawl";
    const act = () => mounted(state.place, mounts, stop(state, CLAIM));
    expect(said(expectHarmless(state.place, { error: { home: "hook: " } }, act))).toContain(
      "Pawl hit an internal error",
    );
    expectGoesOn(state);
  });

  test.skipIf(!canMount)("read-only from the start: nothing is armed, the person is told", () => {
    const state = fresh();
    const mounts = "mount --bind . . && mount -o remount,bind,ro . && cd .";
    const act = () =>
      mounted(state.place, `cd ${state.place.base} && ${mounts.replaceAll(" .", " project")}`, arming(state));
    expect(said(expectHarmless(state.place, { error: { home: "arm: " } }, act))).toContain("did not start");
    expect(runHook(state.place, stop(state, CLAIM)).out).toBe("");
  });

  test.skipIf(!canMount)("on a full disk: told, nothing half-written, and with room again the work goes on", () => {
    const state = armed();
    const mounts = `cp -a .pawl ../copy && mount -t tmpfs -o size=1m tmpfs .pawl && cp -a ../copy/. .pawl/ && rm -r ../copy &&
      (dd if=/dev/zero of=.pawl/ballast bs=4k 2>/dev/null; true)`;
    const act = () => mounted(state.place, mounts, stop(state, CLAIM));
    expect(said(expectHarmless(state.place, { error: { home: "ENOSPC" } }, act))).toContain(
      "Pawl hit an internal error",
    );
    expectGoesOn(state);
  });
});

test.skipIf(!canMount)("a command that cannot write there says so, and does not ask to be reported", () => {
  const { place } = fresh();
  const mounts = `mount --bind ${place.root} ${place.root} && mount -o remount,bind,ro ${place.root}`;
  const ran = shell(place, `unshare -m sh -c '${mounts} && cd ${place.root} && exec ${PAWL} off'`);
  expect(ran).toMatchObject({ code: 1, out: "" });
  expect(ran.err).toContain("EROFS");
  expect(ran.err).toContain("hint: that disk is read-only");
});

test("a home in which nothing can be written: shortcuts are answered all the same", () => {
  const state = fresh();
  writeFileSync(join(state.place.home, ".local"), "mine");
  const sent = payload(state.place, state.session, "UserPromptSubmit", { prompt: "s" });
  const ran = expectHarmless(state.place, { error: null }, () => runHook(state.place, sent));
  expect(ran.out).toContain("[SHORTCUT: #status]");
});

describe("files of a run", () => {
  const runDir = (state: Armed) => join(state.place.root, ".pawl/runs", runOf(state.place.root, state.session.id)!.id);
  const damages: [string, (path: string) => void][] = [
    ["truncated", (path) => truncateSync(path, 100)],
    ["empty", (path) => truncateSync(path, 0)],
    ["garbage", (path) => writeFileSync(path, "garbage")],
    ["of another run", (path) => writeFileSync(path, '{"run":{"id":"x","seq":2}}')],
    ["a folder", (path) => instead(path, () => mkdirSync(path))],
    ["a FIFO", (path) => instead(path, () => Bun.spawnSync(["mkfifo", path]))],
  ];
  test.each(damages)("the newest commit %s: put aside, and the run goes on from the one before", (_name, damage) => {
    const state = armed();
    runHook(state.place, stop(state, CLAIM));
    damage(join(runDir(state), "000002.json"));
    const sent = stop(state, "Now for the review.", { last_assistant_message: `Again. ${CLAIM}` });
    const ran = expectHarmless(state.place, { error: { root: "000002.json" } }, () => runHook(state.place, sent));
    expect(ran.out).toContain("step 2 of 4");
    expect(readdirSync(runDir(state)).filter((name) => name.includes(".corrupt"))).toHaveLength(1);
  });

  test.each(damages)(
    "the only commit %s: the run steps aside, the person is told and can begin anew",
    (_name, damage) => {
      const state = armed();
      const dir = runDir(state);
      damage(join(dir, "000001.json"));
      const ran = expectHarmless(state.place, { error: { root: "is damaged" } }, () =>
        runHook(state.place, stop(state, CLAIM)),
      );
      expect(said(ran)).toContain("is damaged");
      expect(readdirSync(`${dir}.corrupt`)).toContain("000001.json");
      state.session.turn += 1;
      expect(runHook(state.place, arming(state)).out).toContain("step 1 of 4");
    },
  );

  test("the pinned workflow garbage: the run steps aside", () => {
    const state = armed();
    const dir = runDir(state);
    writeFileSync(join(dir, "workflow.json"), "{");
    const ran = expectHarmless(state.place, { error: { root: "pinned workflow" } }, () =>
      runHook(state.place, stop(state, CLAIM)),
    );
    expect(said(ran)).toContain("is damaged");
    expect(readdirSync(`${dir}.corrupt`)).toContain("000001.json");
  });

  test("the session's pointer garbage: put aside and logged; the run itself is untouched", () => {
    const state = armed();
    const sessions = join(state.place.home, ".local/state/pawl/sessions");
    const name = `claude-${state.session.id}`;
    writeFileSync(join(sessions, name), '{"root":"../..","run":7}');
    const act = () => runHook(state.place, stop(state, CLAIM));
    expect(expectHarmless(state.place, { error: { home: "pointer: " } }, act).out).toBe("");
    expect(readdirSync(sessions)).toEqual([`${name}.corrupt`]);
    expect(runOf(state.place.root, state.session.id)).toMatchObject({ stage: "memory", status: "active", seq: 1 });
  });
});

describe("the document and the log", () => {
  const shapes: [string, (path: string, base: string) => void, string][] = [
    ["a folder", (path) => inFolder(path, () => writeFileSync(join(path, "mine"), "kept")), "put aside"],
    ["a FIFO", (path) => Bun.spawnSync(["mkfifo", path]), "put aside"],
    ["2 MB", (path) => writeFileSync(path, "---\nstep: 4\n---\n".padEnd(2 << 20, "x")), "put aside"],
    ["no text", (path) => writeFileSync(path, new Uint8Array([0xff, 0, 0xfe])), "put aside"],
    ["a link to outside", (path, base) => symlinkSync(outside(base), path), "symbolic link"],
  ];
  test.each(shapes)("the document turned into %s: the claim counts, nothing is lost", (_name, prepare, error) => {
    const state = armed();
    rmSync(inRoot(state, DOCUMENT));
    prepare(inRoot(state, DOCUMENT), state.place.base);
    const before = readdirSync(inRoot(state, ".claude")).length;
    const act = () => runHook(state.place, stop(state, CLAIM));
    const ran = expectHarmless(state.place, { error: { root: error }, ms: 2_000 }, act);
    expect(ran.out).toContain("step 2 of 4");
    expect(said(ran)).toContain(DOCUMENT);
    expect(readdirSync(inRoot(state, ".claude")).length).toBeGreaterThanOrEqual(before);
  });

  const logs: [string, (path: string, base: string) => void][] = [
    ["outside", (path, base) => symlinkSync(base, path)],
    ["a file", (path) => writeFileSync(path, "")],
  ];
  test.each(logs)("the log's folder %s: the claim counts, the log waits", (_name, prepare) => {
    const state = armed();
    prepare(inRoot(state, ".claude/logs"), state.place.base);
    const act = () => runHook(state.place, stop(state, CLAIM));
    expect(expectHarmless(state.place, { error: { root: "log: " } }, act).out).toContain("step 2 of 4");
  });
});

function outside(base: string): string {
  const path = join(base, "outside.md");
  writeFileSync(path, "---\nstep: 4\n---\n");
  return path;
}
