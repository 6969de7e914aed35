import { COMMANDS } from "../../src/cli/index.ts";
import { fenced, GENERATED, page, table } from "./markdown.ts";

const EXIT_CODES = [
  ["0", "done, or nothing to do"],
  ["1", "refused, not found, or problems were found"],
  ["2", "wrong usage; for `init` and `uninstall` also: not confirmed"],
  ["3", "an error of Pawl's own: please report it"],
];

/** Every variable the program reads; a test compares the names with the sources. */
export const ENVIRONMENT: Record<string, string> = {
  PAWL: "`0` switches every hook off, for everything below that shell",
  HOME: "whose sessions, settings and own workflows count",
  PATH: "where `git` is looked for",
  NO_COLOR: "set: `pawl demo` shows no colours",
  DISPLAY: "where a browser can be shown; `pawl demo` hands it on to the dashboard",
  WAYLAND_DISPLAY: "as `DISPLAY`",
  TERM: "`dumb`: `pawl demo` shows no colours",
  PAWL_LOOP_MAX_ITERATIONS: "how often `pawl loop` asks at most, or `unlimited`; a flag or the procedure counts more",
  PAWL_LOOP_FAILURE_THRESHOLD: "so many failures in a row end a loop; a flag or the procedure counts more",
  PAWL_LOOP_TIMEOUT: "how long one iteration may take: seconds, or as `30m`; a flag or the procedure counts more",
  PAWL_LOOP_TIME_LIMIT: "how long a whole loop may take: seconds, or as `8h`; a flag counts more",
  PAWL_LOOP_BUDGET: "how many US dollars a whole loop may cost; a flag counts more",
  PAWL_LOOP_AI: "which agent a loop starts: a name or a command line; a flag counts more",
  PAWL_LOOP_PERMISSIONS: "what Claude may do unasked in a loop: `edits`, `settings` or `skip`; a flag counts more",
  PAWL_LOOP_BUFFER: "how many bytes of an iteration's output are kept; a flag counts more",
  BUN_BYTECODE_ORDER_OUT: "Bun's own: the build has it written down which parts of Pawl a hook uses",
  PAWL_GATE: "set for the commands of gates: `pawl verify` does not wait for a gate that called it",
  AI_AGENT: "set by Claude Code: its version, which decides how an answer is put",
  CLAUDE_CONFIG_DIR: "where Claude Code keeps your own settings, if not in `~/.claude`; `pawl doctor` looks there",
  CLAUDE_CODE_ENTRYPOINT:
    "set by Claude Code: begins with `sdk` when no person is watching; Pawl then prints no greeting",
  CLAUDE_CODE_SESSION_ID:
    "set by Claude Code in the agent's shell: `pawl runs start` offers the run to that session, `pawl task` claims in its name",
};

const HOOK = `## pawl hook

What the agent's client calls; \`pawl init\` and the plugin set it up.

${fenced("pawl hook claude|auto [--via local|project|user|plugin]")}

One JSON object on stdin, one JSON object or nothing on stdout (before a compaction: plain text). The exit code is
always 0. \`auto\` finds out from the payload which client calls. \`--via\` says where the hook was installed, so that a
double installation gives one answer.`;

export async function cliReference(): Promise<string> {
  const commands = Object.entries(COMMANDS);
  const sections = await Promise.all(
    commands.map(async ([name, { load, about }]) => {
      const { usage } = await load();
      return `## pawl ${name}\n\n${sentence(about)}\n\n${fenced(usage)}`;
    }),
  );
  const rows = commands.map(([name, { about }]) => [`[\`pawl ${name}\`](#pawl-${name})`, about]);
  return page(
    "# Commands",
    GENERATED,
    table(["command", "what it does"], [...rows, ["[`pawl hook`](#pawl-hook)", "what the agent's client calls"]]),
    "`pawl help` shows the usual ones, `pawl help all` every one, `pawl help shortcuts` what you can type in a session, `pawl <command> --help` what is below, `pawl --version` the version.",
    ...sections,
    HOOK,
    "## Exit codes",
    table(["code", "means"], EXIT_CODES),
    "An error is told on stderr: what is wrong, then a line `hint:` with what to do.",
    "## Environment",
    table(
      ["variable", "means"],
      Object.entries(ENVIRONMENT).map(([name, about]) => [`\`${name}\``, about]),
    ),
  );
}

const sentence = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
