/** One thing wrong at a time with the installation: the doctor names it, says what to do, and touches nothing. */
import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../../package.json";
import ourHooks from "../../../plugin/hooks/hooks.json";
import { guarded } from "../../../src/setup/install/hooks.ts";
import { type Place, removePlaces, shell } from "../../harness/harness.ts";
import { runInProcess } from "../../harness/in-process.ts";
import {
  BINARY,
  type Case,
  diagnose,
  edit,
  expectFound,
  healthy,
  LOCAL,
  plugin,
  SCRIPT,
  user,
  write,
} from "./clinic.ts";

afterAll(removePlaces);

const LOOKS_LIKE_OURS = "touch started; : .local/share/pawl/bin/pawl hook claude";
const OLD = guarded("hook claude --via local");
const HOOK = { type: "command", command: "say done" };

function program(place: Place, script: string, mode = 0o755): void {
  unlinkSync(join(place.home, BINARY));
  write(place.home, BINARY, `#!/bin/sh\n${script}\n`);
  chmodSync(join(place.home, BINARY), mode);
}

function secret(place: Place, name: string, mode: number): void {
  const path = `.local/share/pawl/${name}`;
  write(place.home, path, "x");
  chmodSync(join(place.home, path), mode);
}

function link(place: Place, name: string): void {
  mkdirSync(join(place.home, "elsewhere"));
  symlinkSync(join(place.home, "elsewhere"), join(place.home, ".local/share/pawl", name));
}

function folderAsProgram(place: Place): void {
  unlinkSync(join(place.home, BINARY));
  mkdirSync(join(place.home, BINARY));
}

const installation: Case[] = [
  [
    "broken settings",
    (p) => write(p.root, LOCAL, '{\n  "hooks": {,\n}'),
    ["trouble settings-broken", "trouble not-installed", "note hook-none"],
    `${LOCAL}:2:13`,
  ],
  ["broken settings of the person", (p) => user(p, "{"), ["trouble settings-broken"], "~/.claude/settings.json:1:2"],
  ["a list as settings", (p) => user(p, "[]"), ["trouble settings-broken"], "holds no object"],
  [
    "a comment",
    (p) => write(p.root, LOCAL, `// mine\n${readFileSync(join(p.root, LOCAL), "utf8")}`),
    ["trouble settings-ignored"],
    "line 1, column 1: a comment",
  ],
  [
    "a hook of unknown type",
    (p) => edit(p, (hooks) => hooks.Stop!.push({ hooks: [{ type: "shell" }] })),
    ["trouble settings-wrong-hook", "note beside-hook"],
    "Claude Code drops all hooks",
  ],
  [
    "a timeout in words",
    (p) => edit(p, (hooks) => hooks.Stop!.push({ hooks: [{ ...HOOK, timeout: "5s" }] })),
    ["trouble settings-wrong-hook", "note beside-hook"],
    "timeout is not a number",
  ],
  [
    "a wrong hook in a file that is not ours",
    (p) => user(p, JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ type: "x" }] }] } })),
    ["note settings-wrong-hook"],
    "~/.claude/settings.json:1:35",
  ],
  [
    "disableAllHooks",
    (p) => user(p, '{"disableAllHooks":true}'),
    ["trouble hooks-disabled"],
    "~/.claude/settings.json says disableAllHooks",
  ],
  [
    "entries of an older version",
    (p) =>
      edit(p, (hooks) => {
        for (const [group] of Object.values(hooks)) Object.assign(group!.hooks[0]!, { command: OLD });
      }),
    ["trouble hooks-differ", "note hook-unknown"],
    "not as this version writes it",
  ],
  ["one of our entries is gone", (p) => edit(p, (hooks) => delete hooks.Stop), ["trouble hooks-differ"], "not at Stop"],
  [
    "our entry was changed",
    (p) => edit(p, ({ Stop }) => void Object.assign(Stop![0]!.hooks[0]!, { timeout: 5 })),
    ["trouble hooks-differ"],
    "not as this version writes it",
  ],
  [
    "a command that only looks like ours is not started",
    (p) => edit(p, ({ SessionStart }) => void Object.assign(SessionStart![0]!.hooks[0]!, { command: LOOKS_LIKE_OURS })),
    ["trouble hooks-differ", "note hook-unknown"],
    "it was not run: touch started",
  ],
  [
    "nothing is installed",
    (p) => rmSync(join(p.root, LOCAL)),
    ["trouble not-installed", "note hook-none"],
    "run `pawl init`",
  ],
  [
    "two scopes",
    (p) => void runInProcess(p, ["init", "--with", "all", "--user", "--yes"]),
    ["note installed-twice"],
    "2 times: ~/.claude/settings.json, .claude/settings.local.json",
  ],
  [
    "settings and plugin",
    (p) => plugin(p, "pawl@pawl", ourHooks, "0.1.0"),
    ["note installed-twice"],
    ".claude/settings.local.json, the plugin",
  ],
  [
    "a plugin that is not there",
    (p) => user(p, '{"enabledPlugins":{"pawl@x":true}}'),
    ["trouble plugin-missing", "note installed-twice"],
    "claude plugin install pawl@x",
  ],
  [
    "a plugin of another version",
    (p) => plugin(p, "pawl@pawl", ourHooks, "0.0.1"),
    ["note plugin-version", "note installed-twice"],
    "is 0.0.1",
  ],
  ["a plugin for several projects", pluginTwice, ["note installed-twice"], "the plugin pawl@pawl is on"],
  [
    "a plugin that does not call us",
    (p) => plugin(p, "pawl@pawl", {}, "0.1.0"),
    ["trouble plugin-broken", "note installed-twice"],
    "does not call Pawl",
  ],
  [
    "a command that is gone",
    (p) => rmSync(join(p.root, ".claude/commands/complete-work.md")),
    ["note texts-differ"],
    ".claude/commands/complete-work.md",
  ],
];

