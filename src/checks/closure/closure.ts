/**
 * Everything that would run for some gates: the commands, and what they name inside the project. What a named program
 * reads beyond that (the tests themselves, its configuration, packages) is not in it: that is the work being checked.
 */

import { commandsIn } from "../../kernel/text/command-line.ts";
import type { Gate } from "../../kernel/types/workflow.ts";
import { leavesOf } from "../../kernel/types/workflow.ts";
import { type Closure, type ClosureItem, type ClosureScript, closureHash, itemHash } from "../../store/closure.ts";
import { hashOf, isObject, parseJson } from "../../store/files.ts";
import { basename, dirname, join } from "../../store/names.ts";
import { commandOf } from "../core/kinds/index.ts";
import { type ClosureFiles, folderAt, openFiles, scriptAt, textAt, upwards } from "./files.ts";
import {
  CONFIG_TOOLS,
  ENDINGS,
  FILE_TOOLS,
  FOLDER_OPTIONS,
  IN_FOLDER,
  INTERPRETER,
  LOADS,
  NO_FILE,
  SCRIPT_TOOLS,
  type ScriptTool,
  STARTER,
} from "./tools.ts";

export type { Closure } from "../../store/closure.ts";

/** No one writes more by hand, and a repository that has more must not keep a hook busy. What is left out is listed. */
const DEEPEST = 50;
const MOST_FOLDERS = 20;
const MOST_WORDS = 1000;
const MOST_PIECES = 100;
/** after the program that runs them */
const MOST_SCRIPTS = 50;
const LONGEST_WORD = 1024;

export function computeClosure(root: string, gates: Gate[]): Closure {
  const files = openFiles(root);
  // The definition of done is part of many gates.
  const all = leavesOf(gates).flatMap((gate) => listItems(files, gate));
  const items = [...new Map(all.map((item) => [itemHash(item), item])).values()];
  return { hash: closureHash(items), items };
}

function listItems(files: ClosureFiles, gate: Gate): ClosureItem[] {
  const command = commandOf(gate);
  // What the person typed is named by no file of the repository.
  if (!command || gate.typed) return [];
  const cwd = gate.cwd?.replace(/\/+$/, "") || ".";
  const search: Search = {
    files,
    folders: [cwd],
    found: new Map(),
    started: new Set(),
    depth: 0,
    words: { left: MOST_WORDS },
    books: new Map(),
  };
  for (const words of "argv" in command ? [command.argv] : commandsIn(command.shell)) look(search, words);
  return [
    {
      gate: gate.name,
      ...("argv" in command
        ? { kind: "command", text: JSON.stringify(command.argv) }
        : { kind: "shell", text: command.shell }),
      cwd,
      env: gate.env ?? {},
      scripts: [...search.found.values()].filter(
        (script) => search.started.has(script.path) || !isTheWork(gate, script),
      ),
    },
  ];
}

/**
 * Tests that a tests gate names are what is worked on; that they get no weaker is checked against the beginning. A file
 * that the command itself starts is never the work, whatever its name: it decides what is checked.
 */
const isTheWork = (gate: Gate, { what, path }: ClosureScript) =>
  gate.tests !== undefined && gate.weakened !== "allow" && what === "file" && TEST_NAME.test(path);
/** By the name of the file alone: what is merely in a folder of tests may be the program that runs them. */
const TEST_NAME = /(?:^|\/)(?:test_[^/]*|[^/]+[._-](?:test|spec)|[^/]+(?:Test|Tests|Spec))\.\w+$/;

interface Search {
  files: ClosureFiles;
  /** where a word may be seen from: the command's folder, and every one it changes to */
  folders: string[];
  found: Map<string, ClosureScript>;
  /** paths of files that the command starts, or has loaded before anything else */
  started: Set<string>;
  depth: number;
  words: { left: number };
  /** the scripts of a package.json, by its path */
  books: Map<string, Map<string, string> | null>;
}

/**
 * A program may come after others (env, timeout, npx, poetry run …), so each word is tried.
 * Looking at too much costs an approval more; looking at too little lets a change through.
 */
