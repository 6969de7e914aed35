/** `pawl add auto`, `pawl remove auto`: one part of the installation comes or goes, the rest stays as it is. */
import { UserError } from "../kernel/user-error.ts";
import { PARTS, type Part, readManifest } from "../setup/install/target.ts";
import { carryThrough, namedParts, planText, prepare } from "./init.ts";
import { type Command, type Io, type Parsed, print } from "./shared/args.ts";

const list = Object.entries(PARTS).map(([part, about]) => `  ${part.padEnd(14)} ${about}`);

const usageOf = (verb: "add" | "remove") => `usage: pawl ${verb} PART… [--team | --user] [--print] [--json]

${verb === "add" ? "Add parts to an installation" : "Remove parts from an installation"}; everything else in it stays as it is.
${list.join("\n")}
  --team, --user  of the team's or your own installation, as with \`pawl init\`
  --print         show the changes only
Exit codes: 0 done or nothing to do, 1 refused (nothing was changed), 2 wrong usage.`;

const command = (verb: "add" | "remove"): Command => ({
  usage: usageOf(verb),
  options: ["--team", "--user", "--print", "--json"],
  exclusive: [["--team", "--user"]],
  run: (parsed, io) => change(verb, parsed, io),
});

function change(verb: "add" | "remove", parsed: Parsed, io: Io): number {
  if (parsed.words.length === 0)
    throw new UserError(`name what to ${verb}`, `one or more of ${Object.keys(PARTS).join(", ")}`);
  const parts = namedParts(parsed.words).map((part): [Part, boolean] => [part, verb === "add"]);
  const { done: _done, ...job } = prepare(parsed, Object.fromEntries(parts), io);
  if (readManifest(job.target).manifest === null)
    throw new UserError("Pawl is not installed here", "run `pawl init` first", 1);
  if (!parsed.flags.has("--json")) io.out(planText({ ...job, done: null }, parsed.flags.has("--print")));
  if (parsed.flags.has("--print")) return print(io, parsed, { applied: false }, () => "");
  return carryThrough({ ...job, done: null }, parsed, io);
}

export const add = command("add");
export const remove = command("remove");
