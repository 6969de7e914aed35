/** How each agent is started for one iteration: program and arguments, never a shell; the prompt comes on stdin. */
import type { AGENTS as NAMES } from "../definitions/schema/loop.ts";
import { splitCommand } from "../kernel/text/command-line.ts";
import type { OutputFormat } from "./core/agent-output.ts";

export type Environment = Record<string, string | undefined>;

export interface Agent {
  name: string;
  argv: string[];
  format: OutputFormat;
  /** complete, for the started process */
  env: Environment;
  /** the session Pawl gave it; null: it chooses its own */
  session: string | null;
}

/** edits: files without asking, commands as its settings allow · settings: only those · skip: nothing is asked */
export type Permissions = "edits" | "settings" | "skip";

export interface AgentOptions {
  session: string;
  /** running as root */
  root: boolean;
  model?: string;
  permissions?: Permissions;
  /** the agent stops by itself at this cost, if it can */
  budget_usd?: number;
  /** Pawl's hooks as settings of the host, for one that takes them at its start; null: none */
  hooks?: string | null;
  /** default: this process's own */
  env?: Environment;
}

type AgentName = (typeof NAMES)[number];

/** How the person lets an agent do something without asking. */
interface Allow {
  edit: string;
  command: (command: string) => string;
  /** git ran, but could not write its own files */
  git?: string;
}

interface Client {
  format: OutputFormat;
  argv: string[];
  /** gives it the session's id */
  session?: (id: string) => string[];
  edits: string[];
  skip: string[];
  budget?: (usd: number) => string[];
  hooks?: (settings: string) => string[];
  /** its npm package */
  install: string;
  allow: Allow;
}

const LOCAL = "permissions.allow of .claude/settings.local.json";
const CODEX_SANDBOX = 'set sandbox_mode = "workspace-write" in ~/.codex/config.toml';

/** A rule covers one command. Changing the folder needs none, and committing needs `git add` too. */
function bashRules(command: string): string {
  const own = command.replace(/^cd \S+ && /, "");
  return own === "git commit" ? '"Bash(git add:*)" and "Bash(git commit:*)"' : `"Bash(${own}:*)"`;
}

/**
 * Claude Code is measured with 2.1.197. For the others the headless command itself was run (codex 0.166, gemini 0.61,
 * opencode 1.18, copilot 1.0.102, qwen 0.15.10); prompts on stdin and permission flags are as documented.
 */
const CLIENTS: Record<AgentName, Client> = {
  claude: {
    format: "claude",
    argv: ["claude", "-p", "--output-format", "stream-json", "--verbose"],
    session: (id) => ["--session-id", id],
    edits: ["--permission-mode", "acceptEdits"],
    skip: ["--dangerously-skip-permissions"],
    budget: (usd) => ["--max-budget-usd", String(usd)],
    hooks: (settings) => ["--settings", settings],
    install: "@anthropic-ai/claude-code",
    allow: {
      edit: `add "Edit" and "Write" to ${LOCAL}, and look for a rule in permissions.deny`,
      command: (command) => `add ${bashRules(command)} to ${LOCAL}`,
      git: "let it write to .git: see the sandbox settings in .claude/settings.json",
    },
  },
  codex: {
    format: "codex",
    argv: ["codex", "exec", "--json"],
    edits: ["--sandbox", "workspace-write"],
    skip: ["--dangerously-bypass-approvals-and-sandbox"],
    install: "@openai/codex",
    allow: {
      edit: CODEX_SANDBOX,
      command: () => CODEX_SANDBOX,
      git: "its sandbox keeps .git read-only: add .git to writable_roots in ~/.codex/config.toml",
    },
  },
  copilot: {
    format: "text",
    argv: ["copilot", "--no-color"],
    edits: ["--allow-tool", "write"],
    skip: ["--allow-all-tools"],
    install: "@github/copilot",
    allow: {
      edit: 'start it with --ai-cmd "copilot --no-color --allow-tool write"',
      command: (command) =>
        `start it with --ai-cmd "copilot --no-color --allow-tool write --allow-tool 'shell(${command})'"`,
    },
  },
  gemini: {
    format: "gemini",
    argv: ["gemini", "-o", "json"],
    edits: ["--approval-mode", "auto_edit"],
    skip: ["--approval-mode", "yolo"],
    install: "@google/gemini-cli",
    allow: {
      edit: "trust this folder in gemini, and set its approval mode to auto_edit",
      command: (command) => `add "run_shell_command(${command})" to tools.allowed in .gemini/settings.json`,
    },
  },
  qwen: {
    format: "text",
    argv: ["qwen"],
    edits: ["--approval-mode", "auto-edit"],
    skip: ["--approval-mode", "yolo"],
    install: "@qwen-code/qwen-code",
    allow: {
      edit: "set its approval mode to auto-edit in .qwen/settings.json",
      command: (command) => `add "run_shell_command(${command})" to tools.allowed in .qwen/settings.json`,
    },
  },
  opencode: {
    format: "opencode",
    argv: ["opencode", "run", "--format", "json"],
    edits: [],
    skip: [],
    install: "opencode-ai",
    allow: {
      edit: 'set permission.edit to "allow" in opencode.json',
      command: () => 'set permission.bash to "allow" in opencode.json',
    },
  },
};

