/** Where things live that belong to the person, not to a project. */
import { join } from "./names.ts";

export class PlaceError extends Error {
  override name = "PlaceError";
}

export function homeDir(): string {
  const home = process.env.HOME ?? "";
  if (!home.startsWith("/")) throw new PlaceError("there is no home folder: HOME is not an absolute path");
  return home;
}

export function statePath(...parts: string[]): string {
  return join(homeDir(), ".local", "state", "pawl", ...parts);
}

export function dataPath(...parts: string[]): string {
  return join(homeDir(), ".local", "share", "pawl", ...parts);
}
