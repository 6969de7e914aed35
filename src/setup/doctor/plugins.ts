/** The host's plugins: which are on, and what they hook into. */
import { version } from "../../../package.json";
import { isObject, parseJson } from "../../store/files.ts";
import { join } from "../../store/names.ts";
import { clean, type Finding, type Ground, note, ok, trouble } from "./finding.ts";
import { callsPawl, readSettings, readThroughLinks, type SettingsFile } from "./settings-files.ts";

export interface Plugin {
  /** name@marketplace */
  id: string;
  name: string;
  enabled: boolean;
  /** null: not on this machine */
  folder: string | null;
  version: string;
  hooks: SettingsFile | null;
}

const MOST_PLUGINS = 200;

export function readPlugins(ground: Ground, files: SettingsFile[]): Plugin[] {
  const enabled = new Map<string, boolean>();
  for (const { value } of files)
    for (const [id, on] of Object.entries(isObject(value.enabledPlugins) ? value.enabledPlugins : {}))
      enabled.set(id, on === true);
  const registry = readRegistry(join(ground.claude, "plugins/installed_plugins.json"));
  return [...enabled]
    .slice(0, MOST_PLUGINS)
    .map(([id, on]) => pluginOf(id, on, installationOf(registry[id], ground.root)));
}

function readRegistry(path: string): Record<string, unknown> {
  const file = readThroughLinks(path);
  const value = file?.ok ? parseJson(file.text) : undefined;
  return isObject(value) && isObject(value.plugins) ? value.plugins : {};
}

/** A plugin may be installed for the person and, in other versions, for single projects. */
function installationOf(installed: unknown, root: string): Record<string, unknown> {
  const all = (Array.isArray(installed) ? installed : [installed]).filter(isObject);
  return all.find((one) => one.projectPath === root) ?? all.find((one) => one.projectPath === undefined) ?? {};
}

function pluginOf(id: string, enabled: boolean, fields: Record<string, unknown>): Plugin {
  const folder =
    typeof fields.installPath === "string" && fields.installPath.startsWith("/") ? fields.installPath : null;
  const name = clean(id.split("@", 1)[0] ?? id, 60);
  const path = folder && join(folder, "hooks/hooks.json");
  const hooks = path ? readSettings("user", path, `the plugin ${name}`) : null;
  return { id: clean(id, 80), name, enabled, folder, version: clean(String(fields.version ?? ""), 20), hooks };
}

export const ourPlugin = (plugins: Plugin[]): Plugin | null => plugins.find(({ name }) => name === "pawl") ?? null;

export function checkPlugin(plugin: Plugin | null): Finding[] {
  if (!plugin?.enabled) return [];
  const { id } = plugin;
  if (plugin.folder === null || plugin.hooks === null)
    return [
      trouble("plugin-missing", `the plugin ${id} is enabled but not installed`, `\`claude plugin install ${id}\``),
    ];
  if (plugin.hooks.problem || !callsPawl(plugin.hooks))
    return [trouble("plugin-broken", `the plugin ${id} does not call Pawl`, `\`claude plugin update ${id}\``)];
  if (plugin.version !== version)
    return [
      note(
        "plugin-version",
        `the plugin ${id} is ${plugin.version}, this is ${version}`,
        `\`claude plugin update ${id}\``,
      ),
    ];
  return [ok("plugin", `the plugin ${id} is on`)];
}
