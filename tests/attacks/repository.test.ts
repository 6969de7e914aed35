/** A repository full of traps: nothing of it is loaded, nothing in its names is run. */
import { afterAll, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { hookCommand } from "../../src/setup/install/hooks.ts";
import { trustProject } from "../harness/grant-trust.ts";
import {
  CLIENT,
  errorsOf,
  makePlace,
  openSession,
  PAWL,
  type Place,
  payload,
  removePlaces,
  run,
  runHook,
  runPawl,
  type Session,
  shell,
  stopFields,
} from "../harness/harness.ts";
import { runOf } from "../harness/run-files.ts";

afterAll(removePlaces);

const WORKFLOW = (title: string, gates: string) => `name: ship
title: ${JSON.stringify(title)}
signals: promise
arm: ["/ship"]
stages:
  - id: build
    title: ${JSON.stringify(title)}
    say: Build it.
    on:
      BUILT: { end: completed, gates: [${gates}] }
`;

function put({ root }: Place, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

function begin(place: Place): Session {
  const session = openSession(place, "agent");
  session.turn = 1;
  const { out } = runHook(place, payload(place, session, "UserPromptSubmit", { prompt: "/ship" }));
  expect(out).toContain("Build it.");
  return session;
}

const stop = (place: Place, session: Session, said: string) =>
  runHook(place, payload(place, session, "Stop", stopFields(session, said)));

// ── Next to the hook's working folder ────────────────────────────────────────

/** Each of them would leave a mark, or change what Pawl does. */
const traps = (mark: string): Record<string, string> => {
  const evil = `require("node:fs").writeFileSync(${JSON.stringify(mark)}, "loaded");\n`;
  return {
    "evil.js": evil,
    "evil.ts": evil,
    ".env": `PAWL=0\nHOME=/nowhere\nBUN_OPTIONS=--preload=./evil.ts\nNODE_OPTIONS=--require=./evil.js\n`,
    ".env.local": "PAWL=0\n",
    ".env.production": "PAWL=0\n",
    "bunfig.toml":
      'preload = ["./evil.ts"]\n[run]\npreload = ["./evil.ts"]\n[test]\npreload = ["./evil.ts"]\n[install]\nregistry = "http://127.0.0.1:9"\n',
    ".bunfig.toml": 'preload = ["./evil.ts"]\n',
    ".npmrc": `node-options=--require=./evil.js\nscript-shell=${mark}\nregistry=http://127.0.0.1:9\n`,
    ".yarnrc.yml": "yarnPath: ./evil.js\n",
    "package.json": JSON.stringify({
      name: "pawl",
      main: "./evil.js",
      type: "commonjs",
      imports: { "#yaml": "./evil.js" },
      exports: "./evil.js",
      bin: { pawl: "./evil.js" },
      browser: { "node:fs": "./evil.js" },
      scripts: { hook: "node evil.js", preinstall: "node evil.js", verify: "node evil.js", runs: "node evil.js" },
      bun: { preload: ["./evil.ts"] },
    }),
    "tsconfig.json":
      '{"compilerOptions":{"paths":{"yaml":["./evil.ts"],"node:fs":["./evil.ts"]},"jsxImportSource":"./evil"}}',
    "node_modules/yaml/index.js": evil,
    "node_modules/.bin/git": `#!/bin/sh\ntouch ${mark}\n`,
    git: `#!/bin/sh\ntouch ${mark}\n`,
    sh: `#!/bin/sh\ntouch ${mark}\n`,
    ".gitconfig": `[core]\n\tfsmonitor = touch ${mark}\n`,
    ".pawl/trust.json": '{"trusted":true}',
    ".local/share/pawl/trust/x.json": '{"trusted":true}',
  };
};

test("files that programs load by themselves are not loaded, whatever Pawl is asked to do there", () => {
  const place = makePlace();
  const mark = join(place.base, "mark");
  put(place, traps(mark));
  shell(place, "chmod +x git sh node_modules/.bin/git");
  put(place, { ".pawl/workflows/ship.yaml": WORKFLOW("Ship", "{ run: [/bin/sh, check.sh] }, { file: README.md }") });
  put(place, { "check.sh": "exit 0\n" });
  trustProject(place);
  const session = begin(place);
  for (const words of [
    ["runs"],
    ["check"],
    ["list"],
    ["explain"],
    ["log"],
    ["verify"],
    ["trust", "--show"],
    ["doctor"],
  ])
    expect(runPawl(place, words).code).not.toBeNull();
  const claim = payload(place, session, "Stop", stopFields(session, "<promise>BUILT</promise>"));
  const beside = run(place, [PAWL, "rewake", "claude", "--via", "local"], { input: "{}", env: CLIENT });
  expect(beside.code).toBe(0);
  expect(runHook(place, claim).out).toContain("✅ ship finished");
  expect(existsSync(mark)).toBe(false);
  expect(errorsOf(place)).toBe("");
});

/** No clone brings such settings, an unpacked archive may. (A filter runs, as at every `git status`: git-lfs is one.) */
test("git's own settings of the repository run nothing when Pawl looks at the tree", () => {
  const place = makePlace();
  const mark = join(place.base, "mark");
  put(place, { ".pawl/workflows/ship.yaml": WORKFLOW("Ship", "{ git: clean }, { only: ['**'] }"), "a.txt": "a\n" });
  put(place, { ".gitattributes": "* filter=evil diff=evil merge=evil\n" });
  const evil = `touch ${mark}; cat`;
  for (const [key, value] of [
    ["core.fsmonitor", evil],
    ["core.pager", evil],
    ["core.editor", evil],
    ["core.sshCommand", evil],
    ["diff.evil.command", evil],
    ["diff.evil.textconv", evil],
    ["diff.external", evil],
    ["core.hooksPath", join(place.root, "hooks")],
  ] as const)
    run(place, ["git", "config", key, value], {});
  put(place, { "hooks/post-index-change": `#!/bin/sh\ntouch ${mark}\n` });
  shell(place, "chmod +x hooks/*");
  const session = begin(place);
  put(place, { "a.txt": "b\n" });
  stop(place, session, "<promise>BUILT</promise>");
  runPawl(place, ["verify"]);
  expect(existsSync(mark)).toBe(false);
});

// ── Names ───────────────────────────────────────────────────────────────────

const EVIL = ["$(touch MARK)", "`touch MARK`", "; touch MARK #", "| touch MARK", "&& touch MARK", "' ; touch MARK ; '"];

/** No blanks in a branch's name, but a shell finds a way. */
const SPACE = "$".concat("{IFS}");
const EVIL_BRANCH = `y\`touch${SPACE}mark\`$(touch${SPACE}mark);touch${SPACE}mark`;

test("shell signs in branches, titles, file names, messages and prompts are only text", () => {
  const place = makePlace();
  const mark = join(place.base, "mark");
  const evil = EVIL.map((text) => text.replaceAll("MARK", mark));
  const gates = "{ branch: ['release/*'] }, { only: ['src/**'] }, { git: clean }, { run: [/bin/sh, -c, 'exit 3'] }";
  put(place, { ".pawl/workflows/ship.yaml": WORKFLOW(evil.join(" "), gates) });
  trustProject(place);
  run(place, ["git", "checkout", "-q", "-b", EVIL_BRANCH], {});
  const session = begin(place);
  const names = [
    "$(touch mark)",
    "`touch mark`",
    ";touch mark",
    "-rf",
    "--output=mark",
    "a\nb;touch mark",
    "'; touch mark;'",
  ];
  put(place, Object.fromEntries(names.map((name) => [name, "x\n"])));
  run(place, ["git", "-c", "core.hooksPath=/dev/null", "commit", "-q", "--allow-empty", "-m", evil.join("\n")], {});
  const { out } = stop(place, session, `${evil.join("\n")}\n\n<promise>BUILT</promise>`);
  expect(out).toContain(`the branch is ${EVIL_BRANCH}`);
  expect(out).toContain("exit 3");
  for (const text of evil) {
    session.turn += 1;
    runHook(place, payload(place, session, "UserPromptSubmit", { prompt: text }));
    runPawl(place, ["runs", "pause", text]);
    runPawl(place, ["runs", "abort", "--why", text, "nothing"]);
  }
  runPawl(place, ["verify"]);
  expect([existsSync(mark), existsSync(join(place.root, "mark"))]).toEqual([false, false]);
  expect(runOf(place.root, session.id)!.stage).toBe("build");
});

test("what until runs is the typed line alone: nothing of the repository gets into it", () => {
  const place = makePlace();
  run(place, ["git", "checkout", "-q", "-b", EVIL_BRANCH], {});
  put(place, { "$(touch mark)": "x\n" });
  const session = openSession(place, "agent");
  session.turn = 1;
  const typed = '/pawl:until test "$0 $# {branch} {title} $(cat said)" = "/bin/sh 0 {branch} {title} word"';
  put(place, { said: "word\n" });
  runHook(place, payload(place, session, "UserPromptSubmit", { prompt: typed }));
  expect(stop(place, session, "Done.").out).toContain("✅ until finished");
  expect(existsSync(join(place.root, "mark"))).toBe(false);
});

test("the runtime's variables from a repository's settings do nothing to the hook", () => {
  const place = makePlace();
  const bin = join(place.home, ".local/share/pawl/bin");
  mkdirSync(bin, { recursive: true });
  symlinkSync(PAWL, join(bin, "pawl"));
  copyFileSync(join(import.meta.dir, "../../bin/hook.sh"), join(bin, "../hook"));
  const marker = join(place.base, "loaded");
  const evil = join(place.root, "evil.ts");
  writeFileSync(evil, `require("node:fs").writeFileSync(${JSON.stringify(marker)}, "");`);
  const session = openSession(place, "main");
  const input = `${JSON.stringify(payload(place, session, "UserPromptSubmit", { prompt: "/complete-work" }))}\n`;
  const clean = run(place, ["/bin/sh", "-c", hookCommand("user")], { input: "{}" });
  const variables: Record<string, string>[] = [
    { BUN_OPTIONS: `--preload=${evil}` },
    { BUN_BE_BUN: "1" },
    { BUN_BYTECODE_ORDER_OUT: marker },
    { BUN_INSPECT: `unix://${marker}` },
    { BUN_JSC_functionOverrides: evil },
    { BUN_JSC_dumpOptions: "1" },
    { BUN_JSC_noSuchOption: "1" },
    { MIMALLOC_VERBOSE: "1" },
    { OTHER: "two\nBUN_x-y=1 BUN_OPTIONS=1 * 'quoted'", BUN_BE_BUN: "1" },
  ];
  for (const env of variables) {
    expect(run(place, ["/bin/sh", "-c", hookCommand("user")], { input: "{}", env })).toEqual(clean);
    expect(existsSync(marker)).toBe(false);
  }
  expect(run(place, ["/bin/sh", "-c", hookCommand("local")], { input, env: variables[0]! }).code).toBe(0);
  expect(runOf(place.root, session.id)?.stage).toBe("memory");
});
