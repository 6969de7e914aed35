/** `fresh` in the real client: the person types /clear, and the next task begins by itself in the new conversation. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ALLOWED, bash, openGated, until } from "./gated.ts";
import { say } from "./model.ts";
import { terminal } from "./terminal.ts";

setDefaultTimeout(180_000);

const marker = (name: string) => say(`So be it.\n\n::: WORKFLOW_STAGE: ${name} :::`);
const close = bash("sed -i 's/\\[>\\]/[x]/' session.md && git commit -qam closed");
const FILES = {
  "session.md": "- [ ] **One** — | sonnet | #auto-workflow\n- [ ] **Two** — | sonnet | #auto-workflow\n",
  "pawl.yaml": `workflows:
  auto-workflow:
    fresh: true
    tasks: { labels: [auto-workflow] }
    sequences: { auto-workflow: [CODING, COMMIT_CLOSE, NEXT_TASK] }
`,
};

test("typed on the screen: /clear is all that the person has to do between two tasks", async () => {
  const task = [marker("CODING_COMPLETE"), close, marker("ISSUE_CLOSED")];
  await using scene = await openGated({ turns: [...task, ...task] }, { files: FILES });
  const screen = await terminal(scene.project, scene.model, [], ALLOWED.allow);
  try {
    await screen.waitFor(/❯/);
    await screen.submit("/auto");
    await screen.waitFor(/Type \/clear: the next one, two/);
    expect(scene.model.main()).toHaveLength(3);

    await screen.submit("/clear");
    await screen.waitFor(/All auto-workflow tasks complete/);
    expect(scene.model.main()).toHaveLength(6);
    const first = scene.model.main()[3]!.text;
    expect(first).toContain("Session cleared. Ready for next task.");
    expect(first).toContain("CURRENT STAGE: CODING");
    expect(first).toContain("Begin with task two");
    expect(first).not.toContain("COMMIT_CLOSE\nWORKFLOW");
    await until(async () => (await scene.run()).outcome === "completed");
    expect(readFileSync(join(scene.project.root, "session.md"), "utf8").match(/\[.\]/g)).toEqual(["[x]", "[x]"]);
  } finally {
    await screen.close();
  }
});
