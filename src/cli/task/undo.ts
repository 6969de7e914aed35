/** A word for the shell, which the person copies from the screen: what it would hide is written out. */
import { visible } from "../shared/visible.ts";

export function shellWord(text: string): string {
  if (/^[\w./:@%+=-]+$/.test(text)) return text;
  if (visible(text) === text) return `'${text.replaceAll("'", "'\\''")}'`;
  const escaped = [...text].map((sign) => (sign === "'" || sign === "\\" ? `\\${sign}` : shown(sign)));
  return `$'${escaped.join("")}'`;
}

function shown(sign: string): string {
  if (sign === "\n") return "\\n";
  return visible(sign) === sign ? sign : `\\U${sign.codePointAt(0)!.toString(16).padStart(8, "0")}`;
}
