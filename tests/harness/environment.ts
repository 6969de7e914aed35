/** This process with another environment, for as long as something is done in it. */
export function withEnvironment<T>(env: Record<string, string>, work: () => T): T {
  const before = { ...process.env };
  replaceEnvironment(env);
  try {
    return work();
  } finally {
    replaceEnvironment(before);
  }
}

function replaceEnvironment(env: Record<string, string | undefined>): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
}
