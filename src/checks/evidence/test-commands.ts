/** Which commands run tests, by which runner, and whether they run all of them. */

import { programName } from "./shell.ts";

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

/** A value that is the next word. Options that may also stand alone are left out: what follows them may be a path. */
function oneOf(...options: string[]): RegExp {
  return new RegExp(`^(?:${options.join("|")})$`);
}

const IDLE = /^(?:--version|--help|-h|--list|--dry-run|--init|--showConfig|--show-config)$/;
const WHOLE = /^(?:\.|\.\/|(?:\.\/)?(?:tests?|spec|specs|__tests__)\/?)$/;
const THRESHOLD = /^(?:--cov-fail-under|--coverageThreshold|--coverage\.thresholds|--check-coverage)/;

const JS_NARROW =
  /^(?:-t|-g|-f|-o|--(?:testNamePattern|test-name-pattern|test-skip-pattern|test-only|test-shard|testPathPatterns?|testPathIgnorePatterns|testRegex|grep|fgrep|grep-invert|shard|project|selectProjects|changed|changedSince|onlyChanged|only-changed|onlyFailures|last-failed|findRelatedTests|related|exclude|ignore|dir|path-ignore-patterns|invert))(?:=|$)/;
const JS_VALUED = oneOf(
  "-c|-R|-r|-j|-w|--(?:config|reporters?|root|rootDir|pool|env|environment|mode|maxWorkers|minWorkers|workers|timeout)",
  "--(?:retries|retry|repeat-each|max-failures|global-timeout|outputFile|output|trace|tsconfig|seed|rerun-each)",
  "--(?:test|hook|teardown)Timeout|--max-?[cC]oncurrency|--coverage(?:Directory|Reporters|Provider|-reporter|-dir)",
  "--coverage\\.(?:provider|reporters?|reportsDirectory|include|exclude)|--collectCoverageFrom|--reporter-outfile",
  "--test(?:Environment|Runner|Sequencer|ResultsProcessor)|--setupFiles(?:AfterEnv)?|--cacheDirectory|--transform",
  "--(?:preload|require|import|loader|experimental-loader|env-file|conditions|sequence\\.seed|attachmentsDir|diff)",
  "--test-(?:reporter|reporter-destination|timeout|concurrency|isolation|global-setup)",
  "--test-coverage-(?:include|exclude|branches|functions|lines)",
);

