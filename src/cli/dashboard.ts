import { isIP } from "node:net";
import { homedir } from "node:os";
import { attempt } from "../kernel/attempt.ts";
import { UserError } from "../kernel/user-error.ts";
import { watchBesides } from "../notify/call.ts";
import { messageOf } from "../store/files.ts";
import { agentCalling, userName } from "../store/processes/person.ts";
import { openProjects } from "../web/projects.ts";
import { isLoopback } from "../web/security.ts";
import { type Dashboard, startDashboard } from "../web/server.ts";
import { type Io, type Parsed, projectRoot } from "./shared/args.ts";
import { isInteractive } from "./shared/confirm.ts";
import { inWords } from "./shared/words.ts";

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

export const options = ["--port=", "--host=", "--read-only", "--no-open", "--json"];
export const maxWords = 0;

export async function run(parsed: Parsed, io: Io): Promise<number> {
  const host = parseHost(parsed);
  const agent = agentCalling();
  const readOnly = agent ?? (parsed.flags.has("--read-only") ? "it was started with --read-only" : null);
  const dashboard = await started(projectRoot(io), host, parsePort(parsed), readOnly);
  announce(io, parsed, dashboard, { host, readOnly, agent });
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  });
  dashboard.close();
  return 0;
}

async function started(root: string, host: string, port: number, readOnly: string | null): Promise<Dashboard> {
  const { pageFiles } = await import("../web/page/files.ts");
  const projects = openProjects(root === homedir() ? null : root);
  try {
    const who = userName();
    const dashboard = await startDashboard({ host, port, readOnly, files: pageFiles(), projects, words: inWords, who });
    // Nothing watches all the time: the dashboard looks for runs that have fallen silent, too.
    watchBesides();
    return dashboard;
  } catch (error) {
    throw new UserError(`the dashboard cannot be started: ${messageOf(error)}`, "try another --port", 1);
  }
}

function parseHost({ values }: Parsed): string {
  const host = values["--host"] ?? "127.0.0.1";
  if (host === "localhost") return "127.0.0.1";
  if (isIP(host) === 0) throw new UserError(`${host} is no address`, "write one of this machine's, like 192.168.1.20");
  if (host === "0.0.0.0" || /^[0:]+$/.test(host))
    throw new UserError(`${host} means every address`, "name the one that shall be reached");
  return host;
}

function parsePort({ values }: Parsed): number {
  const port = values["--port"] ?? "0";
  if (/^\d{1,5}$/.test(port) && Number(port) < 65_536) return Number(port);
  throw new UserError(`${port} is no port`, "write a number up to 65535");
}

type Terms = { host: string; readOnly: string | null; agent: string | null };

function announce(io: Io, { flags }: Parsed, { origin, port, sessions }: Dashboard, terms: Terms): void {
  const { host, readOnly, agent } = terms;
  const url = `${origin}/#token=${sessions.token}`;
  if (!isLoopback(host))
    io.err(
      `pawl: beware: others on the network can reach ${host}, and the connection is not encrypted. Anyone who sees the token below can read everything${readOnly === null ? " and act for you" : ""}.\n`,
    );
  if (agent !== null) io.err(`pawl: read-only: ${agent}\n`);
  if (flags.has("--json")) io.out(`${JSON.stringify({ url, port, read_only: readOnly })}\n`);
  else io.out(`Dashboard${readOnly === null ? "" : " (read-only)"}: ${url}\nCtrl+C ends it.\n`);
  if (!flags.has("--no-open") && !flags.has("--json") && agent === null && isInteractive(io))
    openBrowser(`${origin}/#token=${sessions.ticket(Date.now())}`);
}

/** The person sees whether it opens; the address is printed above. There may be no such program. */
function openBrowser(url: string): void {
  const program = process.platform === "darwin" ? "open" : "xdg-open";
  attempt(() => Bun.spawn([program, url], { stdio: ["ignore", "ignore", "ignore"] }).unref(), undefined);
}
