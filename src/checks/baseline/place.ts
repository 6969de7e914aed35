/** A private place to run a command in: the project as it is now, with some files as they were at the beginning. */

import { lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { attempt } from "../../kernel/attempt.ts";
import { dirname, join } from "../../store/names.ts";
import type { Prepared } from "../../store/processes/command.ts";
import { folderOutside } from "../reporters/reporters.ts";
import { askGit, askGitForBytes, deadline, findRepo, toBytes } from "../tree/git.ts";
import { changesSince, treeHash } from "../tree/tree.ts";
import { ignoredChanges, type Restoring, together, wholeBase } from "./changes.ts";
import { copyProject, inCopy } from "./copy.ts";
import { canOverlay, inOverlay } from "./overlay.ts";

export interface PlaceSpec extends Restoring {
  /** the tree of the beginning, and the folder of objects that it is in */
  tree: string;
  objects: string;
  /** all is as when this run began, whatever is changed meanwhile: a copy, since nothing may change below an overlay */
  whole?: string;
}

export interface PrivatePlace {
  /** where the command finds the project */
  root: string;
  /** it has another path there, which may change what a command does */
  copied: boolean;
  /** starts it in there */
  wrap(prepared: Prepared): Prepared;
  close(): void;
}

export function openPlace(root: string, spec: PlaceSpec, canMount = canOverlay): PrivatePlace {
  const folder = mkdtempSync(join(folderOutside(root), "pawl-place-"));
  const close = () => attempt(() => rmSync(folder, { recursive: true, force: true }), undefined);
  try {
    return {
      ...(spec.whole === undefined && canMount(folder) ? mounted(root, spec, folder) : copied(root, spec, folder)),
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

function mounted(root: string, spec: PlaceSpec, folder: string): Omit<PrivatePlace, "close"> {
  const files = join(folder, "files");
  mkdirSync(files, { mode: 0o700 });
  const gone = listGone(root, spec).map((path) => `./${path}\0`);
  writeFileSync(join(folder, "remove"), gone.join(""));
  stage(root, spec, files);
  return { root, copied: false, wrap: (prepared) => inOverlay(root, folder, prepared) };
}

function copied(root: string, asked: PlaceSpec, folder: string): Omit<PrivatePlace, "close"> {
  const copy = copyProject(root, folder);
  const spec = asked.whole === undefined ? asked : { ...asked, ...changedMeanwhile(root, asked, asked.whole) };
  for (const path of listGone(root, spec)) rmSync(join(copy, path), { recursive: true, force: true });
  stage(root, spec, copy);
  return { root: copy, copied: true, wrap: (prepared) => inCopy(root, copy, prepared) };
}

function changedMeanwhile(root: string, { tree, objects }: PlaceSpec, run: string): Restoring {
  const now = treeHash(root, objects);
  const changes = now.ok ? changesSince(root, tree, now.value, objects, () => false) : now;
  const ignored = ignoredChanges(root, run, tree);
  if (!changes.ok) throw new Error(changes.why);
  if (ignored === null) throw new Error("what was kept of the beginning is gone");
  return together(wholeBase(changes.value, new Set(), new Set()), ignored);
}

// ── What is put there ───────────────────────────────────────────────────────

/** Links first: what is removed or written below a folder that is a link now would be removed where it leads. */
function listGone(root: string, { remove, restore, texts, copies }: PlaceSpec): string[] {
  const gone = [...remove, ...restore, ...Object.keys(texts), ...Object.keys(copies)];
  const folders = new Set(gone.flatMap(foldersAbove));
  const isLink = (path: string) => lstatSync(join(root, path), { throwIfNoEntry: false })?.isSymbolicLink();
  return [...[...folders].filter((path) => attempt(() => isLink(path), false)), ...gone];
}

const foldersAbove = (path: string): string[] =>
  path
    .split("/")
    .slice(0, -1)
    .map((_, at, names) => names.slice(0, at + 1).join("/"));

function stage(root: string, spec: PlaceSpec, files: string): void {
  restoreFiles(root, spec, files);
  for (const [path, text] of Object.entries(spec.texts)) put(join(files, path), text);
  for (const [path, copy] of Object.entries(spec.copies)) put(join(files, path), readFileSync(copy));
}

function put(path: string, content: string | Uint8Array, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content, { mode });
}

const LINK = "120000";
const PROGRAM = "100755";

function restoreFiles(root: string, { tree, objects, restore }: PlaceSpec, files: string): void {
  const repo = findRepo(root);
  if (repo === null) throw new Error("there is no git here");
  const call = { until: deadline(), objects };
  const wanted = new Set(restore);
  const listed = askGit(repo, ["ls-tree", "-r", "-z", "--full-tree", tree], call).split("\0");
  const entries = listed.flatMap((line) => {
    const [head, path] = [line.slice(0, line.indexOf("\t")), toBytes(line.slice(line.indexOf("\t") + 1)).toString()];
    const [mode, type, oid] = head.split(" ");
    return type === "blob" && wanted.has(path) ? [{ path, mode: mode!, oid: oid! }] : [];
  });
  const missing = entries.length < wanted.size && restore.find((one) => !entries.some(({ path }) => path === one));
  if (missing) throw new Error(`${missing} is not in the tree of the beginning`);
  const input = entries.map(({ oid }) => oid).join("\n");
  const out =
    entries.length === 0 ? Buffer.alloc(0) : askGitForBytes(repo, ["cat-file", "--batch"], { ...call, input });
  let at = 0;
  for (const { path, mode } of entries) {
    const lineEnd = out.indexOf(10, at);
    const [, type, size] = out.toString("latin1", at, lineEnd).split(" ");
    if (type !== "blob") throw new Error(`${path} of the beginning is gone`);
    const bytes = out.subarray(lineEnd + 1, lineEnd + 1 + Number(size));
    at = lineEnd + 2 + Number(size);
    if (mode !== LINK) put(join(files, path), bytes, mode === PROGRAM ? 0o755 : 0o644);
    else {
      mkdirSync(dirname(join(files, path)), { recursive: true });
      symlinkSync(bytes, Buffer.from(join(files, path)));
    }
  }
}
