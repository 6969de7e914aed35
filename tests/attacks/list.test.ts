/** Every attack that has to fail, and the test that shows that it does. A test that is renamed or gone is missed here. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

type Row = [attack: string, file: string, test: string];

const ATTACKS: Row[] = [
  // ── Words ──────────────────────────────────────────────────────────────────
  [
    "signals in issues, files, tools' output, sub-agents' and commit messages",
    "scenarios/gates/signals-elsewhere.yaml",
    "a signal in an issue's text, a file, a tool's output, a sub-agent's message or a commit message moves nothing",
  ],
  ["signals in quotations of all kinds", "kernel/text/quotations.test.ts", "moves nothing"],
  [
    "a hidden character inside a signal",
    "attacks/hidden-text.test.ts",
    "a signal with a hidden character inside is none",
  ],
  [
    "hidden characters around a signal",
    "attacks/hidden-text.test.ts",
    "a signal with hidden characters before or behind it is none",
  ],
  [
    "reordered and look-alike letters",
    "attacks/hidden-text.test.ts",
    "letters in another order, of other alphabets or as tags make no signal",
  ],
  [
    "odd line ends",
    "attacks/hidden-text.test.ts",
    "characters that end a line only for some do not put a signal on a line of its own",
  ],
  ["hidden characters in what is shown for approval", "cli/trust.test.ts", "cannot hide what it would run"],
  // ── Events and terminals of the agent's own making ─────────────────────────
  ["an event sent by another process", "attacks/forged-events.test.ts", "from %s"],
  ["an event sent by a second client", "attacks/forged-events.test.ts", "another process of the same session"],
  [
    "a run begun from the agent's shell",
    "attacks/forged-events.test.ts",
    "a session without a run: what the agent's shell sends begins none",
  ],
  ["a terminal of the agent's own making", "store/processes/terminal.test.ts", "what an agent starts is no person:"],
  // ── Files of a run ─────────────────────────────────────────────────────────
  [
    "the document edited",
    "scenarios/gates/document-by-agent.yaml",
    "an agent that writes into the document that all is done has done nothing",
  ],
  ["a commit edited in place", "store/seal.test.ts", "the newest commit edited in place"],
  ["a forged next commit", "store/seal.test.ts", "a next one that says it is over"],
  ["a forged seal", "store/seal.test.ts", "a next one under a seal of its own making"],
  ["an older commit copied", "store/seal.test.ts", "an older commit under the next number"],
  ["a commit of another run copied", "store/seal.test.ts", "a commit of another run: the same"],
  [
    "the pinned workflow replaced",
    "store/seal.test.ts",
    "a pinned workflow without gates: the run steps aside, and the person is told why",
  ],
  [
    "another run's folder put in place",
    "store/seal.test.ts",
    "another run's folder under this run's name: nothing of it counts",
  ],
  ["the archive edited", "store/seal.test.ts", "whose lines were changed is shown, marked, and never sealed again"],
  [
    "a run's files removed, an off file put there",
    "scenarios/gates/files-removed.yaml",
    "an off file of its own making switches nothing off; a run whose files are removed is not gone without a word",
  ],
  ["a job's result edited", "checks/jobs/job-life.test.ts", "a result %s is not believed: the command runs again"],
  ["a job's command replaced", "checks/jobs/job-life.test.ts", "a command put in place of ours is not run"],
  ["a receipt written by hand", "verify/verify.test.ts", "a receipt that someone wrote by hand is not believed"],
  [
    "the workflow edited during the run",
    "scenarios/gates/definition-changed.yaml",
    "a workflow that is changed while it runs pauses",
  ],
  [
    "pawl.yaml edited during the run",
    "scenarios/gates/definition-swapped.yaml",
    "an agent that takes the check out of pawl.yaml, or the workflow's file away, is not let through by that",
  ],
  [
    "git told to look away from a change",
    "scenarios/gates/git-looks-away.yaml",
    "a change that git was told not to look at is a change",
  ],
  ["the failing test deleted", "scenarios/gates/tests-gate.yaml", "a deleted test is counted"],
  // ── Commands of an agent ───────────────────────────────────────────────────
  [
    "finish, adopt, abort, pause, off, approve, trust, --accept",
    "attacks/agent-shell.test.ts",
    "with the client's variables in its environment",
  ],
  [
    "the same without the variables, with script as a terminal",
    "attacks/agent-shell.test.ts",
    "below the client, with a clean environment and a terminal of its own making",
  ],
  [
    "finish past gates that are ahead",
    "scenarios/gates/finish-passes-gates.yaml",
    "runs finish passes every gate that is still ahead",
  ],
  [
    "an approval in the agent's own words or injected",
    "scenarios/gates/person-gate.yaml",
    "other prompts and injected ones do not approve",
  ],
  ["a hook called with a forged prompt", "clients/gates.test.ts", "is not given by %s"],
  ["a client started to type the approval", "clients/gates.test.ts", "is not given by a client that the agent starts"],
  [
    "the person's command used as a skill, a tool or a word",
    "clients/gates.test.ts",
    "is the person's: the agent's words, its tools and its shell give none",
  ],
  // ── Names and paths ────────────────────────────────────────────────────────
  ["paths in workflow files", "attacks/names.test.ts", "a workflow file with a path that leads out is refused"],
  [
    "links and globs that lead gates out",
    "attacks/names.test.ts",
    "a gate never looks through a link out of the project",
  ],
  [
    "a workflow's file that is a link",
    "attacks/names.test.ts",
    "a workflow's file, or its folder, that is a link out of the project is not read",
  ],
  [
    "ids and names given to commands",
    "attacks/names.test.ts",
    "a command finds nothing outside, and writes nothing there",
  ],
  ["a prompt's file that is a link", "definitions/registry.test.ts", "a folder link out, to a name that begins alike"],
  ["every path that is written", "store/files.test.ts", "whatever the name, it stays inside or is refused"],
  [
    "a document that is a link",
    "cli/hook/bad-places.test.ts",
    "the document turned into %s: the claim counts, nothing is lost",
  ],
  [
    "a log's folder that is a link",
    "cli/hook/bad-places.test.ts",
    "the log's folder %s: the claim counts, the log waits",
  ],
  [
    ".pawl that is a link",
    "cli/hook/bad-places.test.ts",
    "%s: nothing is armed, the person is told, nothing is written elsewhere",
  ],
  [
    "required reading outside",
    "formal/formal.test.ts",
    "a file that does not exist or leads out of the project is named, and not insisted on",
  ],
  ["ids of jobs", "checks/jobs/job-life.test.ts", "a job cannot be called %j"],
  ["a jobs' folder that is a link", "checks/jobs/job-life.test.ts", "%s is a link: nothing is written outside"],
  ["session ids", "cli/hook/bad-input.test.ts", "%s is never bound"],
  ["names of runs", "store/runs.test.ts", "no run is called"],
  ["receipts that are links", "attacks/names.test.ts", "a receipt is neither written nor read through a link"],
  ["--junit outside", "verify/junit.test.ts", "where it cannot go"],
  [
    "a plan or a manifest that leads elsewhere",
    "setup/helpers/archive-apply.test.ts",
    "a manifest that leads elsewhere is not followed",
  ],
  // ── What a repository ships ────────────────────────────────────────────────
  ["a trust file of its own", "store/trust-attacks.test.ts", "with a store of its own"],
  ["a home of its own", "store/trust-attacks.test.ts", "as a home folder"],
  [
    "another project's approval",
    "store/trust-attacks.test.ts",
    "with the approval of another project, put in its place",
  ],
  [
    "commands nobody approved",
    "scenarios/gates/untrusted.yaml",
    "a command that the repository names does not run before the person approved it",
  ],
  [
    "a script changed after the approval",
    "scenarios/gates/trust-revoked.yaml",
    "a script named by the command was changed after the approval; it does not run",
  ],
  [
    ".env, bunfig.toml, .npmrc, package.json",
    "attacks/repository.test.ts",
    "files that programs load by themselves are not loaded, whatever Pawl is asked to do there",
  ],
  [
    "git's settings",
    "attacks/repository.test.ts",
    "git's own settings of the repository run nothing when Pawl looks at the tree",
  ],
  [
    "settings that make the program load other code",
    "attacks/repository.test.ts",
    "the runtime's variables from a repository's settings do nothing to the hook",
  ],
  [
    "PATH and other variables of the caller",
    "attacks/environment.test.ts",
    "a red suite stays red, whatever the caller's environment is",
  ],
  ["programs removed from the recorded PATH", "attacks/environment.test.ts", "the recorded environment"],
  [
    "an agent's receipt for a person",
    "attacks/environment.test.ts",
    "a person runs again what an agent's call has passed",
  ],
  ["loader variables of a gate", "checks/jobs/job.test.ts", "a loader variable"],
  ["programs in a relative PATH", "checks/jobs/job.test.ts", "a program is looked for in the cleaned PATH only"],
  [
    "shell signs in branches, titles, names, prompts",
    "attacks/repository.test.ts",
    "shell signs in branches, titles, file names, messages and prompts are only text",
  ],
  [
    "shell signs that reach until",
    "attacks/repository.test.ts",
    "what until runs is the typed line alone: nothing of the repository gets into it",
  ],
  // ── Gates that lead out; what a trusted command itself writes is the person's own decision ──
  ["a gate's folder outside", "checks/jobs/job.test.ts", "cwd linked outside"],
  // ── The machine ────────────────────────────────────────────────────────────
  ["a swapped binary", "setup/doctor/installation.test.ts", "a swapped program"],
  [
    "a key that others can read",
    "store/seal.test.ts",
    "a key that others can read, or that is damaged, is refused, and nothing is put aside for it",
  ],
  ["approvals that others can write", "store/trust-attacks.test.ts", "the approval is writable by all"],
  ["a store in another place", "store/trust-attacks.test.ts", "the store is a link"],
  ["loose modes, as the doctor sees them", "setup/doctor/installation.test.ts", "approvals that others may write"],
  // ── The dashboard ──────────────────────────────────────────────────────────
  [
    "a program on another port waiting for the key",
    "browser/pages.test.ts",
    "what other ports of this machine are sent holds no key",
  ],
  ["data or the stream without the token", "web/security.test.ts", "reading is the page's own, too"],
  ["actions without the token, or of another page", "web/security.test.ts", "nobody else writes"],
  [
    "wrong tokens to keep the person out",
    "web/doors.test.ts",
    "counts at once after a thousand wrong ones, and between them",
  ],
];

const textOf = (file: string) => readFileSync(join(import.meta.dir, "..", file), "utf8");

test.each(ATTACKS)("%s: fails, as %s shows", (_attack, file, name) => {
  expect(textOf(file)).toContain(name);
});

test("each attack is listed once, and each test of attacks/ is listed", () => {
  const attacks = ATTACKS.map(([attack]) => attack);
  expect(new Set(attacks).size).toBe(attacks.length);
  const tests = ATTACKS.map(([, file, name]) => `${file}: ${name}`);
  expect(new Set(tests).size).toBe(tests.length);
  for (const file of new Bun.Glob("attacks/!(list).test.ts").scanSync({ cwd: join(import.meta.dir, "..") })) {
    const outer = [...textOf(file).matchAll(/^(?:test|describe)\("(.+?)", /gm)].map((match) => `${file}: ${match[1]}`);
    expect(outer.length).toBeGreaterThan(0);
    expect(outer.filter((one) => !tests.includes(one))).toEqual([]);
  }
});
