import { isIP } from "node:net";
import { homedir } from "node:os";
import type { Json } from "../kernel/types/run.ts";
import { UserError } from "../kernel/user-error.ts";
import { watchBesides } from "../notify/loop.ts";
import { agentCalling, userName } from "../store/processes/person.ts";
import { openProjects } from "../web/projects.ts";
import { isLoopback } from "../web/security.ts";
import { type Dashboard, startDashboard } from "../web/server.ts";
import { type Io, type Parsed, parseArgs, rootOf } from "./shared/args.ts";
import { isInteractive } from "./shared/confirm.ts";
import { inWords } from "./shared/words.ts";

export const summary = "what needs you, every live run and how it went, in the browser";
export const usage = `usage: pawl dashboard [--port N] [--host ADDR] [--read-only] [--no-open] [--json]

A page in the browser for all your projects that Pawl knows: what needs you, every live run as a track of its stages, each
run's story with evidence and gate output, stages over time, tasks, loops, the journal. Answer, approve, pause, resume,
abort or free a run there; it is the same as using the command line. Ctrl+C ends it.

The page is served only on this machine (127.0.0.1), to those who have the address printed here: it ends with a token that
changes at every start. Nothing is loaded from other servers.

  --port N       use this port (default: any free one)
  --host ADDR    serve on another address of this machine, for others on a network you trust: it is not encrypted
  --read-only    allow no changes; an agent that starts the dashboard always gets this
  --no-open      do not open the browser
  --json         {url, port, read_only} on one line

Exit codes: 0 ended, 1 it could not be started, 2 wrong usage.`;

export async function run(args: string[], io: Io): Promise<number> {
  const parsed = parseArgs(args, ["--port=", "--host=", "--read-only", "--no-open", "--json"]);
  if (parsed.words.length > 0) throw new UserError(`what is ${parsed.words[0]}?`, "`pawl dashboard --help` shows how");
  const host = hostOf(parsed);
  const port = portOf(parsed);
  const agent = agentCalling();
  const readOnly = agent ?? (parsed.flags.has("--read-only") ? "it was started with --read-only" : null);
  const dashboard = await started(io, host, port, readOnly);
  announce(io, parsed, dashboard, { host, readOnly, agent });
  await ended();
  dashboard.close();
  return 0;
}

async function started(io: Io, host: string, port: number, readOnly: string | null): Promise<Dashboard> {
  const { pageFiles } = await import("../web/page/files.ts");
  const root = rootOf(io);
  const projects = openProjects(root === homedir() ? null : root);
  const words = (record: Record<string, Json>) => inWords(record);
  try {
    const dashboard = await startDashboard({
      host,
      port,
      readOnly,
      files: pageFiles(),
      projects,
      words,
      who: userName(),
    });
    // Nothing watches all the time: the dashboard looks for runs that have fallen silent, too.
    watchBesides();
    return dashboard;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UserError(`the dashboard cannot be started: ${why}`, "try another --port", 1);
  }
}

function hostOf({ values }: Parsed): string {
  const host = values["--host"] ?? "127.0.0.1";
  if (host === "localhost") return "127.0.0.1";
  if (isIP(host) === 0) throw new UserError(`${host} is no address`, "write one of this machine's, like 192.168.1.20");
  if (host === "0.0.0.0" || /^[0:]+$/.test(host))
    throw new UserError(`${host} means every address`, "name the one that shall be reached");
  return host;
}

function portOf({ values }: Parsed): number {
  const port = Number(values["--port"] ?? 0);
  if (/^\d{1,5}$/.test(values["--port"] ?? "0") && port < 65_536) return port;
  throw new UserError(`${values["--port"]} is no port`, "write a number up to 65535");
}

interface Terms {
  host: string;
  readOnly: string | null;
  agent: string | null;
}

function announce(io: Io, { flags }: Parsed, { origin, port, sessions }: Dashboard, terms: Terms): void {
  const url = `${origin}/#token=${sessions.token}`;
  if (!isLoopback(terms.host))
    io.err(
      `pawl: beware: others on the network can reach ${terms.host}, and the connection is not encrypted. Whoever sees the token below can read everything${terms.readOnly === null ? " and act for you" : ""}.\n`,
    );
  if (terms.agent !== null) io.err(`pawl: read-only: ${terms.agent}\n`);
  if (flags.has("--json")) io.out(`${JSON.stringify({ url, port, read_only: terms.readOnly })}\n`);
  else io.out(`Dashboard${terms.readOnly === null ? "" : " (read-only)"}: ${url}\nCtrl+C ends it.\n`);
  if (!flags.has("--no-open") && !flags.has("--json") && terms.agent === null && isInteractive(io))
    openBrowser(`${origin}/#token=${sessions.ticket(Date.now())}`);
}

/** The person sees whether it opens; the address is printed above. */
function openBrowser(url: string): void {
  try {
    const program = process.platform === "darwin" ? "open" : "xdg-open";
    Bun.spawn([program, url], { stdio: ["ignore", "ignore", "ignore"] }).unref();
  } catch {
    // no such program
  }
}

const ended = () =>
  new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  });
