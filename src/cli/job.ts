/** `pawl job <root> <id> <start>`, `pawl job <root> <run>`: what Pawl calls itself with, never typed. */
import { runJob } from "../checks/jobs/run.ts";
import { logError } from "../store/errors.ts";

export async function run([root = "", id = "", start = ""]: string[]): Promise<number> {
  try {
    if (start === "") (await import("../checks/baseline/ahead.ts")).runAhead(root, id);
    else await runJob({ root, id, start: Number(start) });
    return 0;
  } catch (error) {
    logError(root.startsWith("/") ? root : null, "job", error);
    return 3;
  }
}
