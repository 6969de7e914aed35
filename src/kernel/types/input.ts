/** What came on stdin: parsed, or why it could not be. */
export type Input = { value: unknown } | { failed: string };
