/** What the person sees and types: is our status line shown, do shortcuts mean anything here? */
import { accessSync, constants } from "node:fs";
import { readText } from "../../store/files.ts";
import { join } from "../../store/names.ts";
import { isOff } from "../../store/place.ts";
import { isOurLine, lineIn, withStatusLine } from "../install/status-line.ts";
import { type Finding, type Ground, note, ok, trouble } from "./finding.ts";
import type { SettingsFile } from "./settings-files.ts";

const BINARY = ".local/share/pawl/bin/pawl";

/** `files`: the last one that has a line is the one that is shown. */
export function checkLine(ground: Ground, files: SettingsFile[]): Finding[] {
  const lines = files.flatMap((file) => ({ file, line: lineIn(file.text, file.name) })).filter(({ line }) => line);
  const ours = lines.findLast(({ line }) => isOurLine(line!.command));
  if (!ours) return [];
  const { name } = ours.file;
  if (!canRun(join(ground.home, BINARY)))
    return [trouble("statusline-nowhere", `${name}: its statusLine calls ~/${BINARY}, which cannot be run`, INIT)];
  const shown = lines.at(-1)!.file;
  if (shown !== ours.file)
    return [
      note(
        "statusline-hidden",
        `${shown.name} has a statusLine of its own, which hides Pawl's in ${name}`,
        "`pawl init --statusline` shows both",
      ),
    ];
  const farther = lines.slice(0, -1).at(-1)?.line ?? null;
  const doubled = farther !== null && isOurLine(farther.command);
  if (ours.file.scope === "local" && !doubled && withStatusLine(ours.file.text, farther).text !== ours.file.text)
    return [
      note(
        "statusline-differs",
        `${name}: its statusLine is not as this version writes it, or runs another command than ${farther?.from ?? "yours"} has now`,
        INIT,
      ),
    ];
  return [ok("statusline", `${name} shows Pawl's status line`)];
}

const INIT = "run `pawl init` to fix it";

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export function checkShortcuts({ root, home }: Ground): Finding[] {
  if (isOff(root, "shortcuts-off"))
    return [
      note(
        "shortcuts-off",
        "one-key shortcuts are switched off in this project",
        "`pawl on shortcuts` switches them on",
      ),
    ];
  const places = [
    ["~/.config/pawl/config.yaml", join(home, ".config/pawl/config.yaml")],
    ["pawl.yaml", join(root, "pawl.yaml")],
  ];
  const said = places.find(([, path]) => saysOff(path!))?.[0];
  return said
    ? [note("shortcuts-off", `${said} switches one-key shortcuts off`, "take `shortcuts: off` out of it")]
    : [];
}

function saysOff(path: string): boolean {
  const file = readText(path, 64 * 1024);
  return file.ok && /^shortcuts:\s*["']?off\b/m.test(file.text);
}
