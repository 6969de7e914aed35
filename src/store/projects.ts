/** The projects of this machine that Pawl has seen, and that are still there. */
import { attempt } from "../kernel/attempt.ts";
import { lookAt, namesOrNone, readText } from "./files.ts";
import { statePath } from "./home.ts";
import { allPointers } from "./place.ts";

/** Every project of this person that Pawl has heard of: those with a session, and those where it introduced itself. */
export function knownProjects(): string[] {
  const noted = ["greeted", "projects"].flatMap((folder) =>
    namesOrNone(statePath(folder)).flatMap((name) => {
      const file = readText(statePath(folder, name), 8 * 1024);
      return file.ok ? file.text.replace(/\n$/, "") : [];
    }),
  );
  const roots = new Set([...allPointers().map(({ pointer }) => pointer.root), ...noted]);
  const isThere = (root: string) => root.startsWith("/") && lookAt(root)?.isDirectory() === true;
  return [...roots].filter((root) => attempt(() => isThere(root), false)).sort();
}