const RULES: Record<string, Rule> = {
  pytest: {
    runners: ["pytest"],
    idle: /^(?:--collect-only|--co|--fixtures|--markers|--setup-only|--setup-plan|-V|--cache-show)$/,
    narrow:
      /^(?:-k.*|-m.*|(?:--lf|--last-failed|--sw|--stepwise|--deselect|--ignore|--ignore-glob|--nf-only|--testmon|--picked|--splits|--group|--shard-id|--num-shards)(?:=.*)?)$/,
    valued: oneOf(
      "-n|-p|-c|-o|-W|-r|--(?:config-file|override-ini|pythonwarnings|tb|color|code-highlight|capture|show-capture)",
      "--(?:maxfail|durations|durations-min|verbosity|rootdir|confcutdir|basetemp|import-mode|assert|pdbcls|pastebin)",
      "--log-(?:level|format|date-format|auto-indent|disable)|--log-(?:cli|file)-(?:level|format|date-format)",
      "--log-file(?:-mode)?|--junit-?xml|--junit-?prefix|--doctest-(?:glob|report)|--(?:lfnf|last-failed-no-failures)",
      // plugins
      "--cov(?:-report|-config|-fail-under|-context)?|--numprocesses|--maxprocesses|--dist|--tx|--max-worker-restart",
      "--maxschedchunk|--reruns(?:-delay)?|--only-rerun|--rerun-except|--(?:session-)?timeout|--timeout-method",
      "--asyncio-mode|--html|--css|--json-report-file|--ds|--dc|--randomly-seed|--random-order-(?:seed|bucket)",
      "--hypothesis-(?:seed|profile|verbosity)|--alluredir|--count|--repeat-scope|--browser|--base-url|--device",
      "--(?:tracing|video|screenshot|slowmo|output)|--benchmark-(?:json|save|storage|sort|group-by)|--envfile|--retries",
    ),
    whole: WHOLE,
  },
  unittest: {
    runners: ["unittest"],
    narrow: /^(?:-k|-p|--pattern|--tag|--exclude-tag)/,
    valued: /^(?:-s|-t|--(?:start-directory|top-level-directory|durations|settings|pythonpath|testrunner))$/,
    whole: /^(?:discover|auto)$/,
  },
  vitest: { runners: ["vitest"], narrow: JS_NARROW, valued: JS_VALUED, whole: /^(?:run|watch|dev)$/ },
  jest: { runners: ["jest"], idle: /^(?:--listTests|--clearCache)$/, narrow: JS_NARROW, valued: JS_VALUED },
  mocha: {
    runners: ["mocha"],
    narrow: /^(?:-g|-f|--grep|--fgrep|-i|--invert|--exclude|--ignore|--spec)(?:=|$)/,
    valued:
      /^(?:-t|-s|-R|-r|-u|-j|-O|-n|--(?:timeout|slow|reporter|require|import|loader|ui|jobs|config|package|reporter-options?|retries|extension|file|node-option|watch-files))$/,
    whole: WHOLE,
  },
  playwright: {
    runners: ["playwright"],
    narrow: JS_NARROW,
    valued: new RegExp(`${JS_VALUED.source}|^--browser$`),
  },
  bun: { runners: ["bun"], narrow: JS_NARROW, valued: JS_VALUED, whole: WHOLE },
  node: { runners: ["node"], narrow: JS_NARROW, valued: JS_VALUED, whole: WHOLE },
  go: {
    runners: ["go", "go packages"],
    idle: /^--?(?:list|c)(?:=|$)/,
    narrow: /^--?(?:run|skip|short|fuzz|C)(?:=|$)/,
    valued:
      /^--?(?:count|timeout|bench|benchtime|coverprofile|covermode|coverpkg|tags|p|parallel|cpu|o|json-file|mod|modfile|overlay|ldflags|gcflags|asmflags|buildmode|exec|toolexec|shuffle|vet|trace|outputdir|fuzztime|(?:cpu|mem|block|mutex)profile)$/,
    whole: /^(?:\.\/)?\.\.\.$/,
  },
  cargo: {
    runners: ["cargo"],
    idle: /^--no-run$/,
    narrow: /^(?:-p|--(?:package|exclude|test|lib|doc|bins?|examples?|tests|benches|skip|ignored|exact))(?:=|$)/,
    valued:
      /^(?:-j|-F|-Z|--(?:features|target|jobs|color|profile|manifest-path|target-dir|test-threads|format|message-format|config|logfile))$/,
  },
  phpunit: {
    runners: ["phpunit", "pest"],
    idle: /^--(?:list-.*|atleast-version.*)$/,
    narrow: /^--(?:filter|group|exclude-group|testsuite|exclude-testsuite|covers|uses|exclude-filter)(?:=|$)/,
    valued:
      /^(?:-c|-d|--(?:configuration|bootstrap|log-[\w-]+|coverage-(?!text$)\w+|printer|order-by|testdox-(?:html|text|xml)|cache-(?:directory|result-file)|columns|include-path|random-order-seed|repeat|extension|default-time-limit))$/,
    whole: WHOLE,
  },
  rspec: {
    runners: ["rspec"],
    narrow:
      /^(?:-e|-E|-t|-n|-P|--(?:example|example-matches|tag|only-failures|next-failure|pattern|exclude-pattern|bisect))(?:=|$)/,
    valued:
      /^(?:-f|-r|-I|-o|-O|--(?:format|require|order|seed|out|deprecation-out|options|failure-exit-code|error-exit-code|drb-port))$/,
    whole: WHOLE,
  },
  maven: {
    runners: ["maven"],
    idle: /^-D(?:skipTests|maven\.test\.skip)(?:=true)?$/,
    narrow: /^(?:-Dtest|-Dit\.test|-Dgroups|-pl|--projects|-rf)(?:=|$)/,
    valued:
      /^(?:-P|-f|-s|-gs|-t|-T|-b|-l|--(?:activate-profiles|file|settings|global-settings|toolchains|threads|builder|log-file|color))$/,
    // phases, and goals of plugins
    whole: /^[\w.-]+(?::[\w.-]+)*$/,
  },
  gradle: {
    runners: ["gradle"],
    idle: /^-m$/,
    narrow: /^--tests(?:=|$)/,
    valued:
      /^(?:-p|-c|-b|-I|-g|-P|-D|-x|-F|--(?:project-dir|init-script|console|max-workers|exclude-task|settings-file|build-file|gradle-user-home|project-cache-dir|include-build|project-prop|system-prop|warning-mode|priority|dependency-verification))$/,
    // tasks of all projects
    whole: /^[A-Za-z][\w-]*$/,
  },
  dotnet: {
    runners: ["dotnet"],
    idle: /^(?:-t|--list-tests)$/,
    narrow: /^--(?:filter.*|treenode-filter|project)$/,
    valued:
      /^(?:-c|-v|-l|-f|-r|-s|-a|-o|-d|-e|--(?:configuration|verbosity|logger|framework|runtime|settings|collect|results-directory|solution|output|diag|environment|arch|os|artifacts-path|test-adapter-path|blame-(?:crash|hang)-dump-type|blame-hang-timeout|report-trx-filename|coverage-output|coverage-output-format|minimum-expected-tests|max-parallel-test-modules|timeout))$/,
    whole: /\.slnx?$|^test$/,
  },
  mix: {
    runners: ["exunit"],
    narrow: /^--(?:only|include|exclude|failed|stale|partitions)(?:=|$)/,
    valued: /^--(?:seed|max-failures|max-cases|max-requires|timeout|formatter|slowest|slowest-modules|breakpoints)$/,
    whole: WHOLE,
  },
  dart: {
    runners: ["dart"],
    narrow: /^(?:-n|-N|-t|-x|--(?:name|plain-name|tags|exclude-tags|shard-index|total-shards))(?:=|$)/,
    valued:
      /^(?:-j|-r|-p|-d|--(?:concurrency|reporter|platform|timeout|test-randomize-ordering-seed|device-id|flavor))$/,
    whole: WHOLE,
  },
  swift: {
    runners: ["swift"],
    idle: /^(?:list|-l|--list-tests)$/,
    narrow: /^(?:-s|--(?:filter|skip|specifier|test-product))(?:=|$)/,
    valued: /^(?:-c|-Xswiftc|-Xcc|-Xlinker|--(?:configuration|num-workers|package-path|scratch-path|xunit-output))$/,
  },
  xcodebuild: {
    runners: ["swift", "xcodebuild"],
    idle: /^(?:-showTestPlans|-list)$/,
    narrow: /^-(?:only|skip)-test/,
    valued:
      /^-(?:scheme|project|workspace|destination|configuration|derivedDataPath|resultBundlePath|sdk|arch|testPlan|xctestrun|enableCodeCoverage|parallel-testing-enabled|test-iterations)$/,
    whole: /^(?:clean|build|test|test-without-building)$|=/,
  },
  deno: { runners: ["deno"], idle: /^--no-run$/, narrow: /^--(?:filter|ignore|shard)(?:=|$)/, whole: WHOLE },
  cypress: {
    runners: ["cypress"],
    narrow: /^(?:-s|--spec|--tag)(?:=|$)/,
    valued:
      /^(?:-b|-c|-e|-C|-P|-r|-o|--(?:browser|config|config-file|env|project|reporter|reporter-options|record-key))$/,
  },
  ctest: {
    runners: ["ctest"],
    idle: /^(?:-N|--show-only.*|--print-labels)$/,
    narrow:
      /^(?:-R|-E|-L|-LE|-I|--(?:tests-regex|exclude-regex|label-regex|label-exclude|tests-information|rerun-failed))/,
    valued: /^(?:-j|-C|-T|-O|--(?:parallel|build-config|test-dir|output-junit|output-log|timeout|repeat|preset))$/,
  },
  nextest: {
    runners: ["nextest"],
    idle: /^--no-run$/,
    narrow:
      /^(?:-E|-p|-P|--(?:filter-expr|filterset|package|exclude|test|lib|bins?|examples?|run-ignored|partition))(?:=|$)/,
    valued: /^(?:-j|-F|--(?:features|target|profile|cargo-profile|retries|test-threads|manifest-path|config-file))$/,
  },
  prove: { runners: ["prove"], valued: /^-(?:j|I|P|e)$|^--(?:jobs|exec|formatter|state)$/, whole: /^(?:\.\/)?x?t\/?$/ },
  bats: {
    runners: ["bats"],
    narrow: /^(?:-f|--filter)/,
    valued: /^(?:-j|-F|-o|--(?:jobs|formatter|output))$/,
    whole: WHOLE,
  },
  ava: {
    runners: ["ava"],
    narrow: /^(?:-m|--match)(?:=|$)/,
    valued: /^(?:-c|-T|-N|--(?:config|timeout|concurrency))$/,
  },
  rails: { runners: ["minitest"], narrow: /^(?:-n|-i|-e|--(?:name|include|exclude))(?:=|$)/, whole: WHOLE },
  pester: { runners: ["pester"], narrow: /^-(?:Path|Tag|ExcludeTag|TestName|FullNameFilter)/i, valued: /^-Output$/i },
  script: {
    runners: null,
    narrow: new RegExp(`${JS_NARROW.source}|^(?:-k|-w|--(?:workspace|filter|scope|since|tests|lf|only))(?:=|$)`),
    valued: JS_VALUED,
    whole: /^$/,
  },
};

