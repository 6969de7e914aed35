/** The real client on a real terminal asks for a permission: the person is called once, and their terminal rings. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pawl } from "./controls.ts";
import { bash, until } from "./gated.ts";
import { say } from "./model.ts";
import type { Project } from "./project.ts";
import { openScenario } from "./scenario.ts";
import { terminal } from "./terminal.ts";

setDefaultTimeout(120_000);

const TITLE = "Pawl: project needs you";

/** The person's program keeps what it gets; a hook of the test's own says that the client has notified. */
async function furnish(project: Project): Promise<void> {
  const { home, root } = project;
  const double = join(home, "double");
  writeFileSync(double, '#!/bin/sh\nmkdir -p "$HOME/got"\ncat > "$HOME/got/$$.json"\n', { mode: 0o755 });
  await pawl(project, "notify", "on");
  const config = `notify:\n  batch: 1\n  desktop: off\n  command: [${double}]\n`;
  writeFileSync(join(home, ".config/pawl/config.yaml"), config);
  const path = join(root, ".claude/settings.local.json");
  const settings = JSON.parse(readFileSync(path, "utf8"));
  settings.hooks.Notification.push({ hooks: [{ type: "command", command: `cat >> ${home}/notified` }] });
  writeFileSync(path, JSON.stringify(settings));
}

function received({ home }: Project): { what: string; text: string; notices: unknown[] }[] {
  const folder = join(home, "got");
  if (!existsSync(folder)) return [];
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
  return texts.filter((text) => text.endsWith("\n")).map((text) => JSON.parse(text));
}

const notified = ({ home }: Project) =>
  existsSync(join(home, "notified")) ? readFileSync(join(home, "notified"), "utf8") : "";

const transcript = ({ home }: Project) =>
  [...new Bun.Glob("*/*.jsonl").scanSync({ cwd: join(home, ".claude/projects"), absolute: true })]
    .map((path) => readFileSync(path, "utf8"))
    .join("");

const isIdle = ({ home }: Project) =>
  readdirSync(join(home, ".local/state/pawl/notify")).every((name) => name === "said");

test("one call for one question, though the client repeats it as a notification", async () => {
  await using scene = await openScenario({ turns: [bash("touch made.txt"), say("It is made.")] });
  const { project, model } = scene;
  await furnish(project);
  await using client = await terminal(project, model, [], ["Read"]);
  await client.waitFor(/❯/);
  client.press("Make it.");
  await client.waitFor(/❯\s*Make it\./);
  client.press("\r");
  await client.waitFor(/Do you want to proceed/);
  await until(() => received(project).length > 0);
  await until(() => notified(project).includes('"permission_prompt"'));
  await until(() => client.written().includes(`\u001b]0;${TITLE}\u0007\u0007`));
  // The dashboard goes by this: the call stands there while the client asks, its result when the tool is through.
  expect(transcript(project)).toContain('"name":"Bash"');
  expect(transcript(project)).not.toContain('"type":"tool_result"');
  client.press("\r");
  await client.waitFor(/It is made\./);
  await until(() => transcript(project).includes('"type":"tool_result"'));
  await until(() => isIdle(project));
  expect(received(project)).toMatchObject([
    { what: "permission", text: "project: Claude asks for permission to use Bash", notices: [{ what: "permission" }] },
  ]);
  expect(client.written().split(TITLE)).toHaveLength(2);
  expect(existsSync(join(project.root, "made.txt"))).toBe(true);
});

test("switched off, the client asks and nobody else does", async () => {
  await using scene = await openScenario({ turns: [bash("touch made.txt"), say("It is made.")] });
  const { project, model } = scene;
  await furnish(project);
  await pawl(project, "notify", "off");
  await using client = await terminal(project, model, [], ["Read"]);
  await client.waitFor(/❯/);
  client.press("Make it.");
  await client.waitFor(/❯\s*Make it\./);
  client.press("\r");
  await client.waitFor(/Do you want to proceed/);
  await until(() => notified(project).includes('"permission_prompt"'));
  expect(existsSync(join(project.home, ".local/state/pawl/notify"))).toBe(false);
  expect(client.written()).not.toContain(TITLE);
});
