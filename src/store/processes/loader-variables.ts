/**
 * Environment variables that make an ordinary program load code no one named, run another program instead, or leave
 * tests out. A gate's command proves nothing if one of them can come from a settings file: they are taken out of what
 * the command inherits, and a gate's own `env` must not set them. A gate that needs one has it in its command
 * (`env PYTHONPATH=src pytest`), where it is seen when the command is trusted.
 *
 * Left alone, since they choose places, compilers or people, not hidden code: HOME, CC, RUSTFLAGS, CARGO_TARGET_DIR,
 * VIRTUAL_ENV, GEM_HOME, BUN_INSTALL, proxies, the names in GIT_AUTHOR_* and GIT_COMMITTER_*.
 */

/** "*" stands for anything within a name; large and small letters are the same (npm reads both). */
export const LOADER_VARIABLES: readonly string[] = [
  // Where programs are found. What is inherited stays, without its relative entries.
  "PATH",
  // The dynamic linker and the libraries below it
  "LD_* DYLD_* GCONV_PATH OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES",
  // Shells: files read at the start, functions that shadow commands, options like -n
  "BASH_ENV ENV BASH_FUNC_* SHELLOPTS BASHOPTS PROMPT_COMMAND PS4 ZDOTDIR CDPATH",
  // JavaScript
  "NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE BUN_OPTIONS BUN_BE_BUN BUN_INSPECT* BUN_JSC_* BUN_BYTECODE_* ELECTRON_RUN_AS_NODE",
  "NPM_CONFIG_SCRIPT_SHELL NPM_CONFIG_NODE_OPTIONS NPM_CONFIG_IGNORE_SCRIPTS NPM_CONFIG_IF_PRESENT",
  "NPM_CONFIG_DRY_RUN",
  // Python: also -O, which drops assertions
  "PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONINSPECT PYTHONOPTIMIZE PYTHONBREAKPOINT PYTHONWARNINGS",
  "PYTHONEXECUTABLE PYTHONUSERBASE PYTHONPLATLIBDIR PYTEST_ADDOPTS PYTEST_PLUGINS",
  // Perl, Ruby, PHP, Lua
  "PERL5OPT PERL5LIB PERL5DB PERLLIB RUBYOPT RUBYLIB SPEC_OPTS PHPRC PHP_INI_SCAN_DIR LUA_INIT* LUA_PATH*",
  "LUA_CPATH*",
  // JVM and .NET
  "JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS JAVA_OPTS CLASSPATH MAVEN_OPTS MAVEN_ARGS GRADLE_OPTS",
  "SBT_OPTS DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS CORECLR_* COR_*",
  // Compiled languages: programs put around the compiler or the tests
  "GOFLAGS GOENV RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER CARGO_BUILD_RUSTC* CARGO_TARGET_*_RUNNER",
  "CARGO_TARGET_*_LINKER",
  // make: -n passes without doing anything
  "MAKEFLAGS MFLAGS GNUMAKEFLAGS MAKEFILES",
  // git: another repository, another configuration, programs for ssh, diff, pager, editor
  "GIT_*",
].flatMap((names) => names.split(" "));

/** Nothing is loaded through these, and tests that commit need them. */
const HARMLESS = /^(GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)|GIT_TERMINAL_PROMPT)$/i;

const PATTERN = new RegExp(`^(?:${LOADER_VARIABLES.map((name) => name.replaceAll("*", ".*")).join("|")})$`, "is");

export const isLoaderVariable = (name: string): boolean => PATTERN.test(name) && !HARMLESS.test(name);

/** The environment for a program, without these variables and those the caller names. */
export function cleanVariables(from: Record<string, string | undefined>, others: RegExp): Record<string, string> {
  const isKept = (entry: [string, string | undefined]): entry is [string, string] =>
    entry[1] !== undefined && !others.test(entry[0]) && !isLoaderVariable(entry[0]);
  return Object.fromEntries(Object.entries(from).filter(isKept));
}
