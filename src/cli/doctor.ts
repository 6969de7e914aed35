import { realpathSync } from "node:fs";
import { version } from "../../package.json";
import { UserError } from "../kernel/user-error.ts";
import type { Finding, Ground, Level, Section } from "../setup/doctor/finding.ts";
import { examine } from "../setup/doctor/index.ts";
import { homeDir } from "../store/home.ts";
import { join } from "../store/names.ts";
import { type Io, parseArgs, rootOf } from "./shared/args.ts";

export const summary = "check the installation and show how to fix it";
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

export async function run(args: string[], io: Io): Promise<number> {
  const { flags, words } = parseArgs(args, ["--json"]);
  if (words.length > 0)
    throw new UserError(`unknown argument ${words[0]}`, "run `pawl doctor` or `pawl doctor --json`");
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
  const also = notes === 0 ? "" : `, ${notes} to know about (!)`;
  if (troubles === 0) return `No problems found${also}.`;
  return `${troubles} ${troubles === 1 ? "problem" : "problems"} found (✗)${also}.`;
}
