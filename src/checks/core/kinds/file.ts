/** `file`: this file is there and not empty, and holds a text if one is named. */

import type { FileState } from "../../../kernel/types/run.ts";
import { fail, kind, pass } from "./kind.ts";

interface FileFinding {
  state: FileState;
  size: number;
  /** it holds the text that the gate names */
  holds: boolean;
}

export const file = kind<FileFinding>({
  schema: ({ gateLine, optional, path }) => ({
    check: optional(path, "This file is there and is not empty."),
    options: { contains: optional(gateLine, "The file holds this text.") },
  }),
  // Looked at each time: it may be ignored by git, so that no tree shows that it is gone.
  needs: "measure",
  measure({ inspectFile, readFile }, { file: name = "", contains }) {
    const { state, size } = inspectFile(name);
    if (state !== "there" || contains === undefined)
      return { ok: true, value: { state, size, holds: state === "there" } };
    const text = readFile(name);
    if (!text.ok) return { ok: false, why: `${name} cannot be read (${text.why})` };
    return { ok: true, value: { state, size, holds: text.value.includes(contains) } };
  },
  judge({ contains }, _background, _facts, { state, size, holds }) {
    if (state !== "there") return fail(state === "missing" ? "it is not there" : "it is not a file inside the project");
    if (size === 0) return fail("it is empty");
    return holds ? pass("it is there") : fail(`it does not hold ${JSON.stringify(contains)}`);
  },
});
