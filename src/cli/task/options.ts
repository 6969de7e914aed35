/** What the options of `pawl task` say, and which of them a tracker cannot hold. */

import { UserError } from "../../kernel/user-error.ts";
import { cleanTitle } from "../../trackers/core/task-text.ts";
import type { Tracker } from "../../trackers/index.ts";
import type { Parsed } from "../shared/args.ts";
import { visible } from "../shared/visible.ts";

const LONGEST_TITLE = 500;

export function titleOf(text: string, example: string): string {
  const title = cleanTitle(text);
  if (title === "") throw new UserError("a task needs a title", `as in: ${example}`);
  if (title.length <= LONGEST_TITLE) return title;
  throw new UserError(
    `a title has at most ${LONGEST_TITLE} characters, this one ${title.length}`,
    "put the rest into --text",
  );
}

export function priorityOf({ values }: Parsed): { priority?: number } {
  const said = values["--priority"];
  if (said === undefined) return {};
  const priority = /^p?([0-4])$/i.exec(said)?.[1];
  if (priority !== undefined) return { priority: Number(priority) };
  throw new UserError(`${visible(said)} is not a priority`, "a number from 0 (first) to 4; the default is 2");
}

export function labelsOf({ lists }: Parsed, option: string): string[] {
  const labels = (lists[option] ?? [])
    .flatMap((text) => text.split(","))
    .map((label) => label.trim().replace(/^#/, ""));
  if (!labels.includes("")) return [...new Set(labels)];
  throw new UserError("a label needs a name", `as in: ${option} web`);
}

interface LineFields {
  command?: string;
  model?: string;
  restart?: boolean;
}

/** Beads and GitHub have no place for them; leaving them out without a word would lose what was asked for. */
export function fieldsOf({ values, flags }: Parsed, tracker: Tracker): LineFields {
  const { "--command": command, "--model": model } = values;
  if (flags.has("--restart") && flags.has("--no-restart"))
    throw new UserError("--restart and --no-restart contradict each other", "use one of them");
  const restart = flags.has("--restart") || (flags.has("--no-restart") ? false : undefined);
  const fields = {
    ...(command !== undefined && { command }),
    ...(model !== undefined && { model }),
    ...(restart !== undefined && { restart }),
  };
  const [first] = Object.keys(fields);
  if (first === undefined || tracker.name === "session-md") return fields;
  throw new UserError(
    `${tracker.name} cannot store --${first}`,
    "write it into --text, or keep the tasks in session.md",
    1,
  );
}