/** Programs that run tests by a verb, and the rule for the words after it. */
const VERBS: Record<string, [verb: RegExp, rule: string]> = {
  mix: [/^test$/, "mix"],
  dart: [/^test$/, "dart"],
  flutter: [/^test$/, "dart"],
  swift: [/^test$/, "swift"],
  deno: [/^test$/, "deno"],
  cypress: [/^run$/, "cypress"],
  rails: [/^test(?::all)?$/, "rails"],
  artisan: [/^test$/, "phpunit"],
  dotnet: [/^test$/, "dotnet"],
  playwright: [/^test$/, "playwright"],
};

const SCRIPT = /^(?:tests?|t|tst|check|verify|ci|spec)(?:[:._-][\w:.-]*)?$/;
/** `npm ci` installs, `yarn check` looks at packages: without `run` only tests are tests */
const SHORT_SCRIPT = /^(?:tests?(?:[:._-][\w:.-]*)?|t|tst)$/;
/** such scripts show results of before */
const SHOWS_OLD = /report|results?|log|show|summary|history|last|watch|debug|update|ui$/i;

/** null: this command runs no tests, whatever it prints. */
export function testCommand(words: string[]): TestCommand | null {
  const name = programName(words[0]).replace(/\.(?:cmd|exe|js|mjs|cjs|phar|bat)$/, "");
  const args = words.slice(1);
  if (/^(?:python|pypy)[\d.]*$/.test(name)) return pythonTests(args);
  if (name === "php") return args[0] === undefined ? null : testCommand(args);
  if (["npm", "pnpm", "yarn", "bun"].includes(name)) return packageTests(name, args);
  if (name === "py.test") return judge("pytest", args);
  if (name === "pest") return judge("phpunit", args);
  if (/^(?:pytest|jest|mocha|phpunit|rspec|ctest|prove|bats|ava)$/.test(name)) return judge(name, args);
  if (name.toLowerCase() === "invoke-pester") return judge("pester", args);
  if (name === "xcodebuild") return buildTests(name, args, /^test(?:-without-building)?$/);
  const verb = VERBS[name];
  if (verb?.[0].test(args[0] ?? "")) return judge(verb[1], args.slice(1));
  if (name === "vitest")
    return /^(?:list|bench|init|related|typecheck)$/.test(args[0] ?? "") ? null : judge(name, args);
  if (name === "node" && args.includes("--test")) return judge(name, args);
  if (name === "go" && args[0] === "test") return goTests(args.slice(1));
  if (name === "cargo") return cargoTests(args);
  if (name === "mvn" || name === "mvnw")
    return buildTests("maven", args, /^(?:test|verify|install|package|integration-test|deploy|surefire:test)$/);
  if (name === "gradle" || name === "gradlew") return gradleTests(args);
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
    else if (!/^[-+]/.test(word) && !whole?.test(word) && !isCount(args, at)) partial ??= word;
  }
  return {
    runners,
    several: runners === null,
    partial,
    threshold: args.some((word) => THRESHOLD.test(word)),
  };
}

