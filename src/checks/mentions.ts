/** Product files that mention the test runner or an exit since the run began: told to the person, no verdict. */

import { attempt } from "../kernel/attempt.ts";
import { safeText } from "../kernel/text/safe-text.ts";
import { objectsFolder } from "../store/bases.ts";
import { ANY_WORD, findWords, isProductCode, renderMention } from "./core/mentions.ts";
import { isTestClass } from "./core/test-class.ts";
import type { Measuring } from "./measuring.ts";
import { askGit, deadline, findRepo, toBytes } from "./tree/git.ts";

const MOST_FILES = 500;
const MOST_TOLD = 3;

/** `named`: files that runners named as tests. */
export function newMentions(measuring: Measuring, tree: string, named: ReadonlySet<string>): string[] {
  const changes = measuring.changes(tree);
  if (!changes.ok) return [];
  const product = changes.value
    .filter(({ path, status }) => status !== "removed" && isProductCode(path) && !isTestClass(path, named))
    .slice(0, MOST_FILES);
  if (product.length === 0) return [];
  const { need } = measuring;
  // It only tells the person something: a failure must not keep a pass back.
  return attempt(() => {
    const now = linesWith(
      measuring,
      tree,
      product.map(({ path }) => path),
    );
    const old = linesWith(
      measuring,
      need.base_tree,
      product.map(({ path, from }) => from ?? path),
    );
    const told = product.flatMap(({ path, from = path }) => {
      const before = new Set(findWords(from, old.get(from) ?? ""));
      const words = findWords(path, now.get(path) ?? "").filter((word) => !before.has(word));
      return words.length === 0 ? [] : [renderMention(safeText(path), words)];
    });
    const more = told.length > MOST_TOLD ? [`${told.length - MOST_TOLD} more files do`] : [];
    return [...told.slice(0, MOST_TOLD), ...more];
  }, []);
}

/** By path: all lines of it that may hold one of the words. */
function linesWith({ sources }: Measuring, tree: string, paths: string[]): Map<string, string> {
  const repo = findRepo(sources.root);
  if (repo === null) return new Map();
  const how = ["-I", "-z", "-E", "--no-color", "--no-recurse-submodules", "-e", ANY_WORD];
  const args = ["--literal-pathspecs", "grep", ...how, tree, "--", ...paths];
  const call = { until: deadline(), objects: objectsFolder(sources.root, sources.run), also: [1] };
  const found = new Map<string, string>();
  for (const line of askGit(repo, args, call).split("\n")) {
    const end = line.indexOf("\0");
    if (!line.startsWith(`${tree}:`) || end < 0) continue;
    const path = toBytes(line.slice(tree.length + 1, end)).toString();
    found.set(path, `${found.get(path) ?? ""}${line.slice(end + 1)}\n`);
  }
  return found;
}
