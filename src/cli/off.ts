import { agentOfSession } from "../store/person.ts";
import { readPointer, setOff, writePointer } from "../store/place.ts";
import { type Io, parseArgs, rootOf, UserError } from "./args.ts";

export const summary = "switch Pawl off in this project or session";
export const usage = `usage: pawl off [--session ID] [--host claude]

Off in this project: hooks of every session here answer nothing, and no workflow can be armed. Runs are kept.
--session switches off only that session. \`pawl on\` undoes it. PAWL=0 in the environment switches off everything.`;

export const run = (args: string[], io: Io) => switchTo(true, args, io);

export function switchTo(off: boolean, args: string[], io: Io): number {
  const { values, words } = parseArgs(args, ["--session=", "--host="]);
  if (words.length > 0) throw new UserError(`what is ${words[0]}?`, "say `pawl off`, or `pawl off --session ID`");
  if (off) refuseAgents();
  const word = off ? "off" : "on";
  const session = values["--session"];
  if (session === undefined) {
    const root = rootOf(io);
    setOff(root, off);
    io.out(`Pawl is ${word} in ${root}.${off ? " `pawl on` switches it on again." : ""}\n`);
    return 0;
  }
  const host = values["--host"] ?? "claude";
  const pointer = readPointer(host, session);
  if (!pointer) throw new UserError(`no run is bound to session ${session}`, "`pawl runs list` shows sessions", 1);
  const { off: _was, ...rest } = pointer;
  writePointer(host, session, off ? { ...rest, off: true } : rest);
  io.out(`Pawl is ${word} for session ${session}.\n`);
  return 0;
}

/** It would be free of every workflow and check. */
function refuseAgents(): void {
  const agent = agentOfSession();
  if (agent === null) return;
  throw new UserError(
    `an agent cannot switch Pawl off (${agent})`,
    "tell the person why; they can run it in a terminal of their own",
    1,
  );
}