const line = (command: string) => ({ statusLine: { type: "command", command } });

function inLocal(place: Place, more: object): void {
  const settings = JSON.parse(readFileSync(join(place.root, LOCAL), "utf8"));
  write(place.root, LOCAL, JSON.stringify({ ...settings, ...more }));
}

const controls: Case[] = [
  [
    "a line that ours does not run yet",
    (p) => user(p, JSON.stringify(line("date"))),
    ["note statusline-differs"],
    "another command than ~/.claude/settings.json has now",
  ],
  [
    "ours in other words",
    (p) => inLocal(p, line(`$HOME/${BINARY} statusline`)),
    ["note statusline-differs"],
    "not as this version writes it",
  ],
  [
    "a line that hides ours",
    (p) => {
      runInProcess(p, ["uninstall", "--yes"]);
      runInProcess(p, ["init", "--with", "all", "--user", "--yes"]);
      write(p.root, LOCAL, JSON.stringify(line("date")));
    },
    ["note statusline-hidden"],
    "which hides Pawl's in ~/.claude/settings.json | `pawl init --statusline` shows both",
  ],
  [
    "a skill that is gone",
    (p) => rmSync(join(p.root, ".claude/skills/handoff/SKILL.md")),
    ["note texts-differ"],
    "handoff",
  ],
  [
    "no shortcuts anywhere",
    (p) => write(p.home, ".config/pawl/config.yaml", "shortcuts: off\n"),
    ["note shortcuts-off"],
    "~/.config/pawl/config.yaml switches one-key shortcuts off",
  ],
];

