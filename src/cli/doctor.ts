import { version } from "../../package.json";
import { counted } from "../kernel/text/counted.ts";
import type { Finding, Level } from "../setup/doctor/finding.ts";
import { examine } from "../setup/doctor/index.ts";
import { type Io, type Parsed, print, projectRoot } from "./shared/args.ts";
import { doctorContext } from "./shared/doctor-context.ts";
import { coloured, hasColours } from "./shared/screen.ts";

export const usage = `usage: pawl doctor [--json]

Check the settings of all scopes, the installed hook and its program, other hooks next to it, the environment, the
project and Pawl's files in it. Run the hook once, as the client would. Change nothing.
  ✓ fine    ! good to know    ✗ a problem; the fix is shown below each
Exit codes: 0 no problems found, 1 problems found.`;

const SIGNS: Record<Level, { sign: string; colour: string }> = {
  ok: { sign: "✓", colour: "32" },
  note: { sign: "!", colour: "33" },
  trouble: { sign: "✗", colour: "31" },
};

export const options = ["--json"];
export const maxWords = 0;

export async function run(parsed: Parsed, io: Io): Promise<number> {
  const sections = await examine(doctorContext(projectRoot(io)));
  const count = (level: Level) =>
    sections.flatMap(({ findings }) => findings).filter((one) => one.level === level).length;
  const [troubles, notes] = [count("trouble"), count("note")];
  const data = { version, ok: troubles === 0, troubles, notes, sections };
  const also = notes === 0 ? "" : `, ${notes} to know about (!)`;
  const verdict = troubles === 0 ? "No problems found" : `${counted(troubles, "problem")} found (✗)`;
  const blocks = sections.map(
    ({ title, findings }) => `${title}\n${findings.map((one) => findingText(one, io)).join("")}`,
  );
  const text = () => `${blocks.join("\n")}\n${verdict}${also}.\n`;
  return print(io, parsed, data, text, troubles > 0 ? 1 : 0);
}

function findingText({ level, what, remedy, lines = [] }: Finding, io: Io): string {
  const { sign, colour } = SIGNS[level];
  const more = lines.map((line) => `      ${line}\n`).join("");
  const fix = remedy === "" ? "" : `      → ${remedy}\n`;
  return `  ${coloured(sign, colour, hasColours(io))} ${what}\n${more}${fix}`;
}
