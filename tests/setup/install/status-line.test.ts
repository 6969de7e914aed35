import { describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import {
  lineIn,
  statusCommand,
  withHooks,
  withoutHooks,
  withoutStatusLine,
  withStatusLine,
} from "../../../src/setup/install/settings.ts";
import { SETTINGS } from "./ground.ts";

interface Line {
  type: string;
  command: string;
  padding?: number;
  refreshInterval?: number;
}

const BINARY = ".local/share/pawl/bin/pawl";
/** Another reader than the code under test uses. */
const read = (text: string) => Bun.JSONC.parse(text.replace("\uFEFF", "")) as Record<string, Line | undefined>;
const lined = (text: string, elsewhere = lineIn(null, "x")) => withStatusLine(text, elsewhere).text;

/** As `init` does it, and as `uninstall` does it when the file is no longer as it was left. */
function thereAndBack(text: string): { there: string; back: string } {
  const hooked = withHooks(text, "local");
  if (!hooked.ok) throw new Error(hooked.why);
  const there = lined(hooked.text);
  const bare = withoutHooks(there, text);
  if (!bare.ok) throw new Error(bare.why);
  return { there, back: withoutStatusLine(bare.text, text).text };
}

const theirs = (command: string) => JSON.stringify({ statusLine: { type: "command", command, padding: 2 } }, null, 2);

/** What a shell makes of it, where there is no Pawl, and where one says what it was called with. */
function shown(command: string, pawl: string | null): string {
  const home = pawl === null ? "/nonexistent" : pawl;
  const { stdout } = Bun.spawnSync(["/bin/sh", "-c", command], { env: { HOME: home, PATH: "/usr/bin:/bin" } });
  return stdout.toString();
}

describe("what a person has comes back to the byte", () => {
  const samples = {
    ...SETTINGS,
    "a line of its own": theirs("date"),
    "a line with CRLF": theirs("date").replaceAll("\n", "\r\n"),
    "escapes of one's own": '{"statusLine":{"command":"echo \\u0041 \\/ \\"x\\"","type":"command"},"z":1}',
    "quotes and lines": theirs(`printf '%s\n' "it's" 'a "b"'`),
    "a line that is none": '{\n  "statusLine": false\n}\n',
  };
  const LOOSE = ["empty", "an empty object on two lines", "commas too many", "odd spacing"];
  for (const [name, text] of Object.entries(samples)) {
    test(name, () => {
      const { there, back } = thereAndBack(text);
      const again = lined(there);
      expect(again).toBe(there);
      if (!LOOSE.includes(name)) expect(back).toBe(text);
      if (name !== "empty") expect(read(back)).toEqual(read(text));
    });
  }
  test("random commands, in odd clothes", () => {
    const text = fc.record({
      command: fc.string({ unit: fc.constantFrom("'", '"', "\\", "$", "\n", "a", " ", "#", ";", "--wrap", "`", "é") }),
      rest: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 }),
      indent: fc.constantFrom(0, 1, 4, "\t"),
      first: fc.boolean(),
    });
    fc.assert(
      fc.property(text, ({ command, rest, indent, first }) => {
        const line = { padding: 1, command, type: "command" };
        const value = first ? { statusLine: line, ...rest } : { ...rest, statusLine: line };
        const before = JSON.stringify(value, null, indent);
        const { there, back } = thereAndBack(before);
        expect(read(there).statusLine).toMatchObject({ type: "command", padding: 1 });
        expect(back).toBe(before);
        expect(lined(there)).toBe(there);
      }),
      { numRuns: 200 },
    );
  });
});

