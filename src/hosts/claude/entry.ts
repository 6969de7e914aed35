/** One line of the transcript. */

import { asLine, type Line as Entry, parseLine as parseText } from "../../kernel/text/output-lines.ts";

export type { Line as Entry } from "../../kernel/text/output-lines.ts";

/** null for whatever is not one whole JSON object: a line half written, a line half lost. */
export const parseLine = (line: Buffer): Entry | null => parseText(line.toString("utf8"));
export const record = (value: unknown): Entry => asLine(value) ?? {};
export const string = (value: unknown): string => (typeof value === "string" ? value : "");
export const entryMessage = (entry: Entry): Entry => record(entry.message);

export function listBlocks(content: unknown, type: string): Entry[] {
  return Array.isArray(content) ? content.filter((each) => each?.type === type) : [];
}

/** String content, or its text blocks joined. */
export function joinText(content: unknown): string {
  if (typeof content === "string") return content;
  return listBlocks(content, "text")
    .map((block) => string(block.text))
    .join("\n");
}

/** Not a sub-agent's task, nor what the client adds by itself. */
export const isFromPerson = ({ type, isSidechain, isMeta, isCompactSummary }: Entry) =>
  type === "user" && isSidechain !== true && isMeta !== true && isCompactSummary !== true;