export const AGENTS = Object.keys(CLIENTS) as AgentName[];

const ANY: Allow = {
  edit: "let it write files: its own settings, or other options in --ai-cmd",
  command: (command) => `let it run \`${command}\`: its own settings, or other options in --ai-cmd`,
};

const knownAs = (name: string): AgentName | undefined => AGENTS.find((one) => one === name);

/** How to let this agent work without asking. */
export function allowFor(agent: string): Allow {
  const known = knownAs(agent);
  return known ? CLIENTS[known].allow : ANY;
}

/** Marks of an agent's own session. If inherited, the new agent would think it runs inside that one. */
const NESTED = [
  "CLAUDECODE",
  "CLAUDE_CODE_SESSION_ID",
  "CLAUDE_CODE_ENTRYPOINT",
  "CLAUDE_CODE_CHILD_SESSION",
  "CLAUDE_CODE_SESSION_ATTENDED",
  // A secret of that session, and where it counts.
  "CLAUDE_CODE_MESSAGING_TOKEN",
  "CLAUDE_CODE_MESSAGING_SOCKET",
  "CLAUDE_PID",
  "CLAUDE_CODE_SSE_PORT",
  "CLAUDE_PROJECT_DIR",
  "CLAUDE_PLUGIN_ROOT",
  "CLAUDE_PLUGIN_DATA",
  "CLAUDE_ENV_FILE",
  "CLAUDE_EFFORT",
  "AI_AGENT",
  "GEMINI_CLI",
  "GEMINI_SESSION_ID",
  "GEMINI_PROJECT_DIR",
  "QWEN_CODE",
  "COPILOT_CLI",
  "COPILOT_PROJECT_DIR",
  "COPILOT_AGENT_SESSION_ID",
  "CODEX_THREAD_ID",
  "CODEX_SANDBOX",
  "CODEX_SANDBOX_NETWORK_DISABLED",
  "OPENCODE",
  "OPENCODE_SESSION_ID",
];

type AgentResult = { agent: Agent } | { error: string; hint: string };

/** `ai`: one of AGENTS, or a command line. */
export function agentFor(ai: string, options: AgentOptions): AgentResult {
  const known = knownAs(ai.trim());
  return known ? knownAgent(known, options) : anyAgent(ai.trim(), options);
}

function knownAgent(name: AgentName, options: AgentOptions): AgentResult {
  const client = CLIENTS[name];
  const { session, root, model, permissions = "edits", budget_usd, hooks = null } = options;
  if (name === "claude" && permissions === "skip" && root)
    return {
      error: "Claude Code does not skip permissions for root",
      hint: "run the loop as another user, or remove `permissions: skip` and list the commands it may run in permissions.allow of .claude/settings.local.json",
    };
  const words = [
    ...client.argv,
    ...(client.session?.(session) ?? []),
    ...(permissions === "settings" ? [] : client[permissions]),
    ...(model === undefined ? [] : ["--model", model]),
    ...(budget_usd === undefined ? [] : (client.budget?.(budget_usd) ?? [])),
    ...(hooks === null ? [] : (client.hooks?.(hooks) ?? [])),
  ];
  const hint = `install it (npm install -g ${client.install}), or choose another agent with --ai or a command line with --ai-cmd`;
  const { format } = client;
  return resolve({ name, format, session: client.session ? session : null }, words, options, hint);
}

function anyAgent(line: string, options: AgentOptions): AgentResult {
  const split = splitCommand(line);
  if ("error" in split) return split;
  const [program = ""] = split.words;
  const hint = `give its full path, or fix PATH; known agents are ${AGENTS.join(", ")}`;
  const about = { name: programName(program), format: findFormat(split.words), session: null };
  return resolve(about, split.words, options, hint);
}

const programName = (program: string) => program.slice(program.lastIndexOf("/") + 1);

/** A person's own command line for an agent we know, with its structured output turned on. */
function findFormat(words: string[]): OutputFormat {
  const given = words.slice(1).flatMap((word) => word.split("="));
  const client = programName(words[0] ?? "");
  if (client === "claude" && given.some((word) => /^(?:stream-)?json$/.test(word))) return "claude";
  if (client === "codex" && given.includes("exec") && given.includes("--json")) return "codex";
  if (client === "gemini" && given.includes("json")) return "gemini";
  return client === "opencode" && given.includes("json") ? "opencode" : "text";
}

/** The full path, so that a later change of PATH or folder starts nothing else. */
function resolve(
  about: Pick<Agent, "name" | "format" | "session">,
  [program = "", ...rest]: string[],
  { env: given = process.env }: AgentOptions,
  hint: string,
): AgentResult {
  const path = Bun.which(program, { PATH: given.PATH ?? "" });
  if (path === null) return { error: `${program} was not found${program.includes("/") ? "" : " on the PATH"}`, hint };
  const env = Object.fromEntries(Object.entries(given).filter(([variable]) => !NESTED.includes(variable)));
  return { agent: { ...about, argv: [path, ...rest], env } };
}
