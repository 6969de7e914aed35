/**
 * A private place to run a command in: the project as it is now, with some files as they were at the beginning. An
 * overlay on the project's own path in a namespace of its own: nothing is copied, and nothing that the command writes
 * is ever seen outside.
 */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { attempt } from "../../kernel/attempt.ts";
import { dirname, join } from "../../store/names.ts";
import type { Prepared } from "../../store/processes/command.ts";
import { askGit, askGitForBytes, deadline, findRepo, toBytes } from "../tree/git.ts";

/** What differs from the project as it is now. */
export interface PlaceSpec {
  /** the tree of the beginning, and the folder of objects that it is in */
  tree: string;
  objects: string;
  /** as in that tree */
  restore: string[];
  remove: string[];
  /** shared files, with their part about tests as it was */
  texts: Record<string, string>;
  /** copies of files that no tree has, by path */
  copies: Record<string, string>;
}

export interface PrivatePlace {
  /** where the command finds the project */
  root: string;
  /** starts it in there */
  wrap(prepared: Prepared): Prepared;
  close(): void;
}

export function openPlace(root: string, spec: PlaceSpec): PrivatePlace {
  const folder = mkdtempSync(join(tmpdir(), "pawl-place-"));
  const close = () => attempt(() => rmSync(folder, { recursive: true, force: true }), undefined);
  try {
    if (!canOverlay(folder)) throw new Error("this machine has no private mounts (unshare, overlay)");
    stage(root, spec, folder);
    return { root, wrap: (prepared) => inOverlay(root, folder, prepared), close };
  } catch (error) {
    close();
    throw error;
  }
}

// ── What is put there ───────────────────────────────────────────────────────

/** `files/` is copied over the project, after all that `remove` lists is gone. */
function stage(root: string, spec: PlaceSpec, folder: string): void {
  const files = join(folder, "files");
  mkdirSync(files, { mode: 0o700 });
  const gone = [...spec.remove, ...spec.restore, ...Object.keys(spec.texts), ...Object.keys(spec.copies)];
  writeFileSync(join(folder, "remove"), gone.map((path) => `./${path}\0`).join(""));
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

// ── The overlay ─────────────────────────────────────────────────────────────

const SAFE_PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

/** Upper and work folder are in memory of the namespace, and go with it. Names are relative: no character needs quoting. */
const MOUNT = `mount -t tmpfs -o mode=0700 pawl "$1/over" && cd "$1/over" && mkdir upper work lower && mount --bind "$2" lower &&
mount -t overlay pawl -o lowerdir=lower,upperdir=upper,workdir=work,userxattr "$2" && cd "$2"`;

/** Files that are put back are new: build tools compare times. */
const ENTER = `PATH=${SAFE_PATH}; export PATH
{ ${MOUNT} && xargs -0 -r rm -rf -- <"$1/remove" && cp -R -P "$1/files/." . && cd "$3"; } || { echo "[pawl] the private place could not be made" >&2; exit 125; }
uid=$4 gid=$5 path=$6; shift 6; PATH=$path; export PATH
exec /usr/bin/nice -n 19 /usr/bin/unshare -U --map-user="$uid" --map-group="$gid" -- "$@"`;

const UNSHARE = ["/usr/bin/unshare", "-Urm", "/bin/sh", "-c"];

function inOverlay(root: string, folder: string, { cmd, cwd, env }: Prepared): Prepared {
  const [uid, gid] = [process.getuid!(), process.getgid!()];
  const words = [...UNSHARE, ENTER, "sh", folder, root, cwd, `${uid}`, `${gid}`, env.PATH ?? SAFE_PATH, ...cmd];
  return { cmd: words, cwd: "/", env };
}

/** A folder of the layer below is removed and made again: some kernels show its old files then. */
const PROBE = `PATH=${SAFE_PATH}; export PATH; ${MOUNT} && rm -r a && mkdir a && test -z "$(ls a)" &&
exec unshare -U --map-user=0 --map-group=0 true`;

function canOverlay(folder: string): boolean {
  mkdirSync(join(folder, "over"), { mode: 0o700 });
  mkdirSync(join(folder, "probe/a"), { recursive: true });
  writeFileSync(join(folder, "probe/a/b"), "");
  const cmd = [...UNSHARE, PROBE, "sh", folder, join(folder, "probe")];
  const quiet = { stdin: "ignore", stdout: "ignore", stderr: "ignore" } as const;
  return attempt(() => Bun.spawnSync({ cmd, env: {}, cwd: "/", timeout: 10_000, ...quiet }).exitCode === 0, false);
}
