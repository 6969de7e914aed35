/** `only`: nothing was changed outside these globs since the run began. */

import { matchesGlob } from "../../../kernel/text/glob.ts";
import { safeText } from "../../../kernel/text/safe-text.ts";
import { fail, kind, pass } from "./kind.ts";

export const only = kind<string[]>({
  schema: ({ globs, optional }) => ({
    check: optional(globs, "Nothing was changed outside these globs since the run began."),
  }),
  needs: "measure",
  compares: () => true,
  outsideRun: (_gate, hasBase) => (hasBase ? null : "--base REF: it compares with a commit"),
  keep: true,
  measure({ changes }, { only: allowed = [] }) {
    const found = changes();
    if (!found.ok) return found;
    const paths = found.value.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]));
    return { ok: true, value: paths.filter((path) => !allowed.some((glob) => matchesGlob(path, glob))) };
  },
  judge: ({ only: allowed = [] }, _background, _facts, outside) =>
    outside.length === 0
      ? pass("nothing was changed elsewhere")
      : fail(`changed outside ${allowed.join(", ")}: ${outside.slice(0, 5).map(safeText).join(", ")}`),
});