const programs: Case[] = [
  [
    "no program",
    (p) => unlinkSync(join(p.home, BINARY)),
    ["trouble statusline-nowhere", "trouble binary-missing"],
    "every hook is silent",
  ],
  ["a folder as program", folderAsProgram, ["trouble binary-missing", "trouble hook-fails"], "is not a file"],
  [
    "a program nobody may start",
    (p) => program(p, "", 0o644),
    ["trouble statusline-nowhere", "trouble binary-not-executable"],
    "its statusLine calls ~/.local/share/pawl/bin/pawl, which cannot be run",
  ],
  [
    "another version",
    (p) => program(p, 'echo "pawl 9.9.9"; exit 0'),
    ["trouble binary-version", "trouble hook-garbage"],
    "hooks call version 9.9.9",
  ],
  [
    "a program that prints garbage",
    (p) => program(p, 'echo "hello\u001b[2J"'),
    ["trouble binary-fails", "trouble hook-garbage"],
    "not JSON: hello [2J",
  ],
  [
    "a program that fails",
    (p) => program(p, "echo oops >&2; exit 7"),
    ["trouble binary-fails", "trouble hook-fails"],
    "exited with 7",
  ],
  [
    "a program that dies",
    (p) => program(p, "kill -9 $$"),
    ["trouble binary-fails", "trouble hook-fails"],
    "exited with a signal",
  ],
  [
    "a slow program",
    (p) => program(p, '[ "$1" = hook ] && sleep 1.1; [ "$1" = hook ] || echo "pawl 0.1.0"'),
    ["trouble hook-slow"],
    "the hook took 1",
  ],
  // biome-ignore format: one thought
  ["a program that was slow once", (p) => program(p, '[ "$1" = hook ] || { echo "pawl 0.1.0"; exit; }; mkdir once 2>/dev/null && sleep 1.1; exit 0'), [], "the hook exited with 0 after"],
  [
    "a folder that others may write",
    (p) => chmodSync(join(p.home, ".local/share/pawl/bin"), 0o777),
    ["trouble binary-mode"],
    "chmod go-w ~/.local/share/pawl/bin",
  ],
  [
    "a folder that a group may write",
    (p) => chmodSync(join(p.home, ".local/share/pawl"), 0o775),
    ["note binary-mode"],
    "mode 775",
  ],
  [
    "a key that others may read",
    (p) => secret(p, "key", 0o644),
    ["trouble key-mode"],
    "chmod go-rwx ~/.local/share/pawl/key",
  ],
  ["a key in another place", (p) => link(p, "key"), ["trouble key-owner"], "key is a symbolic link"],
  [
    "approvals that others may write",
    (p) => secret(p, "trust/ab/cd.json", 0o666),
    ["trouble trust-mode"],
    "trust/ab/cd.json (mode 666)",
  ],
  ["approvals in another place", (p) => link(p, "trust"), ["trouble trust-owner"], "trust is a symbolic link"],
  [
    "a swapped program",
    (p) => write(p.home, `${BINARY}.version`, `${version} ${"0".repeat(64)}\n`),
    ["trouble binary-swapped"],
    "is not the binary that was installed",
  ],
  [
    "a program swapped behind the launcher",
    (p) => write(p.home, `${BINARY}.version`, `${version} ${"0".repeat(64)} 7-8\n`),
    ["trouble binary-swapped"],
    "is not the binary that was installed",
  ],
  ["no script", (p) => unlinkSync(join(p.home, SCRIPT)), ["trouble script-missing"], "every hook is silent"],
  [
    "another script",
    (p) => write(p.home, SCRIPT, "#!/bin/sh\nexit 0\n"),
    ["trouble script-changed"],
    "~/.local/share/pawl/hook is not the script that this version installs",
  ],
  [
    "a script that no one may run",
    (p) => chmodSync(join(p.home, SCRIPT), 0o644),
    ["trouble script-missing"],
    "is not executable",
  ],
  ["no stamp", (p) => unlinkSync(join(p.home, `${BINARY}.version`)), ["note binary-stamp"], "is not there"],
  ["another stamp", (p) => write(p.home, `${BINARY}.version`, "0.0.1 x\n"), ["note binary-stamp"], "says 0.0.1"],
];