/** `--bail 3`, `-v 2`: a number after an option is no path. */
const isCount = (args: string[], at: number) => /^\d+$/.test(args[at]!) && /^--?\w/.test(args[at - 1] ?? "");

function pythonTests(args: string[]): TestCommand | null {
  const at = args.indexOf("-m");
  if (at >= 0 && args[at + 1] === "pytest") return judge("pytest", args.slice(at + 2));
  if (at >= 0 && args[at + 1] === "unittest") return judge("unittest", args.slice(at + 2));
  if (programName(args[0]) === "manage.py" && args[1] === "test") return judge("unittest", args.slice(2));
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
  if (rest[0] === "nextest") return /^r(?:un)?$/.test(rest[1] ?? "") ? judge("nextest", rest.slice(2)) : null;
  return rest[0] === "test" || rest[0] === "t" ? judge("cargo", rest.slice(1)) : null;
}

function buildTests(rule: string, args: string[], goal: RegExp): TestCommand | null {
  return args.some((word) => goal.test(word)) ? judge(rule, args) : null;
}

/** `test`, and those that run it; on Android one per variant: `testDebugUnitTest`. */
const GRADLE_UNIT = /^(?:test|allTests|test(?:[A-Z]\w*)?UnitTest)$/;
const GRADLE_WHOLE = /^(?:check|build|buildNeeded|buildDependents)$/;
/** `integrationTest`, `jvmTest`, `connectedDebugAndroidTest`; not what only prepares tests. */
const GRADLE_OTHER =
  /^(?!(?:compile|assemble|bundle|clean|generate|install|link|lint|merge|package|pre|process|uninstall)[A-Z])(?:\w+Test|connected\w*Check|test[A-Z]\w*(?<!Classes|Report|Reports|Jar|Resources|Kotlin|Java|Groovy|Sources|SourcesJar|Fixtures))$/;

function gradleTests(args: string[]): TestCommand | null {
  const isExcluded = (at: number) => /^(?:-x|--exclude-task)$/.test(args[at - 1] ?? "");
  const excluded = args.filter((_, at) => isExcluded(at)).map(taskName);
  const goals = args.filter((word, at) => /^[\w:-]+$/.test(word) && !word.startsWith("-") && !isExcluded(at));
  const ran = (pattern: RegExp) =>
    goals.some((word) => pattern.test(taskName(word)) && !excluded.includes(taskName(word)));
  const isUnit = ran(GRADLE_UNIT) || (ran(GRADLE_WHOLE) && !excluded.some((task) => GRADLE_UNIT.test(task)));
  if (!isUnit && !ran(GRADLE_OTHER)) return null;
  const left = excluded.find((task) => GRADLE_OTHER.test(task));
  const found = judge("gradle", args);
  return isUnit && left === undefined ? found : narrowed(found, left ?? goals.join(" "));
}

const taskName = (word: string) => word.slice(word.lastIndexOf(":") + 1);

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
  if (name === "turbo" && isTask(first)) return judge("script", rest(1));
  if (name === "turbo" || name === "lerna") return first === "run" && isTask(second) ? judge("script", rest(2)) : null;
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
