import { CONFIG_SHOWN, compileConfig } from "../definitions/config.ts";
import { configPath } from "../definitions/shortcuts.ts";
import { UserError } from "../kernel/user-error.ts";
import { formatAlert } from "../notify/call.ts";
import { desktopProgram } from "../notify/channels.ts";
import { buildMessage, type Notice } from "../notify/notice.ts";
import { sendNow, sendSoon, tell } from "../notify/send.ts";
import { type NotifySettings, readSettings, switched } from "../notify/settings.ts";
import { silentRuns } from "../notify/silence.ts";
import { makeDirs, readText, writeAtomic } from "../store/files.ts";
import { homeDir } from "../store/home.ts";
import { dirname } from "../store/names.ts";
import { type Io, type Parsed, projectRoot } from "./shared/args.ts";
import { refuseAgent } from "./shared/confirm.ts";

export const usage = `usage: pawl notify [on|off] [--test] [--watch]

Off by default. With \`pawl notify on\` you get notified when a run asks, stops, stalls, ends or falls silent, and when
Claude asks for a permission or waits for you. Without arguments, shows the current setting and what works here.

  on, off     write \`notify: on\` or \`off\` to ${CONFIG_SHOWN}; the rest of the file stays
  --test      send one notification now
  --watch     keep looking for runs that fall silent, until you stop it

Channels are set in the same file, never in a repository:
  notify:
    bell: on                         the session's terminal: its bell and, for a moment, its title
    desktop: on                      notify-send or osascript, where there is one
    command: [ntfy, publish, me]     a program: JSON on stdin, PAWL_NOTIFY_* in its environment, no shell, 10 seconds
    batch: 5                         seconds; what comes within this time is sent as one
    silent: 15                       minutes without a sign of life; or never`;

export const options = ["--test", "--watch", "--send"];

export async function run({ words, flags }: Parsed, io: Io): Promise<number> {
  if (flags.has("--send")) {
    await sendSoon();
    return 0;
  }
  const [word, ...more] = words;
  if (more.length > 0 || (word !== undefined && word !== "on" && word !== "off")) {
    const hint = "use `pawl notify on`, `pawl notify off` or `pawl notify --test`";
    throw new UserError(`unknown argument ${more[0] ?? word}`, hint);
  }
  if (word !== undefined) return switchTo(word, io);
  if (flags.has("--test")) return test(io);
  return flags.has("--watch") ? watch(io) : show(io);
}

function switchTo(to: "on" | "off", io: Io): number {
  refuseAgent("turn notifications on or off");
  const path = configPath(homeDir());
  const before = readOrEmpty(path);
  const after = switched(before, to);
  if (after === null || "errors" in compileConfig(after, CONFIG_SHOWN)) {
    const hint = `add \`notify: ${to}\` to it yourself; \`pawl check\` checks it`;
    throw new UserError(`${CONFIG_SHOWN} could not be changed`, hint);
  }
  if (after !== before) {
    makeDirs(dirname(path), 0o700);
    writeAtomic(path, after);
  }
  io.out(`Notifications are ${to} (${CONFIG_SHOWN}${after === before ? ", unchanged" : ""}).\n`);
  if (to === "on") io.out(`${listWays(currentSettings()).join("\n")}\n\`pawl notify --test\` sends one.\n`);
  return 0;
}

function readOrEmpty(path: string): string {
  const file = readText(path, 256 * 1024);
  if (file.ok) return file.text;
  if (file.why === "missing") return "";
  const what = `${CONFIG_SHOWN} cannot be read: ${file.detail ?? file.why}`;
  throw new UserError(what, "check the file and its permissions");
}

function currentSettings(): NotifySettings {
  const settings = readSettings();
  if (!("errors" in settings)) return settings;
  const [problem] = settings.errors;
  throw new UserError(`${problem!.file}:${problem!.line}: ${problem!.message}`, problem!.hint);
}

function show(io: Io): number {
  const settings = currentSettings();
  if (settings.on) io.out(`Notifications are on.\n${listWays(settings).join("\n")}\n`);
  else io.out("Notifications are off. `pawl notify on` turns them on.\n");
  return 0;
}

function listWays({ bell, desktop, command, batch, silent }: NotifySettings): string[] {
  const program = desktopProgram();
  return [
    `  bell      ${bell ? "the session's own terminal" : "off"}`,
    `  desktop   ${desktop ? (program ?? "not available here (notify-send, osascript)") : "off"}`,
    `  command   ${command ? command.join(" ") : "none"}`,
    `  together  what comes within ${batch} s; silent runs ${silent === 0 ? "are not reported" : `are reported after ${silent} min`}`,
  ];
}

async function test(io: Io): Promise<number> {
  const settings = currentSettings();
  if (!settings.on) throw new UserError("notifications are off", "`pawl notify on` turns them on", 1);
  const text = "This is a test: Pawl notifies you like this.";
  const at = new Date().toISOString();
  const notice: Notice = { what: "test", text, root: projectRoot(io), run: "", session: "", at };
  const rung = settings.bell && io.isTTY;
  if (rung) io.out(formatAlert(notice));
  const { desktop, command } = await sendNow(settings, buildMessage([notice]));
  io.out(`  bell      ${rung ? "rung here" : settings.bell ? "not a terminal" : "off"}\n`);
  io.out(`  desktop   ${settings.desktop && desktopProgram() === null ? "not available" : wordFor(desktop, "off")}\n`);
  io.out(`  command   ${wordFor(command, "none")}\n`);
  const arrived = rung || command === null || (desktop === null && desktopProgram() !== null);
  return arrived && !desktop && !command ? 0 : 1;
}

const wordFor = (why: string | null | undefined, without: string) =>
  why === undefined ? without : why === null ? "sent" : `failed: ${why}`;

const LOOK_MS = 15_000;

async function watch(io: Io): Promise<number> {
  const settings = currentSettings();
  if (!settings.on || settings.silent === 0)
    throw new UserError("there is nothing to watch for", "run `pawl notify on`, and remove `silent: never`", 1);
  io.out(`Looking for runs that are silent for ${settings.silent} min. Ctrl+C stops it.\n`);
  for (;;) {
    const notices = silentRuns(Date.now(), settings.silent);
    for (const notice of notices) io.out(`${settings.bell && io.isTTY ? formatAlert(notice) : ""}${notice.text}\n`);
    await tell(notices);
    await Bun.sleep(LOOK_MS);
  }
}
