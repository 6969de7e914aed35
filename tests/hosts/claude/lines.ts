/** Transcript lines in the client's shape, for the tests. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

type Extra = Record<string, unknown>;
type Block = Record<string, unknown>;

export const AT = "2026-03-01T10:00:00.000Z";
const line = (fields: Extra) => JSON.stringify({ isSidechain: false, timestamp: AT, sessionId: "s1", ...fields });

export function assistant(id: string, content: Block | Block[] | string, extra: Extra = {}): string {
  const blocks = Array.isArray(content) || typeof content === "string" ? content : [content];
  const { model = "some-model", ...rest } = extra;
  return line({ type: "assistant", message: { id, role: "assistant", model, content: blocks }, ...rest });
}

export const say = (id: string, text: string, extra: Extra = {}) => assistant(id, { type: "text", text }, extra);

export const call = (id: string, tool: string, at = AT, extra: Extra = {}) =>
  assistant(id, { type: "tool_use", id: tool, name: "Bash", input: { command: tool } }, { timestamp: at, ...extra });

export function result(tool: string, content: unknown, at = AT, extra: Extra = {}): string {
  const { is_error, ...rest } = extra;
  const block = { tool_use_id: tool, type: "tool_result", content, ...(is_error === undefined ? {} : { is_error }) };
  return line({ type: "user", message: { role: "user", content: [block] }, timestamp: at, ...rest });
}

export const prompt = (text: string, extra: Extra = {}) =>
  line({ type: "user", message: { role: "user", content: text }, ...extra });

export const other = (fields: Extra) => line(fields);

/** A folder for one test file; call the second to take it away. */
export function temporary(): [string, () => void] {
  const folder = mkdtempSync(join(tmpdir(), "pawl-hosts-"));
  return [folder, () => rmSync(folder, { recursive: true, force: true })];
}

let count = 0;
export function write(folder: string, content: (string | Buffer)[] | string | Buffer): string {
  const path = join(folder, `t${count++}.jsonl`);
  writeFileSync(
    path,
    Array.isArray(content) ? Buffer.concat(content.map((part) => Buffer.from(`${part}\n`))) : content,
  );
  return path;
}
