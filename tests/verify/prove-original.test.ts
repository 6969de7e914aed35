/** `pawl verify --prove`: whatever a gate writes in the copy, the project stays byte for byte as it was. */

import { afterAll, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { recordEnvironment } from "../../src/store/environment.ts";
import { withEnvironment } from "../harness/environment.ts";
import { type Place, removePlaces } from "../harness/harness.ts";
import { runInProcess } from "../harness/in-process.ts";
import { ground, put, SUITE, scratches, sh, trust } from "./ground.ts";

afterAll(removePlaces, 60_000);

const IGNORED = "node_modules\n.venv\nvendor\ndata\n";
const PACKAGES = {
  "node_modules/dep/index.js": "module.exports = 1;\n",
  "node_modules/dep/node_modules/deeper/index.js": "module.exports = 3;\n",
  "node_modules/@own/dep/index.js": "module.exports = 2;\n",
  "node_modules/.bin/tool": "#!/bin/sh\n",
  ".venv/lib/python3/site-packages/one.py": "one = 1\n",
  "vendor/bundle/gem.rb": "1\n",
  "packages/own/index.js": "module.exports = 4;\n",
  "data/cache.txt": "before\n",
};

/** Content, links and modes of everything but Pawl's own folder: the history and the remote, too. */
const everything = (place: Place) =>
  sh(
    place,
    `cd .. && skip="-path ./tmp -prune -o -path ./home -prune -o -name .pawl -prune -o" && find . $skip -printf '%p %M %l\\n' | sort && find . $skip -type f -print0 | sort -z | xargs -0 sha256sum`,
  );

function project(command: string, prepare: (place: Place) => void = () => undefined): Place {
  const place = ground({ ...SUITE, "check.sh": command, "pawl.yaml": "gates:\n  check: { run: [sh, check.sh] }\n" });
  put(place, { ...PACKAGES, ".gitignore": IGNORED });
  sh(place, "git add -A && git commit -q -m more && git init -q --bare ../remote && git remote add up ../remote");
  sh(place, "git push -q up HEAD && git push -q up HEAD:other");
  prepare(place);
  trust(place);
  return place;
}

/** The command is run in the copy, and nothing of it arrives in the project. */
function prove(place: Place): string {
  const before = everything(place);
  const { out } = runInProcess(place, ["verify", "--prove"]);
  expect(everything(place)).toBe(before);
  expect(scratches(place)).toEqual([]);
  return out;
}

const SEEN = "node --test && node --check add.js";
const PROVED = expect.stringMatching(/^✓ check: proved/);

test.each<[what: string, command: string]>([
  ["a package", "echo evil > node_modules/dep/index.js"],
  ["a package's package", "echo evil >> node_modules/dep/node_modules/deeper/index.js"],
  ["a package with a scope", "echo evil > node_modules/@own/dep/new.js"],
  ["a program of a package", "echo evil >> node_modules/.bin/tool"],
  ["all packages", "rm -rf node_modules/* .venv vendor"],
  ["a virtual environment", "echo evil > .venv/lib/python3/site-packages/one.py"],
  ["vendored code", "chmod 700 vendor/bundle/gem.rb; echo evil > vendor/bundle/gem.rb"],
  ["other ignored files", "echo evil > data/cache.txt"],
])(
  "a gate that changes %s",
  (_, command) => {
    expect(prove(project(`${command} && ${SEEN}`))).toEqual(PROVED);
  },
  60_000,
);

test.each<[what: string, command: string]>([
  ["pushes to a remote by name", "git push -q up HEAD:refs/heads/evil"],
  ["pushes to wherever it was copied from", "git push -q origin HEAD:refs/heads/evil"],
  ["pushes without saying where", "git push -q --set-upstream $(git remote | head -1) HEAD:refs/heads/evil"],
])(
  "a gate that %s has nowhere to push",
  (_, command) => {
    expect(prove(project(`${command} && ${SEEN}`))).toContain("in the copy it does not pass even with nothing broken");
    expect(prove(project(`${command}; ${SEEN}`))).toEqual(PROVED);
  },
  60_000,
);

test("a gate finds the branches, the remote's branches and the tags as they are, and no remote", () => {
  const command = [
    "test -z \"$(git remote)$(git config --get-regexp '^remote|^url|hookspath|alternate')\"",
    "test ! -e .git/worktrees",
    'test "$(git rev-parse HEAD up/other v1 main-too)" = "$(git rev-parse HEAD HEAD HEAD HEAD^)"',
    'test "$(git symbolic-ref HEAD)" = refs/heads/side',
    'test -z "$(git status --porcelain)"',
    SEEN,
  ].join(" && ");
  const place = project(command, (one) => {
    sh(one, "git fetch -q up && git tag v1 && git branch main-too HEAD^ && git checkout -q -b side");
  });
  expect(prove(place)).toEqual(PROVED);
}, 60_000);

test.each([
  ["no branch is checked out", "git checkout -q --detach HEAD^"],
  ["the branch has no commit yet", "git checkout -q --orphan new"],
])(
  "where %s, it is so in the copy",
  (_, script) => {
    const state = "git symbolic-ref -q HEAD; git rev-parse -q --verify HEAD; git diff --cached --stat";
    const place = project(`{ ${state}; } | cmp - ../../../state && ${SEEN}`, (one) => {
      sh(one, `${script} && { ${state}; } > ../state || true`);
    });
    expect(prove(place)).toEqual(PROVED);
  },
  60_000,
);

test("a gate that commits, tags, collects garbage and makes worktrees", () => {
  const command =
    "git -c user.name=x -c user.email=x@y commit -q --allow-empty -m evil && git tag -f evil && git worktree add -q ../wt && git gc -q --prune=now && git update-ref -d refs/remotes/up/other && git config user.evil 1";
  expect(prove(project(`${command}; ${SEEN}`))).toEqual(PROVED);
}, 60_000);

test("a gate that runs in a worktree of the project", () => {
  const place = project(`git tag evil; git branch evil; ${SEEN}`);
  sh(place, "git worktree add -q ../outside");
  const tree = { ...place, root: join(place.base, "outside") };
  put(tree, PACKAGES);
  trust(tree);
  expect(prove(tree)).toEqual(PROVED);
  expect(sh(place, "git tag; git branch")).not.toContain("evil");
}, 60_000);

test("links that lead back into the project lead into the copy", () => {
  const command = [
    "echo evil > absolute/cache.txt",
    "echo evil > relative/cache.txt",
    "echo evil > node_modules/own/index.js",
    "echo evil > node_modules/dep/back/index.js",
    "echo evil > around/cache.txt",
    "echo evil > dangling",
    "echo evil > ignored-link/one.py",
    'test "$(cat data/cache.txt)" = evil',
  ].join(" && ");
  const place = project(`if ! grep -q evil data/cache.txt; then ${command}; fi && ${SEEN}`, (one) => {
    const link = (to: string, name: string) => symlinkSync(to, join(one.root, name));
    link(join(one.root, "data"), "absolute");
    link("data", "relative");
    link(join(one.root, "packages/own"), "node_modules/own");
    link(join(one.root, "packages/own"), "node_modules/dep/back");
    symlinkSync(one.root, join(one.base, "outside"));
    link(join(one.base, "outside/data"), "around");
    link(join(one.root, "not-there.txt"), "dangling");
    link(join(one.root, ".venv/lib/python3/site-packages"), "ignored-link");
    sh(one, "git add -A && git commit -q -m links");
  });
  expect(prove(place)).toEqual(PROVED);
}, 60_000);

test("a folder of packages that is itself a link is copied", () => {
  const place = project(`echo evil > node_modules/dep/index.js && ${SEEN}`, (one) => {
    sh(one, "mv node_modules ../outside && ln -s ../outside node_modules");
  });
  expect(prove(place)).toEqual(PROVED);
}, 60_000);

test("packages that name the project's path name that of the copy", () => {
  const place = project(`.venv/bin/tool && test "$(cat .venv/lib/own.pth)" = "$PWD/src" && ${SEEN}`, (one) => {
    put(one, {
      ".venv/bin/python": '#!/bin/sh\necho evil > "$(dirname "$0")/../lib/written"\n',
      ".venv/bin/tool": `#!${one.root}/.venv/bin/python\n`,
      ".venv/lib/own.pth": `${one.root}/src\n`,
    });
    sh(one, "chmod +x .venv/bin/*");
  });
  expect(prove(place)).toEqual(PROVED);
}, 60_000);

test("variables that name the project name the copy", () => {
  const place = project(`echo evil > "$OWN_DATA/cache.txt" && own-tool && next-tool && ${SEEN}`, (one) => {
    sh(
      one,
      "mkdir ../project-tools && printf '#!/bin/sh\n' > ../project-tools/next-tool && chmod +x ../project-tools/*",
    );
    put(one, { "node_modules/.bin/own-tool": '#!/bin/sh\necho evil > "$(dirname "$0")/written"\n' });
    sh(one, "chmod +x node_modules/.bin/own-tool");
  });
  const PATH = `${place.root}/node_modules/.bin:${place.root}-tools:${place.env.PATH}`;
  const env = { ...place.env, PATH, OWN_DATA: `${place.root}/data` };
  withEnvironment(env, () => recordEnvironment(place.root, env, ["OWN_DATA"]));
  expect(prove(place)).toEqual(PROVED);
}, 60_000);

test("a project that is too large is not proved, and told so", () => {
  const place = project(SEEN);
  sh(place, "truncate -s 3G node_modules/dep/huge.bin");
  expect(runInProcess(place, ["verify", "--prove"]).out).toMatch(
    /^\? check: not proved: the copy could not be made: node_modules is too large; a copy in \S+ may have at most 200000 files and \d+ MB\n$/,
  );
  expect(scratches(place)).toEqual([]);
}, 60_000);

test("what is left out because it is too large is named where the gate misses it", () => {
  const place = project(`test -s data/huge.bin && ${SEEN}`);
  sh(place, "truncate -s 65M data/huge.bin");
  expect(runInProcess(place, ["verify", "--prove"]).out).toContain("exit 1; too large to be in the copy: data\n");
}, 60_000);
