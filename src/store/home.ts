/** Where things live that belong to the person, not to a project. */
import { join } from "./names.ts";

export class PlaceError extends Error {
  override name = "PlaceError";
}

export function homeDir(): string {
  const home = process.env.HOME || passwordHome();
  if (!home.startsWith("/")) throw new PlaceError("there is no home folder: HOME is not an absolute path");
  return home;
}

/** node:os costs every hook half a millisecond, and hardly anyone has no HOME. */
function passwordHome(): string {
  const { userInfo } = require("node:os") as typeof import("node:os");
  return userInfo().homedir;
}

export const statePath = (...parts: string[]): string => join(homeDir(), ".local", "state", "pawl", ...parts);

/** How Pawl starts itself: the compiled program is its own interpreter, from source it is bun with a file. */
export const ownCommand = (...words: string[]): string[] => {
  const main = Bun.main.includes("$bunfs") ? [] : [join(import.meta.dir, "../main.ts")];
  return [process.execPath, ...main, ...words];
};
