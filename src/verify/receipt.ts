/**
 * What was checked, on which tree, with which result: `.pawl/receipts/<tree>.json`. The digest shows to anyone that not a
 * letter was changed by mistake; the seal shows to the owner of the key that no one else wrote it.
 */
import { readdirSync } from "node:fs";
import { version } from "../../package.json";
import { isAround } from "../checks/command.ts";
import type { Verdict } from "../kernel/types/run.ts";
import { environmentFor } from "../store/environment.ts";
import {
  ensureDir,
  hashOf,
  insideRoot,
  isObject,
  lookAt,
  parseJson,
  readText,
  removeQuietly,
  writeAtomic,
} from "../store/files.ts";
import { join } from "../store/names.ts";
import { excludeOurs } from "../store/owned.ts";
import { seal, unseal } from "../store/seal.ts";
import type { Checked } from "./run.ts";
import type { Base, Left } from "./select.ts";

export interface Receipt {
  receipt: 1;
  pawl: string;
  at: string;
  tree: string;
  /** "" before the first commit, or without git */
  head: string;
  /** the tree is not what HEAD holds; null: there is no git to say so */
  dirty: boolean | null;
  base: Base | null;
  /** the names that were given; left out: all */
  only?: string[];
  verdicts: Checked[];
  not_asked: Left[];
  /** an agent made it: a person's `pawl verify` does not reuse it */
  by_agent?: true;
  /** which key sealed it */
  key: string;
  digest: string;
  seal: string;
}

export type Content = Omit<Receipt, "receipt" | "pawl" | "key" | "digest" | "seal">;

const FOLDER = ".pawl/receipts";
const CONTEXT = "receipt";
const LARGEST = 8 << 20;
const KEPT = 50;
const TREE = /^[0-9a-f]{40,64}$/;

// ── Making ──────────────────────────────────────────────────────────────────

export function makeReceipt(content: Content): Receipt {
  const body = { receipt: 1 as const, pawl: version, ...content, key: keyName() };
  const whole = { ...body, digest: computeDigest(body) };
  return JSON.parse(seal(CONTEXT, JSON.stringify(whole))) as Receipt;
}

const computeDigest = (body: object) => hashOf(JSON.stringify(body));

/** Tells keys apart, and tells nothing about the key. */
const keyName = () => (JSON.parse(seal("name of the key", '{"v":1}')) as { seal: string }).seal.slice(0, 16);

// ── Reading ─────────────────────────────────────────────────────────────────

/** `foreign`: nothing is wrong with it, but it was sealed with a key that is not here. */
export type Origin = "ours" | "foreign" | "edited";

export function describeOrigin(receipt: Receipt): Origin {
  const { seal: mark, ...whole } = receipt;
  const { digest, ...body } = whole;
  if (computeDigest(body) !== digest) return "edited";
  const text = `{"seal":"${mark}",${JSON.stringify(whole).slice(1)}`;
  if (unseal(CONTEXT, text) !== null) return "ours";
  return receipt.key === keyName() ? "edited" : "foreign";
}

/** null: it is no receipt. Nothing is said about whether it is true. */
export function parseReceipt(text: string): Receipt | null {
  const value = parseJson(text);
  if (!isObject(value) || value.receipt !== 1 || !Array.isArray(value.verdicts) || !Array.isArray(value.not_asked))
    return null;
  const texts = ["pawl", "at", "tree", "head", "key", "digest", "seal"].every((key) => typeof value[key] === "string");
  const base = value.base === null || (isObject(value.base) && typeof value.base.ref === "string");
  return texts && base && value.verdicts.every(isVerdict) ? (value as unknown as Receipt) : null;
}

const WORDS: unknown[] = ["pass", "fail", "unproven"];

function isVerdict(value: unknown): boolean {
  if (!isObject(value) || !WORDS.includes(value.verdict)) return false;
  const optional = ["command", "cwd", "digest", "tail"].every((key) =>
    ["string", "undefined"].includes(typeof value[key]),
  );
  return optional && ["gate", "id", "why", "tree", "at"].every((key) => typeof value[key] === "string");
}

// ── On disk ─────────────────────────────────────────────────────────────────

export const receiptPath = (tree: string) => `${FOLDER}/${tree}.json`;

export function readReceipt(root: string, tree: string): Receipt | null {
  const file = TREE.test(tree) ? readText(insideRoot(root, receiptPath(tree)), LARGEST) : null;
  const receipt = file?.ok ? parseReceipt(file.text) : null;
  return receipt && describeOrigin(receipt) === "ours" && receipt.tree === tree ? receipt : null;
}

/** Passes of this very tree in this environment, compared with the same commit, and not by an agent for a person. */
export function knownPasses(root: string, tree: string, base: string, isAgent: boolean): Record<string, Verdict> {
  const receipt = readReceipt(root, tree);
  if (!receipt || (receipt.base?.commit ?? "") !== base || (receipt.by_agent && !isAgent)) return {};
  const environment = environmentFor(root).hash;
  // Files may be ignored by git, so the tree says nothing about them; looking again costs nothing.
  const passed = receipt.verdicts.filter(
    (one) =>
      one.verdict === "pass" &&
      one.command !== undefined &&
      one.tree === tree &&
      one.environment === environment &&
      isAround(root, one.around),
  );
  return Object.fromEntries(passed.map(({ as_before: _before, ...verdict }) => [verdict.id, verdict]));
}

/** false: there is one about all gates already, and this is about some; or the tree has no name. */
export function writeReceipt(root: string, receipt: Receipt): boolean {
  const { tree, only, base } = receipt;
  if (!TREE.test(tree)) return false;
  const before = readReceipt(root, tree);
  if (only && before && !before.only && before.base?.commit === base?.commit) return false;
  const folder = ensureDir(root, FOLDER);
  excludeOurs(root);
  writeAtomic(insideRoot(root, receiptPath(tree)), `${JSON.stringify(receipt, null, 2)}\n`);
  dropOldest(folder);
  return true;
}

function dropOldest(folder: string): void {
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  if (names.length <= KEPT) return;
  const aged = names.map((name) => ({ path: join(folder, name), at: lookAt(join(folder, name))?.mtimeMs ?? 0 }));
  for (const { path } of aged.toSorted((a, b) => b.at - a.at).slice(KEPT)) removeQuietly(path);
}
