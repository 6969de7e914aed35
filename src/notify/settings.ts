/** The person's notification settings, and the mark that tells hooks about them. Loads `yaml`: never in a hook. */
import { readConfig } from "../definitions/config.ts";
import type { Problem } from "../definitions/problem.ts";
import { type NotifySettings, notifySettings } from "../definitions/schema/notify.ts";
import { configPath } from "../definitions/shortcuts.ts";
import { makeDirs, readText, removeQuietly, writeAtomic } from "../store/files.ts";
import { homeDir } from "../store/home.ts";
import { dirname } from "../store/names.ts";
import { markPath } from "./mark.ts";

export type { NotifySettings } from "../definitions/schema/notify.ts";

/** Also corrects the mark: the file may have been changed by hand. */
export function readSettings(): NotifySettings | { errors: Problem[] } {
  const read = readConfig(configPath(homeDir()));
  if ("errors" in read) return read;
  const settings = notifySettings(read.config.notify);
  setMark(settings);
  return settings;
}

function setMark({ on, bell, silent }: NotifySettings): void {
  const path = markPath();
  if (!on) {
    removeQuietly(path);
    return;
  }
  const text = `${JSON.stringify({ bell, silent })}\n`;
  const now = readText(path, 1024);
  if (now.ok && now.text === text) return;
  makeDirs(dirname(path), 0o700);
  writeAtomic(path, text);
}
