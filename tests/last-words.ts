/** A process at a terminal may be gone before its last words are read. What it left behind may keep the terminal open. */
const PATIENCE_MS = 5_000;

export function lastWords() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { exit: () => resolve(), heard: () => Promise.race([promise, Bun.sleep(PATIENCE_MS)]) };
}
