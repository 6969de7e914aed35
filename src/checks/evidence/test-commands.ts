/** Which commands run tests, by which runner, and whether they run all of them. */

import { nameOf } from "../../kernel/text/shell.ts";

export interface TestCommand {
  /** whose summaries can come from it; null: it runs a script, anyone's */
  runners: string[] | null;
  /** it may run several runners, one after another: the last summary says nothing about the others */
  several: boolean;
  /** what makes it run only a part of the tests; null: nothing that can be seen */
  partial: string | null;
  /** a coverage threshold is set: it can fail without a word in the summary */
  threshold: boolean;
}

interface Rule {
  runners: string[] | null;
  /** with one of these it runs no test at all */
  idle?: RegExp;
  /** with one of these it runs some of them */
  narrow?: RegExp;
  /** options whose value is the next word */
  valued?: RegExp;
  /** operands that still mean everything */
  whole?: RegExp;
}

const IDLE = /^(?:--version|--help|-h|--list|--dry-run|--init|--showConfig|--show-config)$/;
const WHOLE = /^(?:\.|\.\/|(?:\.\/)?(?:tests?|spec|specs|__tests__)\/?)$/;
const THRESHOLD = /^(?:--cov-fail-under|--coverageThreshold|--coverage\.thresholds|--check-coverage)/;

const JS_NARROW =
  /^(?:-t|-g|-f|-o|--(?:testNamePattern|test-name-pattern|test-skip-pattern|test-only|test-shard|testPathPatterns?|testPathIgnorePatterns|testRegex|grep|fgrep|grep-invert|shard|project|selectProjects|changed|changedSince|onlyChanged|only-changed|onlyFailures|last-failed|findRelatedTests|related|exclude|ignore|dir|path-ignore-patterns|invert))(?:=|$)/;
const JS_VALUED =
  /^(?:-c|-R|-r|-j|-w|-u|--(?:config|reporters?|root|pool|bail|environment|maxWorkers|timeout|require|ui|workers|retries|max-failures|global-timeout|outputFile|coverage-reporter|coverage-dir|preload|test-reporter|test-reporter-destination|test-timeout|test-concurrency|import|loader|seed|rerun-each|max-concurrency))$/;

const RULES: Record<string, Rule> = {
  pytest: {
    runners: ["pytest"],
    idle: /^(?:--collect-only|--co|--fixtures|--markers|--setup-only|--setup-plan|-V|--cache-show)$/,
    narrow:
      /^(?:-k.*|-m.*|(?:--lf|--last-failed|--sw|--stepwise|--deselect|--ignore|--ignore-glob|--nf-only)(?:=.*)?)$/,
    valued:
      /^(?:-n|-p|-c|-o|-W|-r|--(?:tb|cov|cov-report|cov-config|maxfail|durations|rootdir|junitxml|junit-xml|basetemp|color|timeout|dist|cov-fail-under|log-level))$/,
    whole: WHOLE,
  },
  unittest: {
    runners: ["unittest"],
    narrow: /^(?:-k|-p|--pattern)/,
    valued: /^(?:-s|-t|--start-directory|--top-level-directory)$/,
    whole: /^discover$/,
  },
  vitest: { runners: ["vitest"], narrow: JS_NARROW, valued: JS_VALUED, whole: /^(?:run|watch|dev)$/ },
  jest: { runners: ["jest"], idle: /^(?:--listTests|--clearCache)$/, narrow: JS_NARROW, valued: JS_VALUED },
  mocha: {
    runners: ["mocha"],
    narrow: /^(?:-g|-f|--grep|--fgrep|-i|--invert|--exclude|--ignore)(?:=|$)/,
    valued:
      /^(?:-t|-s|-R|-r|-u|-j|--(?:timeout|slow|reporter|require|ui|jobs|config|reporter-option|retries|spec|extension))$/,
    whole: WHOLE,
  },
  playwright: { runners: ["playwright"], narrow: JS_NARROW, valued: JS_VALUED },
  bun: { runners: ["bun"], narrow: JS_NARROW, valued: JS_VALUED, whole: WHOLE },
  node: { runners: ["node"], narrow: JS_NARROW, valued: JS_VALUED, whole: WHOLE },
  go: {
    runners: ["go", "go packages"],
    idle: /^--?(?:list|c)(?:=|$)/,
    narrow: /^--?(?:run|skip|short)(?:=|$)/,
    valued:
      /^--?(?:count|timeout|bench|benchtime|coverprofile|covermode|coverpkg|tags|p|parallel|cpu|o|json-file|mod|ldflags|gcflags|exec|shuffle)$/,
    whole: /^(?:\.\/)?\.\.\.$/,
  },
  cargo: {
    runners: ["cargo"],
    idle: /^--no-run$/,
    narrow: /^(?:-p|--(?:package|exclude|test|lib|doc|bins?|examples?|tests|benches|skip|ignored|exact))(?:=|$)/,
    valued:
      /^(?:-j|-F|-Z|--(?:features|target|jobs|color|profile|manifest-path|target-dir|test-threads|format|message-format))$/,
  },
  phpunit: {
    runners: ["phpunit"],
    idle: /^--(?:list-.*|atleast-version.*)$/,
    narrow: /^--(?:filter|group|exclude-group|testsuite|exclude-testsuite|covers|uses|exclude-filter)(?:=|$)/,
    valued: /^(?:-c|-d|--(?:configuration|bootstrap|log-junit|coverage-\w+|printer|order-by|testdox-\w+))$/,
    whole: WHOLE,
  },
  rspec: {
    runners: ["rspec"],
    narrow:
      /^(?:-e|-E|-t|-n|-P|--(?:example|example-matches|tag|only-failures|next-failure|pattern|exclude-pattern|bisect))(?:=|$)/,
    valued: /^(?:-f|-r|-I|-o|--(?:format|require|order|seed|out|deprecation-out))$/,
    whole: WHOLE,
  },
  maven: {
    runners: ["maven"],
    idle: /^-D(?:skipTests|maven\.test\.skip)(?:=true)?$/,
    narrow: /^(?:-Dtest|-Dit\.test|-Dgroups|-pl|--projects|-rf)(?:=|$)/,
    valued: /^(?:-P|-f|-s|-T|-l|--file|--settings|--threads)$/,
    whole: /^(?:clean|test|verify|install|package|integration-test|deploy|validate|compile|test-compile)$/,
  },
  gradle: {
    runners: ["gradle"],
    narrow: /^--tests(?:=|$)/,
    valued: /^(?:-p|-c|-b|-I|--(?:project-dir|init-script|console|max-workers))$/,
    whole: /^(?:clean|test|check|build|assemble|cleanTest)$/,
  },
  dotnet: {
    runners: ["dotnet"],
    idle: /^(?:-t|--list-tests)$/,
    narrow: /^--(?:filter.*|treenode-filter|project)$/,
    valued:
      /^(?:-c|-v|-l|-f|-r|-s|-a|--(?:configuration|verbosity|logger|framework|runtime|settings|collect|results-directory|solution))$/,
    whole: /\.slnx?$|^test$/,
  },
  script: {
    runners: null,
    narrow: new RegExp(`${JS_NARROW.source}|^(?:-k|-w|--(?:workspace|filter|scope|since|tests|lf|only))(?:=|$)`),
    valued: JS_VALUED,
    whole: /^$/,
  },
};

