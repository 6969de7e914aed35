/** Every kind of gate, by the key that names it in YAML. A new gate is one file and one row here. */

import type { Gate } from "../../../kernel/types/run.ts";
import { artefact } from "./artefact.ts";
import { branch } from "./branch.ts";
import { run, shell, typed } from "./command.ts";
import { evidence } from "./evidence.ts";
import { file } from "./file.ts";
import { git } from "./git.ts";
import { type Command, type Kind, unproven } from "./kind.ts";
import { only } from "./only.ts";
import { person } from "./person.ts";
import { says } from "./says.ts";
import { tests } from "./tests.ts";
import { tracker } from "./tracker.ts";

/** `shell` comes before `typed`: once the person has typed the command, it is kept there. */
export const KINDS = {
  run,
  shell,
  typed,
  tests,
  git,
  branch,
  only,
  file,
  artefact,
  evidence,
  tracker,
  says,
  person,
} as const satisfies Record<string, Kind<unknown>>;

export type KindName = keyof typeof KINDS;
const NAMES = Object.keys(KINDS) as KindName[];

/** A run may have been pinned by another version of Pawl: what this one does not know proves nothing. */
const UNKNOWN: Kind<unknown> = {
  schema: ({ optional, yes }) => ({ check: optional(yes, "") }),
  needs: "measure",
  judge: () => unproven("this version of Pawl does not know this kind of gate"),
};

/** Only for a gate that checks something itself: none with `all` or `any`. */
export function kindOf(gate: object): Kind<unknown> {
  const name = NAMES.find((one) => one in gate);
  return name ? KINDS[name] : UNKNOWN;
}

/** What the gate starts, or null: not every gate does. */
export const commandOf = (gate: Gate): Command | null => kindOf(gate).command?.(gate) ?? null;