describe("the command", () => {
  test("without a line of theirs it is guarded like the hooks", () => {
    const { statusLine } = read(lined("{}"));
    expect(statusLine).toEqual({ type: "command", command: statusCommand(null), refreshInterval: 5 });
    expect(statusLine?.command).toStartWith("cd /; unset BUN_OPTIONS BUN_BE_BUN; ");
    expect(statusLine?.command).toEndWith('exec "$p" statusline');
    expect(shown(statusCommand(null), null)).toBe("");
  });
  const commands = ["echo hello", `printf "%s" 'it'"'"'s'`, "echo a; echo b # c", "echo 'x\ny' | cat", "exit 3"];
  test.each(commands)("without Pawl theirs is shown as before: %s", (command) => {
    expect(shown(statusCommand({ command, from: null }), null)).toBe(shown(command, null));
  });
  test.each(commands)("with Pawl it is handed over as it is: %s", (command) => {
    const home = mkdtempSync(join(tmpdir(), "pawl-line-"));
    mkdirSync(join(home, BINARY, ".."), { recursive: true });
    writeFileSync(join(home, BINARY), '#!/bin/sh\nprintf "%s|" "$PWD" "$@"\n', { mode: 0o755 });
    const said = shown(statusCommand({ command, from: "~/.claude/settings.json" }), home);
    rmSync(home, { recursive: true });
    expect(said).toBe(`${process.cwd()}|statusline|--wrap|${command}|`);
  });
  test("a deleted working folder does no harm", () => {
    const command = statusCommand({ command: "echo hello", from: null });
    const home = mkdtempSync(join(tmpdir(), "pawl-line-"));
    mkdirSync(join(home, BINARY, ".."), { recursive: true });
    writeFileSync(join(home, BINARY), "#!/bin/sh\npwd -P\n", { mode: 0o755 });
    const script = 'mkdir "$HOME/gone" && cd "$HOME/gone" && rmdir "$HOME/gone" && exec /bin/sh -c "$COMMAND"';
    const env = { HOME: home, PATH: "/usr/bin:/bin", COMMAND: command };
    const { stdout } = Bun.spawnSync(["/bin/sh", "-c", script], { env });
    rmSync(home, { recursive: true });
    expect(stdout.toString()).toBe("/\n");
  });
  test("an interval of theirs stays theirs, before and after", () => {
    const text = '{"statusLine":{"type":"command","command":"date","refreshInterval":5}}';
    expect(read(lined(text)).statusLine).toMatchObject({ refreshInterval: 5 });
    expect(withoutStatusLine(lined(text), text)).toEqual({ text });
  });
  test("its other fields stay", () => {
    const { statusLine } = read(lined(theirs("date")));
    expect(statusLine).toEqual({
      type: "command",
      command: statusCommand({ command: "date", from: null }),
      padding: 2,
      refreshInterval: 5,
    });
  });
});

describe("theirs is in another file", () => {
  const user = "~/.claude/settings.json";
  const elsewhere = lineIn(theirs("date"), user);
  const text = lined('{\n  "a": 1\n}\n', elsewhere);
  test("ours runs it, and takes its padding", () => {
    expect(read(text).statusLine).toEqual({
      type: "command",
      command: statusCommand({ command: "date", from: user }),
      padding: 2,
      refreshInterval: 5,
    });
  });
  test("ours goes altogether, with and without the record", () => {
    expect(withoutStatusLine(text, '{\n  "a": 1\n}\n')).toEqual({ text: '{\n  "a": 1\n}\n' });
    expect(withoutStatusLine(text, text)).toEqual({ text: '{\n  "a": 1\n}\n' });
  });
  test("it follows when theirs is another one, or gone", () => {
    const other = lined(text, lineIn(theirs("uptime"), user));
    expect(read(other).statusLine?.command).toBe(statusCommand({ command: "uptime", from: user }));
    expect(read(lined(text)).statusLine).toEqual({ type: "command", command: statusCommand(null), refreshInterval: 5 });
  });
  test("what the host does not read does not count", () => {
    expect(lineIn(`// mine\n${theirs("date")}`, user)).toBeNull();
    expect(lineIn('{"statusLine":"date"}', user)).toBeNull();
    expect(lineIn("[]", user)).toBeNull();
  });
});

describe("left alone, and said so", () => {
  const cases: [string, string, string][] = [
    ["no command", '{"statusLine":{"type":"command"}}', "is not a command"],
    ["calls us by itself", theirs("echo hi; pawl statusline"), "calls `pawl statusline` itself"],
    ["ours in other words", theirs(`$HOME/${BINARY} statusline --wrap date`), "in your own way"],
  ];
  test.each(cases)("at init: %s", (_, text, note) => {
    const edited = withStatusLine(text, null);
    expect(edited.text).toBe(text);
    expect(edited.note).toContain(note);
  });
  const wrapped = lined(theirs("date"));
  const edits: [string, string, string, string][] = [
    ["theirs again, another", theirs("uptime"), theirs("uptime"), "was changed since"],
    ["what ours runs", wrapped.replace("w='date'", "w='uptime'"), theirs("uptime"), "kept as it is now"],
    ["beyond recognition", wrapped.replace("w='date'", "w=date"), wrapped.replace("w='date'", "w=date"), "by hand"],
  ];
  test.each(edits)("at uninstall: %s", (_, now, back, note) => {
    const edited = withoutStatusLine(now, theirs("date"));
    expect(edited.text).toBe(back);
    expect(edited.note).toContain(note);
  });
  test("nothing is said of what nobody touched", () => {
    expect(withoutStatusLine(theirs("date"), theirs("date"))).toEqual({ text: theirs("date") });
  });
});
