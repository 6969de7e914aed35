/**
 * Ruby: a file that every Ruby process loads first; it watches for rspec and minitest. rspec leaves lines of `bin/` out
 * of what it prints about a failure, and so ours.
 */
import { type Family, isPlain } from "./family.ts";
import report from "./hooks/report.rb" with { type: "text" };

export const ruby: Family = {
  hooks: { "bin/report.rb": report },
  env: ({ hooks }, { RUBYOPT = "" }) =>
    isPlain(hooks) ? { RUBYOPT: `-r${hooks}/bin/report.rb ${RUBYOPT}`.trim() } : {},
};
