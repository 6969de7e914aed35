/** What on disk differs from git's index, as patches to it. */
import {
  closeSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  type Stats,
  writeFileSync,
} from "node:fs";
import { join } from "../../store/names.ts";
import { type Made, objectOf, type Patch } from "./build.ts";
import { ask, bytesOf, quoted, type Repo, readable, type Settings, TreeError, timeLeft } from "./git.ts";
import { type Blob, entryAt, LINK, parseIndex, REPOSITORY, smallIndex } from "./index.ts";

/** More than this is not read: whoever has such files in sight of git should ignore them. */
const MOST_BYTES = 512 << 20;

export interface Look {
  repo: Repo;
  settings: Settings;
  until: number;
  /** the index to ask about, if it is not the repository's own */
  index: string | undefined;
  /** a folder for this look only */
  temp: string;
  /** where new objects go for good; null: they are not kept */
  objects: string | null;
  isOurs(path: string): boolean;
}

export interface Found {
  patches: Map<string, Patch>;
  /** repositories inside this one that git does not know as submodules */
  inner: string[];
  made: Made[];
}

interface Differing {
  gone: string[];
  /** of the index: how it was there matters for line ends and modes */
  known: Blob[];
  fresh: string[];
  inner: string[];
}

export function lookAtDisk(look: Look): Found {
  const { gone, known, fresh, inner } = differing(look);
  const patches = new Map<string, Patch>(gone.map((path) => [path, null]));
  const files = sized(look, [...known.map(({ path }) => path), ...fresh]);
  const pointers = lfsPointers(look, files);
  const made: Made[] = [];
  for (const [path, { mode, object }] of pointers) {
    patches.set(path, { mode, oid: object.oid });
    made.push(object);
  }
  hashKnown(
    look,
    known.filter(({ path }) => !pointers.has(path)),
    patches,
  );
  const untracked = fresh.filter((path) => !pointers.has(path));
  made.push(...hashLinks(look, untracked, files, patches));
  hashFresh(look, untracked, files, patches);
  return { patches, inner, made };
}

// ── What git sees ───────────────────────────────────────────────────────────

const STATUS = ["status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty"];
const NOWHERE = "000000";

function differing(look: Look): Differing {
  const { repo, settings, until, index } = look;
  const below = repo.prefix === "" ? [] : ["--", readable(repo.prefix.slice(0, -1))];
  const out = ask(repo, ["--literal-pathspecs", ...STATUS, ...below], {
    until,
    filters: settings.filters,
    ...(index && { index }),
  });
  const found: Differing = { gone: [], known: [], fresh: [], inner: [] };
  for (const field of out.split("\0")) sortOut(found, field, look);
  return found;
}

/** "1 XY sub mH mI mW hH hI path", "u XY sub m1 m2 m3 mW h1 h2 h3 path", "? path". The second of XY is about the disk. */
function sortOut(found: Differing, field: string, { isOurs }: Look): void {
  if (field.startsWith("? ")) {
    const path = field.slice(2);
    if (isOurs(path)) return;
    if (path.endsWith("/")) found.inner.push(path.slice(0, -1));
    else found.fresh.push(path);
    return;
  }
  const unmerged = field.startsWith("u ");
  if (!unmerged && !(field.startsWith("1 ") && field[3] !== ".")) return;
  const parts = field.split(" ");
  const path = parts.slice(unmerged ? 10 : 8).join(" ");
  const mode = parts[unmerged ? 6 : 5]!;
  if (isOurs(path)) return;
  if (mode === NOWHERE) found.gone.push(path);
  else if (Number.parseInt(mode, 8) === REPOSITORY) found.inner.push(path);
  else if (unmerged || parts[4] === NOWHERE || Number.parseInt(parts[4]!, 8) === REPOSITORY) found.fresh.push(path);
  else found.known.push({ path, mode: Number.parseInt(parts[4]!, 8), oid: parts[7]! });
}

function sized({ repo }: Look, paths: string[]): Map<string, Stats> {
  const files = new Map<string, Stats>();
  let bytes = 0;
  for (const path of paths) {
    const stats = lstatSync(onDisk(repo, path));
    bytes += stats.size;
    files.set(path, stats);
  }
  if (bytes > MOST_BYTES)
    throw new TreeError(`more than ${MOST_BYTES >> 20} MB of changed or new files that git does not ignore`);
  return files;
}

const onDisk = (repo: Repo, path: string) => Buffer.concat([Buffer.from(`${repo.top}/`), bytesOf(path)]);

