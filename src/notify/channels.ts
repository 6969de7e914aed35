/** The channels. Each returns null if it worked, otherwise why not; none delays the others. */
import { messageOf as reason } from "../store/files.ts";
import { homeDir } from "../store/home.ts";
import { cleanEnvironment } from "../store/processes/command.ts";
import { endGroup } from "../store/processes/process.ts";
import { type Message, projectName } from "./notice.ts";

const LIMIT_MS = 10_000;

// ── The person's own program ─────────────────────────────────────────────

export function byCommand(argv: string[], message: Message): Promise<string | null> {
  return start(argv, `${JSON.stringify(asJson(message))}\n`, buildVariables(message));
}

const asJson = ({ title, text, what, project, notices }: Message) => ({
  v: 1,
  title,
  text,
  what,
  project,
  notices: notices.map(({ unrung: _, ...notice }) => ({ ...notice, project: projectName(notice.root) })),
});

const buildVariables = ({ title, text, what, project, notices }: Message) => ({
  PAWL_NOTIFY_TITLE: title,
  PAWL_NOTIFY_TEXT: text,
  PAWL_NOTIFY_WHAT: what,
  PAWL_NOTIFY_PROJECT: project,
  PAWL_NOTIFY_RUN: notices.length === 1 ? notices[0]!.run : "",
  PAWL_NOTIFY_COUNT: String(notices.length),
});

// ── Desktop ─────────────────────────────────────────────────────────────────

/** null: this machine cannot show notifications. */
export function desktopProgram(): "notify-send" | "osascript" | null {
  const program = process.platform === "darwin" ? "osascript" : "notify-send";
  return whereIs(program) === null ? null : program;
}

export async function byDesktop(message: Message): Promise<string | null> {
  const program = desktopProgram();
  return program === null ? null : start(desktopWords(program, message), "", {});
}

/** The text is always its own argument, never part of a script; notify-send would read it as markup. */
function desktopWords(program: "notify-send" | "osascript", { title, text }: Message): string[] {
  if (program === "notify-send") return [program, "--app-name=Pawl", "--", title, escaped(text)];
  const show = "display notification (item 1 of argv) with title (item 2 of argv)";
  return [program, "-e", "on run argv", "-e", show, "-e", "end run", text, title];
}

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

// ── Starting ────────────────────────────────────────────────────────────────

/** No shell is involved, but people write `~/` for their home. */
export function whereIs(program: string): string | null {
  const name = program.replace(/^~(?=\/)/, () => homeDir());
  if (name.includes("/") && !name.startsWith("/")) return null;
  const folders = (cleanEnvironment(process.env).PATH ?? "").split(":").filter((folder) => folder.startsWith("/"));
  return Bun.which(name, { PATH: folders.join(":") });
}

async function start(argv: string[], input: string, variables: Record<string, string>): Promise<string | null> {
  const [name = "", ...words] = argv;
  const program = whereIs(name);
  if (program === null) return `${name} is not a program on the PATH`;
  try {
    const child = Bun.spawn({
      cmd: [program, ...words],
      cwd: homeDir(),
      env: { ...cleanEnvironment(process.env), ...variables },
      stdin: Buffer.from(input),
      stdout: "ignore",
      stderr: "ignore",
      detached: true,
    });
    const late = Promise.withResolvers<"late">();
    const timer = setTimeout(() => late.resolve("late"), LIMIT_MS);
    const end = await Promise.race([child.exited, late.promise]);
    clearTimeout(timer);
    if (end === 0) return null;
    if (end !== "late") return `${name} ended with ${end}`;
    await endGroup(child.pid);
    return `${name} took longer than ${LIMIT_MS / 1000} s and was ended`;
  } catch (error) {
    return `${name} could not be started: ${reason(error)}`;
  }
}
