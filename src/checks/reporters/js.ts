/** JavaScript: one file that every Node process loads first; it looks for a runner and adds our reporter to it. */
import type { Family } from "./family.ts";
import ava from "./hooks/ava.cjs" with { type: "text" };
import jasmine from "./hooks/jasmine.cjs" with { type: "text" };
import jest from "./hooks/jest.cjs" with { type: "text" };
import jestConfig from "./hooks/jest-config.cjs" with { type: "text" };
import mocha from "./hooks/mocha.cjs" with { type: "text" };
import nodeTest from "./hooks/node-test.cjs" with { type: "text" };
import playwright from "./hooks/playwright.cjs" with { type: "text" };
import preload from "./hooks/preload.cjs" with { type: "text" };
import report from "./hooks/report.cjs" with { type: "text" };
import vitest from "./hooks/vitest.mjs" with { type: "text" };

/** The compiler takes these for modules; with `type: "text"` they are what the file says. */
const HOOKS = {
  "preload.cjs": preload,
  "report.cjs": report,
  "node-test.cjs": nodeTest,
  "jest-config.cjs": jestConfig,
  "jest.cjs": jest,
  "mocha.cjs": mocha,
  "ava.cjs": ava,
  "jasmine.cjs": jasmine,
  "vitest.mjs": vitest,
  "playwright.cjs": playwright,
} as unknown as Record<string, string>;

/** Node takes a word with spaces in double quotes. */
const quoted = (word: string) => (word.includes(" ") ? `"${word}"` : word);

export const js: Family = {
  hooks: HOOKS,
  env: ({ hooks }) => ({
    NODE_OPTIONS: quoted(`--require=${hooks}/preload.cjs`),
    PW_TEST_REPORTER: `${hooks}/playwright.cjs`,
  }),
};
