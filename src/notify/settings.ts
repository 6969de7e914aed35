/** The person's notification settings, and the mark that tells hooks about them. Loads `yaml`: never in a hook. */
import { isMap, isPair, isScalar, type Node, parseDocument, type YAMLMap } from "yaml";
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

// ── On and off: one word of config.yaml changes, every other byte stays ──────

/** null: the file is written in a way that only the person should edit. The caller checks the result. */
export function switched(text: string, to: "on" | "off"): string | null {
  const document = parseDocument(text, { schema: "core" });
  if (document.errors.length > 0) return null;
  const { contents } = document;
  if (contents === null) return appended(text, to);
  if (!isMap(contents)) return null;
  const value = valueAt(contents, "notify");
  if (value === undefined) return contents.flow ? null : appended(text, to);
  if (isScalar(value)) return replaced(text, value, to);
  if (!isMap(value)) return null;
  const send = valueAt(value, "send");
  if (send !== undefined) return isScalar(send) ? replaced(text, send, to) : null;
  return to === "on" ? text : withFirst(text, value, "send: off");
}

function valueAt(map: YAMLMap, key: string): Node | null | undefined {
  const pair = map.items.find((one) => isPair(one) && isScalar(one.key) && one.key.value === key);
  return pair?.value as Node | null | undefined;
}

const appended = (text: string, to: string) =>
  `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}notify: ${to}\n`;

function replaced(text: string, { range }: Node, to: string): string | null {
  return range ? `${text.slice(0, range[0])}${to}${text.slice(range[1])}` : null;
}

/** Before the first key of a block with that key's own indentation, or right after the bracket. */
function withFirst(text: string, map: YAMLMap, entry: string): string | null {
  const start = map.range?.[0];
  if (start === undefined) return null;
  if (map.flow) return `${text.slice(0, start + 1)}${entry}${map.items.length > 0 ? ", " : ""}${text.slice(start + 1)}`;
  const indent = text.slice(text.lastIndexOf("\n", start - 1) + 1, start);
  return /^ +$/.test(indent) ? `${text.slice(0, start)}${entry}\n${indent}${text.slice(start)}` : null;
}
