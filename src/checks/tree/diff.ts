/** What differs between two trees, with the texts that the caller wants. */
import { attempt } from "../../kernel/attempt.ts";
import { askGit, askGitForBytes, emptyTree, type Repo, readable, resolveName } from "./git.ts";

/** `before` and `after`: null where it is not there, no text, too large, or not wanted. */
export interface TreeChange {
  path: string;
  status: "added" | "removed" | "changed" | "renamed";
  from?: string;
  before: string | null;
  after: string | null;
}

export interface Diff {
  repo: Repo;
  base: string;
  now: string;
  objects: string | null;
  until: number;
  wanted(path: string): boolean;
  isOwn(path: string): boolean;
}

/** One line of `git diff-tree --raw`: `before` and `after` are the names of objects. */
type Raw = TreeChange;

const LONGEST_TEXT = 1 << 20;
const MOST_TEXT = 64 << 20;
const STATUS: Record<string, TreeChange["status"]> = { A: "added", D: "removed", R: "renamed" };
const REGULAR = /^100/;

export function diffTrees(diff: Diff): TreeChange[] {
  const trees = [readTree(diff, diff.base), readTree(diff, diff.now)];
  const command = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "-M", "--no-ext-diff", "--no-textconv"];
  const changes = parseRaw(askGit(diff.repo, [...command, ...trees], call(diff))).flatMap((raw) =>
    withoutOurs(raw, diff),
  );
  const texts = readTexts(
    diff,
    changes.filter(({ path, from }) => diff.wanted(path) || (from !== undefined && diff.wanted(from))),
  );
  const text = (oid: string | null) => (oid === null ? null : (texts.get(oid) ?? null));
  return changes.map((change) => ({ ...change, before: text(change.before), after: text(change.after) }));
}

const call = ({ until, objects }: Diff) => ({ until, objects });

/** A commit holds the whole repository, a tree of ours the project only. */
function readTree(diff: Diff, name: string): string {
  if (name === "" || name.startsWith("-") || /[\0\n]/.test(name))
    throw new Error(`no tree is named ${JSON.stringify(name)}`);
  const folder = readable(diff.repo.prefix.slice(0, -1));
  const names = [`${name}^{commit}`, `${name}^{commit}:${folder}`, `${name}^{tree}`];
  const found = names.map((one) => resolveName(diff.repo, one, call(diff)));
  const tree = found[0] === null ? found[2] : (found[1] ?? emptyTree(diff.repo, call(diff)));
  if (!tree) throw new Error(`the tree ${name.slice(0, 100)} is not known here`);
  return tree;
}

function parseRaw(out: string): Raw[] {
  const fields = out.split("\0");
  const changes: Raw[] = [];
  for (let i = 0; i + 1 < fields.length; i++) {
    const [modeBefore, modeAfter, before, after, letter] = fields[i]!.slice(1).split(" ");
    const renamed = letter!.startsWith("R");
    const from = renamed ? { from: readable(fields[++i]!) } : {};
    changes.push({
      path: readable(fields[++i]!),
      ...from,
      status: STATUS[letter![0]!] ?? "changed",
      before: REGULAR.test(modeBefore!) ? before! : null,
      after: REGULAR.test(modeAfter!) ? after! : null,
    });
  }
  return changes;
}

/** A rename from or to a path of ours is half a change for everyone else. */
function withoutOurs(raw: Raw, { isOwn }: Diff): Raw[] {
  const { from, ...rest } = raw;
  if (from === undefined || !isOwn(from)) {
    if (!isOwn(raw.path)) return [raw];
    return from === undefined ? [] : [{ ...rest, path: from, status: "removed", after: null }];
  }
  return isOwn(raw.path) ? [] : [{ ...rest, status: "added", before: null }];
}

// ── Texts ───────────────────────────────────────────────────────────────────

function readTexts(diff: Diff, changes: Raw[]): Map<string, string> {
  const oids = [...new Set(changes.flatMap(({ before, after }) => [before, after]))].filter((oid) => oid !== null);
  const small = smallOnes(diff, oids);
  const texts = new Map<string, string>();
  if (small.length === 0) return texts;
  const out = askGitForBytes(diff.repo, ["cat-file", "--batch"], { ...call(diff), input: small.join("\n") });
  for (let at = 0; at < out.length; ) {
    const lineEnd = out.indexOf(10, at);
    const [oid, , size] = out.toString("latin1", at, lineEnd).split(" ");
    const text = asText(out.subarray(lineEnd + 1, lineEnd + 1 + Number(size)));
    if (text !== null) texts.set(oid!, text);
    at = lineEnd + 2 + Number(size);
  }
  return texts;
}

/** "oid blob size", or "oid missing": that one was not kept. */
function smallOnes(diff: Diff, oids: string[]): string[] {
  if (oids.length === 0) return [];
  const lines = askGit(diff.repo, ["cat-file", "--batch-check"], { ...call(diff), input: oids.join("\n") }).split("\n");
  let total = 0;
  return lines.flatMap((line) => {
    const [oid, type, size] = line.split(" ");
    if (type !== "blob" || Number(size) > LONGEST_TEXT) return [];
    total += Number(size);
    if (total > MOST_TEXT) throw new Error(`more than ${MOST_TEXT >> 20} MB of texts have changed`);
    return [oid!];
  });
}

const asText = (bytes: Uint8Array) =>
  bytes.includes(0) ? null : attempt(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes), null);
