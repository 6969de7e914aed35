/** The lines that keep one person's files out of the repository's sight. Text in, text out. */
import type { ExcludePlace } from "../../store/owned.ts";

const INSTALLED = "# installed by `pawl init`, for this person only";

/** `installed`: files of a personal installation, which are no one else's business. */
export function withExcludes(text: string | null, place: ExcludePlace, installed: string[]): string {
  const present = new Set((text ?? "").split(/\r?\n/));
  const block = (marker: string, lines: string[]) => {
    const missing = lines.filter((line) => !present.has(line));
    return missing.length === 0 ? [] : [...(present.has(marker) ? [] : [marker]), ...missing];
  };
  const added = [
    ...block(place.marker, place.lines),
    ...block(
      INSTALLED,
      installed.map((path) => place.prefix + path),
    ),
  ];
  if (added.length === 0) return text ?? "";
  const gap = text === null || text === "" || text.endsWith("\n") ? "" : "\n";
  return `${text ?? ""}${gap}${added.join("\n")}\n`;
}

/** This project's lines go; what projects of one repository share goes with the last of them. */
export function withoutExcludes(text: string, place: ExcludePlace, installed: string[]): string {
  const mine = new Set([...place.lines, ...installed.map((path) => place.prefix + path)]);
  const shared = [place.marker, INSTALLED, ...place.lines.filter((line) => !line.includes("/"))];
  const lines = text.split("\n");
  const bare = (line: string) => line.replace(/\r$/, "");
  const others = lines.some((line) => bare(line).endsWith("/.pawl/runs/") && !mine.has(bare(line)));
  const goes = (line: string) => (shared.includes(line) ? !others : mine.has(line));
  return lines.filter((line) => !goes(bare(line))).join("\n");
}
