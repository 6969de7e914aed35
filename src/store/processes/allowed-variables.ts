/**
 * The variables that a gate's command may have from its surroundings. Everything else is left out: who calls must not
 * decide what a check does. They choose places, languages, proxies and toolchains; none of them makes a program load code
 * that no one named (loader-variables.ts). The person adds others by name: `pawl trust --env NAME`.
 */

/** "*" stands for anything within a name. Proxies are written in small letters, too. */
const ALLOWED: readonly string[] = [
  "PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TZ TMPDIR TMP TEMP CI HOSTNAME",
  "XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_RUNTIME_DIR XDG_DATA_DIRS DISPLAY WAYLAND_DISPLAY",
  "GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL",
  // Network and certificates
  "HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy ftp_proxy all_proxy no_proxy",
  "SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS REQUESTS_CA_BUNDLE CURL_CA_BUNDLE PIP_CERT CARGO_HTTP_CAINFO",
  "NIX_SSL_CERT_FILE AWS_CA_BUNDLE",
  // JavaScript
  "NVM_DIR NVM_BIN FNM_DIR VOLTA_HOME NODENV_ROOT N_PREFIX COREPACK_HOME PNPM_HOME BUN_INSTALL DENO_DIR DENO_INSTALL",
  "PLAYWRIGHT_BROWSERS_PATH CYPRESS_CACHE_FOLDER CHROME_BIN CHROME_PATH PUPPETEER_EXECUTABLE_PATH PUPPETEER_CACHE_DIR",
  // Python, Ruby, PHP, Perl, Elixir
  "PYENV_ROOT PYENV_VERSION VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV CONDA_EXE UV_CACHE_DIR UV_PYTHON POETRY_HOME",
  "PIPX_HOME GEM_HOME GEM_PATH RBENV_ROOT RBENV_VERSION rvm_path BUNDLE_PATH COMPOSER_HOME PERLBREW_ROOT MIX_HOME HEX_HOME",
  // JVM, .NET, Android, Apple
  "JAVA_HOME JDK_HOME M2_HOME MAVEN_HOME GRADLE_HOME GRADLE_USER_HOME SDKMAN_DIR KOTLIN_HOME SCALA_HOME DOTNET_ROOT",
  "DOTNET_CLI_HOME NUGET_PACKAGES ANDROID_HOME ANDROID_SDK_ROOT ANDROID_NDK_HOME FLUTTER_ROOT PUB_CACHE SDKROOT",
  "DEVELOPER_DIR MACOSX_DEPLOYMENT_TARGET",
  // Compiled languages
  "GOPATH GOROOT GOBIN GOCACHE GOMODCACHE GOPROXY GOPRIVATE GONOPROXY GONOSUMDB GOSUMDB GOTOOLCHAIN CGO_ENABLED",
  "CARGO_HOME RUSTUP_HOME RUSTUP_TOOLCHAIN CARGO_TARGET_DIR STACK_ROOT CABAL_DIR GHCUP_INSTALL_BASE_PREFIX OPAMROOT",
  "CC CXX AR CPPFLAGS CFLAGS CXXFLAGS LDFLAGS PKG_CONFIG_PATH CMAKE_PREFIX_PATH",
  // Version managers, package managers, containers
  "ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR MISE_CACHE_DIR HOMEBREW_PREFIX NIX_PATH NIX_PROFILES",
  "DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG DOCKER_CERT_PATH DOCKER_TLS_VERIFY KUBECONFIG",
].flatMap((names) => names.split(" "));

const PATTERN = new RegExp(`^(?:${ALLOWED.map((name) => name.replaceAll("*", "[A-Z]+")).join("|")})$`);

export const isAllowedVariable = (name: string): boolean => PATTERN.test(name);

/** Pawl's own process for a check has the same variables as the command: these would change what that process does. */
const NEVER = /^(?:PAWL.*|BUN_(?!INSTALL$).*|LD_PRELOAD|PWD|OLDPWD|SHLVL|_)$/s;

/** Why the person cannot add this name; null: they can. */
export function cannotAdd(name: string): string | null {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name)) return "is not the name of a variable";
  return NEVER.test(name) ? "is never handed to a check" : null;
}
