/** A throw-away project with our hook installed, and a home of its own. */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { VERSION } from "./install.ts";

export const PAWL = process.env.PAWL_BINARY ?? resolve(import.meta.dir, "../../dist/pawl");

const EVENTS = [
  "SessionStart",
  "UserPromptSubmit",
  "UserPromptExpansion",
  "Stop",
  "SubagentStop",
  "StopFailure",
  "PreCompact",
  "SessionEnd",
  "PermissionRequest",
  "Notification",
];

const KEY = "sk-ant-scripted-model-needs-no-key";

export interface ProjectOptions {
  /** the hook to install; Pawl unless told */
  binary?: string;
  /** settings files that carry the hook, each with its --via */
  hooks?: ("local" | "project")[];
  /** nothing of ours in it, as before `pawl init` */
  bare?: true;
}

export type Project = Awaited<ReturnType<typeof startProject>>;

export async function startProject(options: ProjectOptions = {}) {
  const binary = options.binary ?? PAWL;
  if (!existsSync(binary)) throw new Error(`no hook at ${binary}: run "npm run build" first`);
  const base = await realpath(await mkdtemp(join(tmpdir(), "pawl-host-")));
  const root = join(base, "project");
  const home = join(base, "home");
  await mkdir(home);
  await furnish(root, options.bare ? {} : ourFiles(binary, options.hooks ?? ["local"]));
  await acquaint(home, root);
  return {
    root,
    home,
    read: (path: string) => readFile(join(root, path), "utf8"),
    exists: (path: string) => existsSync(join(root, path)),
    list: (path: string) => readdir(join(root, path)).catch(() => [] as string[]),
    git: (...args: string[]) => git(root, args),
    env: (model: string) => environment(home, model),
    remove: () => rm(base, { recursive: true, force: true }),
  };
}

function ourFiles(binary: string, hooks: ("local" | "project")[]): Record<string, string> {
  const files: Record<string, string> = {
    ".gitignore": ".claude/\n",
    ".claude/commands/complete-work.md": "Complete the work. $ARGUMENTS\n",
    ".claude/commands/pawl/go.md": "Go on with the workflow.\n",
    ".claude/agents/deep-reviewer.md": "---\nname: deep-reviewer\ndescription: Reviews a change.\n---\nReview it.\n",
  };
  for (const via of hooks) {
    const name = via === "local" ? "settings.local.json" : "settings.json";
    files[`.claude/${name}`] = JSON.stringify(settings(binary, via), null, 2);
  }
  return files;
}

async function furnish(root: string, files: Record<string, string>): Promise<void> {
  const all = { "README.md": "# A project\n", ".gitignore": "dist/\n", ...files };
  for (const [path, text] of Object.entries(all)) await put(join(root, path), text);
  await git(root, ["init", "-q", "-b", "main"]);
  await git(root, ["config", "user.name", "A Person"]);
  await git(root, ["config", "user.email", "person@example.com"]);
  await git(root, ["add", "README.md", ".gitignore"]);
  await git(root, ["commit", "-q", "-m", "Start"]);
}

export function settings(binary: string, via: string): object {
  const command = `cd /; p="${binary}"; [ -x "$p" ] || exit 0; exec "$p" hook claude --via ${via}`;
  const groups = [{ hooks: [{ type: "command", command, timeout: 20 }] }];
  return { hooks: Object.fromEntries(EVENTS.map((event) => [event, groups])) };
}

/** What the client asks for at its first interactive start, answered beforehand. */
async function acquaint(home: string, root: string): Promise<void> {
  const known = {
    hasCompletedOnboarding: true,
    lastOnboardingVersion: VERSION,
    theme: "dark",
    customApiKeyResponses: { approved: [KEY.slice(-20)], rejected: [] },
    projects: { [root]: { hasTrustDialogAccepted: true } },
  };
  await put(join(home, ".claude.json"), JSON.stringify(known));
}

/** Everything the client gets to know of this machine. */
function environment(home: string, model: string): Record<string, string> {
  return {
    HOME: home,
    PATH: "/usr/local/bin:/usr/bin:/bin",
    TERM: "xterm-256color",
    LANG: "C.UTF-8",
    ANTHROPIC_API_KEY: KEY,
    ANTHROPIC_BASE_URL: model,
    DISABLE_TELEMETRY: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_ERROR_REPORTING: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  };
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

async function git(root: string, args: string[]): Promise<string> {
  const env = { PATH: "/usr/bin:/bin", HOME: root, GIT_CONFIG_NOSYSTEM: "1" };
  const child = Bun.spawn(["git", ...args], { cwd: root, env, stdout: "pipe", stderr: "pipe" });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`git ${args.join(" ")}: ${err}`);
  return out.trim();
}
