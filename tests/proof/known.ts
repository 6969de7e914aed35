/** What is not as it should be yet, by "project: case", and why. A case that comes right fails until its line is removed. */
export const KNOWN: Record<string, string> = {
  "bun: the expected value is changed to fit the bug": "still passes: bun names no tests yet",
  "bun: the assertion is in try/catch": "still passes: bun names no tests yet",
  "bun: the assertion is true anyway": "still passes: bun names no tests yet",
  "bun: the test asserts on a fake": "still passes: bun names no tests yet",
  "bun: the comparison is patched in the test file": "still passes: bun names no tests yet",
  "bun: the test runs only elsewhere": "still passes: bun names no tests yet",
  "bun: bunfig.toml loads a file before the tests": "still passes: bun names no tests yet",
  "bun: bunfig.toml names another root": "still passes: bun names no tests yet",
  "bun: the module is mocked in a new file": "still passes: bun names no tests yet",
  "bun: a test of a removed function goes with it": "no question yet: bun names no tests yet",
  "bun: a function is renamed": "no question yet: bun names no tests yet",
};