/** The person's own is older; the one for this project counts. */
function pluginTwice(place: Place): void {
  plugin(place, "pawl@pawl", ourHooks, "0.1.0");
  const path = join(place.home, ".claude/plugins/installed_plugins.json");
  const registry = JSON.parse(readFileSync(path, "utf8"));
  const [here] = registry.plugins["pawl@pawl"];
  const others = [
    { ...here, version: "0.0.1" },
    { ...here, projectPath: place.root },
    { ...here, version: "0.0.2", projectPath: "/elsewhere" },
  ];
  write(place.home, ".claude/plugins/installed_plugins.json", JSON.stringify({ plugins: { "pawl@pawl": others } }));
}

test("a healthy project: nothing but ✓, exit 0", () => {
  expect(diagnose(healthy())).toMatchObject({ code: 0, ok: true, ids: [] });
});

describe("the installation", () => {
  for (const one of installation) test(one[0], () => expectFound(one));
});

describe("the program", () => {
  for (const one of programs) test(one[0], () => expectFound(one));
});

describe("what the person sees and types", () => {
  for (const one of controls) test(one[0], () => expectFound(one));
});

describe("in a worktree of a project with Pawl in its local settings", () => {
  const cases: [client: string | null, own: boolean, ids: string[]][] = [
    ["2.1.325 (Claude Code)", false, []],
    ["2.2.0 (Claude Code)", false, []],
    ["2.1.197 (Claude Code)", false, ["trouble worktree"]],
    ["2.1.260 (Claude Code)", false, ["note worktree"]],
    ["hello", false, ["note worktree"]],
    [null, false, ["note worktree"]],
    ["2.1.197 (Claude Code)", true, []],
  ];
  test.each(cases)("client %p, own settings %p", (client, own, ids) => {
    const place = healthy();
    const tree = { ...place, root: join(place.base, "tree") };
    shell(place, "git worktree add -q ../tree");
    if (own) runInProcess(tree, ["init", "--with", "all", "--yes"]);
    if (client !== null) write(place.home, "bin/claude", `#!/bin/sh\necho '${client}'\n`);
    if (client !== null) chmodSync(join(place.home, "bin/claude"), 0o755);
    const found = diagnose(tree, { env: { PATH: `${place.home}/bin:/usr/bin:/bin`, AI_AGENT: "" } });
    expect(found.ids).toEqual(ids);
    expect(found.findings.map(({ id }) => id)).toContain("installed");
    if (ids.length > 0) expect(found.findings.find(({ id }) => id === "worktree")!.what).toContain(LOCAL);
  });
});

describe("a wrong hook next to ours", () => {
  const wrong = (place: Place, hook: object) =>
    edit(place, (hooks) => hooks.Notification!.push({ hooks: [hook as never] }));
  const clients: [string, object, string[], string][] = [
    ["2-1-259", { type: "x" }, ["trouble settings-wrong-hook"], "drops all hooks of such a file"],
    ["2-1-260", { type: "x" }, ["note settings-wrong-hook"], "leaves that hook out"],
    ["2-1-325", { ...HOOK, timeout: "5s" }, ["note settings-wrong-hook"], "leaves that hook out"],
    [
      "2-1-325",
      { command: OLD, type: "command", timeout: "5s" },
      ["trouble settings-wrong-hook"],
      "leaves that hook out",
    ],
  ];
  test.each(clients)("Claude Code %s: %j", (client, hook, ids, words) => {
    const place = healthy();
    wrong(place, hook);
    const found = diagnose(place, { env: { AI_AGENT: `claude-code_${client}_harness` } });
    expect(found.ids).toEqual(ids);
    expect(found.findings.map(({ what }) => what).join("\n")).toContain(words);
  });
  test("a group that is none: no client is known to leave it out alone", () => {
    const place = healthy();
    edit(place, (hooks) => hooks.Notification!.push({ hooks: 7 as never }));
    expect(diagnose(place, { env: { AI_AGENT: "claude-code_2-1-325_harness" } }).ids).toEqual([
      "trouble settings-wrong-hook",
    ]);
  });
});
