/** `says`: the agent's last message has a line that begins with one of these. */

import { fail, kind, pass, unproven } from "./kind.ts";

export const says = kind({
  schema: ({ gateLines, optional }) => ({
    check: optional(gateLines, "The agent's last message has a line that begins with one of these."),
  }),
  needs: "message",
  judge({ says: beginnings = [] }, { message = null }) {
    if (message === null) return unproven("the agent's last message is not known");
    const said = message.split("\n").map((line) => line.trimStart());
    return said.some((line) => beginnings.some((beginning) => line.startsWith(beginning)))
      ? pass("it was said")
      : fail("the last message does not hold it");
  },
});
