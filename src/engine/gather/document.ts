import { parseFormal } from "../../formal/core/state.ts";
import type { DocumentFact, Fact } from "../../kernel/types/run.ts";
import { insideRoot, readText } from "../../store/files.ts";
import { parseFrontMatter } from "../core/document.ts";

/** The document as it is on disk now. */
export function gatherDocument(root: string, path: string): Fact<DocumentFact> {
  let absolute: string;
  try {
    absolute = insideRoot(root, path);
  } catch (error) {
    return { ok: false, why: error instanceof Error ? error.message : String(error) };
  }
  const read = readText(absolute, 1 << 20);
  if (read.ok) {
    const state = isReadable(path, read.text) ? "present" : "broken";
    return { ok: true, value: { state, text: read.text, hash: read.hash } };
  }
  if (read.why === "missing") return { ok: true, value: { state: "missing", text: "", hash: "" } };
  if (isBroken(read)) return { ok: true, value: { state: "broken", text: "", hash: "" } };
  return { ok: false, why: read.detail ?? read.why };
}

const isReadable = (path: string, text: string) =>
  path.endsWith(".json") ? typeof parseFormal(text) !== "string" : parseFrontMatter(text) !== null;

/** What is there cannot be a document, as opposed to one that cannot be read now. */
const isBroken = ({ why, detail }: { why: string; detail?: string }) => why !== "unreadable" || detail === "not UTF-8";
