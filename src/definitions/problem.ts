/** What is wrong in a file, and where: for people, editors and scripts alike. */
import { nearest } from "../kernel/text/nearest.ts";

export interface Problem {
  file: string;
  line: number;
  column: number;
  message: string;
  hint: string;
  /** the line itself, for the code frame */
  excerpt: string;
}

const FRAME_WIDTH = 110;
const UNPRINTABLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** A file may hold anything; a terminal must not be steered by it. */
const printable = (text: string): string => text.replace(UNPRINTABLE, "\ufffd");

export function quote(text: string): string {
  const short = text.length > 60 ? `${text.slice(0, 59)}…` : text;
  return `"${printable(short).replaceAll("\n", "\\n")}"`;
}

const lineAt = (text: string, line: number): string => (text.split("\n", line)[line - 1] ?? "").replace(/\r$/, "");

/** Offset in a text → line and column, both from 1. */
function findPosition(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const start = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: offset - start + 1 };
}

export function problemAt(file: string, text: string, offset: number, message: string, hint: string): Problem {
  const position = findPosition(text, Math.max(0, Math.min(offset, text.length)));
  return { file, ...position, message, hint, excerpt: lineAt(text, position.line) };
}

/** As a compiler would print it: place and message, the line with a caret, what to do. */
export function renderProblem(problem: Problem): string {
  const number = String(problem.line);
  const { shown, caret } = frame(problem.excerpt, problem.column);
  return [
    `${problem.file}:${problem.line}:${problem.column}: ${problem.message}`,
    `  ${number} | ${shown}`,
    `  ${" ".repeat(number.length)} | ${caret}^`,
    ...(problem.hint ? [`  hint: ${problem.hint}`] : []),
  ].join("\n");
}

function frame(excerpt: string, column: number): { shown: string; caret: string } {
  const from = column > FRAME_WIDTH ? column - FRAME_WIDTH / 2 : 0;
  const shown = printable(excerpt.slice(from, from + FRAME_WIDTH));
  const caret = shown.slice(0, Math.max(0, column - 1 - from)).replace(/[^\t]/g, " ");
  return { shown, caret };
}

/** "did you mean …?" if a known word is near enough, else the list of known words. */
export function suggest(word: string, known: readonly string[], what: string): string {
  return didYouMean(word, known, known.length > 0 ? `${what}: ${known.join(", ")}` : `there are no ${what} yet`);
}

export function didYouMean(word: string, known: readonly string[], otherwise: string): string {
  const near = nearest(word, known);
  return near === null ? otherwise : `did you mean "${near}"?`;
}

/** The name people see where none is given. */
export const toTitle = (name: string): string => name.slice(0, 1).toUpperCase() + name.slice(1).replaceAll("-", " ");
