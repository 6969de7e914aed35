/**
 * Cargo, make and their like build again only what has a newer time than its result. A source whose time was set back
 * after a change keeps an old program alive, which passes for code that is not there any more. The kernel's time of
 * change cannot be set, so a file whose own time is older gets the time of now: it is built again, once.
 */
import { lstatSync, lutimesSync } from "node:fs";
import { dirname, join } from "../../store/names.ts";

const BY_TIME =
  /(?:^|\/)(?:Cargo\.toml|[Mm]akefile|GNUmakefile|CMakeLists\.txt|meson\.build|build\.ninja|Package\.swift)$/;

/** One change sets both times; clocks and file systems round them differently. In ms. */
const SAME_MOMENT = 50;

/** `files`: all of the project, seen from it. */
export function setTrueTimes(root: string, files: string[]): void {
  const folders = [...new Set(files.filter((path) => BY_TIME.test(path)).map((path) => dirname(path)))];
  if (folders.length === 0) return;
  const isBuilt = (path: string) => folders.some((folder) => folder === "." || path.startsWith(`${folder}/`));
  const now = new Date();
  for (const path of files) {
    const found = isBuilt(path) ? lstatSync(join(root, path), { throwIfNoEntry: false }) : undefined;
    if (found?.isFile() && found.ctimeMs - found.mtimeMs > SAME_MOMENT) lutimesSync(join(root, path), now, now);
  }
}