const SCRIPT = /^(?:tests?|t|tst|check|verify|ci|spec)(?:[:._-][\w:.-]*)?$/;
/** `npm ci` installs, `yarn check` looks at packages: without `run` only tests are tests */
const SHORT_SCRIPT = /^(?:tests?(?:[:._-][\w:.-]*)?|t|tst)$/;
/** such scripts show results of before */
const SHOWS_OLD = /report|results?|log|show|summary|history|last|watch|debug|update|ui$/i;

/** null: this command runs no tests, whatever it prints. */
export function testCommand(words: string[]): TestCommand | null {
  const name = nameOf(words[0]).replace(/\.(?:cmd|exe|js|mjs|cjs|phar|bat)$/, "");
  const args = words.slice(1);
  if (/^(?:python|pypy)[\d.]*$/.test(name)) return pythonTests(args);
  if (name === "php") return args[0] === undefined ? null : testCommand(args);
  if (["npm", "pnpm", "yarn", "bun"].includes(name)) return packageTests(name, args);
  if (name === "py.test") return judge("pytest", args);
  if (["pytest", "jest", "mocha", "phpunit", "rspec"].includes(name)) return judge(name, args);
  if (name === "vitest")
    return /^(?:list|bench|init|related|typecheck)$/.test(args[0] ?? "") ? null : judge(name, args);
  if (name === "playwright" && args[0] === "test") return judge(name, args.slice(1));
  if (name === "node" && args.includes("--test")) return judge(name, args);
  if (name === "go" && args[0] === "test") return goTests(args.slice(1));
  if (name === "cargo") return cargoTests(args);
  if (name === "mvn" || name === "mvnw")
    return buildTests("maven", args, /^(?:test|verify|install|package|integration-test|deploy)$/);
  if (name === "gradle" || name === "gradlew") return buildTests("gradle", args, /^(?:[\w:-]*:)?(?:test|check|build)$/);
  if (name === "dotnet" && args[0] === "test") return judge(name, args.slice(1));
  return taskTests(name, args);
}

