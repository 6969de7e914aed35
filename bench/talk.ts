/** Lines as Claude Code writes them: what people and agents say and do, one second after the other. */

const SOURCE =
  "export function total(items: Item[]) {\n  return items.reduce((sum, item) => sum + item.price, 0);\n}\n";
const GREEN = " Test Files  2 passed (2)\n      Tests  12 passed (12)\n";

interface Talk {
  ask(prompt: string): string;
  say(text: string): string;
  /** What a turn mostly holds: files read, searches, an edit whose result repeats the file, a green run if wanted. */
  work(n: number, verified: boolean): string;
}

let count = 0;

export function talkFrom(start: string): Talk {
  let clock = Date.parse(start);
  const line = (type: string, message: object, extra: object = {}) => {
    clock += 1000;
    count += 1;
    return `${JSON.stringify({ ...entry(type, message, new Date(clock)), ...extra })}\n`;
  };
  const blocks = (...content: object[]) =>
    line("assistant", { model: "claude-opus-4-8", id: `msg_${count}`, type: "message", role: "assistant", content });
  const tool = (name: string, input: object, text: string, toolUseResult: object) => {
    const id = `toolu_${count}`;
    const content = [{ tool_use_id: id, type: "tool_result", content: text }];
    return blocks({ type: "tool_use", id, name, input }) + line("user", { role: "user", content }, { toolUseResult });
  };
  return {
    ask: (prompt) => line("user", { role: "user", content: prompt }, { promptId: `prompt-${count}` }),
    say: (text) => blocks({ type: "text", text }),
    work: (n, verified) => {
      const thinking = { type: "thinking", thinking: "Where is it? ".repeat(40), signature: "A".repeat(400) };
      return blocks(thinking) + callsOn(n, verified, tool);
    },
  };
}

const entry = (type: string, message: object, at: Date) => ({
  parentUuid: `0f5d0d0e-0000-4000-8000-${String(count).padStart(12, "0")}`,
  isSidechain: false,
  type,
  message,
  uuid: `0f5d0d0e-0000-4000-8000-${String(count + 1).padStart(12, "0")}`,
  timestamp: at.toISOString(),
  cwd: "/project",
  sessionId: "bench",
  version: "2.1.197",
  gitBranch: "main",
});

type Tool = (name: string, input: object, text: string, toolUseResult: object) => string;

function callsOn(n: number, verified: boolean, tool: Tool): string {
  const file = SOURCE.repeat(20 + (n % 60));
  const file_path = `/project/src/part-${n}.ts`;
  const found = SOURCE.repeat(10);
  const edit = { file_path, old_string: SOURCE, new_string: SOURCE };
  return [
    ...Array.from({ length: 6 }, () => tool("Read", { file_path }, file, { file: { content: file } })),
    tool("Bash", { command: `grep -rn part-${n} src | head -20` }, found, { stdout: found }),
    tool("Edit", edit, SOURCE.repeat(5), { originalFile: file }),
    verified ? tool("Bash", { command: "npm test" }, GREEN, { stdout: GREEN, stderr: "", interrupted: false }) : "",
  ].join("");
}