function look(search: Search, words: string[]): void {
  for (const [at, word] of words.entries()) {
    if (search.words.left-- <= 0) {
      leaveOut(search, `more than ${MOST_WORDS} words`);
      return;
    }
    enter(search, words, at);
    lookAtWord(search, words, at);
    const rest = words.slice(at + 1);
    const program = basename(word);
    if (Object.hasOwn(CONFIG_TOOLS, program)) lookForConfig(search, CONFIG_TOOLS[program]!);
    if (Object.hasOwn(FILE_TOOLS, program)) lookForFile(search, FILE_TOOLS[program]!);
    if (Object.hasOwn(SCRIPT_TOOLS, program)) lookForScripts(search, SCRIPT_TOOLS[program]!, rest);
    if (INTERPRETER.test(program)) lookForModule(search, rest);
  }
}

function note(search: Search, script: ClosureScript | null): boolean {
  if (script) search.found.set(itemKey(script.path, script.what), script);
  return script !== null;
}

const itemKey = (path: string, what: string) => `${path}\0${what}`;

/** `cd x`, `make -C x`, `npm --prefix=x`: from here on both folders count. */
function enter(search: Search, words: string[], at: number): void {
  const [option = "", value] = words[at]!.split(/=(.*)/s);
  if (option !== "cd" && !FOLDER_OPTIONS.has(option)) return;
  const folder = value ?? words[at + 1] ?? "";
  for (const from of [...search.folders]) {
    const into = folderAt(search.files, from, folder);
    if (into === null || search.folders.includes(into)) continue;
    if (search.folders.length < MOST_FOLDERS) search.folders.push(into);
    else leaveOut(search, `more than ${MOST_FOLDERS} folders`);
  }
}

function leaveOut(search: Search, why: string): void {
  note(search, { path: ".", what: `not covered: ${why}`, sha256: "" });
}

/**
 * The first word is looked up in PATH unless it has a slash. `-fx.mk`, `--file=x.mk` and `x.py::test` name files, too,
 * and a word with blanks is often a line for another program: `sh -c`, `concurrently`, `NODE_OPTIONS=…`.
 */
function lookAtWord(search: Search, words: string[], at: number): void {
  const word = words[at]!;
  if (at === 0 && !word.includes("/") && !word.includes("=")) return;
  const name = word.replace(/^-[^-]/, "");
  const starts = isStarted(words, at);
  if (isName(name) && !name.startsWith("-")) lookAtName(search, name, starts);
  if (/\s/.test(word)) deeper(search, search.folders, word);
  else lookAtPieces(search, word.split(/[=,:;]+/), LOADS.test(word));
}

/** `./x`, `sh x`, `env A=1 timeout 5 node x`, `node --require x`: with nothing before it but what starts it. */
function isStarted(words: string[], at: number): boolean {
  if (LOADS.test(words[at - 1] ?? "")) return true;
  const before = words.slice(0, at);
  if (before.some((word) => NO_FILE.test(word))) return false;
  return before.every((word) => STARTER.test(basename(word)) || /^-|^[A-Za-z_]\w*=|^[\d.]+[smhd]?$/.test(word));
}

function lookAtPieces(search: Search, pieces: string[], starts: boolean): void {
  if (pieces.length === 1) return;
  if (pieces.splice(MOST_PIECES).length > 0) leaveOut(search, `more than ${MOST_PIECES} names in one word`);
  for (const piece of pieces) if (isName(piece)) lookAtName(search, piece, starts);
}

const isName = (word: string) => word !== "" && word.length <= LONGEST_WORD && !word.includes("\0");

function lookAtName(search: Search, name: string, starts = false): void {
  const seen = search.folders.map((folder) => scriptAt(search.files, folder, name)).filter((one) => one !== null);
  const there = seen.filter(({ what }) => what !== "missing");
  for (const script of there.length > 0 ? there : seen.slice(0, 1)) {
    note(search, script);
    if (starts) search.started.add(script.path);
  }
}

function deeper(search: Search, folders: string[], line: string): void {
  if (search.depth >= DEEPEST) {
    leaveOut(search, `scripts that call scripts, ${DEEPEST} deep`);
    return;
  }
  const below: Search = { ...search, folders: [...folders], depth: search.depth + 1 };
  for (const words of commandsIn(line)) look(below, words);
}

