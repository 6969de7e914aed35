/** The archive belongs to the person, but should not stand in the way of their next commit. */
import { mkdirSync } from "node:fs";
import { appendLine, readText } from "../../store/files.ts";
import { dirname } from "../../store/names.ts";
import { excludePlace } from "../../store/owned.ts";
import { isIgnored } from "./git.ts";
import { ARCHIVE_DIR } from "./plan.ts";

export type Excluded = "added" | "already" | "no git" | "failed";

const COMMENT = "# what `pawl helper archive` moved away: yours to keep or delete";

export function excludeArchive(root: string): Excluded {
  try {
    const place = excludePlace(root);
    if (place === null) return "no git";
    if (isIgnored(root, `${ARCHIVE_DIR}/x`)) return "already";
    const file = readText(place.path);
    if (!file.ok && file.why !== "missing") return "failed";
    mkdirSync(dirname(place.path), { recursive: true });
    appendLine(place.path, `${COMMENT}\n${place.prefix}${ARCHIVE_DIR}/`);
    return isIgnored(root, `${ARCHIVE_DIR}/x`) ? "added" : "failed";
  } catch {
    return "failed";
  }
}
