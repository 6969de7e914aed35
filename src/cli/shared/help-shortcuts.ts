import { helpText, SHORTCUTS, type Shortcut } from "../../controls/core/shortcut.ts";
import { CONFIG_SHOWN } from "../../definitions/config.ts";
import { readShortcuts } from "../../definitions/shortcuts.ts";
import { UserError } from "../../kernel/user-error.ts";
import { homeDir } from "../../store/home.ts";
import { isOff } from "../../store/place.ts";
import { type Io, parseArgs, rootOf } from "./args.ts";

export const summary = "the shortcuts that are on here";
export const usage = `usage: pawl help shortcuts [--json]

Show the shortcuts of this project, which ones are off, and how to change them.`;

export function run(args: string[], io: Io): number {
  const { flags, words } = parseArgs(args, ["--json"]);
  if (words.length > 0) throw new UserError(`unknown argument ${words[0]}`, "say `pawl help shortcuts`");
  const root = rootOf(io);
  const { table, problems } = readShortcuts(root, io.home ?? homeDir());
  const on = new Set(table.map(({ key }) => key));
  const off = SHORTCUTS.filter(({ key }) => !on.has(key));
  const isAllOff = isOff(root) || isOff(root, "shortcuts-off");
  if (flags.has("--json")) io.out(`${JSON.stringify({ off_here: isAllOff, on: table, off, problems }, null, 2)}\n`);
  else io.out(`${(isAllOff ? [switchedOff(root)] : listed(table, off, problems)).join("\n\n")}\n`);
  return 0;
}

const switchedOff = (root: string) =>
  isOff(root)
    ? `Pawl is off in ${root}, including its shortcuts. Turn it on with \`pawl on\`.`
    : `Shortcuts are off in ${root}. Turn them on with \`pawl on shortcuts\`.`;

function listed(table: readonly Shortcut[], off: readonly Shortcut[], problems: readonly string[]): string[] {
  return [
    helpText(table),
    ...(off.length > 0 ? [["Off here:", ...off.map(asRow)].join("\n")] : []),
    `For example, in ${CONFIG_SHOWN} (yours, in every project) or pawl.yaml (this project; yours counts more):\n\n${EXAMPLE}`,
    ...(problems.length > 0 ? [`Skipped because of errors (\`pawl check\` shows them):\n${problems.join("\n")}`] : []),
  ];
}

const asRow = ({ key, means }: Shortcut) => `  ${key.padEnd(6)}  ${means}`;

const EXAMPLE = `    shortcuts:                  # or, for none at all: shortcuts: off
      y: on
      ci: off
      t: Run the tests and report what fails. Change nothing.
      "d:": Discuss only, in German. Do not touch any file.`;
