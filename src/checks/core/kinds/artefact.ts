/** `artefact`: a file like this was made since the stage was entered. */

import { safeText } from "../../../kernel/text/safe-text.ts";
import { fail, kind, pass } from "./kind.ts";

/** What is measured is the path of the file, "" if there is none. It is mostly ignored by git, so no tree holds it. */
export const artefact = kind<string>({
  schema: ({ glob, optional }) => ({
    check: optional(glob, "A file like this (a glob) was made since the stage began."),
  }),
  needs: "measure",
  outsideRun: () => "a run: it is about what a stage made",
  measure: ({ need, findMade }, { artefact: wanted = "" }) => findMade(wanted, need.since),
  judge: (_gate, _background, _facts, path) =>
    path === "" ? fail("nothing like it was made in this step") : pass(`${safeText(path)} was made`),
});