function judge(rule: string, args: string[]): TestCommand | null {
  const { runners, idle, narrow, valued, whole } = RULES[rule]!;
  let partial: string | null = null;
  for (let at = 0; at < args.length; at++) {
    const word = args[at]!;
    if (IDLE.test(word) || idle?.test(word)) return null;
    if (word === "" || word === "--") continue;
    if (narrow?.test(word)) partial ??= word;
    else if (valued?.test(word)) at++;
    else if (!/^[-+]/.test(word) && !whole?.test(word)) partial ??= word;
  }
  return {
    runners,
    several: runners === null || rule === "dotnet",
    partial,
    threshold: args.some((word) => THRESHOLD.test(word)),
  };
}

function pythonTests(args: string[]): TestCommand | null {
  const at = args.indexOf("-m");
  if (at >= 0 && args[at + 1] === "pytest") return judge("pytest", args.slice(at + 2));
  if (at >= 0 && args[at + 1] === "unittest") return judge("unittest", args.slice(at + 2));
  if (nameOf(args[0]) === "manage.py" && args[1] === "test") return judge("unittest", args.slice(2));
  return null;
}

function narrowed(found: TestCommand | null, by: string): TestCommand | null {
  return found && { ...found, partial: found.partial ?? by };
}

/** Without ./... only one package is tested. */
function goTests(args: string[]): TestCommand | null {
  const found = judge("go", args);
  const isWhole = args.some((word) => RULES.go!.whole!.test(word));
  return isWhole ? found : narrowed(found, "one package");
}

function cargoTests(args: string[]): TestCommand | null {
  const rest = args[0]?.startsWith("+") ? args.slice(1) : args;
  return rest[0] === "test" || rest[0] === "t" ? judge("cargo", rest.slice(1)) : null;
}

function buildTests(rule: string, args: string[], goal: RegExp): TestCommand | null {
  const skips = args.some(
    (word, at) => /^(?:-x|--exclude-task)$/.test(word) && /(?:^|:)test$/.test(args[at + 1] ?? ""),
  );
  return !skips && args.some((word) => goal.test(word)) ? judge(rule, args) : null;
}

/** npm test, pnpm -r test, yarn jest, bun run test:unit … */
function packageTests(name: string, args: string[]): TestCommand | null {
  if (name === "bun" && args[0] === "test") return judge("bun", args.slice(1));
  const flags: string[] = [];
  let at = 0;
  for (; args[at]?.startsWith("-") || /^(?:run|run-script|workspaces|foreach|recursive)$/.test(args[at] ?? ""); at++) {
    flags.push(args[at]!);
    if (/^(?:-w|-C|-F|--prefix|--cwd|--dir|--filter|--workspace)$/.test(args[at]!)) at++;
  }
  const script = args[at];
  if (script === undefined) return null;
  if (script === "workspace" && name === "yarn") return narrowed(packageTests(name, args.slice(at + 2)), script);
  const isScript =
    (flags.some((flag) => /^run/.test(flag)) ? SCRIPT : SHORT_SCRIPT).test(script) && !SHOWS_OLD.test(script);
  if (isScript) return judge("script", [...flags.filter((flag) => flag.startsWith("-")), ...args.slice(at + 1)]);
  return name !== "npm" && name !== "bun" && !flags.includes("run") ? testCommand(args.slice(at)) : null;
}

/** Task runners: they run the tests of all packages, or of those named. */
function taskTests(name: string, args: string[]): TestCommand | null {
  if (name === "tox" || name === "nox") return judge("script", args);
  const isTask = (word: string | undefined) => SCRIPT.test(word ?? "") && !SHOWS_OLD.test(word ?? "");
  const [first, second] = args.filter((word) => !word.startsWith("-"));
  const rest = (used: number) =>
    args.filter(
      (word, at) => word.startsWith("-") || args.slice(0, at + 1).filter((each) => !each.startsWith("-")).length > used,
    );
  if (/^(?:make|gmake|just|task|rake|composer)$/.test(name)) {
    if (args.includes("-n") || args.includes("--dry-run")) return null;
    if (isTask(first))
      return judge(
        "script",
        rest(1).filter((word) => !/^-[jkCsB]/.test(word) && !word.includes("=")),
      );
    return first === "run" && isTask(second) ? judge("script", rest(2)) : null;
  }
  if (name === "turbo")
    return isTask(first)
      ? judge("script", rest(1))
      : first === "run" && isTask(second)
        ? judge("script", rest(2))
        : null;
  if (name === "lerna") return first === "run" && isTask(second) ? judge("script", rest(2)) : null;
  if (name === "nx") return nxTests(args);
  return null;
}

function nxTests(args: string[]): TestCommand | null {
  const isMany = args[0] === "run-many" && args.some((word) => /^(?:--targets?=)?test$/.test(word));
  const isOne = args[0] === "test" || args[0] === "affected" || /:test$/.test(args[1] ?? "");
  if (!isMany && !isOne) return null;
  const isPart = isOne || args.some((word) => /^(?:-p|--projects|--exclude)(?:=|$)/.test(word));
  return { runners: null, several: true, partial: isPart ? args.slice(0, 2).join(" ") : null, threshold: false };
}
