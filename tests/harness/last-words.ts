/** A process at a terminal may be gone before its last words are read. What it left behind may keep the terminal open. */
const PATIENCE_MS = 5_000;

export function lastWords() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { exit: () => resolve(), heard: () => Promise.race([promise, Bun.sleep(PATIENCE_MS)]) };
}

/** What a command shows a person who only looks. */
export async function atTerminal(cmd: string[], where: { cwd: string; env: Record<string, string> }, cols: number) {
  const decoder = new TextDecoder();
  let screen = "";
  const data = (_: unknown, bytes: Uint8Array) => {
    screen += decoder.decode(bytes, { stream: true });
  };
  const words = lastWords();
  const child = Bun.spawn(cmd, { ...where, terminal: { cols, rows: 50, data, exit: words.exit } });
  const code = await child.exited;
  await words.heard();
  child.terminal?.close();
  return { code, screen };
}
