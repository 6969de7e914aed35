/** Where each agent is told what it may do unattended. */

type What = "edit" | "command" | "git";

interface Place {
  edit: string;
  command: (command: string) => string;
  /** git ran, and could not write its own files */
  git?: string;
}

const LOCAL = "permissions.allow of .claude/settings.local.json";

/** A rule is for one command: changing the folder needs none, and who commits has to add first. */
function bashRules(command: string): string {
  const own = command.replace(/^cd \S+ && /, "");
  return own === "git commit" ? '"Bash(git add:*)" and "Bash(git commit:*)"' : `"Bash(${own}:*)"`;
}

const PLACES: Record<string, Place> = {
  claude: {
    edit: `add "Edit" and "Write" to ${LOCAL}, and look for a rule in permissions.deny`,
    command: (command) => `add ${bashRules(command)} to ${LOCAL}`,
    git: "let it write to .git: look at the sandbox settings in .claude/settings.json",
  },
  codex: {
    edit: 'set sandbox_mode = "workspace-write" in ~/.codex/config.toml',
    command: () => 'set sandbox_mode = "workspace-write" in ~/.codex/config.toml',
    git: "its sandbox keeps .git read-only: add .git to writable_roots in ~/.codex/config.toml",
  },
  copilot: {
    edit: 'start it with --ai-cmd "copilot --no-color --allow-tool write"',
    command: (command) =>
      `start it with --ai-cmd "copilot --no-color --allow-tool write --allow-tool 'shell(${command})'"`,
  },
  gemini: {
    edit: "trust this folder in gemini, and set its approval mode to auto_edit",
    command: (command) => `add "run_shell_command(${command})" to tools.allowed in .gemini/settings.json`,
  },
  qwen: {
    edit: "set its approval mode to auto-edit in .qwen/settings.json",
    command: (command) => `add "run_shell_command(${command})" to tools.allowed in .qwen/settings.json`,
  },
  opencode: {
    edit: 'set permission.edit to "allow" in opencode.json',
    command: () => 'set permission.bash to "allow" in opencode.json',
  },
};

const ANY: Place = {
  edit: "let it write files: its own settings, or other options in --ai-cmd",
  command: (command) => `let it run \`${command}\`: its own settings, or other options in --ai-cmd`,
};

export function allowing(agent: string, what: What, command: string): string {
  const place = Object.hasOwn(PLACES, agent) ? PLACES[agent]! : ANY;
  if (what === "edit") return place.edit;
  return what === "git" ? (place.git ?? "let it write to .git") : place.command(command);
}
