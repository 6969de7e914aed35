/** Settings and places made to hang, to flood or to break a reader: the doctor comes back, and nothing has changed. */
import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { PAWL, type Place, removePlaces, shell } from "../../harness/harness.ts";
import { runInProcess } from "../../harness/in-process.ts";
import { bare, diagnose, healthy, snapshot, user, write } from "./clinic.ts";

afterAll(removePlaces);

const HOME_SETTINGS = ".claude/settings.json";
const TOO_LONG_MS = 10_000;

function fifo(base: string, path: string): void {
  write(base, path, "");
  rmSync(join(base, path));
  expect(Bun.spawnSync(["mkfifo", join(base, path)]).exitCode).toBe(0);
}

const fifos = (base: string, folder: string, names: string[]) => {
  for (const name of names) fifo(base, `${folder}/${name}`);
};

function circle(base: string, path: string): void {
  write(base, path, "");
  rmSync(join(base, path));
  symlinkSync(join(base, path), join(base, path));
}

type Row = [name: string, harm: (place: Place) => void, words: string];

const rows: Row[] = [
  ["10 MB of settings", (p) => user(p, `{"a":"${"x".repeat(10 << 20)}"}`), "is larger than 1 MB"],
  ["1 MB of garbage", (p) => user(p, "{[,".repeat(340_000)), "nested more than 100 levels"],
  ["1 MB of commas", (p) => user(p, ",".repeat(1_000_000)), "settings.json:1:1"],
  ["1 MB of quotes", (p) => user(p, '"\\'.repeat(500_000)), "settings.json:1:"],
  ["100,000 levels", (p) => user(p, `${"[".repeat(100_000)}${"]".repeat(100_000)}`), "nested more than 100 levels"],
  ["a FIFO as settings", (p) => fifo(p.home, HOME_SETTINGS), "~/.claude/settings.json is not a regular file"],
  ["a folder as settings", (p) => mkdirSync(join(p.home, HOME_SETTINGS), { recursive: true }), "is not a regular file"],
  ["a link in a circle", (p) => circle(p.home, HOME_SETTINGS), "is a link that leads in a circle"],
  ["a link to nowhere", (p) => link(p, join(p.home, "nowhere")), "cannot be followed (ENOENT)"],
  ["no UTF-8", (p) => write(p.home, HOME_SETTINGS, Buffer.from([0x7b, 0xff, 0x7d])), "cannot be read (not UTF-8)"],
  ["/dev/zero as settings", (p) => link(p, "/dev/zero"), "is not a regular file"],
  [
    "wrong types everywhere",
    (p) => user(p, '{"hooks":[],"env":7,"enabledPlugins":[1],"disableAllHooks":"x"}'),
    '"hooks" is not an object',
  ],
  [
    "keys that are special",
    (p) =>
      user(
        p,
        '{"__proto__":{"disableAllHooks":true},"env":{"__proto__":{}},"enabledPlugins":{"__proto__":true,"constructor@x":true}}',
      ),
    "No problems",
  ],
  [
    "control characters",
    (p) => user(p, JSON.stringify({ env: { BUN_OPTIONS: "\u001b]0;owned\u0007\u202Ex" } })),
    "BUN_OPTIONS=]0;owned x",
  ],
  [
    "1,000 Stop hooks",
    (p) =>
      user(p, JSON.stringify({ hooks: { Stop: [{ hooks: Array(1_000).fill({ type: "command", command: "x" }) }] } })),
    "and 980 more",
  ],
  ["a FIFO as list of plugins", (p) => fifo(p.home, ".claude/plugins/installed_plugins.json"), "No problems"],
  ["FIFOs as logs", (p) => fifos(p.root, ".pawl", ["errors.log", "journal/2026-11.jsonl"]), "No problems"],
  ["a FIFO as run", (p) => fifos(p.root, ".pawl/runs/abc", ["000001.json", "workflow.json"]), "run abc cannot be read"],
  ["a FIFO as session", (p) => fifo(p.home, ".local/state/pawl/sessions/claude-x"), "No problems"],
  ["a FIFO as exclude file", (p) => fifo(p.root, ".git/info/exclude"), "info/exclude cannot be used"],
  ["a FIFO as record", (p) => fifo(p.root, ".pawl/install.json"), "install.json is not a regular file"],
  ["a damaged record", (p) => write(p.root, ".pawl/install.json", "{}"), "install.json is damaged"],
  ["folders in a circle", (p) => symlinkSync(join(p.root, ".pawl"), join(p.root, ".pawl/again")), "No problems"],
  ["a damaged repository", (p) => rmSync(join(p.root, ".git/objects"), { recursive: true }), "not a git repository"],
];

