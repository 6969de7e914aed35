/** One line of the transcript. */

export type Entry = Record<string, unknown>;

/** null for whatever is not one whole JSON object: a line half written, a line half lost. */
export function parseLine(line: Buffer): Entry | null {
  try {
    const value: unknown = JSON.parse(line.toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Entry) : null;
  } catch {
    return null;
  }
}

export function record(value: unknown): Entry {
  return typeof value === "object" && value !== null ? (value as Entry) : {};
}

export function string(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function messageOf(entry: Entry): Entry {
  return record(entry.message);
}

export function messageId(entry: Entry): string {
  return string(messageOf(entry).id) || string(entry.uuid);
}

export function blocksOf(content: unknown, type: string): Entry[] {
  const blocks: Entry[] = [];
  if (Array.isArray(content)) for (const each of content) if (each?.type === type) blocks.push(each);
  return blocks;
}

/** String content, or its text blocks joined. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return blocksOf(content, "text")
    .map((block) => string(block.text))
    .join("\n");
}
