import { UserError } from "../kernel/user-error.ts";
import { excludeOurs, readPointer, setOff, writePointer } from "../store/place.ts";
import { agentOfSession } from "../store/processes/person.ts";
import { type Io, parseArgs, rootOf } from "./shared/args.ts";

export const summary = "turn Pawl off in this project or session";
export const usage = `usage: pawl off [shortcuts] [--session ID] [--host claude]

Turns Pawl off in this project: hooks answer nothing, and no workflow can start. Runs are kept.
\`pawl off shortcuts\` turns off only the shortcuts here. --session turns Pawl off only for that session.
\`pawl on\` undoes it, with the same arguments. PAWL=0 in the environment turns everything off.`;

export const run = (args: string[], io: Io) => switchTo(true, args, io);

export function switchTo(off: boolean, args: string[], io: Io): number {
  const { values, words } = parseArgs(args, ["--session=", "--host="]);
  const [word, ...more] = words;
  const strange = word === "shortcuts" ? more[0] : word;
  if (strange !== undefined) throw new UserError(`unknown argument ${strange}`, SAY);
  if (word !== undefined && values["--session"] !== undefined)
    throw new UserError("shortcuts are turned off for a project, not for a session", "use `pawl off shortcuts`");
  if (off) refuseAgents();
  return word === undefined ? switchPawl(off, values, io) : switchShortcuts(off, io);
}

const SAY = "run `pawl off`, `pawl off shortcuts` or `pawl off --session ID`";

function switchShortcuts(off: boolean, io: Io): number {
  const root = rootOf(io);
  setOff(root, off, "shortcuts-off");
  if (off) excludeOurs(root);
  const next = off ? "`pawl on shortcuts` turns them on again." : "`pawl help shortcuts` lists them.";
  io.out(`Shortcuts are ${off ? "off" : "on"} in ${root}. ${next}\n`);
  return 0;
}

function switchPawl(off: boolean, values: Record<string, string>, io: Io): number {
  const word = off ? "off" : "on";
  const session = values["--session"];
  if (session === undefined) {
    const root = rootOf(io);
    setOff(root, off);
    io.out(`Pawl is ${word} in ${root}.${off ? " `pawl on` turns it on again." : ""}\n`);
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

/** Otherwise an agent could escape every workflow and check. */
function refuseAgents(): void {
  const agent = agentOfSession();
  if (agent === null) return;
  throw new UserError(
    `an agent cannot turn Pawl off (${agent})`,
    "tell the person why; they can run it in their own terminal",
    1,
  );
}