function link(place: Place, target: string): void {
  mkdirSync(join(place.home, ".claude"), { recursive: true });
  symlinkSync(target, join(place.home, HOME_SETTINGS));
}

describe("hostile files", () => {
  test.each(rows)("%s", (_name, harm, words) => {
    const place = healthy();
    harm(place);
    const before = snapshot(place);
    const began = performance.now();
    const { code, out, err } = runInProcess(place, ["doctor"]);
    expect(performance.now() - began).toBeLessThan(TOO_LONG_MS);
    expect(err).toBe("");
    expect([0, 1]).toContain(code!);
    expect(out).toContain(words);
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(snapshot(place)).toEqual(before);
  });
});

describe("places where little is there", () => {
  test("no .claude, no git, an empty home", () => {
    const place = bare({ git: false });
    const { code, ids } = diagnose(place);
    expect({ code, ids }).toEqual({ code: 1, ids: ["trouble not-installed", "note hook-none", "note git-none"] });
  });

  test("the home folder itself", () => {
    const place = bare();
    expect(diagnose(place, { cwd: place.home }).ids).toEqual([
      "trouble not-installed",
      "note hook-none",
      "note git-none",
    ]);
  });

  test("a home that is not there", () => {
    const place = bare();
    const { ids } = diagnose(place, { env: { HOME: join(place.base, "nobody") } });
    expect(ids).toEqual(["trouble not-installed", "trouble binary-missing", "note hook-none"]);
    expect(existsSync(join(place.base, "nobody"))).toBe(false);
  });

  test("no git on the PATH", () => {
    const place = healthy();
    expect(diagnose(place, { env: { PATH: "/nonexistent" } }).ids).toEqual(["trouble git-missing"]);
  });

  test("a git that hangs", () => {
    const place = healthy();
    write(place.base, "bin/git", "#!/bin/sh\nsleep 60 & wait\n");
    chmodSync(join(place.base, "bin/git"), 0o755);
    expect(diagnose(place, { env: { PATH: `${join(place.base, "bin")}:/usr/bin:/bin` } }).ids).toEqual([
      "trouble git-slow",
    ]);
  });

  const nobody = process.getuid?.() === 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : "";
  test("a project and a home that cannot be written", () => {
    const place = healthy();
    write(place.home, ".local/state/pawl/sessions/x", "{}");
    const locked = [place.root, join(place.root, ".pawl"), place.home, join(place.home, ".local/state/pawl/sessions")];
    for (const path of locked) chmodSync(path, 0o555);
    const open = [
      place.base,
      join(place.home, ".local"),
      join(place.home, ".local/state"),
      join(place.home, ".local/state/pawl"),
    ];
    for (const path of open) chmodSync(path, 0o755);
    const before = snapshot(place);
    const { out, err } = shell(place, `${nobody} ${PAWL} doctor`);
    expect(err).toBe("");
    expect(out).toContain(".pawl cannot be written (EACCES): no run can be kept");
    expect(out).toContain("~/.local/state/pawl/sessions cannot be written (EACCES)");
    expect(snapshot(place)).toEqual(before);
  });

  const canMount = Bun.spawnSync(["unshare", "-m", "true"]).exitCode === 0;
  test.skipIf(!canMount)("a disk that is read-only, and one that is full", () => {
    const place = healthy();
    const pawl = join(place.root, ".pawl");
    const readOnly = `mount --bind ${pawl} ${pawl} && mount -o remount,ro,bind ${pawl}`;
    expect(shell(place, `unshare -m sh -c '${readOnly} && ${PAWL} doctor'`).out).toContain(
      ".pawl cannot be written (EROFS)",
    );
    const small = `mount -t tmpfs -o size=1m tmpfs ${place.home}/.local/state`;
    mkdirSync(join(place.home, ".local/state"), { recursive: true });
    const full = shell(place, `unshare -m sh -c '${small} && ${PAWL} doctor'`);
    expect(full.out).toContain("MB are left on the disk of ~/.local/state/pawl");
  });
});

test("a link to the settings is followed, as the host does", () => {
  const place = healthy();
  const text = '{"disableAllHooks":true}';
  write(place.base, "dotfiles/settings.json", text);
  link(place, join(place.base, "dotfiles/settings.json"));
  expect(diagnose(place).ids).toEqual(["trouble hooks-disabled"]);
});
