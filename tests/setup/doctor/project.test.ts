/** One thing wrong at a time around a run: the doctor names it, says what to do, and touches nothing. */
import { afterAll, describe, test } from "bun:test";
import { renameSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { openSession, type Place, payload, removePlaces, runHook, shell } from "../../harness/harness.ts";
import { runInProcess } from "../../harness/in-process.ts";
import { inHome, sealedCommit } from "../../harness/sealing.ts";
import { arm, type Case, expectFound, plugin, user, write } from "./clinic.ts";

afterAll(removePlaces);

const HOOK = { type: "command", command: "say done" };
const stopHook = (entry: object) => JSON.stringify({ hooks: { Stop: [{ hooks: [entry] }] } });
const sessions = (place: Place, name: string, text: string) =>
  write(place.home, `.local/state/pawl/sessions/${name}`, text);

const putCommit = (place: Place, id: string, seq: number, commit: object) =>
  write(
    place.root,
    `.pawl/runs/${id}/${String(seq).padStart(6, "0")}.json`,
    inHome(place.home, () => sealedCommit(id, seq, commit)),
  );

function showDocument(place: Place): void {
  write(place.root, ".git/info/exclude", "");
  write(place.root, ".claude/work-completion.local.md", "x");
}

function linkState(place: Place): void {
  renameSync(join(place.root, ".pawl"), join(place.base, "moved"));
  symlinkSync(join(place.base, "moved"), join(place.root, ".pawl"));
}

function endSession(place: Place): void {
  arm(place);
  runHook(place, payload(place, openSession(place, "A"), "SessionEnd", { reason: "other" }));
}

const surroundings: Case[] = [
  [
    "BUN_OPTIONS in settings",
    (p) => user(p, '{"env":{"BUN_OPTIONS":"--preload x"}}'),
    ["trouble env-suspicious"],
    "~/.claude/settings.json, env: BUN_OPTIONS=--preload x",
  ],
  ["LD_PRELOAD in settings", (p) => user(p, '{"env":{"LD_PRELOAD":"x.so"}}'), ["trouble env-suspicious"], "LD_PRELOAD"],
  [
    "PATH and NODE_OPTIONS in settings",
    (p) => user(p, '{"env":{"PATH":"/x","NODE_OPTIONS":"-r y"}}'),
    ["note env-suspicious", "note env-suspicious"],
    "which programs the agent starts",
  ],
  ["PAWL=0 in settings", (p) => user(p, '{"env":{"PAWL":"0"}}'), ["note env-off"], "PAWL=0 turns Pawl off"],
  ["a low cap", (p) => user(p, '{"env":{"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP":"3"}}'), ["note env-cap"], "CAP=3"],
  ["another Stop hook", (p) => user(p, stopHook(HOOK)), ["note beside-hook"], "another Stop hook (command: say done)"],
  [
    "a hook that judges",
    (p) => user(p, stopHook({ type: "prompt", prompt: "done?" })),
    ["note beside-hook"],
    "a model judges each stop",
  ],
  ["ralph-loop", (p) => plugin(p, "ralph-loop@official", null), ["note beside-plugin"], "/cancel-ralph"],
  ["superpowers", (p) => plugin(p, "superpowers@market", null), ["note beside-plugin"], "its own instructions"],
  [
    "an unknown plugin with a Stop hook",
    (p) => plugin(p, "nag@x", { hooks: { Stop: [{ hooks: [HOOK] }] } }),
    ["note beside-plugin"],
    "the plugin nag has a Stop hook",
  ],
  [
    "a ralph loop under way",
    (p) => write(p.root, ".claude/ralph-loop.local.md", ""),
    ["note beside-ralph"],
    "a ralph loop is running",
  ],
];

const projects: Case[] = [
  ["switched off", (p) => void runInProcess(p, ["off"]), ["note off"], "`pawl on`"],
  ["no exclude lines", (p) => write(p.root, ".git/info/exclude", ".claude/\n"), ["note exclude"], "lines are missing"],
  [
    "a document that dirties git",
    showDocument,
    ["note exclude", "note git-dirty"],
    "git status shows files of Pawl's: .claude/work-completion.local.md",
  ],
  [
    "state that git tracks",
    (p) => void shell(p, "mkdir -p .claude/logs; echo x > .claude/logs/a.log; git add -f .claude/logs"),
    ["note git-tracked"],
    ".claude/logs/a.log",
  ],
  [
    "a commit from the future",
    (p) => void shell(p, 'GIT_COMMITTER_DATE="2099-01-01T00:00:00Z" git commit -q --allow-empty -m x'),
    ["note clock-commit"],
    "in the future",
  ],
  [
    "no repository",
    (p) => renameSync(join(p.root, ".git"), join(p.base, "git")),
    ["note git-none"],
    "not a git repository",
  ],
  [
    "a file in the state's place",
    (p) => write(p.home, ".local/state/pawl", "x"),
    ["trouble disk-read-only"],
    "no session can be bound",
  ],
  [
    "a repository that git does not read",
    (p) => write(p.root, ".git/config", "[core"),
    ["trouble git-refuses"],
    "bad config line",
  ],
  ["a linked .pawl", linkState, ["note texts-unchecked", "trouble disk-link"], "writes through none"],
];

const states: Case[] = [
  [
    "something put aside",
    (p) => write(p.root, ".pawl/runs/x/000002.json.corrupt", "x"),
    ["note put-aside"],
    "something damaged was put aside",
  ],
  [
    "a document put aside",
    (p) => write(p.root, ".claude/work-completion.local.md.corrupt-2", "x"),
    ["note put-aside"],
    "put aside",
  ],
  [
    "a commit that cannot be read",
    (p) => write(p.root, `.pawl/runs/${arm(p)}/000009.json`, "{"),
    ["trouble run-broken"],
    "commit 9: no whole commit",
  ],
  [
    "a run without its workflow",
    (p) => unlinkSync(join(p.root, ".pawl/runs", arm(p), "workflow.json")),
    ["trouble run-broken"],
    "pinned workflow",
  ],
  ["a run of a newer Pawl", (p) => putCommit(p, arm(p), 9, { run: { v: 3 } }), ["trouble run-broken"], "newer Pawl"],
  [
    "a commit that another wrote",
    (p) => write(p.root, `.pawl/runs/${arm(p)}/000002.json`, '{"run":{"v":2}}'),
    ["trouble run-broken"],
    "commit 2: not written by Pawl",
  ],
  [
    "a workflow that another wrote",
    (p) => write(p.root, `.pawl/runs/${arm(p)}/workflow.json`, '{"v":1}'),
    ["trouble run-broken"],
    "its pinned workflow was not written by Pawl",
  ],
  ["a run whose session ended", endSession, ["note run-alone"], "its session has ended"],
  [
    "a session of a project that is gone",
    (p) => sessions(p, "claude-x", '{"root":"/nonexistent/x","run":"a"}'),
    ["note pointers"],
    "projects that are gone",
  ],
  [
    "errors",
    (p) =>
      write(
        p.root,
        ".pawl/errors.log",
        `2020-01-01T00:00:00Z old: x\n${new Date().toISOString()} hook: it \u001b[31mbroke\n`,
      ),
    ["note errors"],
    "1 error within a week",
  ],
  [
    "an event that came twice",
    (p) =>
      write(
        p.root,
        ".pawl/journal/2026-11.jsonl",
        `\n{"kind":"doubled","at":"${new Date().toISOString()}","first":"local","second":"user"}\n`,
      ),
    ["note doubled"],
    "by local and user",
  ],
];

for (const [title, cases] of Object.entries({ surroundings, projects, states }))
  describe(title, () => {
    for (const one of cases) test(one[0], () => expectFound(one));
  });
