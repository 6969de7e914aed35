/** `person`: a person has to approve; the text says what. The approval itself is recorded as a verdict. */

import { kind, unproven } from "./kind.ts";

export const person = kind({
  schema: ({ gateLine, optional }) => ({
    check: optional(gateLine, "A person has to approve; the text says what: `pawl approve` or /pawl:approve."),
  }),
  name: (gate) => gate.person!,
  needs: "tree",
  outsideRun: () => "a run: a person approves a claim",
  judge: () => ({ ...unproven("not approved yet"), open: "person" }),
});
