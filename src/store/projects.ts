/** The projects of this machine that Pawl has seen, and that are still there. */
import { lookAt, namesOrNone, readText } from "./files.ts";
import { statePath } from "./home.ts";
import { readPointer } from "./place.ts";

/** Every project of this person that Pawl has heard of: those with a session, and those where it introduced itself. */
export function knownProjects(): string[] {
  const bound = namesOrNone(statePath("sessions")).flatMap((name) => {
    const [, host = "", session = ""] = /^([a-z]+)-(.+)$/.exec(name) ?? [];
    return session === "" ? [] : (readPointer(host, session)?.root ?? []);
  });
  const noted = ["greeted", "projects"].flatMap((folder) =>
    namesOrNone(statePath(folder)).flatMap((name) => {
      const file = readText(statePath(folder, name), 8 * 1024);
      return file.ok ? file.text.replace(/\n$/, "") : [];
    }),
  );
  return [...new Set([...bound, ...noted])].filter(isThere).sort();
}

function isThere(root: string): boolean {
  try {
    return root.startsWith("/") && lookAt(root)?.isDirectory() === true;
  } catch {
    return false;
  }
}
