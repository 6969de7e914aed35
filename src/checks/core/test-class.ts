/**
 * Which files decide what the tests prove: tests, what they read, and the settings of runners. Taking too many costs one
 * more run; taking too few lets a change of the tests pass for a change of the code.
 */

const NAMED = [
  /\.(?:test|spec|e2e|cy|e2e-spec|test-d)\.[cm]?[jt]sx?$/,
  /[_-](?:test|spec|tests|specs)\.\w+$/,
  /(?:^|\/)test_[^/]*\.\w+$/,
  /(?:^|\/)tests?\.(?:py|rs|[cm]?[jt]sx?|rb|exs|php|pl)$/,
  /(?:Test|Tests|TestCase|Cest|Spec|IT)\.(?:php|java|kt|kts|cs|scala|groovy|swift)$/,
  /(?:^|\/)Test[A-Z][^/]*\.(?:java|kt|cs|php)$/,
  /\.(?:snap|snapshot|bats|t|feature|approved\.\w+|ambr)$/,
];
const FOLDERS =
  /(?:^|\/)(?:tests?|specs?|__tests__|__snapshots__|__fixtures__|__mocks__|__image_snapshots__|fixtures?|testdata|test-data|test_data|e2e|cypress|playwright|features|[\w.]*\.Tests?)\//i;
const SETTINGS = [
  /(?:^|\/)(?:vitest|vite|jest|playwright|cypress|babel|karma|ava|wdio|tap|mocha|c8|nyc)[\w.-]*\.(?:config|workspace|conf|setup|projects)[\w.]*\.\w+$/,
  /(?:^|\/)(?:vitest|jest|test|tests)[.-]?(?:setup|global|globals|env|environment|preload|helper|helpers|utils?)[\w.-]*\.[cm]?[jt]sx?$/,
  /(?:^|\/)(?:jest\.config\.json|vitest\.workspace\.json|\.mocharc[\w.]*|\.taprc|\.nycrc[\w.]*|\.c8rc[\w.]*|\.babelrc[\w.]*|bunfig\.toml|nextest\.toml)$/,
  /(?:^|\/)(?:conftest\.py|sitecustomize\.py|usercustomize\.py|[^/]+\.pth|\.?pytest\.ini|pytest\.toml|tox\.ini|setup\.cfg|\.coveragerc|noxfile\.py)$/,
  /(?:^|\/)(?:phpunit[\w.]*\.xml[\w.]*|\.rspec[\w-]*|\.simplecov|spec_helper\.rb|rails_helper\.rb|test_helper\.(?:rb|exs)|\.proverc|\.bats[\w-]*)$/,
];

/** Installed, or built: not what an agent writes by hand, and too many to look at. */
export const LEFT_OUT =
  /^(?:\.git|\.hg|\.svn|\.pawl|node_modules|bower_components|jspm_packages|\.venv|venv|\.tox|\.nox|vendor|\.bundle|\.yarn|\.pnpm-store|deps|_build|Pods|target|build|dist|out|\.gradle|__pycache__|\.\w+_cache|coverage|htmlcov|\.cache|\.next|\.nuxt|\.turbo|\.nyc_output|\.vite|\.parcel-cache|\.eggs|[^/]+\.egg-info|\.tap|test-results|playwright-report|blob-report)$/;

/** By the names that runners look for. */
export const isNamedTest = (path: string) => NAMED.some((pattern) => pattern.test(path));

/** `named`: files that runners named at the beginning. Rust keeps tests in the code, so there the part counts. */
export const isTestClass = (path: string, named: ReadonlySet<string>) =>
  (named.has(path) && !path.endsWith(".rs")) ||
  FOLDERS.test(path) ||
  isNamedTest(path) ||
  SETTINGS.some((pattern) => pattern.test(path));
