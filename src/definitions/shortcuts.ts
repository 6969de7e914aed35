/** The shortcuts that count here: those shipped, what the project's pawl.yaml makes of them, and what the person does. */

import { type Overrides, SHORTCUTS, type Shortcut, withOverrides } from "../controls/core/shortcut.ts";
import { attempt } from "../kernel/attempt.ts";
import { safeText } from "../kernel/text/safe-text.ts";
import { realpath } from "../native/disk.ts";
import { mayHaveKey } from "../store/files.ts";
import { join } from "../store/names.ts";
import { isOff } from "../store/place.ts";
import type { Problem } from "./problem.ts";

const MAX_BYTES = 256 * 1024;

/** A file with mistakes is skipped and reported, so that the other shortcuts still work. */
export function readShortcuts(root: string, home: string): { table: Shortcut[]; problems: string[] } {
  if (isOff(root, "shortcuts-off")) return { table: [], problems: [] };
  // Later layers count more: the keys are the person's.
  const layers = [projectLayer(root), personLayer(home)];
  const overrides = layers.flatMap((layer) => ("shortcuts" in layer ? [layer.shortcuts] : []));
  const problems = layers.flatMap((layer) => ("errors" in layer ? layer.errors.map(inOneLine) : []));
  return { table: withOverrides(SHORTCUTS, overrides), problems };
}

type Layer = { shortcuts: Overrides } | { errors: Problem[] };

const NOTHING: Layer = { shortcuts: {} };

/** It quotes a file that may be anybody's. */
const inOneLine = ({ file, line, column, message }: Problem) => `${file}:${line}:${column}: ${safeText(message)}`;

/** Reading YAML costs a prompt more than all the rest. */
const mayHaveShortcuts = (path: string) => mayHaveKey(path, ["shortcuts"], MAX_BYTES);

function projectLayer(root: string): Layer {
  if (!mayHaveShortcuts(join(root, "pawl.yaml"))) return NOTHING;
  const { readProject } = require("./project.ts") as typeof import("./project.ts");
  const read = readProject(root);
  return "errors" in read ? read : { shortcuts: read.project.shortcuts ?? {} };
}

function personLayer(home: string): Layer {
  const path = configPath(home);
  if (!mayHaveShortcuts(path)) return NOTHING;
  const { readConfig } = require("./config.ts") as typeof import("./config.ts");
  const read = readConfig(path);
  return "errors" in read ? read : { shortcuts: read.config.shortcuts ?? {} };
}

/** A link in the home is the person's. */
export function configPath(home: string): string {
  const path = join(home, ".config", "pawl", "config.yaml");
  return attempt(() => realpath(path), path);
}
