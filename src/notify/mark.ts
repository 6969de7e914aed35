/**
 * Says to hooks that notifications are on, so that they need not read config.yaml: without it nothing of this room is
 * loaded. It holds nothing that is run. `pawl notify on` writes it, whoever finds the config switched off removes it.
 */
import { isObject, lookAt, parseJson, readText } from "../store/files.ts";
import { statePath } from "../store/home.ts";

export interface Mark {
  bell: boolean;
  /** minutes; 0: nobody looks for silent runs */
  silent: number;
}

export const markPath = () => statePath("notify-on");

/** The one question that every answer of a hook asks. */
export function notificationsOn(): boolean {
  try {
    return lookAt(markPath()) !== undefined;
  } catch {
    return false;
  }
}

export function readMark(): Mark | null {
  try {
    const file = readText(markPath(), 1024);
    const value = file.ok ? parseJson(file.text) : null;
    if (!isObject(value)) return null;
    const { bell, silent } = value;
    return { bell: bell === true, silent: typeof silent === "number" && silent > 0 ? silent : 0 };
  } catch {
    return null;
  }
}
