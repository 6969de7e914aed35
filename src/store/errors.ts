/** What went wrong on our side, one line each. Never a reason for anything else to go wrong. */
import { attempt } from "../kernel/attempt.ts";
import { rename } from "../native/disk.ts";
import { appendLine, insideRoot, lookAt, makeDirs } from "./files.ts";
import { statePath } from "./home.ts";
import { dirname, join } from "./names.ts";

const LONGEST_LINE = 500;
const LARGEST_LOG = 1024 * 1024;

export function logError(root: string | null, where: string, error: unknown): void {
  const describe = () => (error instanceof Error ? `${error.name}: ${error.message}` : String(error));
  const text = `${new Date().toISOString()} ${where}: ${attempt(describe, "an error that cannot be described")}`;
  const line = text.replace(/[\u0000-\u001f\u007f\u0085\u2028\u2029]+/g, " ").slice(0, LONGEST_LINE);
  if (root !== null && tryLog(() => projectLog(root), line)) return;
  tryLog(homeLog, line);
}

function tryLog(findPath: () => string | null, line: string): boolean {
  return attempt(() => {
    const path = findPath();
    if (path === null) return false;
    const found = lookAt(path);
    if (found?.isFile() && found.size >= LARGEST_LOG) rename(path, `${path}.1`);
    appendLine(path, line);
    return true;
  }, false);
}

function projectLog(root: string): string | null {
  const folder = insideRoot(root, ".pawl");
  return lookAt(folder)?.isDirectory() ? join(folder, "errors.log") : null;
}

function homeLog(): string {
  const path = statePath("errors.log");
  makeDirs(dirname(path), 0o700);
  return path;
}
