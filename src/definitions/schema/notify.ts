/** What a person says about notifications, in ~/.config/pawl/config.yaml alone: a repository must not start programs. */
import { LINE } from "../rules.ts";
import type { Field, Shape } from "./shape.ts";

export interface NotifyLevel {
  send?: "on" | "off";
  bell?: "on" | "off";
  desktop?: "on" | "off";
  command?: string[];
  batch?: number;
  silent?: number | "never";
}

/** How a person is called: every channel, with its defaults in place. */
export interface NotifySettings {
  on: boolean;
  bell: boolean;
  desktop: boolean;
  command: string[] | null;
  /** seconds */
  batch: number;
  /** minutes; 0: never */
  silent: number;
}

const BUILT_IN = { batch: 5, silent: 15 };
const SWITCH: Shape = { kind: "word", values: ["on", "off"] };

export const NOTIFY_FIELD: Field = {
  shape: {
    kind: "off-or",
    on: true,
    of: {
      kind: "record",
      fields: {
        send: { shape: SWITCH, default: "on", about: "Off: nothing is sent, and the rest is kept for later." },
        bell: { shape: SWITCH, default: "on", about: "The session's terminal: its bell and, for a moment, its title." },
        desktop: {
          shape: SWITCH,
          default: "on",
          about: "The desktop, by notify-send or osascript where there is one.",
        },
        command: {
          shape: { kind: "list", of: { kind: "text", rule: LINE }, min: 1 },
          about:
            "A program and its words, started without a shell: JSON on stdin, PAWL_NOTIFY_* in its environment, 10 seconds.",
        },
        batch: {
          shape: { kind: "integer", min: 0, max: 600 },
          default: BUILT_IN.batch,
          about: "What comes within so many seconds is sent as one.",
        },
        silent: {
          shape: { kind: "integer", min: 1, max: 1440, or: "never" },
          default: BUILT_IN.silent,
          about: "After so many minutes an active run without a sign of life is worth a word.",
        },
      },
    },
  },
  about: "Notifications when a run needs you: on, off, or how. Only in your own file, never in a repository's.",
};

export function notifySettings(said: NotifyLevel | "on" | "off" | undefined): NotifySettings {
  const level: NotifyLevel = typeof said === "object" ? said : { send: said ?? "off" };
  const silent = level.silent ?? BUILT_IN.silent;
  return {
    on: level.send !== "off",
    bell: level.bell !== "off",
    desktop: level.desktop !== "off",
    command: level.command ?? null,
    batch: level.batch ?? BUILT_IN.batch,
    silent: silent === "never" ? 0 : silent,
  };
}
