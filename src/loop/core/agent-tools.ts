/** An agent's tool calls as its client reports them; the agent's own words do not count. */

import { type Line, linesOf, listIn, textOf, within } from "../../kernel/text/output-lines.ts";
import type { OutputFormat } from "./agent-output.ts";

export interface ToolUse {
  name: string;
  /** of a shell, else "" */
  command: string;
  /** null: no result */
  failed: boolean | null;
  /** refused: no permission */
  denied: boolean;
  result: string;
}

/** null: this client does not report them. */
export function toolsIn(format: OutputFormat, tail: string): ToolUse[] | null {
  if (format === "claude") return claudeTools(linesOf(tail));
  if (format === "codex") return codexTools(linesOf(tail));
  return format === "opencode" ? opencodeTools(linesOf(tail)) : null;
}

function claudeTools(lines: Line[]): ToolUse[] {
  const blocks = lines.flatMap((line) => listIn(within(line, "message"), "content"));
  const results = new Map(blocks.flatMap((one) => (one.type === "tool_result" ? [[one.tool_use_id, one]] : [])));
  const end = lines.findLast(({ type }) => type === "result") ?? {};
  const denied = new Set(listIn(end, "permission_denials").map(({ tool_use_id }) => tool_use_id));
  return blocks
    .filter(({ type }) => type === "tool_use")
    .map((use) => {
      const result = results.get(use.id);
      return {
        name: textOf(use.name) ?? "",
        command: textOf(within(use, "input").command) ?? "",
        failed: result ? result.is_error === true : null,
        denied: denied.has(use.id),
        result: flatten(result?.content),
      };
    });
}

function flatten(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((one) => textOf((one as Line | null)?.text) ?? "").join("\n") : "";
}

function codexTools(lines: Line[]): ToolUse[] {
  const items = lines.filter(({ type }) => type === "item.completed").map((line) => within(line, "item"));
  return items
    .filter(({ type }) => type === "command_execution" || type === "file_change")
    .map((item) => ({
      name: String(item.type),
      command: textOf(item.command) ?? "",
      failed: item.status !== "completed",
      denied: item.status === "declined",
      result: textOf(item.aggregated_output) ?? "",
    }));
}

function opencodeTools(lines: Line[]): ToolUse[] {
  const parts = lines.filter(({ type }) => type === "tool_use").map((line) => within(line, "part"));
  return parts.map((part) => {
    const state = within(part, "state");
    const result = textOf(state.error) ?? textOf(state.output) ?? "";
    return {
      name: textOf(part.tool) ?? "",
      command: textOf(within(state, "input").command) ?? "",
      failed: state.status === "completed" ? false : state.status === "error" ? true : null,
      denied: state.status === "error" && /permission|rejected/i.test(result),
      result,
    };
  });
}
