/** A project that names commands, a home of its own, and processes that ask about trust. */
import { expect } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TrustState } from "../../src/store/trust.ts";
import { childEnv, commandFor, tempRoot } from "./samples.ts";

export interface Ground {
  root: string;
  home: string;
}

export function ground(files: Record<string, string> = {}): Ground {
  const place = { root: join(tempRoot(), "project"), home: tempRoot() };
  mkdirSync(place.root);
  put(place.root, files);
  return place;
}

export function put(root: string, files: Record<string, string>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

export function git(cwd: string, ...args: string[]): void {
  const identity = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"];
  const { exitCode, stderr } = Bun.spawnSync(["git", ...identity, ...args], { cwd, env: childEnv(tempRoot()) });
  if (exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
}

export function repository(files: Record<string, string>): Ground {
  const place = ground(files);
  git(place.root, "init", "-q", "-b", "main");
  git(place.root, "add", ".");
  git(place.root, "commit", "-q", "-m", "first");
  return place;
}

export const start = ({ home }: Pick<Ground, "home">, calls: unknown[][]) =>
  Bun.spawn(commandFor("trusting.ts", [JSON.stringify(calls)]), { env: childEnv(home), stdout: "pipe" });

export function call(place: Pick<Ground, "home">, ...calls: unknown[][]): unknown[] {
  const cmd = commandFor("trusting.ts", [JSON.stringify(calls)]);
  const { stdout, stderr } = Bun.spawnSync(cmd, { env: childEnv(place.home) });
  if (stdout.length === 0) throw new Error(stderr.toString());
  return JSON.parse(stdout.toString());
}

export const GATES = [{ run: ["npm", "test"] }, { run: ["scripts/check.sh", "--all"], env: { MODE: "strict" } }];
export const FILES = {
  "package.json": JSON.stringify({ scripts: { test: "node run.mjs", pretest: "sh prepare.sh", lint: "eslint" } }),
  "run.mjs": "1\n",
  "prepare.sh": "echo\n",
  "scripts/check.sh": "#!/bin/sh\nexit 0\n",
};
export const SHARE = ".local/share/pawl";

export const isTrusted = (place: Ground, root = place.root, gates: object[] = GATES) =>
  call(place, ["trusted", root, gates])[0] as TrustState;
export const grant = (place: Ground, root = place.root, gates: object[] = GATES) =>
  expect(call(place, ["grant", root, gates])).toEqual([null]);
export const approvals = ({ home }: Ground): string[] => {
  const trust = join(home, SHARE, "trust");
  return existsSync(trust)
    ? readdirSync(trust).flatMap((key) =>
        readdirSync(join(trust, key))
          .filter((one) => one !== "environment.json")
          .map((one) => join(trust, key, one)),
      )
    : [];
};
