/** What a person sees of the demo: who speaks, in which colour, how wide and how fast. */

export interface Look {
  write(text: string): void;
  color: boolean;
  /** the person's terminal: pauses, so that one can read along */
  paced: boolean;
  columns: number;
}

export interface Screen {
  plain(text: string): Promise<void>;
  title(text: string): Promise<void>;
  say(who: Speaker, text: string): Promise<void>;
}

const SPEAKERS = {
  you: "36;1",
  agent: "33",
  edits: "35",
  client: "34",
  "pawl → agent": "32;1",
  "pawl → you": "32;1",
  pawl: "32;1",
  disk: "2",
  "kill -9": "31;1",
} as const;
export type Speaker = keyof typeof SPEAKERS;

const WIDEST = 100;
const NARROWEST = 50;
const LABEL = Math.max(...Object.keys(SPEAKERS).map((name) => name.length));
const INDENT = " ".repeat(LABEL + 3);

export function openScreen(look: Look): Screen {
  const width = Math.max(NARROWEST, Math.min(WIDEST, look.columns));
  const paint = (code: string, text: string) => (look.color ? `\x1b[${code}m${text}\x1b[0m` : text);
  const pause = (ms: number) => (look.paced ? Bun.sleep(ms) : Promise.resolve());
  return {
    async plain(text) {
      for (const line of wrap(text, width)) look.write(`${line}\n`);
      await pause(readingTime(text));
    },
    async title(text) {
      await pause(700);
      const lines = wrap(`── ${text} `, width);
      const rest = width - Bun.stringWidth(lines.at(-1)!);
      look.write(`\n${paint("1", lines.join("\n") + "─".repeat(rest))}\n`);
      await pause(500);
    },
    async say(who, text) {
      const [first = "", ...rest] = wrap(text, width - INDENT.length);
      const color = SPEAKERS[who];
      look.write(`${paint(color, `${who.padStart(LABEL)} ▸`)} ${body(who, first, paint)}\n`);
      for (const line of rest) look.write(`${INDENT}${body(who, line, paint)}\n`);
      await pause(readingTime(text));
    },
  };
}

/** The label carries the colour; only what is on disk stays in the background as a whole. */
const body = (who: Speaker, line: string, paint: (code: string, text: string) => string) =>
  who === "disk" ? paint("2", line) : line;

const readingTime = (text: string) => Math.min(1_400, 400 + text.length * 7);

/** By words, each line on its own. */
function wrap(text: string, width: number): string[] {
  return text.split("\n").flatMap((line) => wrapLine(line, width));
}

function wrapLine(line: string, width: number): string[] {
  const lines: string[] = [];
  let now = "";
  for (const word of line.split(" ").flatMap((word) => pieces(word, width))) {
    const longer = now === "" ? word : `${now} ${word}`;
    if (now !== "" && Bun.stringWidth(longer) > width) {
      lines.push(now);
      now = word;
    } else now = longer;
  }
  return [...lines, now];
}

/** A word that fits nowhere (a path) is broken. */
function pieces(word: string, width: number): string[] {
  const parts: string[] = [];
  let rest = word;
  while (Bun.stringWidth(rest) > width) {
    parts.push(rest.slice(0, width));
    rest = rest.slice(width);
  }
  return [...parts, rest];
}
