/** The shape of ~/.config/pawl/config.yaml. Notifications are set only here: a repository must not start programs. */
import type { InferOutput } from "valibot";
import { PERSON_LOOP } from "./loop.ts";
import { NOTIFY_DEFAULTS } from "./notify.ts";
import { SHORTCUTS_ENTRY } from "./shortcut.ts";
import { integer, integerOr, line, list, optional, record, word, wordOr } from "./words.ts";

const onOff = word("on", "off");

const NOTIFY = record({
  send: optional(onOff, "Off: nothing is sent, and the rest is kept for later.", "on"),
  bell: optional(onOff, "The session's terminal: its bell and, for a moment, its title.", "on"),
  desktop: optional(onOff, "The desktop, by notify-send or osascript where there is one.", "on"),
  command: optional(
    list(line),
    "A program and its words, started without a shell: JSON on stdin, PAWL_NOTIFY_* in its environment, 10 seconds.",
  ),
  batch: optional(integer(0, 600), "What comes within this many seconds is sent as one.", NOTIFY_DEFAULTS.batch),
  silent: optional(
    integerOr("never", 1, 1440),
    "After this many minutes an active run without a sign of life is worth a word.",
    NOTIFY_DEFAULTS.silent,
  ),
});

export const CONFIG = record({
  shortcuts: SHORTCUTS_ENTRY,
  loop: PERSON_LOOP,
  notify: optional(
    wordOr(["on", "off"], NOTIFY),
    "Notifications when a run needs you: on, off, or how. Only in your own file, never in a repository's.",
  ),
});

export type Config = InferOutput<typeof CONFIG>;
