/** Go: `go test` starts each test binary through a script of ours, which asks for names and hides what that adds. */
import { readFileSync } from "node:fs";
import { attempt } from "../../kernel/attempt.ts";
import { canRun, type Family } from "./family.ts";
import goexec from "./hooks/goexec.sh" with { type: "text" };

export const go: Family = {
  hooks: { "goexec.sh": goexec },
  env({ hooks }, env) {
    const flags = env.GOFLAGS ?? savedFlags(env);
    const script = `${hooks}/goexec.sh`;
    return /(^|\s)-?-exec\b/.test(flags) || !canRun(script) ? {} : { GOFLAGS: `${flags} -exec=${script}`.trim() };
  },
};

/** `go env -w GOFLAGS=…` keeps them in a file, which the variable would hide. */
function savedFlags({ GOENV, XDG_CONFIG_HOME, HOME = "" }: Record<string, string>): string {
  const settings = process.platform === "darwin" ? `${HOME}/Library/Application Support` : `${HOME}/.config`;
  const text = attempt(() => readFileSync(GOENV ?? `${XDG_CONFIG_HOME ?? settings}/go/env`, "utf8"), "");
  return /^GOFLAGS=(.*)$/m.exec(text)?.[1] ?? "";
}
