/**
 * A project with leftovers in it, and the archive helper called as an agent calls it. Started as a program, this file
 * applies a plan to which the person has agreed.
 */
import { lstatSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { applyAgreed } from "../../../src/cli/helper.ts";
import { parseArgs } from "../../../src/cli/shared/args.ts";
import { UserError } from "../../../src/kernel/user-error.ts";
import { messageOf } from "../../../src/store/files.ts";
import { withEnvironment } from "../../harness/environment.ts";
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

export const archive = (place: Place, ...args: string[]): Ran =>
  args[0] === "apply" ? applied(place, args.slice(1)) : runPawl(place, ["helper", "archive", ...args]);

export const APPLY = [process.execPath, import.meta.path];
const OPTIONS = ["--only=", "--tracked", "--json"];

/** The person's yes has tests of its own. */
function applied(place: Place, args: string[]): Ran {
  const printed: string[] = [];
  const io = { out: (text: string) => void printed.push(text), err: () => {}, cwd: place.root, isTTY: false };
  try {
    const code = withEnvironment(place.env, () => applyAgreed(place.root, parseArgs(args, OPTIONS), io));
    return { code, out: printed.join(""), err: "" };
  } catch (error) {
    return { code: error instanceof UserError ? error.code : 1, out: "", err: messageOf(error) };
  }
}

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

if (import.meta.main) {
  const io = { out: console.log, err: console.error, cwd: process.cwd(), isTTY: false };
  process.exit(applyAgreed(process.cwd(), parseArgs(process.argv.slice(2), OPTIONS), io));
}
