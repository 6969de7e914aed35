/**
 * The project's own path in a namespace of its own, with an overlay on it: nothing is copied, and nothing that the
 * command writes is ever seen outside.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { attempt } from "../../kernel/attempt.ts";
import { join } from "../../store/names.ts";
import type { Prepared } from "../../store/processes/command.ts";

const SAFE_PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

/** Upper and work folder are in memory of the namespace, and go with it. Names are relative: no character needs quoting. */
const MOUNT = `mount -t tmpfs -o mode=0700 pawl "$1/over" && cd "$1/over" && mkdir upper work lower && mount --bind "$2" lower &&
mount -t overlay pawl -o lowerdir=lower,upperdir=upper,workdir=work,userxattr "$2" && cd "$2"`;

/** Files that are put back are new: build tools compare times. */
const ENTER = `PATH=${SAFE_PATH}; export PATH
{ ${MOUNT} && xargs -0 -r rm -rf -- <"$1/remove" && cp -R -P "$1/files/." . && cd "$3"; } || { echo "[pawl] the private place could not be made" >&2; exit 125; }
uid=$4 gid=$5 path=$6; shift 6; PATH=$path; export PATH
exec /usr/bin/unshare -U --map-user="$uid" --map-group="$gid" -- "$@"`;

const UNSHARE = ["/usr/bin/unshare", "-Urm", "/bin/sh", "-c"];

/** `folder`: has `files/`, which is copied over the project after all that `remove` lists is gone. */
export function inOverlay(root: string, folder: string, { cmd, cwd, env }: Prepared): Prepared {
  const [uid, gid] = [process.getuid!(), process.getgid!()];
  const words = [...UNSHARE, ENTER, "sh", folder, root, cwd, `${uid}`, `${gid}`, env.PATH ?? SAFE_PATH, ...cmd];
  return { cmd: words, cwd: "/", env };
}

/** A folder of the layer below is removed and made again: some kernels show its old files then. */
const PROBE = `PATH=${SAFE_PATH}; export PATH; ${MOUNT} && rm -r a && mkdir a && test -z "$(ls a)" &&
exec unshare -U --map-user=0 --map-group=0 true`;

export function canOverlay(folder: string): boolean {
  mkdirSync(join(folder, "over"), { mode: 0o700 });
  mkdirSync(join(folder, "probe/a"), { recursive: true });
  writeFileSync(join(folder, "probe/a/b"), "");
  const cmd = [...UNSHARE, PROBE, "sh", folder, join(folder, "probe")];
  const quiet = { stdin: "ignore", stdout: "ignore", stderr: "ignore" } as const;
  return attempt(() => Bun.spawnSync({ cmd, env: {}, cwd: "/", timeout: 10_000, ...quiet }).exitCode === 0, false);
}
