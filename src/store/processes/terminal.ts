/**
 * Who is at the other end of our terminal. Any program can make a terminal (script, expect, tmux, python's pty) and type into
 * it: the one that holds its other end has to be the person's. On Linux; elsewhere nothing is known of it.
 */
import { fstatSync } from "node:fs";
import { attempt } from "../../kernel/attempt.ts";
import { readlink, readNames } from "../../native/disk.ts";
import { readLossy } from "../files.ts";
import { hasProc, proc, procText } from "./owner.ts";

/** A terminal in a terminal in a terminal; more is no one's way to work. */
const DEEPEST = 5;
/** Of /dev/tty, which stands for the terminal that a process belongs to. */
const DEV_TTY = 0x500;

/** Why our terminal is not one that a person can be at; null: nothing speaks against it. */
export function oddTerminal(): string | null {
  if (!hasProc()) return null;
  const own = terminalOf(process.pid);
  const given = attempt(() => fstatSync(0).rdev, 0);
  if (own === 0 || (given !== own && given !== DEV_TTY))
    return "the terminal is not the one that this process belongs to";
  const idle = holdersOf(own).find((pid) => isMultiplexer(pid) && slavesOf(pid).length === 0);
  return idle === undefined ? null : `no one is attached to ${nameOf(idle)} (process ${idle}), which made the terminal`;
}

/** All processes that hold the other end of our terminal, and of the terminals that they are seen through. */
export function terminalHolders(): number[] {
  const found = new Set<number>();
  let devices = hasProc() ? [terminalOf(process.pid)] : [];
  for (let depth = 0; depth < DEEPEST && devices.length > 0; depth++) {
    const holders = devices.filter((device) => device !== 0).flatMap(holdersOf);
    const fresh = holders.filter((pid) => !found.has(pid));
    for (const pid of fresh) found.add(pid);
    devices = fresh.flatMap((pid) => [terminalOf(pid), ...slavesOf(pid)]);
  }
  return [...found];
}

/** The device number of the terminal that a process belongs to; 0: none. */
function terminalOf(pid: number): number {
  const stat = readLossy(`${proc.root}/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[4] ?? 0);
}

const PTS_MAJORS = { first: 136, last: 143 };

/** The number in /dev/pts; null: it is no terminal that a program made. */
function indexOf(device: number): number | null {
  const [major, minor] = [(device >> 8) & 0xfff, (device & 0xff) | ((device >> 12) & 0xfff00)];
  return major >= PTS_MAJORS.first && major <= PTS_MAJORS.last ? (major - PTS_MAJORS.first) * 256 + minor : null;
}

/** Those of other users cannot be looked into: their terminals (sshd, login, a container's) are not of the agent's making. */
function holdersOf(device: number): number[] {
  const index = indexOf(device);
  if (index === null) return [];
  return allPids().filter((pid) => descriptors(pid).some(({ fd, to }) => isMaster(to) && isIndex(pid, fd, index)));
}

const allPids = () => readNames(proc.root).flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));

function descriptors(pid: number): { fd: string; to: string }[] {
  const folder = `${proc.root}/${pid}/fd`;
  return attempt(() => readNames(folder), []).map((fd) => ({ fd, to: attempt(() => readlink(`${folder}/${fd}`), "") }));
}

const isMaster = (to: string) => to === "/dev/ptmx" || to === "/dev/pts/ptmx";

const isIndex = (pid: number, fd: string, index: number) =>
  new RegExp(`^tty-index:\\s*${index}$`, "m").test(readLossy(`${proc.root}/${pid}/fdinfo/${fd}`));

/** Terminals that a process has open as anyone has: a multiplexer those of the people attached to it. */
function slavesOf(pid: number): number[] {
  const names = new Set(descriptors(pid).flatMap(({ to }) => /^\/dev\/pts\/(\d+)$/.exec(to)?.[1] ?? []));
  return [...names].map((name) => {
    const minor = Number(name);
    return ((PTS_MAJORS.first + (minor >> 8)) << 8) | (minor & 0xff);
  });
}

const nameOf = (pid: number) => procText(pid, "comm").trim();
const isMultiplexer = (pid: number) => /^(tmux|screen|dtach|abduco|zellij)/i.test(nameOf(pid));
