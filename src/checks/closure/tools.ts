/** Programs that take what they run from a file of the project. */

/** Their scripts stand in a JSON file, under a key, by name. */
export interface ScriptTool {
  file: string;
  key: string;
  /** words between the program and the script's name */
  run: string[];
  /** short or different names of scripts */
  alias: ReadonlyMap<string, string[]>;
  /** files that change how it runs them */
  config: string[];
}

const INSTALLING = ["preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare"];
const npm: ScriptTool = {
  file: "package.json",
  key: "scripts",
  run: ["run", "run-script", "rum", "urn"],
  alias: new Map([
    ["t", ["test"]],
    ["tst", ["test"]],
    ["restart", ["restart", "stop", "start"]],
    ["ci", INSTALLING],
    ["i", INSTALLING],
    ["install", INSTALLING],
  ]),
  config: [".npmrc"],
};

export const SCRIPT_TOOLS: Record<string, ScriptTool> = {
  npm,
  yarn: { ...npm, run: ["run"], config: [".yarnrc", ".yarnrc.yml", ".npmrc"] },
  pnpm: { ...npm, config: [".npmrc", ".pnpmfile.cjs", ".pnpmfile.mjs", "pnpm-workspace.yaml"] },
  bun: { ...npm, run: ["run"], config: ["bunfig.toml", ".npmrc", ".env", ".env.local", ".env.test"] },
  composer: {
    file: "composer.json",
    key: "scripts",
    run: ["run", "run-script"],
    alias: new Map(),
    config: [],
  },
  deno: { file: "deno.json", key: "tasks", run: ["task"], alias: new Map(), config: ["deno.jsonc"] },
};

/** The nearest of these files, whole. */
export const FILE_TOOLS: Record<string, string[]> = {
  make: ["GNUmakefile", "makefile", "Makefile"],
  gmake: ["GNUmakefile", "makefile", "Makefile"],
  just: ["justfile", "Justfile", ".justfile"],
  task: ["Taskfile.yml", "taskfile.yml", "Taskfile.yaml", "taskfile.yaml", "Taskfile.dist.yml", "Taskfile.dist.yaml"],
  rake: ["Rakefile", "rakefile", "Rakefile.rb"],
  tox: ["tox.ini"],
  nox: ["noxfile.py"],
  invoke: ["tasks.py"],
  inv: ["tasks.py"],
  turbo: ["turbo.json"],
  ant: ["build.xml"],
  "pre-commit": [".pre-commit-config.yaml"],
};

const NPM = [".npmrc"];
const GRADLE = ["gradle.properties", "gradle/wrapper/gradle-wrapper.properties", "gradle/wrapper/gradle-wrapper.jar"];
const MAVEN = [
  "maven.config",
  "jvm.config",
  "extensions.xml",
  "wrapper/maven-wrapper.properties",
  "wrapper/maven-wrapper.jar",
];
const MVN = MAVEN.map((file) => `.mvn/${file}`);

/** Files that choose what these programs start: another compiler, runner, registry or toolchain. All that are there. */
export const CONFIG_TOOLS: Record<string, string[]> = {
  cargo: [".cargo/config.toml", ".cargo/config", "rust-toolchain.toml", "rust-toolchain"],
  go: ["go.work"],
  npx: NPM,
  pnpx: NPM,
  bunx: ["bunfig.toml", ...NPM],
  pip: ["pip.conf"],
  bundle: [".bundle/config"],
  gradle: GRADLE,
  gradlew: GRADLE,
  mvn: MVN,
  mvnw: MVN,
  dotnet: ["global.json", "NuGet.config", "nuget.config"],
};

/** `-C dir`, `--prefix dir` …: where the program looks instead. */
export const FOLDER_OPTIONS = new Set([
  "-C",
  "-d",
  "-w",
  "--prefix",
  "--cwd",
  "--dir",
  "--directory",
  "--filter",
  "--working-dir",
  "--workspace",
]);

/** What starts the next word that is no option: a shell, an interpreter, or a program around another one. */
export const STARTER =
  /^(?:(?:ba|da|k|z|a)?sh|\.|source|node|bun|deno|tsx|ts-node|python[\d.]*|pypy\d?|php|ruby|perl|lua|env|exec|command|time|timeout|nice|nohup|setsid|stdbuf|sudo|xargs)$/;
/** With these an interpreter runs tests or a module: what follows are its arguments. */
export const NO_FILE = /^(?:--test|-m)$/;
/** The next word is loaded before anything else. */
export const LOADS = /^(?:-r|--require|--import|--loader|--experimental-loader|--preload)(?:=|$)/;

/** They find a script without its ending, or a folder's. */
export const INTERPRETER = /^(node|bun|deno|tsx|ts-node|python[\d.]*|pypy\d?|php|ruby|perl)$/;
export const ENDINGS = [".js", ".mjs", ".cjs", ".ts", ".tsx", ".json"];
export const IN_FOLDER = ["package.json", "index.js", "index.mjs", "index.cjs", "index.ts", "__main__.py"];
