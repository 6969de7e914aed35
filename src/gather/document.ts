import { parseFrontMatter } from "../core/document.ts";
import type { DocumentFact, Fact } from "../core/types.ts";
import { insideRoot, readText } from "../store/files.ts";

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
    const state = parseFrontMatter(read.text) ? "present" : "broken";
    return { ok: true, value: { state, text: read.text, hash: read.hash } };
  }
  if (read.why === "missing") return { ok: true, value: { state: "missing", text: "", hash: "" } };
  return { ok: false, why: read.why };
}
