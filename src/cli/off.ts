import { UserError } from "../kernel/user-error.ts";
import { excludeOurs, readPointer, setOff, writePointer } from "../store/place.ts";
import { type Command, type Io, type Parsed, projectRoot } from "./shared/args.ts";
import { refuseAgent } from "./shared/confirm.ts";

export const usage = `usage: pawl off [shortcuts] [--session ID] [--host claude]

Turns Pawl off in this project: hooks answer nothing, and no workflow can start. Runs are kept.
\`pawl off shortcuts\` turns off only the shortcuts here. --session turns Pawl off only for that session.
\`pawl on\` undoes it, with the same arguments. PAWL=0 in the environment turns everything off.`;

const HOW = "run `pawl off`, `pawl off shortcuts` or `pawl off --session ID`";

export const options = ["--session=", "--host="];
export const run = (parsed: Parsed, io: Io) => switchTo(true, parsed, io);

export const on: Command = {
  usage: "usage: pawl on [shortcuts] [--session ID] [--host claude]",
  options,
  run: (parsed, io) => switchTo(false, parsed, io),
};

function switchTo(off: boolean, { values, words }: Parsed, io: Io): number {
  const [word, ...more] = words;
  const strange = word === "shortcuts" ? more[0] : word;
  if (strange !== undefined) throw new UserError(`unknown argument ${strange}`, HOW);
  if (word !== undefined && values["--session"] !== undefined)
    throw new UserError("shortcuts are turned off for a project, not for a session", "use `pawl off shortcuts`");
  // Otherwise an agent could escape every workflow and check.
  if (off) refuseAgent("turn Pawl off");
  if (values["--session"] !== undefined)
    return switchSession(off, values["--host"] ?? "claude", values["--session"], io);
  const root = projectRoot(io);
  setOff(root, off, word === undefined ? "off" : "shortcuts-off");
  if (off) excludeOurs(root);
  const [onAgain, list] = ["`pawl on shortcuts` turns them on again.", "`pawl help shortcuts` lists them."];
  if (word === undefined) io.out(`Pawl is ${wordFor(off)} in ${root}.${off ? " `pawl on` turns it on again." : ""}\n`);
  else io.out(`Shortcuts are ${wordFor(off)} in ${root}. ${off ? onAgain : list}\n`);
  return 0;
}

const wordFor = (off: boolean) => (off ? "off" : "on");

function switchSession(off: boolean, host: string, session: string, io: Io): number {
  const pointer = readPointer(host, session);
  if (!pointer) throw new UserError(`no run is bound to session ${session}`, "`pawl runs list` shows sessions", 1);
  const { off: _was, ...rest } = pointer;
  writePointer(host, session, off ? { ...rest, off: true } : rest);
  io.out(`Pawl is ${wordFor(off)} for session ${session}.\n`);
  return 0;
}
