/** Which files a tool call plainly changes. What may change files unseen (scripts, formatters, builds) is left out. */

import type { Json } from "../../kernel/types/json.ts";
import type { ToolCall } from "../../kernel/types/run.ts";
import { readCommandLine, textAt } from "./evidence.ts";
import { isShell, parseShell, programName } from "./shell.ts";
import { testCommand } from "./test-commands.ts";

/** One command of a line, in the order of the line. */
export interface Change {
  edited: string[];
  tests: boolean;
}

const EDITORS = /^(?:Edit|Write|MultiEdit|NotebookEdit|Update|edit_file|write_file|replace|apply_patch)$/;
const MCP_EDITORS = /^mcp__.+__(?:write|edit|create|replace|insert|delete|move|apply)_?(?:text_)?(?:file|patch)/;
const PATHS = ["file_path", "notebook_path", "path", "filename"];

/** What each call changed; a call that failed as a whole changed nothing, a shell line may have. */
export function listChanges(call: ToolCall): Change[] {
  if (isShell(call.name)) return shellChanges(readCommandLine(call.input));
  if (!isEditor(call.name) || call.result?.error === true) return [];
  return [{ edited: [readPath(call.input)], tests: false }];
}

export const isEditor = (name: string) => EDITORS.test(name) || MCP_EDITORS.test(name);

function readPath(input: Json): string {
  return PATHS.map((key) => textAt(input, key)).find((value) => value !== "") ?? "a file";
}

// ── Shell ───────────────────────────────────────────────────────────────────

function shellChanges(line: string): Change[] {
  return parseShell(line).commands.flatMap(({ words, targets }) => {
    const edited = [...editedBy(words), ...targets].filter(isOfTheProject);
    const tests = testCommand(words) !== null;
    return edited.length > 0 || tests ? [{ edited, tests }] : [];
  });
}

/** Scratch, logs and what builds produce are not the work. */
const ELSEWHERE =
  /^(?:\/dev\/|\/tmp\/|\/var\/tmp\/|\/proc\/|\$|&|-$|$)|(?:^|\/)(?:node_modules|dist|build|coverage|target|__pycache__|\.cache|\.pytest_cache|\.next|\.git)(?:\/|$)|\.(?:log|tmp|pid|out)$/;
const isOfTheProject = (path: string) => !ELSEWHERE.test(path);

function editedBy(words: string[]): string[] {
  const name = programName(words[0]);
  const args = words.slice(1);
  const operands = args.filter((word) => !word.startsWith("-"));
  switch (name) {
    case "sed":
    case "gsed":
      return args.some((word) => /^(?:-[a-zA-Z]*i|--in-place)/.test(word))
        ? operands.slice(hasScript(args) ? 0 : 1)
        : [];
    case "perl":
      return args.some((word) => /^-[a-z0]*i/.test(word)) ? operands.slice(-1) : [];
    case "mv":
    case "rm":
    case "tee":
    case "truncate":
      return operands;
    case "cp":
    case "install":
      return operands.slice(-1);
    case "patch":
      return args.includes("--dry-run") ? [] : [operands[0] ?? "patch"];
    case "git":
      return gitEdits(args);
    default:
      return [];
  }
}

const hasScript = (args: string[]) => args.some((word) => /^(?:-e|-f|--expression|--file)/.test(word));

const GIT = /^(?:apply|checkout|restore|switch|reset|merge|pull|rebase|cherry-pick|revert|am|rm|mv|clean|stash)$/;

/** Named by the command: which files it changes is not in the line. */
function gitEdits(args: string[]): string[] {
  let at = 0;
  while (args[at]?.startsWith("-")) at += /^-[Cc]$/.test(args[at]!) ? 2 : 1;
  const verb = args[at] ?? "";
  const rest = args.slice(at + 1);
  if (
    !GIT.test(verb) ||
    rest.some((word) => /^(?:--check|--stat|--dry-run|-n|--abort|--cached|--soft|--staged)$/.test(word))
  )
    return [];
  if ((verb === "checkout" || verb === "switch") && rest.some((word) => /^-[bBcC]$/.test(word))) return [];
  if (verb === "stash" && /^(?:list|show|drop|clear|create)$/.test(rest[0] ?? "")) return [];
  if (verb === "reset" && !rest.some((word) => /^--(?:hard|merge|keep)$/.test(word))) return [];
  return [`git ${[verb, ...rest].join(" ")}`.slice(0, 80)];
}

/** Prose proves itself: no test run could. */
export const needsTests = (path: string) =>
  !/\.(?:md|mdx|markdown|txt|rst|adoc|org|csv|svg|png|jpe?g|gif|pdf)$|(?:^|\/)(?:LICENSE|CHANGELOG|AUTHORS|NOTICE|README|\.gitignore)$/i.test(
    path,
  );
