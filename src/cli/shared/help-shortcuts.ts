import { helpText, SHORTCUTS, type Shortcut } from "../../controls/core/shortcut.ts";
import { CONFIG_SHOWN } from "../../definitions/config.ts";
import { readShortcuts } from "../../definitions/shortcuts.ts";
import { homeDir } from "../../store/home.ts";
import { isOff } from "../../store/place.ts";
import { type Io, type Parsed, print, projectRoot } from "./args.ts";

export const usage = `usage: pawl help shortcuts [--json]

Show the shortcuts of this project, which ones are off, and how to change them.`;

export const options = ["--json"];
export const maxWords = 0;

export function run(parsed: Parsed, io: Io): number {
  const root = projectRoot(io);
  const { table, problems } = readShortcuts(root, io.home ?? homeDir());
  const on = new Set(table.map(({ key }) => key));
  const off = SHORTCUTS.filter(({ key }) => !on.has(key));
  const isAllOff = isOff(root) || isOff(root, "shortcuts-off");
  const shortcutsOff = `Shortcuts are off in ${root}. Turn them on with \`pawl on shortcuts\`.`;
  const pawlOff = `Pawl is off in ${root}, including its shortcuts. Turn it on with \`pawl on\`.`;
  const blocks = isAllOff ? [isOff(root) ? pawlOff : shortcutsOff] : listed(table, off, problems);
  const text = () => `${blocks.join("\n\n")}\n`;
  return print(io, parsed, { off_here: isAllOff, on: table, off, problems }, text);
}

function listed(table: readonly Shortcut[], off: readonly Shortcut[], problems: readonly string[]): string[] {
  return [
    helpText(table),
    ...(off.length > 0
      ? [["Off here:", ...off.map(({ key, means }) => `  ${key.padEnd(6)}  ${means}`)].join("\n")]
      : []),
    `For example, in ${CONFIG_SHOWN} (yours, in every project) or pawl.yaml (this project; yours counts more):\n\n${EXAMPLE}`,
    ...(problems.length > 0 ? [`Skipped because of errors (\`pawl check\` shows them):\n${problems.join("\n")}`] : []),
  ];
}

const EXAMPLE = `    shortcuts:                  # or, for none at all: shortcuts: off
      y: on
      ci: off
      t: Run the tests and report what fails. Change nothing.
      "d:": Discuss only, in German. Do not touch any file.`;
