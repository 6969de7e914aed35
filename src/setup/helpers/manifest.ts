/** MANIFEST.md of an archive folder: a table for people, and the same as JSON lines, which is also the journal. */
import { readdirSync } from "node:fs";
import { errorCode, insideRoot, isObject, lookAt, parseJson, readText, writeAtomic } from "../../store/files.ts";
import { ARCHIVE_DIR } from "./plan.ts";
import { inUnits, shown } from "./words.ts";

export interface Moved {
  from: string;
  to: string;
  size: number;
  mtime_ns: string;
  sha256: string;
  why: string;
  pattern: string;
  tracked: boolean;
  state: "planned" | "archived" | "left" | "restored";
  note?: string;
}

export interface Manifest {
  v: 1;
  /** name below .archive */
  folder: string;
  plan: string;
  at: string;
  state: "moving" | "done";
  entries: Moved[];
}

const FENCE = "```json pawl-manifest";
const LARGEST = 512 * 1024 * 1024;
const FOLDER = /^\d{4}-\d\d-\d\d-\d\d-\d\d(-\d+)?$/;

const manifestPath = (folder: string) => `${ARCHIVE_DIR}/${folder}/MANIFEST.md`;
export const isFolderName = (name: string) => FOLDER.test(name);

export function writeManifest(root: string, manifest: Manifest): void {
  writeAtomic(insideRoot(root, manifestPath(manifest.folder)), render(manifest), 0o644);
}

function render({ entries, ...head }: Manifest): string {
  const kept = entries.filter((entry) => entry.state === "archived");
  const bytes = kept.reduce((sum, entry) => sum + entry.size, 0);
  const said =
    head.state === "moving"
      ? `Unfinished: \`pawl helper archive apply ${head.plan}\` completes it.`
      : `${kept.length} files, ${inUnits(bytes)} freed (they lie here until you delete them).`;
  return [
    `# Archive ${head.folder}`,
    `${said} Plan ${head.plan}, ${head.at}.\nBack to where they were: \`pawl helper archive restore ${head.folder}\``,
    ["| what | size | why | from | to | sha256 |", "|---|---|---|---|---|---|", ...entries.map(row)].join("\n"),
    [FENCE, JSON.stringify(head), ...entries.map((entry) => JSON.stringify(entry)), "```", ""].join("\n"),
  ].join("\n\n");
}

function row(entry: Moved): string {
  const what = `${entry.state}${entry.note ? `: ${entry.note}` : ""}${entry.tracked ? " (tracked by git)" : ""}`;
  const cells = [what, inUnits(entry.size), entry.why, shown(entry.from), shown(entry.to), entry.sha256];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** null: no archive of ours, or one that cannot be read. */
export function readManifest(root: string, folder: string): Manifest | null {
  if (!isFolderName(folder)) return null;
  const file = readText(insideRoot(root, manifestPath(folder)), LARGEST);
  const start = file.ok ? file.text.lastIndexOf(`\n${FENCE}\n`) : -1;
  if (!file.ok || start < 0) return null;
  const lines = file.text.slice(start + FENCE.length + 2).split("\n");
  const [head, ...entries] = lines.slice(0, lines.indexOf("```")).map(parseJson);
  if (!isObject(head) || head.folder !== folder || typeof head.plan !== "string") return null;
  if (!entries.every((entry): entry is Moved => isEntry(entry, folder))) return null;
  return { ...(head as unknown as Omit<Manifest, "entries">), entries };
}

/** What a manifest says is followed only where it could have been said by us. */
function isEntry(value: unknown, folder: string): value is Moved {
  if (!isObject(value)) return false;
  const texts = [value.from, value.to, value.mtime_ns, value.sha256, value.why, value.pattern, value.state];
  return texts.every((text) => typeof text === "string") && value.to === `${ARCHIVE_DIR}/${folder}/${value.from}`;
}

/** Oldest first. */
export function manifests(root: string): Manifest[] {
  return folders(root).flatMap((name) => readManifest(root, name) ?? []);
}

export function folders(root: string): string[] {
  const dir = insideRoot(root, ARCHIVE_DIR);
  if (lookAt(dir) === undefined) return [];
  try {
    return readdirSync(dir).filter(isFolderName).sort();
  } catch (error) {
    if (errorCode(error) === "ENOTDIR") return [];
    throw error;
  }
}
