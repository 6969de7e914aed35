/** Does what a trial asks for, or not: FAKE says. With "stream-json" among its arguments it reports as Claude Code does. */
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

const mode = process.env.FAKE ?? "";
const prompt = await Bun.stdin.text();
if (process.env.FAKE_LOG) appendFileSync(process.env.FAKE_LOG, "asked\n");

const [, proof = "", nonce = ""] = /Write the file (\S+) with this single line: (\S+)/.exec(prompt) ?? [];
const commands = [...prompt.matchAll(/Run this command exactly .*?: (.+)$/gm)].map(([, command]) => command!);
const streams = process.argv.includes("stream-json");
const denials: object[] = [];
const print = (line: object) => streams && console.log(JSON.stringify(line));
let count = 0;

function tell(name: string, input: object, content: string, is_error: boolean): string {
  const id = `toolu_${count++}`;
  print({ type: "assistant", message: { id, content: [{ type: "tool_use", id, name, input }] } });
  print({ type: "user", message: { content: [{ type: "tool_result", tool_use_id: id, content, is_error }] } });
  return id;
}

function deny(name: string, input: object): void {
  denials.push({ tool_name: name, tool_use_id: tell(name, input, "This command requires approval", true) });
}

function run(command: string): void {
  const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", command], { encoding: "utf8" });
  tell("Bash", { command }, `${status === 0 ? "" : `Exit code ${status}\n`}${stdout}${stderr}`, status !== 0);
}

if (mode === "hang") await new Promise(() => setInterval(() => {}, 1000));
if (mode === "logged-out") {
  console.error("Not logged in · Please run /login");
  process.exit(1);
}
if (mode !== "claims") {
  if (mode === "no-edit") deny("Write", { file_path: proof });
  else if (mode === "wrong-nonce") writeFileSync(proof, "42\n");
  else {
    mkdirSync(dirname(proof), { recursive: true });
    writeFileSync(proof, `${nonce}\n`);
    tell("Write", { file_path: proof }, "File created successfully", false);
  }
  for (const command of commands) {
    const isCommit = command.startsWith("git commit");
    if (mode === "no-shell" || (mode === "no-commit" && isCommit)) deny("Bash", { command });
    else if (mode === "other-git" && isCommit) run("git status --short");
    else if (!(mode === "forgets-tests" && !isCommit)) run(command);
  }
  if (mode === "commits") run("git -c commit.gpgsign=false commit -q --allow-empty -m unasked");
  if (mode === "litters") writeFileSync("litter.txt", "x");
}
const result = "I wrote the file, ran the tests and git commit --dry-run. <promise>SUCCESS</promise>";
print({
  type: "result",
  subtype: "success",
  is_error: false,
  result,
  total_cost_usd: 0.03,
  permission_denials: denials,
});
if (!streams) console.log(result);
