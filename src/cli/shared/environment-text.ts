/** The recorded environment as a person reads it: PATH in full, of all else the names. Values may be secrets. */
import { visible } from "../../kernel/text/safe-text.ts";
import type { Environment } from "../../store/environment.ts";
import type { Change } from "./trust-text.ts";

type Values = Record<string, string>;

const otherNames = (env: Values) =>
  Object.keys(env)
    .filter((name) => name !== "PATH")
    .toSorted();

export const shortHash = ({ hash }: Environment) => hash.slice(0, 8);

export const environmentLines = (environment: Environment): string[] => [
  `environment ${shortHash(environment)}`,
  `  PATH   ${visible(environment.env.PATH ?? "")}`,
  `  values of  ${otherNames(environment.env).map(visible).join(" ")}`,
];

/** PATH folder by folder. */
export function environmentChanges(before: Values, now: Values): Change[] {
  const names = [...new Set([...otherNames(before), ...otherNames(now)])].toSorted();
  const changes = [...pathChanges(before.PATH ?? "", now.PATH ?? ""), ...names.flatMap((name) => change(name, before[name], now[name]))]; // biome-ignore format: one thought
  return changes.map(({ sign, line }) => ({ sign, line: visible(line) }));
}

function change(name: string, before: string | undefined, now: string | undefined): Change[] {
  if (before === now) return [];
  if (before === undefined) return [{ sign: "+", line: name }];
  return now === undefined ? [{ sign: "-", line: name }] : [{ sign: "+", line: `${name} (another value)` }];
}

function pathChanges(before: string, now: string): Change[] {
  if (before === now) return [];
  const [old, fresh] = [before.split(":"), now.split(":")];
  const gone = old.filter((folder) => folder !== "" && !fresh.includes(folder));
  const come = fresh.filter((folder) => !old.includes(folder));
  if (gone.length + come.length === 0) return [{ sign: "+", line: `PATH in another order: ${now}` }];
  const lines = (sign: "+" | "-", folders: string[]) => folders.map((folder) => ({ sign, line: `PATH ${folder}` }));
  return [...lines("-", gone), ...lines("+", come)];
}
