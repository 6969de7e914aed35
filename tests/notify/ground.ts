/** A place whose notifications go to a program that keeps what it was given. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makePlace, type Place, runPawl } from "../harness/harness.ts";

export const CONFIG = ".config/pawl/config.yaml";

/** Its words, its environment and its stdin, each under a name that appears when all is written. */
const KEEPS = `#!/bin/sh
n="$HOME/got/$$"
mkdir -p "$HOME/got"
{ printf '%s\\n' "$*"; env | grep ^PAWL | sort; } > "$n.env"
cat > "$n.part" && mv "$n.part" "$n.json"
`;

export function put(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

export function program(place: Place, name: string, script: string): string {
  const path = put(join(place.home, name), script);
  chmodSync(path, 0o755);
  return path;
}

/** `more`: further lines of `notify`. */
export function listening(more = "  batch: 0\n", script = KEEPS): Place {
  const place = makePlace();
  const path = program(place, "double", script);
  put(join(place.home, CONFIG), `notify:\n  desktop: off\n  command: [${path}, a word]\n${more}`);
  const { code, err } = runPawl(place, ["notify"]);
  if (code !== 0) throw new Error(err);
  return place;
}

export interface Got {
  title: string;
  text: string;
  what: string;
  notices: { what: string; text: string; project: string; run: string; session: string; root: string }[];
}

const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);

export const received = ({ home }: Place): Got[] =>
  namesIn(join(home, "got"))
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(join(home, "got", name), "utf8")));

export const environments = ({ home }: Place): string[] =>
  namesIn(join(home, "got"))
    .filter((name) => name.endsWith(".env"))
    .map((name) => readFileSync(join(home, "got", name), "utf8"));

/** The spool is empty, and no one is at work on what was in it. */
export const isIdle = ({ home }: Place) =>
  namesIn(join(home, ".local/state/pawl/notify")).every((name) => name === "said");

export async function until(holds: () => boolean, what: string): Promise<void> {
  const end = Date.now() + 35_000;
  while (!holds()) {
    if (Date.now() > end) throw new Error(`waited in vain: ${what}`);
    await Bun.sleep(20);
  }
}
