/** How each agent is started for one iteration: program and arguments, never a shell; the prompt comes on stdin. */
import type { AGENTS as NAMES } from "../definitions/schema/loop.ts";
import { splitCommand } from "../kernel/text/command-line.ts";
import type { OutputFormat } from "./core/agent-output.ts";

export type Environment = Record<string, string | undefined>;

export interface Agent {
  name: string;
  argv: string[];
  format: OutputFormat;
  /** false: the prompt is its last argument */
  stdin: boolean;
  /** all of it, for the started process */
  env: Environment;
  /** the session it was given; null: it chooses its own */
  session: string | null;
}

/** edits: files without asking, commands as its settings allow · settings: only those · skip: nobody is asked anything */
export type Permissions = "edits" | "settings" | "skip";

export interface AgentOptions {
  session: string;
  /** running as root */
  root: boolean;
  model?: string;
  permissions?: Permissions;
  /** it ends by itself once it has cost so much, where it can */
  budget_usd?: number;
  /** of this process unless told */
  env?: Environment;
}

type Known = (typeof NAMES)[number];

interface Client {
  format: OutputFormat;
  argv: string[];
  /** gives it the session's id */
  session?: (id: string) => string[];
  model: (name: string) => string[];
  permissions: Record<Permissions, string[]>;
  budget?: (usd: number) => string[];
  install: string;
}

const modelFlag = (name: string) => ["--model", name];

/**
 * Claude Code is measured with 2.1.197. Of the others the headless command itself was run (codex 0.166, gemini 0.61,
 * opencode 1.18, copilot 1.0.102, qwen 0.15.10); prompts on stdin and permission flags are as their makers document.
 */
const CLIENTS: Record<Known, Client> = {
  claude: {
    format: "claude",
    argv: ["claude", "-p", "--output-format", "stream-json", "--verbose"],
    session: (id) => ["--session-id", id],
    model: modelFlag,
    permissions: {
      edits: ["--permission-mode", "acceptEdits"],
      settings: [],
      skip: ["--dangerously-skip-permissions"],
    },
    budget: (usd) => ["--max-budget-usd", String(usd)],
    install: "npm install -g @anthropic-ai/claude-code",
  },
  codex: {
    format: "codex",
    argv: ["codex", "exec", "--json"],
    model: modelFlag,
    permissions: {
      edits: ["--sandbox", "workspace-write"],
      settings: [],
      skip: ["--dangerously-bypass-approvals-and-sandbox"],
    },
    install: "npm install -g @openai/codex",
  },
  copilot: {
    format: "text",
    argv: ["copilot", "--no-color"],
    model: modelFlag,
    permissions: { edits: ["--allow-tool", "write"], settings: [], skip: ["--allow-all-tools"] },
    install: "npm install -g @github/copilot",
  },
  gemini: {
    format: "gemini",
    argv: ["gemini", "-o", "json"],
    model: modelFlag,
    permissions: {
      edits: ["--approval-mode", "auto_edit"],
      settings: [],
      skip: ["--approval-mode", "yolo"],
    },
    install: "npm install -g @google/gemini-cli",
  },
  qwen: {
    format: "text",
    argv: ["qwen"],
    model: modelFlag,
    permissions: {
      edits: ["--approval-mode", "auto-edit"],
      settings: [],
      skip: ["--approval-mode", "yolo"],
    },
    install: "npm install -g @qwen-code/qwen-code",
  },
  opencode: {
    format: "opencode",
    argv: ["opencode", "run", "--format", "json"],
    model: modelFlag,
    permissions: { edits: [], settings: [], skip: [] },
    install: "npm install -g opencode-ai",
  },
};

export const AGENTS = Object.keys(CLIENTS) as Known[];

/** An agent's own marks of its session. Inherited, they would make the new one think that it runs inside of it. */
const NESTED = [
  "CLAUDECODE",
  "CLAUDE_CODE_SESSION_ID",
  "CLAUDE_CODE_ENTRYPOINT",
  "CLAUDE_CODE_CHILD_SESSION",
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

function withoutNested(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !NESTED.includes(name)));
}

type Found = { agent: Agent } | { error: string; hint: string };

/** `ai`: one of AGENTS, or a command line. */
export function agentFor(ai: string, options: AgentOptions): Found {
  const name = ai.trim();
  const known = AGENTS.find((one) => one === name);
  return known ? knownAgent(known, CLIENTS[known], options) : anyAgent(name, options);
}

function knownAgent(name: Known, client: Client, options: AgentOptions): Found {
  const { session, root, model, permissions = "edits", budget_usd } = options;
  if (name === "claude" && permissions === "skip" && root)
    return {
      error: "Claude Code does not skip permissions for root",
      hint: "run the loop as another user, or take `permissions: skip` out and name the commands it may run in permissions.allow of .claude/settings.local.json",
    };
  const words = [
    ...client.argv,
    ...(client.session?.(session) ?? []),
    ...client.permissions[permissions],
    ...(model === undefined ? [] : client.model(model)),
    ...(budget_usd === undefined ? [] : (client.budget?.(budget_usd) ?? [])),
  ];
  const hint = `install it (${client.install}), or name another agent with --ai or a command line with --ai-cmd`;
  return found(name, words, client.format, client.session ? session : null, options, hint);
}

function anyAgent(line: string, options: AgentOptions): Found {
  const split = splitCommand(line);
  if ("error" in split) return split;
  const [program = ""] = split.words;
  const hint = `give its whole path, or mend PATH; agents known by name are ${AGENTS.join(", ")}`;
  return found(nameOf(program), split.words, formatOf(split.words), null, options, hint);
}

const nameOf = (program: string) => program.slice(program.lastIndexOf("/") + 1);

/** Someone's own command line for an agent we know, with its structured output asked for. */
function formatOf(words: string[]): OutputFormat {
  const asked = words.slice(1).flatMap((word) => word.split("="));
  const client = nameOf(words[0] ?? "");
  if (client === "claude" && asked.includes("stream-json")) return "claude";
  if (client === "codex" && asked.includes("exec") && asked.includes("--json")) return "codex";
  if (client === "gemini" && asked.includes("json")) return "gemini";
  return client === "opencode" && asked.includes("json") ? "opencode" : "text";
}

/** The whole path, so that a later change of PATH or folder starts nothing else. */
function found(
  name: string,
  words: string[],
  format: OutputFormat,
  session: string | null,
  { env = process.env }: AgentOptions,
  hint: string,
): Found {
  const [program = "", ...rest] = words;
  const path = Bun.which(program, { PATH: env.PATH ?? "" });
  if (path === null) return { error: `${program} was not found${program.includes("/") ? "" : " on the PATH"}`, hint };
  return { agent: { name, argv: [path, ...rest], format, stdin: true, env: withoutNested(env), session } };
}
