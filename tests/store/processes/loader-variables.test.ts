import { expect, test } from "bun:test";
import { isLoaderVariable, LOADER_VARIABLES } from "../../../src/store/processes/loader-variables.ts";

const LOADERS =
  "PATH Path LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES NODE_OPTIONS BUN_OPTIONS BUN_BE_BUN BUN_INSPECT_PRELOAD BASH_ENV ENV BASH_FUNC_npm%% PYTHONPATH PYTHONOPTIMIZE PYTEST_ADDOPTS PERL5OPT RUBYOPT JAVA_TOOL_OPTIONS _JAVA_OPTIONS GIT_DIR GIT_SSH_COMMAND GIT_CONFIG_COUNT GIT_AUTHOR MAKEFLAGS GOFLAGS CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER npm_config_script_shell NPM_CONFIG_SCRIPT_SHELL DOTNET_STARTUP_HOOKS";
const OTHERS =
  "HOME LANG MYPATH PATHS CARGO_TARGET_DIR GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL GIT_TERMINAL_PROMPT DATABASE_URL CI NODE_ENV NODE_EXTRA_CA_CERTS PYTHONUNBUFFERED BUN_INSTALL JAVA_HOME GOPATH ENVIRONMENT XPATH HTTP_PROXY OLD_LD_PRELOAD npm_config_registry";

test.each(LOADERS.split(" "))("%s loads code", (name) => expect(isLoaderVariable(name)).toBe(true));
test.each(OTHERS.split(" "))("%s does not", (name) => expect(isLoaderVariable(name)).toBe(false));
test("every entry stands for itself, and a line break hides none", () => {
  expect(LOADER_VARIABLES.filter((name) => !isLoaderVariable(name.replaceAll("*", "X")))).toEqual([]);
  expect(isLoaderVariable("LD_A\nB")).toBe(true);
});