function lookForFile(search: Search, names: string[]): void {
  for (const folder of search.folders) {
    const ups = upwards(search.files, folder);
    const file = firstExisting(search, ups, names);
    if (!note(search, file)) continue;
    const included = (file?.text ?? "").matchAll(/^\s*[-s]?(?:include|import)\s+(.+)$/gm);
    for (const [, list] of included) for (const name of list!.split(/[\s'"]+/).filter(isName)) lookAtName(search, name);
  }
}

function lookForConfig(search: Search, names: string[]): void {
  for (const folder of search.folders)
    for (const up of upwards(search.files, folder)) for (const name of names) note(search, existing(search, up, name));
}

function existing({ files }: Search, folder: string, name: string): ClosureScript | null {
  const script = scriptAt(files, folder, name);
  return script?.what === "missing" ? null : script;
}

function firstExisting(search: Search, folders: string[], names: string[]): ClosureScript | null {
  const places = folders.values().flatMap((folder) => names.values().map((name) => existing(search, folder, name)));
  return places.find((script) => script !== null) ?? null;
}

/** `node x` is x.js, or x/index.js; `python -m a.b` is a/b.py, or a/b/__main__.py. */
function lookForModule(search: Search, rest: string[]): void {
  const at = rest.findIndex((word) => !word.startsWith("-"));
  const isModule = rest[at - 1] === "-m";
  const name = isModule ? rest[at]!.replaceAll(".", "/") : (rest[at] ?? "");
  if (!isName(name)) return;
  const ways = isModule
    ? [`${name}.py`, `${name}/__main__.py`]
    : [...ENDINGS.map((ending) => name + ending), ...IN_FOLDER.map((file) => join(name, file))];
  for (const folder of search.folders) {
    for (const script of ways.map((way) => existing(search, folder, way)))
      if (script && note(search, script)) search.started.add(script.path);
  }
}

// ── package.json and its like ───────────────────────────────────────────────

/** Which of the words is the script's name depends on options: each that names one counts. */
function lookForScripts(search: Search, tool: ScriptTool, rest: string[]): void {
  const words = rest.filter((word) => !word.startsWith("-"));
  if (words.splice(MOST_SCRIPTS).length > 0) leaveOut(search, `more than ${MOST_SCRIPTS} words behind one program`);
  const asked = tool.run.includes(words[0] ?? "") ? words[1] : undefined;
  for (const folder of search.folders) {
    const ups = upwards(search.files, folder);
    for (const up of ups) for (const file of tool.config) note(search, existing(search, up, file));
    const file = firstExisting(search, ups, [tool.file]);
    if (!file) continue;
    const scripts = readScripts(search, file.path, tool.key);
    if (!scripts) note(search, file);
    const book: Book = { search, tool, path: file.path, scripts: scripts ?? new Map() };
    if (asked !== undefined && !book.scripts.has(asked))
      note(search, { path: file.path, what: `${itemTitle(book, asked)}: missing`, sha256: "" });
    for (const word of words) for (const name of tool.alias.get(word) ?? [word]) noteScript(book, name);
  }
}

interface Book {
  search: Search;
  tool: ScriptTool;
  path: string;
  scripts: Map<string, string>;
}

const itemTitle = ({ tool }: Book, name: string) => `${tool.file} ${tool.key}.${name}`;

/** With what runs before and after it, and what its text names. */
function noteScript(book: Book, name: string): void {
  const { search, path, scripts } = book;
  for (const one of scripts.has(name) ? [name, `pre${name}`, `post${name}`] : []) {
    const text = scripts.get(one);
    const what = itemTitle(book, one);
    if (text === undefined || search.found.has(itemKey(path, what))) continue;
    note(search, { path, what, sha256: hashOf(text), text });
    deeper(search, [dirname(path)], text);
    // Composer's way to name another script.
    for (const [, other] of text.matchAll(/^@([\w:.-]+)/gm)) noteScript(book, other!);
  }
}

/** null: it is not the JSON it should be. */
function readScripts({ files, books }: Search, path: string, key: string): Map<string, string> | null {
  const known = books.get(path);
  if (known !== undefined) return known;
  const file = parseJson((textAt(files, path) ?? "").replace(/^\uFEFF/, ""));
  const scripts = isObject(file) && isObject(file[key]) ? file[key] : {};
  const book = isObject(file) ? new Map(Object.entries(scripts).map(([name, value]) => [name, asText(value)])) : null;
  books.set(path, book);
  return book;
}

/** Composer has lists: one command a line. */
function asText(value: unknown): string {
  if (typeof value === "string") return value;
  return Array.isArray(value) ? value.map(asText).join("\n") : JSON.stringify(value);
}
