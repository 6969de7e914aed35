export const GENERATED =
  "<!-- Written by scripts/reference.ts. Do not edit: change the program, then run it again. -->";

export function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map(escaped).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

/** A "<" outside of code would be taken for HTML. */
function escaped(cell: string): string {
  const parts = cell.replaceAll("|", "\\|").split(/(`[^`]*`)/);
  return parts.map((part) => (part.startsWith("`") ? part : part.replaceAll("<", "&lt;"))).join("");
}

export function fenced(text: string, language = "text"): string {
  return `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;
}

export function page(...parts: string[]): string {
  return `${parts.join("\n\n")}\n`;
}
