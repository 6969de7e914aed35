/** Would a call reach the person? */
import { readConfig } from "../../definitions/config.ts";
import { notifySettings } from "../../definitions/schema/notify.ts";
import { configPath } from "../../definitions/shortcuts.ts";
import { desktopProgram, whereIs } from "../../notify/channels.ts";
import { lookAt } from "../../store/files.ts";
import { join } from "../../store/names.ts";
import { clean, type Finding, type Ground, note, ok } from "./finding.ts";

const CONFIG = "~/.config/pawl/config.yaml";
const TEST = "`pawl notify --test` sends one";

export function checkNotify({ home }: Ground): Finding[] {
  const read = readConfig(configPath(home));
  if ("errors" in read)
    return [note("notify-config", `${CONFIG} has errors: no notifications are sent`, "`pawl check` shows them")];
  const { on, bell, desktop, command } = notifySettings(read.config.notify);
  const marked = lookAt(join(home, ".local/state/pawl/notify-on")) !== undefined;
  if (on !== marked)
    return [
      note(
        "notify-unmarked",
        `${CONFIG} was changed: notifications are ${on ? "on" : "off"} there`,
        "`pawl notify` tells the hooks",
      ),
    ];
  if (!on) return [];
  const [program] = command ?? [];
  if (program !== undefined && whereIs(program) === null)
    return [
      note(
        "notify-command",
        `notifications: ${clean(program)} is not a program on the PATH`,
        `fix \`notify\` in ${CONFIG}`,
      ),
    ];
  const ways = [bell && "bell", desktop && desktopProgram(), program && `command ${clean(program)}`].filter(Boolean);
  if (ways.length === 0) return [note("notify-nowhere", "notifications are on, but no way leads to you here", TEST)];
  return [ok("notify", `notifications: ${ways.join(", ")}`)];
}
