import { realpathSync } from "node:fs";
import { version } from "../../package.json";
import { UserError } from "../kernel/user-error.ts";
import type { Finding, Ground, Level, Section } from "../setup/doctor/finding.ts";
import { examine } from "../setup/doctor/index.ts";
import { homeDir } from "../store/home.ts";
import { join } from "../store/names.ts";
import { type Io, parseArgs, rootOf } from "./shared/args.ts";

export const summary = "look after the installation: what is wrong, and what to do";
export const usage = `usage: pawl doctor [--json]

Looks at the settings of all scopes, the installed hook and its program, other hooks beside it, the environment, the
project and what Pawl keeps in it. Starts the hook once, as the host would. Changes nothing.
  ✓ well    ! worth knowing    ✗ has to be mended; what to do stands below each
Exit codes: 0 nothing has to be mended, 1 something has.`;

const SIGNS: Record<Level, { sign: string; colour: string }> = {
  ok: { sign: "✓", colour: "32" },
  note: { sign: "!", colour: "33" },
  trouble: { sign: "✗", colour: "31" },
};

export async function run(args: string[], io: Io): Promise<number> {
  const { flags, words } = parseArgs(args, ["--json"]);
  if (words.length > 0) throw new UserError(`what is ${words[0]}?`, "say `pawl doctor`, or `pawl doctor --json`");
  const sections = await examine(groundOf(io));
  const troubles = count(sections, "trouble");
  if (flags.has("--json")) io.out(`${JSON.stringify(asData(sections), null, 2)}\n`);
  else io.out(asText(sections, io.isTTY && !process.env.NO_COLOR));
  return troubles > 0 ? 1 : 0;
}

const MANAGED: Record<string, string> = { darwin: "/Library/Application Support/ClaudeCode" };

function groundOf(io: Io): Ground {
  const home = homeDir();
  const root = rootOf(io);
  return {
    root: root === real(home) ? home : root,
    home,
    claude: process.env.CLAUDE_CONFIG_DIR || join(home, ".claude"),
    managed: MANAGED[process.platform] ?? "/etc/claude-code",
    env: process.env,
    now: Date.now(),
  };
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

const count = (sections: Section[], level: Level) =>
  sections.flatMap(({ findings }) => findings).filter((one) => one.level === level).length;

const asData = (sections: Section[]) => ({
  version,
  ok: count(sections, "trouble") === 0,
  troubles: count(sections, "trouble"),
  notes: count(sections, "note"),
  sections,
});

function asText(sections: Section[], colours: boolean): string {
  const groups = sections.map(
    ({ title, findings }) => `${title}\n${findings.map((one) => lineOf(one, colours)).join("")}`,
  );
  return `${groups.join("\n")}\n${summaryOf(sections)}\n`;
}

function lineOf({ level, what, remedy, lines = [] }: Finding, colours: boolean): string {
  const { sign, colour } = SIGNS[level];
  const head = `  ${colours ? `\u001b[${colour}m${sign}\u001b[0m` : sign} ${what}\n`;
  const more = lines.map((line) => `      ${line}\n`).join("");
  return `${head}${more}${remedy === "" ? "" : `      → ${remedy}\n`}`;
}

function summaryOf(sections: Section[]): string {
  const [troubles, notes] = [count(sections, "trouble"), count(sections, "note")];
  const also = notes === 0 ? "" : `, ${notes} worth knowing (!)`;
  if (troubles === 0) return `Nothing has to be mended${also}.`;
  return `${troubles} ${troubles === 1 ? "thing has" : "things have"} to be mended (✗)${also}.`;
}
