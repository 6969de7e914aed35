/** What a person sees of the demo: who speaks, in which color, how wide and how fast. */

export interface Look {
  write(text: string): void;
  color: boolean;
  /** on the person's terminal: pauses, so that one can read along */
  paced: boolean;
  columns: number;
}

export type Screen = ReturnType<typeof openScreen>;

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
type Speaker = keyof typeof SPEAKERS;

const LABEL = Math.max(...Object.keys(SPEAKERS).map((name) => name.length));
const INDENT = " ".repeat(LABEL + 3);

export function openScreen(look: Look) {
  const width = Math.max(50, Math.min(100, look.columns));
  const paint = (code: string, text: string) => (look.color ? `\x1b[${code}m${text}\x1b[0m` : text);
  const pause = (ms: number) => (look.paced ? Bun.sleep(ms) : Promise.resolve());
  const readingTime = (text: string) => Math.min(1_400, 400 + text.length * 7);
  return {
    async plain(text: string) {
      look.write(`${wrap(text, width).join("\n")}\n`);
      await pause(readingTime(text));
    },
    async title(text: string) {
      await pause(700);
      const lines = wrap(`── ${text}`, width - 1);
      const rest = width - 1 - Bun.stringWidth(lines.at(-1)!);
      look.write(`\n${paint("1", `${lines.join("\n")} ${"─".repeat(rest)}`)}\n`);
      await pause(500);
    },
    /** The label carries the color; only what is on disk is dim as a whole. */
    async say(who: Speaker, text: string) {
      const [first = "", ...rest] = wrap(text, width - INDENT.length).map((line) =>
        who === "disk" ? paint(SPEAKERS.disk, line) : line,
      );
      look.write(`${paint(SPEAKERS[who], `${who.padStart(LABEL)} ▸`)} ${first}\n`);
      for (const line of rest) look.write(`${INDENT}${line}\n`);
      await pause(readingTime(text));
    },
  };
}

const wrap = (text: string, width: number) =>
  Bun.wrapAnsi(text, width, { hard: true, trim: false })
    .split("\n")
    .map((line) => line.trimEnd());
