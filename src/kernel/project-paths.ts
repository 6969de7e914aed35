/** Paths of tool calls as the project sees them. Only then can its files be told from scratch, wherever it lies. */

import type { Json, ToolCall } from "./types/run.ts";

const FIELDS = new Set(["file_path", "notebook_path", "path", "filename", "command", "cmd"]);

/** The same call, with absolute paths below the root made relative to it. */
export function inProject(root: string): (call: ToolCall) => ToolCall {
  if (root === "" || root === "/") return (call) => call;
  // A blank may be escaped in a shell's line.
  const escaped = root.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(" ", "\\\\? ");
  const prefix = new RegExp(`(?<![\\w./~-])${escaped}/+(?!\\.\\.|$|[\\s"';&|)])`, "g");
  const relative = (value: Json): Json => {
    if (typeof value === "string") return value.includes("/") ? value.replace(prefix, "") : value;
    return Array.isArray(value) ? value.map(relative) : value;
  };
  return (call) => ({
    id: call.id,
    name: call.name,
    input: mapFields(call.input, relative),
    at: call.at,
    agent: call.agent,
    // It is read from the transcript when it is asked for.
    get result() {
      return call.result;
    },
  });
}

function mapFields(input: Json, change: (value: Json) => Json): Json {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return input;
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => [key, FIELDS.has(key) ? change(value) : value]),
  );
}
