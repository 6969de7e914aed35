/** A project with leftovers in it, and the archive helper called as an agent calls it. */
import { lstatSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makePlace, type Place, type Ran, runPawl } from "../../harness/harness.ts";

export interface PlanRow {
  n: number;
  path: string;
  size: number;
  reason: string;
  tracked: boolean;
}

export const DAY = 86_400_000;

export function placeWith(files: Record<string, string>, options: { git?: boolean } = {}): Place {
  const place = makePlace(options);
  for (const [path, text] of Object.entries(files)) put(place, path, text);
  return place;
}

export function put(place: Place, path: string, text: string, ageDays = 0): void {
  const full = join(place.root, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
  if (ageDays > 0) utimesSync(full, new Date(), new Date(Date.now() - ageDays * DAY));
}

export const archive = (place: Place, ...args: string[]): Ran => runPawl(place, ["helper", "archive", ...args]);

export function plan(place: Place, ...args: string[]): { id: string; git: boolean; files: PlanRow[] } {
  const { code, out, err } = archive(place, "plan", "--json", ...args);
  if (code !== 0) throw new Error(err);
  return JSON.parse(out);
}

export const planned = (place: Place, ...args: string[]) =>
  plan(place, ...args)
    .files.map((file) => file.path)
    .sort();

export const apply = (place: Place, id: string, ...args: string[]) => {
  const ran = archive(place, "apply", id, "--json", ...args);
  return { ...ran, ...(ran.out === "" ? {} : JSON.parse(ran.out)) };
};

export const folders = (place: Place): string[] => {
  try {
    return readdirSync(join(place.root, ".archive")).sort();
  } catch {
    return [];
  }
};

/** Every file below a folder with bytes, mode and time: what a round trip must bring back. */
export function snapshot(place: Place, skip = /^(\.git|\.pawl|\.archive)(\/|$)/): Record<string, string> {
  const names = readdirSync(place.root, { recursive: true, encoding: "utf8" }).filter((name) => !skip.test(name));
  const seen: Record<string, string> = {};
  for (const name of names.sort()) {
    const stat = lstatSync(join(place.root, name), { bigint: true });
    if (stat.isFile())
      seen[name] = `${stat.mode} ${stat.mtimeNs} ${readFileSync(join(place.root, name)).toString("hex")}`;
    else if (stat.isSymbolicLink()) seen[name] = "link";
  }
  return seen;
}
