/**
 * Tells hooks that notifications are on, so that they need not read config.yaml; without it nothing of this room is
 * loaded. It contains nothing that is run. `pawl notify on` writes it; it is removed when the config says off.
 */
import { attempt } from "../kernel/attempt.ts";
import { lookAt, readJson } from "../store/files.ts";
import { statePath } from "../store/home.ts";

export interface Mark {
  bell: boolean;
  /** minutes; 0: silent runs are not looked for */
  silent: number;
}

export const markPath = () => statePath("notify-on");

/** Asked for every answer of a hook, so it must be cheap. */
export const notificationsOn = () => attempt(() => lookAt(markPath()) !== undefined, false);

export function readMark(): Mark | null {
  const value = attempt(() => readJson(markPath(), 1024), null);
  if (value === null) return null;
  const { bell, silent } = value;
  return { bell: bell === true, silent: typeof silent === "number" && silent > 0 ? silent : 0 };
}
