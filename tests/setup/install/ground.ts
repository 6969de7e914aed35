/** A project to install into, and what it looks like afterwards, to the byte. */
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makePlace, PAWL, type Place } from "../../harness/harness.ts";

/** The binary is already where hooks call it: copying 100 MB is tested once, elsewhere. */
export function ground(files: Record<string, string> = {}, options: { git?: boolean } = {}): Place {
  const place = makePlace(options);
  const bin = join(place.home, ".local/share/pawl/bin");
  mkdirSync(bin, { recursive: true });
  symlinkSync(PAWL, join(bin, "pawl"));
  for (const [path, text] of Object.entries(files)) put(place.root, path, text);
  return place;
}

export function put(base: string, path: string, text: string): void {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text);
}

/** Every name below a folder with its kind, rights and content. */
export function snapshot(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  return Object.fromEntries(names.map((name) => [name, describe(join(folder, name))]));
}

function describe(path: string): string {
  const found = lstatSync(path);
  const mode = (found.mode & 0o7777).toString(8);
  if (found.isSymbolicLink()) return `link ${readlinkSync(path)}`;
  if (found.isDirectory()) return `folder ${mode}`;
  return found.isFile() ? `file ${mode} ${readFileSync(path, "latin1")}` : "other";
}

/** Settings as people have them. */
export const SETTINGS: Record<string, string> = {
  empty: "",
  "an empty object": "{}",
  "an empty object on two lines": "{\n}\n",
  "two spaces": '{\n  "model": "opus",\n  "env": { "A": "1" }\n}\n',
  tabs: '{\n\t"permissions": {\n\t\t"allow": ["Bash(ls:*)"]\n\t}\n}\n',
  "four spaces and CRLF": '{\r\n    "model": "opus",\r\n    "hooks": {\r\n        "Stop": []\r\n    }\r\n}\r\n',
  "no newline at the end": '{\n  "model": "opus"\n}',
  minified: '{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]},"z":[1,2]}',
  "a byte order mark": '\uFEFF{\n  "model": "opus"\n}\n',
  "an empty hooks": '{\n  "hooks": {},\n  "model": "opus"\n}\n',
  "hooks of others": `{
  "hooks": {
    "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "lint", "timeout": 5 }] }],
    "Stop": [
      {
        "hooks": [
          { "type": "command", "command": "say done" },
          { "type": "http", "url": "http://localhost/x" }
        ]
      }
    ]
  },
  "statusLine": { "type": "command", "command": "date" }
}
`,
  comments: `// mine
{
  /* the model */ "model": "opus", // not sonnet
  "hooks": {
    // nothing yet
  } // until here
  /* end */
}
// bye
`,
  "commas too many": '{\n  "model": "opus",\n  "hooks": { "Stop": [], },\n}\n',
  "odd spacing": '  {"a"  :1 ,\n\n      "hooks"\n:\n{ "Notification" :[ ] , "X":7}}   \n\n',
  "keys that are special": '{"__proto__": {"a": 1}, "constructor": 2, "a": 1, "a": 2}',
};
