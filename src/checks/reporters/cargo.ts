/** Rust: cargo and nextest start each test binary through a script of ours. Documentation tests have no names there. */
import { readFileSync } from "node:fs";
import { attempt } from "../../kernel/attempt.ts";
import { canRun, type Family, type ReportPlace } from "./family.ts";
import runner from "./hooks/cargo-runner.sh" with { type: "text" };

export const cargo: Family = {
  hooks: { "cargo-runner.sh": runner },
  env(place, env) {
    const script = `${place.hooks}/cargo-runner.sh`;
    if (hasRunner(place, env) || !canRun(script)) return {};
    return Object.fromEntries(hostTriples().map((triple) => [`CARGO_TARGET_${triple}_RUNNER`, script]));
  },
};

/** Those that this machine runs: asking rustc could install a toolchain. */
function hostTriples(): string[] {
  const machine = process.arch === "arm64" ? "AARCH64" : "X86_64";
  const systems = process.platform === "darwin" ? ["APPLE_DARWIN"] : ["UNKNOWN_LINUX_GNU", "UNKNOWN_LINUX_MUSL"];
  return systems.map((system) => `${machine}_${system}`);
}

/** A runner of the project's own stays. */
const hasRunner = ({ root }: ReportPlace, { HOME, CARGO_HOME = `${HOME}/.cargo` }: Record<string, string>) =>
  [`${root}/.cargo`, CARGO_HOME]
    .flatMap((folder) => [`${folder}/config.toml`, `${folder}/config`])
    .some((file) => /^\s*(?:target\..*\.)?runner\s*=/m.test(attempt(() => readFileSync(file, "utf8"), "")));
