/** What a few keys mean: the one table from which the hook, the help and the fragment for agents come. */

export interface Shortcut {
  /** the whole message; with a colon at its end a directive, which begins one */
  key: string;
  /** what stands in the bracket */
  name: string;
  /** what follows the bracket: an order, and its bounds */
  text: string;
  /** a few words for people */
  means: string;
  /** off until somebody switches it on */
  optional?: true;
  /** what the hook finds out or does itself */
  does?: "status" | "execute" | "resume" | "record" | "help";
  /** what has to follow, in order: "work", "handoff", "commit", "status" */
  tail?: string[];
}

/** Those of `x` and `d:` are an interface: to the letter. */
export const SHORTCUTS: readonly Shortcut[] = [
  {
    key: "s",
    name: "#status",
    text: "Status only: show the STATUS that follows, verbatim, as your whole answer. Use no tools, start no task, then wait for the user.",
    means: "show the tasks, start nothing, wait",
    does: "status",
  },
  {
    key: "x",
    name: "#execute",
    text: "Smart execute: if an in-progress task exists, resume it. Otherwise start the first pending task from session.md. Drive to completion, then stop.",
    means: "execute: resume the task in progress, or start the first pending one",
    does: "execute",
  },
  {
    key: "xc",
    name: "#execute --commit",
    text: "Smart execute, then commit: if an in-progress task exists, resume it. Otherwise start the first pending task from session.md. Drive to completion, then hand off (update session.md), then commit (do not push), then show STATUS once and stop. Take no second task.",
    means: "execute, then hand off, commit and show the tasks",
    does: "execute",
    tail: ["work", "handoff", "commit", "status"],
  },
  {
    key: "r",
    name: "#resume",
    text: 'Strict resume: continue the in-progress task only. If there is none, say "Nothing in progress" and stop. Never start a pending task. Drive to completion, then stop.',
    means: "resume the task in progress, never start another",
    does: "resume",
  },
  {
    key: "h",
    name: "/handoff",
    text: "Handoff: update session.md so that a new session can go on from it alone. Keep the lines of unfinished tasks as they are. Do not commit, start no task. Then show STATUS once and stop.",
    means: "hand off: bring session.md up to date",
    tail: ["handoff", "status"],
  },
  {
    key: "hc",
    name: "/handoff --commit",
    text: "Handoff, then commit: update session.md so that a new session can go on from it alone, show no STATUS yet, then commit the work together with it. Start no task, do not push. Then show STATUS once and stop.",
    means: "hand off, then commit",
    tail: ["handoff", "commit", "status"],
  },
  {
    key: "ci",
    name: "/commit",
    text: "Commit: commit what was done, with a message that says what changed and why. Change nothing else, start no task, do not push. Then show STATUS once and stop.",
    means: "commit what was done",
    tail: ["commit", "status"],
  },
  {
    key: "?",
    name: "#help",
    text: "Help: show the list that follows, verbatim, as your whole answer. Use no tools, start no task, then wait for the user.",
    means: "list the shortcuts",
    does: "help",
  },
  {
    key: "c",
    name: "#continue",
    text: "Continue: go on with what you were doing, from where it was left. Begin nothing new. If nothing was left unfinished, say so and stop.",
    means: "continue what was interrupted",
    optional: true,
  },
  {
    key: "y",
    name: "#yes",
    text: "Yes: proceed with what you proposed last, exactly that and nothing more. If you proposed nothing, or several things, ask which one is meant.",
    means: "yes: do what you proposed",
    optional: true,
  },
  {
    key: "d:",
    name: "DISCUSS",
    text: "Discussion mode. Analyze and discuss only — do not execute, implement, or invoke workflow skills. The user's topic follows in their message.",
    means: "discuss only: nothing is executed or changed",
  },
  {
    key: "p:",
    name: "PENDING",
    text: "Record a pending task — do not execute, plan, or start it. Pawl writes the task down itself and says below what it wrote: do not write it again. Report that line, then wait for the user. The task is in their message.",
    means: "note a task for later: it is not started",
    does: "record",
  },
  {
    key: "b:",
    name: "BRAINSTORM",
    text: "Brainstorm mode. Offer several ideas that really differ, each with what speaks for and against it — do not choose, execute, or implement. The user's topic follows in their message.",
    means: "brainstorm: ideas, no decision",
    optional: true,
  },
  {
    key: "q:",
    name: "QUESTION",
    text: "Question mode. Answer the question and nothing else — read what you need, but do not edit, execute, or begin a task. The user's question follows in their message.",
    means: "answer a question: nothing is changed",
    optional: true,
  },
  {
    key: "learn:",
    name: "LEARN",
    text: "Record a learning. Add it to the project's memory, in CLAUDE.md or what it imports for this, as one short rule where similar ones stand — change no other file, do not act on it now. Report the line you wrote. The learning is in the user's message.",
    means: "note a learning in the project's memory",
    optional: true,
  },
];

export const isDirective = ({ key }: Shortcut) => key.endsWith(":");
