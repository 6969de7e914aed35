/** From an index and what differs from it on disk to git's own name for the whole: the object of the top folder. */
import { closeSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { deflateSync } from "node:zlib";
import { lookAt } from "../../store/files.ts";
import { join } from "../../store/names.ts";
import { digest, type Entry, entryAt, FOLDER, firstFrom, type Index, type KnownTree } from "./index.ts";

/** null: not there. */
export type Patch = { mode: number; oid: string } | null;

export interface Made {
  oid: string;
  type: "tree" | "blob";
  body: Buffer;
}

export function objectOf(type: Made["type"], body: Buffer, width: 20 | 32): Made {
  const head = Buffer.from(`${type} ${body.length}\0`);
  return { oid: digest(Buffer.concat([head, body]), width).toString("hex"), type, body };
}

interface Child {
  mode: number;
  oid: string;
}

interface Work {
  index: Index;
  /** by folder ("" or "a/b/"), then by name */
  patches: Map<string, Map<string, Patch>>;
  /** folders with a patch somewhere below, and their own folders that have one */
  touched: Map<string, Set<string>>;
  made: Made[];
}

/** The object of `prefix`, and every object on the way that git may not have. */
export function buildTree(index: Index, patches: Map<string, Patch>, prefix: string): { oid: string; made: Made[] } {
  const work: Work = { index, patches: new Map(), touched: new Map(), made: [] };
  for (const [path, patch] of patches) enter(work, path, patch);
  let known = index.known;
  for (const name of prefix.split("/").slice(0, -1)) known = known?.children.get(name) ?? null;
  const { oid } = folder(work, prefix, firstFrom(index, prefix), known);
  if (oid !== null) return { oid, made: work.made };
  const empty = objectOf("tree", Buffer.alloc(0), index.width);
  return { oid: empty.oid, made: [empty] };
}

function enter({ patches, touched }: Work, path: string, patch: Patch): void {
  const at = path.lastIndexOf("/") + 1;
  let dir = path.slice(0, at);
  if (!patches.has(dir)) patches.set(dir, new Map());
  patches.get(dir)!.set(path.slice(at), patch);
  for (let child: string | null = null; ; ) {
    const seen = touched.get(dir);
    if (!seen) touched.set(dir, new Set(child === null ? [] : [child]));
    else if (child !== null) seen.add(child);
    if (seen || dir === "") return;
    const parent = dir.lastIndexOf("/", dir.length - 2) + 1;
    child = dir.slice(parent, -1);
    dir = dir.slice(0, parent);
  }
}

/** null: nothing is in it, and git keeps no empty folders. `next` is the first entry behind it. */
function folder(work: Work, dir: string, from: number, known: KnownTree | null): { oid: string | null; next: number } {
  const touched = work.touched.get(dir);
  if (known?.oid && !touched) return { oid: known.oid, next: from + known.count };
  const children = new Map<string, Child>();
  const { index } = work;
  const visited = new Set<string>();
  let next = from;
  const descend = (name: string) => {
    visited.add(name);
    const below = folder(work, `${dir}${name}/`, next, known?.children.get(name) ?? null);
    next = below.next;
    if (below.oid !== null) children.set(name, { mode: FOLDER, oid: below.oid });
  };
  while (next < index.starts.length) {
    const path = index.path(next);
    if (!path.startsWith(dir)) break;
    const slash = path.indexOf("/", dir.length);
    if (slash >= 0) descend(path.slice(dir.length, slash));
    else {
      const entry = entryAt(index, next++);
      if (countsAsFile(entry)) children.set(path.slice(dir.length), entry);
    }
  }
  const end = next;
  for (const [name, patch] of work.patches.get(dir) ?? []) applyPatch(children, name, patch);
  for (const name of touched ?? []) if (!visited.has(name)) descend(name);
  return { oid: finish(work, children), next: end };
}

/** An unmerged or announced file is told by what is on disk, which comes as a patch. */
const countsAsFile = ({ stage, intended }: Entry) => stage === 0 && !intended;

/** A folder may have come in the place of a file that is gone. */
function applyPatch(children: Map<string, Child>, name: string, patch: Patch): void {
  if (patch !== null) children.set(name, patch);
  else if (children.get(name)?.mode !== FOLDER) children.delete(name);
}

function finish({ index, made }: Work, children: Map<string, Child>): string | null {
  if (children.size === 0) return null;
  const key = ([name, { mode }]: [string, Child]) => (mode === FOLDER ? `${name}/` : name);
  const sorted = [...children].sort((a, b) => (key(a) < key(b) ? -1 : 1));
  const parts = sorted.flatMap(([name, { mode, oid }]) => [
    Buffer.from(`${mode.toString(8)} ${name}\0`, "latin1"),
    Buffer.from(oid, "hex"),
  ]);
  const tree = objectOf("tree", Buffer.concat(parts), index.width);
  made.push(tree);
  return tree.oid;
}

/** As git keeps a single object. Seen only when complete. */
export function writeObject(objects: string, { oid, type, body }: Made): void {
  const dir = join(objects, oid.slice(0, 2));
  const path = join(dir, oid.slice(2));
  if (lookAt(path) !== undefined) return;
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const temp = join(dir, `tmp_obj_${process.pid}-${Bun.nanoseconds()}`);
  const fd = openSync(temp, "wx", 0o444);
  try {
    const content = deflateSync(Buffer.concat([Buffer.from(`${type} ${body.length}\0`), body]), { level: 1 });
    if (writeSync(fd, content) !== content.length) throw new Error("the disk takes no more bytes");
  } finally {
    closeSync(fd);
  }
  renameSync(temp, path);
}
