/** Transcripts as the client writes them, in a folder of their own. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { readHistory } from "../../../src/guard/history/count.ts";

export const PASSED = " Test Files  2 passed (2)\n      Tests  12 passed (12)\n";
export const FAILED = " Test Files  1 failed | 1 passed (2)\n      Tests  1 failed | 11 passed (12)\n";

let clock = Date.parse("2026-03-01T10:00:00.000Z");
let count = 0;
const now = () => {
  clock += 1000;
  return new Date(clock).toISOString();
};

type Extra = Record<string, unknown>;

export const line = (fields: Extra) =>
  JSON.stringify({ isSidechain: false, timestamp: now(), sessionId: "s1", cwd: "/code/shop", ...fields });

export const prompt = (text: string, extra: Extra = {}) =>
  line({ type: "user", message: { role: "user", content: text }, ...extra });

export const say = (text: string, extra: Extra = {}) =>
  line({
    type: "assistant",
    message: { id: `m${count++}`, role: "assistant", content: [{ type: "text", text }] },
    ...extra,
  });

export function tool(name: string, input: Extra, text = "ok", error = false, extra: Extra = {}): string[] {
  const id = `toolu_${count++}`;
  const use = { type: "tool_use", id, name, input };
  const result = { tool_use_id: id, type: "tool_result", content: text, ...(error && { is_error: true }) };
  return [
    line({ type: "assistant", message: { id: `m${count++}`, role: "assistant", content: [use] }, ...extra }),
    line({ type: "user", message: { role: "user", content: [result] }, ...extra }),
  ];
}

export const edit = (path: string, extra: Extra = {}) => tool("Edit", { file_path: path }, "ok", false, extra);
export const green = (extra: Extra = {}) => tool("Bash", { command: "npm test" }, PASSED, false, extra);
export const red = () => tool("Bash", { command: "npm test" }, `Exit code 1\n${FAILED}`, true);

export function ground() {
  const folder = mkdtempSync(join(tmpdir(), "pawl-history-"));
  const projects = join(folder, ".claude/projects");
  mkdirSync(projects, { recursive: true });
  return {
    folder,
    projects,
    write(name: string, lines: (string | Buffer)[], end = "\n"): string {
      const path = join(projects, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, Buffer.concat(lines.map((one) => Buffer.concat([Buffer.from(one), Buffer.from(end)]))));
      return path;
    },
    read: (wanted: { since?: number; project?: string } = {}) =>
      readHistory(projects, { since: wanted.since ?? null, project: wanted.project ?? null }, { progress: () => {} }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
