/**
 * No filter is ever run: its command may come from the repository, and git-lfs itself runs what the repository's settings
 * name. What git-lfs would put into the tree is known, so Pawl makes it. Files of any other filter count as they are on
 * disk once they differ from what git remembers: the tree may then look changed where it is not, never the reverse.
 */
import { closeSync, openSync, readFileSync, readSync, type Stats, writeFileSync } from "node:fs";
import { join } from "../../store/names.ts";
import { askGit, timeLeft } from "./git.ts";
import { type Look, onDisk } from "./status.ts";

/** The pointer's object of each file that git-lfs would store elsewhere. */
export function lfsPointers(look: Look, files: Map<string, Stats>): Map<string, string> {
  const { repo, settings, call, temp } = look;
  if (!settings.filters.includes("lfs") || files.size === 0) return new Map();
  const input = [...files.keys()].map((path) => `${path}\0`).join("");
  const out = askGit(repo, ["check-attr", "-z", "--stdin", "filter"], { ...call, input }).split("\0");
  const paths: string[] = [];
  for (let i = 0; i + 2 < out.length; i += 3) {
    const stats = files.get(out[i]!);
    if (out[i + 2] === "lfs" && stats?.isFile() && stats.size > 0) paths.push(out[i]!);
  }
  if (paths.length === 0) return new Map();
  const pointers = paths.map((path, i) => {
    const file = join(temp, `pointer-${i}`);
    writeFileSync(file, readPointer(onDisk(repo, path), files.get(path)!.size, call.until));
    return `${file}\n`;
  });
  const command = ["hash-object", "-w", "--no-filters", "--stdin-paths"];
  const oids = askGit(repo, command, { ...call, input: pointers.join("") }).split("\n");
  return new Map(paths.map((path, i) => [path, oids[i]!]));
}

const POINTER = "version https://git-lfs.github.com/spec/v1\n";

/** A file that is a pointer already stays as it is. */
function readPointer(file: Buffer, size: number, until: number): string {
  const small = size < 1024 ? readFileSync(file, "latin1") : "";
  if (small.startsWith(POINTER)) return small;
  const hash = new Bun.CryptoHasher("sha256");
  const chunk = Buffer.alloc(1 << 20);
  const fd = openSync(file, "r");
  try {
    for (let got = readSync(fd, chunk); got > 0; got = readSync(fd, chunk)) {
      hash.update(chunk.subarray(0, got));
      timeLeft(until);
    }
  } finally {
    closeSync(fd);
  }
  return `${POINTER}oid sha256:${hash.digest("hex")}\nsize ${size}\n`;
}
