/** What the doctor says about the ways to a person. */
import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { checkNotify } from "../../src/setup/doctor/surroundings.ts";
import { makePlace, removePlaces, runPawl } from "../harness/harness.ts";
import { CONFIG, put } from "./ground.ts";

afterAll(removePlaces);

/** `told`: hooks have heard of it. */
test.each<[string | null, boolean, string[]]>([
  [null, true, []],
  ["notify: off\n", true, []],
  ["notify:\n  desktop: off\n", true, ["ok notify: notifications: bell"]],
  ["notify:\n  desktop: off\n  bell: off\n  command: [cat, x]\n", true, ["ok notify: notifications: command cat"]],
  [
    "notify:\n  command: [no-such-program]\n",
    true,
    ["note notify-command: notifications: no-such-program is not a program on the PATH"],
  ],
  [
    "notify:\n  bell: off\n  desktop: off\n",
    true,
    ["note notify-nowhere: notifications are on, but no way leads to you here"],
  ],
  ["notify: on\n", false, ["note notify-unmarked: ~/.config/pawl/config.yaml was changed: notifications are on there"]],
  ["notify: maybe\n", false, ["note notify-config: ~/.config/pawl/config.yaml has errors: no notifications are sent"]],
])("%j, told %p", (config, told, findings) => {
  const { root, home, ...place } = makePlace();
  if (config !== null) put(join(home, CONFIG), config);
  if (told) expect(runPawl({ root, home, ...place }, ["notify"]).code).toBe(0);
  const found = checkNotify({ root, home, claude: "", managed: "", env: {}, now: 0 });
  expect(found.map(({ level, id, what }) => `${level} ${id}: ${what}`)).toEqual(findings);
});
