import { afterEach, describe, expect, test } from "bun:test";
import { chmodSync, chownSync, cpSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { removeTemps } from "./samples.ts";
import {
  approvals,
  call,
  FILES,
  GATES,
  type Ground,
  git,
  grant,
  ground,
  isTrusted,
  put,
  repository,
  SHARE,
} from "./trust-ground.ts";

afterEach(removeTemps);

const LOOSE: [string, (place: Ground, file: string) => void, string][] = [
  ["the approval is writable by a group", (_, file) => chmodSync(file, 0o620), "not approved yet"],
  ["the approval is writable by all", (_, file) => chmodSync(file, 0o602), "not approved yet"],
  ["its folder is", (_, file) => chmodSync(dirname(file), 0o777), "can be written by others (mode 777)"],
  ["the store is", (_, file) => chmodSync(dirname(dirname(file)), 0o770), "can be written by others (mode 770)"],
  ["Pawl's folder is", ({ home }) => chmodSync(join(home, SHARE), 0o775), "can be written by others (mode 775)"],
  [
    "the key can be read by others",
    ({ home }) => chmodSync(join(home, SHARE, "key"), 0o644),
    "others can read the key",
  ],
  ["the key is another", ({ home }) => writeFileSync(join(home, SHARE, "key"), "0".repeat(64)), "not approved yet"],
  [
    "the approval was edited",
    (_, file) => writeFileSync(file, readFileSync(file, "utf8").replace("tester", "root")),
    "not approved yet",
  ],
  [
    "it was written without the key",
    (_, file) => writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), seal: undefined })),
    "not approved yet",
  ],
  [
    "the store is a link",
    ({ home }, file) => {
      renameSync(dirname(dirname(file)), join(home, "moved"));
      symlinkSync(join(home, "moved"), join(home, SHARE, "trust"));
    },
    "is a symbolic link",
  ],
  [
    "the approval is a link",
    ({ home }, file) => {
      renameSync(file, join(home, "moved"));
      symlinkSync(join(home, "moved"), file);
    },
    "not approved yet",
  ],
];

describe("a store that others could have written is not believed", () => {
  for (const [name, loosen, words] of LOOSE) {
    test(name, () => {
      const place = ground(FILES);
      grant(place);
      loosen(place, approvals(place)[0]!);
      expect(isTrusted(place)).toMatchObject({ trusted: false, why: expect.stringContaining(words) });
    });
  }

  test.skipIf(process.getuid?.() !== 0)("one of another user", () => {
    const place = ground(FILES);
    grant(place);
    chownSync(dirname(approvals(place)[0]!), 1234, 1234);
    expect(isTrusted(place)).toMatchObject({ trusted: false, why: expect.stringContaining("belongs to another user") });
  });

  test("and nothing is granted into it", () => {
    const place = ground(FILES);
    mkdirSync(join(place.home, SHARE), { recursive: true });
    chmodSync(join(place.home, SHARE), 0o777);
    expect(call(place, ["grant", place.root, GATES])).toEqual([{ thrown: expect.stringContaining("mode 777") }]);
  });
});

describe("a repository cannot approve itself", () => {
  test("with a store of its own", () => {
    const other = ground(FILES);
    grant(other);
    for (const where of [SHARE, ".pawl", ".config/pawl"]) {
      const place = ground(FILES);
      cpSync(join(other.home, SHARE), join(place.root, where), { recursive: true });
      put(place.root, { ".pawl/trust.json": "{}", "trust.json": "{}" });
      expect(isTrusted(place)).toMatchObject({ trusted: false });
    }
  });

  test("as a home folder", () => {
    const place = ground(FILES);
    const inside = { root: place.root, home: join(place.root, "home") };
    expect(call(inside, ["grant", place.root, GATES])).toEqual([
      { thrown: expect.stringContaining("inside the project") },
    ]);
    expect(isTrusted(inside)).toMatchObject({ trusted: false, why: expect.stringContaining("inside the project") });
  });

  test("with the approval of another project, put in its place", () => {
    const [place, other] = [ground(FILES), ground(FILES)];
    grant(place);
    const [from] = approvals(place);
    call(place, ["grant", other.root, [{ shell: "true" }]]);
    const folder = approvals(place)
      .map(dirname)
      .find((one) => one !== dirname(from!))!;
    cpSync(from!, join(folder, from!.slice(dirname(from!).length)));
    expect(isTrusted(place, other.root)).toMatchObject({ trusted: false });
  });
});

describe("worktrees", () => {
  test("share an approval when what would run is equal, and not when it differs", () => {
    const place = repository(FILES);
    const linked = join(dirname(place.root), "linked");
    git(place.root, "worktree", "add", "-q", linked);
    grant(place);
    expect(isTrusted(place, linked)).toMatchObject({ trusted: true });
    put(linked, { "scripts/check.sh": "evil\n" });
    expect(isTrusted(place, linked)).toMatchObject({ trusted: false });
    expect(isTrusted(place)).toMatchObject({ trusted: true });
    grant(place, linked);
    expect([isTrusted(place), isTrusted(place, linked)]).toMatchObject([{ trusted: true }, { trusted: true }]);
  });

  const pretenders: [string, (root: string, repository: string) => void][] = [
    ["a .git file", (root, to) => put(root, { ".git": `gitdir: ${to}/.git\n` })],
    ["a .git file of its worktree", (root, to) => put(root, { ".git": `gitdir: ${to}/.git/worktrees/linked\n` })],
    ["a link", (root, to) => symlinkSync(`${to}/.git`, join(root, ".git"))],
    ["a git folder of its own", (root, to) => put(root, { ".git/commondir": `${to}/.git\n`, ".git/HEAD": "ref: x\n" })],
  ];
  for (const [name, pretend] of pretenders) {
    test(`what only says that it is one is none: ${name}`, () => {
      const place = repository(FILES);
      git(place.root, "worktree", "add", "-q", join(dirname(place.root), "linked"));
      grant(place);
      const stranger = join(dirname(place.root), "stranger");
      put(stranger, FILES);
      pretend(stranger, place.root);
      expect(isTrusted(place, stranger)).toMatchObject({ trusted: false });
    });
  }

  test("two projects in one repository do not share", () => {
    const both = Object.entries(FILES).flatMap(([path, text]) => [
      [`a/${path}`, text],
      [`b/${path}`, text],
    ]);
    const place = repository(Object.fromEntries(both));
    grant(place, join(place.root, "a"));
    expect(isTrusted(place, join(place.root, "a"))).toMatchObject({ trusted: true });
    expect(isTrusted(place, join(place.root, "b"))).toMatchObject({ trusted: false });
  });
});
