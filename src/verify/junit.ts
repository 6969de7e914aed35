/** The verdicts as JUnit XML, for whatever shows test results. An unproven gate is an error there, never a pass. */
import { accessSync, constants, realpathSync } from "node:fs";
import { safeText } from "../kernel/text/safe-text.ts";
import { ensureDir, insideRoot, lookAt } from "../store/files.ts";
import { dirname, join } from "../store/names.ts";
import type { Receipt } from "./receipt.ts";
import type { Checked } from "./run.ts";

export function renderJunit(receipt: Receipt): string {
  const { verdicts, not_asked, at, tree } = receipt;
  const count = (word: string) => verdicts.filter(({ verdict }) => verdict === word).length;
  const total = verdicts.length + not_asked.length;
  const time = seconds(verdicts.reduce((sum, { ms = 0 }) => sum + ms, 0));
  const numbers = `tests="${total}" failures="${count("fail")}" errors="${count("unproven")}" skipped="${not_asked.length}" time="${time}"`;
  const cases = [
    ...verdicts.map(buildCase),
    ...not_asked.map(({ gate, needs }) => element(gate, "0", [`<skipped message="${attribute(`needs ${needs}`)}"/>`])),
  ];
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="pawl verify" ${numbers}>`,
    ` <testsuite name="pawl verify" ${numbers} timestamp="${at.slice(0, 19)}">`,
    `  <properties><property name="tree" value="${attribute(tree)}"/></properties>`,
    ...cases,
    " </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

function buildCase({ gate, verdict, why, tail, ms = 0, command }: Checked): string {
  const words = `message="${attribute(why)}" type="${verdict}"`;
  const text = content(command ? `${command}: ${why}` : why);
  return element(gate, seconds(ms), [
    ...(verdict === "fail" ? [`<failure ${words}>${text}</failure>`] : []),
    ...(verdict === "unproven" ? [`<error ${words}>${text}</error>`] : []),
    ...(tail ? [`<system-out>${content(tail)}</system-out>`] : []),
  ]);
}

const element = (name: string, time: string, inner: string[]) =>
  [
    `  <testcase classname="pawl" name="${attribute(name)}" time="${time}">`,
    ...inner.map((one) => `   ${one}`),
    "  </testcase>",
  ].join("\n");

const seconds = (ms: number) => (ms / 1000).toFixed(3);

const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };

/** XML has no way to write most control characters, nor half a character. */
const content = (text: string) =>
  safeText(text)
    .toWellFormed()
    .replace(/[\ufffe\uffff]/g, "")
    .replace(/[&<>"']/g, (sign) => ENTITIES[sign]!);

const attribute = (text: string) => content(text).replace(/\s+/g, " ");

/**
 * Where the file goes; throws where it cannot be written. Checked before anything runs: a suite of ten minutes for a wrong
 * path is annoying. A relative path stays inside the project and goes through no symbolic link.
 */
export function junitPath(root: string, cwd: string, named: string): string {
  if (named.startsWith("/")) return writable(named);
  const here = realpathSync(cwd);
  const top = realpathSync(root);
  const below = here === top ? "" : here.slice(top.length + 1);
  const relative = below === "" ? named : join(below, named);
  const path = insideRoot(top, relative);
  const folder = dirname(relative.replace(/^(\.\/)+/, ""));
  if (folder !== "" && folder !== "." && folder !== "/") ensureDir(top, folder);
  return writable(path);
}

function writable(path: string): string {
  accessSync(dirname(path), constants.W_OK | constants.X_OK);
  const found = lookAt(path);
  if (found && !found.isFile()) throw new Error(`${path} is not a regular file`);
  return path;
}
