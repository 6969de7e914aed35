/** Starts the installed hook as the host would: the very command, a shell, a payload on stdin. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import pluginHooks from "../../../plugin/hooks/hooks.json";
import { strayStart } from "../../play/client.ts";
import { messageOf, parseJson } from "../../store/files.ts";
import { join } from "../../store/names.ts";
import { hookCommand } from "../install/hooks.ts";
import { clean, type Finding, note, ok, trouble } from "./finding.ts";
import type { Plugin } from "./plugins.ts";
import { type Ended, runBounded } from "./process.ts";
import { fieldOf, hooksIn, type SettingsFile } from "./settings-files.ts";

const SLOW_MS = 1_000;
const PATIENCE_MS = 10_000;

interface Way {
  name: string;
  command: string;
  /** word for word what this version installs: only that is started, whatever a settings file may say */
  known: boolean;
}

export async function checkHook(files: SettingsFile[], plugin: Plugin | null): Promise<Finding[]> {
  const ways = [...files.flatMap(wayOf), ...(plugin?.enabled && plugin.hooks ? wayOf(plugin.hooks, true) : [])];
  const found: Finding[] = [];
  for (const way of ways) found.push(await fire(way));
  return found.length > 0 ? found : [note("hook-none", "there is no hook to test", "see above")];
}

function wayOf(file: SettingsFile, plugin: unknown = false): Way[] {
  const entry = hooksIn(file).find(({ event, ours }) => ours && event === "SessionStart");
  const command = entry ? fieldOf(entry.node, "command") : undefined;
  if (typeof command !== "string") return [];
  const { name, scope } = file;
  return [
    {
      name,
      command,
      known: plugin === true ? isPlugins(command) : scope !== "managed" && command === hookCommand(scope),
    },
  ];
}

const isPlugins = (command: string) => pluginHooks.hooks.SessionStart[0]?.hooks[0]?.command === command;

async function fire({ name, command, known }: Way): Promise<Finding> {
  if (!known)
    return note(
      "hook-unknown",
      `${name}: its command is not this version's, so it was not run: ${clean(command)}`,
      "see above",
    );
  const folder = mkdtempSync(join(tmpdir(), "pawl-doctor-"));
  try {
    const input = `${JSON.stringify(strayStart(folder))}\n`;
    const start = () => runBounded(["/bin/sh", "-c", command], { cwd: folder, input, most: PATIENCE_MS });
    const first = await start();
    // A machine that stood still for a moment is none that is slow.
    return judge(name, first.late || first.ms <= SLOW_MS ? first : await start());
  } catch (error) {
    return trouble(
      "hook-fails",
      `${name}: the hook cannot be started: ${clean(messageOf(error))}`,
      "see the program above",
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function judge(name: string, { code, out, err, ms, late }: Ended): Finding {
  const said = clean(out.trim() || err.trim(), 120);
  if (late)
    return trouble(
      "hook-hangs",
      `${name}: the hook did not finish within ${PATIENCE_MS / 1000} s`,
      "see the program above",
    );
  if (code !== 0)
    return trouble(
      "hook-fails",
      `${name}: the hook exited with ${code ?? "a signal"} after ${ms} ms: ${said}`,
      "see the program above",
    );
  if (out.trim() !== "" && parseJson(out) === undefined)
    return trouble(
      "hook-garbage",
      `${name}: the hook printed something that is not JSON: ${said}`,
      "see the program above",
    );
  if (ms > SLOW_MS)
    return trouble(
      "hook-slow",
      `${name}: the hook took ${ms} ms`,
      "check for a slow disk, a virus scanner or an overloaded machine, then try again",
    );
  return ok(
    "hook",
    `${name}: the hook exited with 0 after ${ms} ms, ${said === "" ? "silent, as expected" : `saying ${said}`}`,
  );
}
