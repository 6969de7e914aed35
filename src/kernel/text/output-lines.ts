/** Output of clients, one JSON object per line. Others wrote it, so nothing about it is certain. */

import { attempt } from "../attempt.ts";

export type Line = Record<string, unknown>;

/** Its beginning may be cut off, and it may contain other lines. `skip`: beginnings of lines that are not needed. */
export function parseLines(tail: string, skip: string[] = []): Line[] {
  const lines = tail.split("\n").filter((line) => line.startsWith("{") && !skip.some((one) => line.startsWith(one)));
  return lines.map(parseLine).filter((line) => typeof line?.type === "string") as Line[];
}

export const parseLine = (text: string): Line | null => attempt(() => asLine(JSON.parse(text)), null);

export const asLine = (value: unknown): Line | null =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Line) : null;
export const within = (line: Line | null, key: string): Line => asLine(line?.[key]) ?? {};
export const objectsIn = (values: unknown[]): Line[] => values.map(asLine).filter((one) => one !== null);
export const listIn = (line: Line, key: string): Line[] => (Array.isArray(line[key]) ? objectsIn(line[key]) : []);
export const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);
export const readCount = (value: unknown): number => (typeof value === "number" && value > 0 ? value : 0);
export const readMoney = (value: unknown): number | null =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
