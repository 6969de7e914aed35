/** A project in a folder of its own, with a home of its own, and git as it is installed. */
import { afterEach, beforeEach } from "bun:test";
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { treeHash } from "../../../src/checks/tree/tree.ts";
import { hashOf } from "../../../src/store/files.ts";

export let place: string;
export let root: string;
let home: string | undefined;
/** For each test of the calling file. */
export function freshProjects(): void {
  beforeEach(() => {
    place = realpathSync(mkdtempSync(join(tmpdir(), "pawl-tree-test-")));
    root = join(place, 'a "project": mine');
    home = process.env.HOME;
    process.env.HOME = join(place, "home");
    mkdirSync(process.env.HOME);
    mkdirSync(root);
  });
  afterEach(() => {
    process.env.HOME = home;
    Bun.spawnSync(["chmod", "-R", "u+rwx", place]);
    rmSync(place, { recursive: true, force: true });
  });
}

export function put(path: string, text: string | Uint8Array = `${path}\n`, under = root): void {
  mkdirSync(join(under, dirname(path)), { recursive: true });
  writeFileSync(join(under, path), text);
}

export function run(cwd: string, command: string[], env: Record<string, string> = {}, input?: string): string {
  const plain = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", GIT_CONFIG_NOSYSTEM: "1", ...env };
  const stdin = input === undefined ? ("ignore" as const) : Buffer.from(input);
  const { exitCode, stdout, stderr } = Bun.spawnSync({ cmd: command, cwd, env: plain, stdin });
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
  return stdout.toString().trim();
}
const ME = [
  "-c",
  "user.name=a",
  "-c",
  "user.email=a@b",
  "-c",
  "protocol.file.allow=always",
  "-c",
  "commit.gpgSign=false",
];
export const gitIn = (cwd: string, ...args: string[]) => run(cwd, ["git", ...ME, ...args]);
export const git = (...args: string[]) => gitIn(root, ...args);

function begin(...args: string[]): void {
  git("init", "-q", "--template=", ...args);
  put("src/a.ts");
  put("src/deep/b.ts");
  put("src.txt");
  put("run.sh");
  put(".gitignore", "*.log\nbuild/\n");
  symlinkSync("src/a.ts", join(root, "link"));
}
export function repository(...args: string[]): void {
  begin(...args);
  git("add", "-A");
  git("commit", "-qm", "begin");
}

export function hash(objects: string | null = null, at = root): string {
  const fact = treeHash(at, objects);
  if (!fact.ok) throw new Error(fact.why);
  return fact.value;
}
export function whyNot(at = root): string {
  const fact = treeHash(at, null);
  return fact.ok ? `ok ${fact.value}` : fact.why;
}

/** What git itself would commit. */
export function committed(at = root): string {
  const index = join(place, "reference-index");
  const own = join(gitIn(at, "rev-parse", "--absolute-git-dir"), "index");
  if (existsSync(own)) copyFileSync(own, index);
  const env = { GIT_INDEX_FILE: index, GIT_OBJECT_DIRECTORY: join(place, "reference-objects") };
  mkdirSync(env.GIT_OBJECT_DIRECTORY, { recursive: true });
  const common = gitIn(at, "rev-parse", "--path-format=absolute", "--git-common-dir");
  const all = { ...env, GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(common, "objects")) };
  run(at, ["git", "add", "-A"], all);
  const tree = run(at, ["git", "write-tree"], all);
  rmSync(index, { force: true });
  return tree;
}

/** Every file below, with what is in it. */
export function everything(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: "utf8" })
    .filter((name) => lstatSync(join(dir, name)).isFile())
    .sort()
    .map((name) => `${name} ${hashOf(readFileSync(join(dir, name)))}`);
}

export const later = (path: string, seconds = 5) => {
  const time = Date.now() / 1000 + seconds;
  utimesSync(join(root, path), time, time);
};
