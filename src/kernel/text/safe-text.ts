/** Texts of others (output, titles, files) made safe to show: no colours, no control, no hidden or reordering characters. */

const ESCAPES = /\u001b\[[0-9;?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]{0,2000}(?:\u0007|\u001b\\)|\u001b[@-Z\\-_]/g;
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const HIDDEN = /[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]/g;

export function safeText(text: string): string {
  return text.replace(ESCAPES, "").replace(/\r\n?/g, "\n").replace(CONTROLS, "").replace(HIDDEN, "");
}

/** On one line, cut to a length. */
export const excerpt = (text: string, length = 160) => {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
};

/**
 * Text of a repository that the person is asked to approve. Characters that would not show, or would change what shows
 * (controls, directions, zero width, unusual blanks), are written out: the person has to see what is there.
 */
const UNSEEN = /[\p{C}\p{Z}\p{DI}\u2800]/gu;

/** One line, however many the text has. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (sign) => (sign === " " ? sign : `\\u{${sign.codePointAt(0)!.toString(16)}}`));
}

/** Line by line. Tabs stay: they are in every Makefile. */
export function visibleLines(text: string): string[] {
  const lines = text.replace(/\n$/, "").split("\n");
  return lines.map((line) => line.split("\t").map(visible).join("\t"));
}

/** JSON stays JSON, and shows the same to people. */
export function visibleJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(UNSEEN, (sign) =>
    sign === " " || sign === "\n" ? sign : [...Array(sign.length).keys()].map((at) => unit(sign, at)).join(""),
  );
}

const unit = (sign: string, at: number) => `\\u${sign.charCodeAt(at).toString(16).padStart(4, "0")}`;
