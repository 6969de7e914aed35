/**
 * Text of a repository on the person's screen. What would not be seen, or would change what is seen (control characters,
 * directions, zero width, unusual blanks), is written out: who approves has to see what is there.
 */
const HIDDEN = /[\p{C}\p{Z}\p{DI}\u2800]/gu;

/** One line, however many the text has. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (sign) => (sign === " " ? sign : `\\u{${sign.codePointAt(0)!.toString(16)}}`));
}

/** Line by line. Tabs stay: they are in every Makefile. */
export function visibleLines(text: string): string[] {
  const lines = text.replace(/\n$/, "").split("\n");
  return lines.map((line) => line.split("\t").map(visible).join("\t"));
}

/** JSON stays JSON, and shows the same to people. */
export function visibleJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(HIDDEN, (sign) =>
    sign === " " || sign === "\n" ? sign : [...Array(sign.length).keys()].map((at) => unit(sign, at)).join(""),
  );
}

const unit = (sign: string, at: number) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, "0")}`;
