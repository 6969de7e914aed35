/** The key and the approvals: the person's alone, or they count for nothing. */
import { readdirSync } from "node:fs";
import type { Found } from "../../native/disk.ts";
import { lookAt } from "../../store/files.ts";
import { join } from "../../store/names.ts";
import { type Finding, type Ground, shown, trouble } from "./finding.ts";

export function checkTrust(ground: Ground): Finding[] {
  const share = join(ground.home, ".local/share/pawl");
  const trust = join(share, "trust");
  const folders = namesIn(trust).map((name) => join(trust, name));
  const files = folders.flatMap((folder) => namesIn(folder).map((name) => join(folder, name)));
  return [
    ...checkOne(ground, join(share, "key"), 0o077, "key", "anyone who has it can forge what Pawl wrote"),
    ...[trust, ...folders, ...files].flatMap((path) =>
      checkOne(ground, path, 0o022, "trust", "no approval in it counts"),
    ),
  ];
}

function checkOne(ground: Ground, path: string, forbidden: number, id: string, means: string): Finding[] {
  const found = lookAt(path);
  if (!found) return [];
  const name = shown(path, ground);
  const wrong = faultOf(found);
  if (wrong !== null)
    return [
      trouble(`${id}-owner`, `${name} ${wrong}: ${means}`, `remove ${name}, then approve again with \`pawl trust\``),
    ];
  if ((found.mode & forbidden) === 0) return [];
  const mode = (found.mode & 0o777).toString(8);
  const who = forbidden === 0o077 ? "others may read" : "others may write to";
  return [trouble(`${id}-mode`, `${who} ${name} (mode ${mode}): ${means}`, `chmod go-rwx ${name}`)];
}

function faultOf(found: Found): string | null {
  if (found.isSymbolicLink()) return "is a symbolic link";
  return found.uid === process.getuid?.() ? null : `belongs to another user (${found.uid})`;
}

function namesIn(folder: string): string[] {
  try {
    return lookAt(folder)?.isDirectory() ? readdirSync(folder) : [];
  } catch {
    return [];
  }
}
