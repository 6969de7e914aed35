/** The process that sends: its own session, none of the hook's pipes, nobody waits for it. */
import { join } from "../store/names.ts";

/** Compiled, this program is its own interpreter; from source it is bun with a file. */
const self = () => (Bun.main.includes("$bunfs") ? [] : [join(import.meta.dir, "../main.ts")]);

export function startSender(): void {
  // Most hooks start none, and this loads node:fs.
  const { cleanEnvironment } =
    require("../store/processes/command.ts") as typeof import("../store/processes/command.ts");
  Bun.spawn({
    cmd: [process.execPath, ...self(), "notify", "--send"],
    cwd: "/",
    env: cleanEnvironment(process.env),
    stdio: ["ignore", "ignore", "ignore"],
    detached: true,
  }).unref();
}