// ── Hashing ─────────────────────────────────────────────────────────────────

/** With their old entries beside them: git keeps CRLF where the old text had it, and modes it is told not to trust. */
function hashKnown(look: Look, known: Blob[], patches: Map<string, Patch>): void {
  if (known.length === 0) return;
  const { repo, settings, until, temp } = look;
  const index = join(temp, "small");
  writeFileSync(index, smallIndex(known, settings.width));
  const input = known.map(({ path }) => `${path}\0`).join("");
  ask(repo, ["update-index", "--add", "--remove", "-z", "--stdin"], {
    until,
    index,
    input,
    filters: settings.filters,
    objects: look.objects ?? temp,
  });
  const hashed = parseIndex(readFileSync(index), settings.width);
  for (const { path } of known) patches.set(path, null);
  for (const i of hashed.starts.keys()) {
    const { path, mode, oid } = entryAt(hashed, i);
    patches.set(path, { mode, oid });
  }
}

function hashFresh(look: Look, paths: string[], files: Map<string, Stats>, patches: Map<string, Patch>): void {
  const plain = paths.filter((path) => files.get(path)!.isFile());
  if (plain.length === 0) return;
  const { repo, settings, until, objects } = look;
  const command = ["hash-object", ...(objects === null ? [] : ["-w"]), "--stdin-paths"];
  const input = plain.map((path) => `${quoted(path)}\n`).join("");
  const oids = ask(repo, command, { until, input, objects, filters: settings.filters }).trimEnd().split("\n");
  if (oids.length !== plain.length) throw new TreeError("git did not hash every new file");
  plain.forEach((path, i) => {
    patches.set(path, { mode: modeOf(files.get(path)!, settings), oid: oids[i]! });
  });
}

const modeOf = (stats: Stats, { fileMode }: Settings) => (fileMode && stats.mode & 0o100 ? 0o100755 : 0o100644);

/** Where a link leads is all that counts; what is there is not looked at. */
function hashLinks(
  { repo, settings }: Look,
  paths: string[],
  files: Map<string, Stats>,
  patches: Map<string, Patch>,
): Made[] {
  const links = paths.filter((path) => files.get(path)!.isSymbolicLink());
  return links.map((path) => {
    const target = readlinkSync(onDisk(repo, path), { encoding: "buffer" });
    const made = objectOf("blob", target, settings.width);
    patches.set(path, { mode: LINK, oid: made.oid });
    return made;
  });
}

// ── Large files kept elsewhere ──────────────────────────────────────────────

/**
 * No filter is ever run: its command may come from the repository, and git-lfs itself runs what the repository's settings
 * name. What git-lfs would put into the tree is known, so it is made here. Files of any other filter are taken as they
 * lie on disk once they differ from what git remembers: the tree may then look changed where it is not, never the reverse.
 */
function lfsPointers(look: Look, files: Map<string, Stats>): Map<string, { mode: number; object: Made }> {
  const pointers = new Map<string, { mode: number; object: Made }>();
  const { repo, settings, until, index } = look;
  if (!settings.filters.includes("lfs") || files.size === 0) return pointers;
  const input = [...files.keys()].map((path) => `${path}\0`).join("");
  const out = ask(repo, ["check-attr", "-z", "--stdin", "filter"], { until, input, ...(index && { index }) }).split(
    "\0",
  );
  for (let i = 0; i + 2 < out.length; i += 3) {
    const stats = files.get(out[i]!);
    if (out[i + 2] !== "lfs" || !stats?.isFile() || stats.size === 0) continue;
    const object = objectOf("blob", pointerTo(onDisk(repo, out[i]!), until), settings.width);
    pointers.set(out[i]!, { mode: modeOf(stats, settings), object });
  }
  return pointers;
}

const POINTER = "version https://git-lfs.github.com/spec/v1\n";

function pointerTo(file: Buffer, until: number): Buffer {
  const hash = new Bun.CryptoHasher("sha256");
  const chunk = Buffer.alloc(1 << 20);
  const fd = openSync(file, "r");
  let size = 0;
  try {
    for (let got = readSync(fd, chunk); got > 0; got = readSync(fd, chunk)) {
      const piece = chunk.subarray(0, got);
      if (size === 0 && got < 1024 && piece.toString("latin1").startsWith(POINTER)) return Buffer.from(piece);
      hash.update(piece);
      size += got;
      timeLeft(until);
    }
  } finally {
    closeSync(fd);
  }
  return Buffer.from(`${POINTER}oid sha256:${hash.digest("hex")}\nsize ${size}\n`);
}
