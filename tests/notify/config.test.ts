/** Whose word counts, how the file is switched over, and what a person is shown. */
import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { compileConfig } from "../../src/definitions/config.ts";
import { compileProject } from "../../src/definitions/project.ts";
import { notifySettings } from "../../src/definitions/schema/notify.ts";
import { switched } from "../../src/notify/settings.ts";
import { CLIENT, makePlace, openSession, payload, removePlaces, runHook, runPawl } from "../harness/harness.ts";
import { CONFIG, isIdle, listening, program, put, received } from "./ground.ts";

afterAll(removePlaces);

describe("switched over, the rest of the file stays", () => {
  test.each<[string, "on" | "off", string | null]>([
    ["", "on", "notify: on\n"],
    ["# mine\n", "on", "# mine\nnotify: on\n"],
    ["shortcuts: off", "on", "shortcuts: off\nnotify: on\n"],
    ["notify: off # for now\nshortcuts: off\n", "on", "notify: on # for now\nshortcuts: off\n"],
    ["notify: on\n", "off", "notify: off\n"],
    ["notify: on\n", "on", "notify: on\n"],
    ["notify:\n  bell: off # no\n", "off", "notify:\n  send: off\n  bell: off # no\n"],
    ["notify:\n  send: off\n  bell: off\n", "on", "notify:\n  send: on\n  bell: off\n"],
    ["notify:\n  bell: off\n", "on", "notify:\n  bell: off\n"],
    ["notify: { bell: off }\n", "off", "notify: {send: off,  bell: off }\n"],
    ["{ shortcuts: off }\n", "on", null],
    ["- a list\n", "on", null],
    ["a: [\n", "on", null],
  ])("%j %s", (text, to, after) => {
    expect(switched(text, to)).toBe(after);
    const read = after === null ? null : compileConfig(after, "config.yaml");
    if (read) expect("config" in read && notifySettings(read.config.notify).on).toBe(to === "on");
  });
});

describe("what may stand there", () => {
  test.each<[string, string]>([
    ["notify: yes\n", 'expected on, off, or a mapping (key: value), found the text "yes"'],
    ["notify:\n  command: ntfy publish me\n", "expected a list, found the text"],
    ["notify:\n  command: []\n", '"command" is empty'],
    ["notify:\n  batch: -1\n", "a whole number from 0 to 600"],
    ["notify:\n  silent: 0\n", "never, or a whole number from 1 to 1440"],
    ["notify:\n  mail: me\n", 'unknown key "mail"'],
  ])("%j is refused", (text, message) => {
    const read = compileConfig(text, "config.yaml");
    expect("errors" in read && read.errors[0]!.message).toContain(message);
  });

  test("left out: off", () => expect(notifySettings(undefined).on).toBe(false));
  test("how, and nothing else: on", () =>
    expect(notifySettings({ silent: "never", batch: 0 })).toEqual({
      on: true,
      bell: true,
      desktop: true,
      command: null,
      batch: 0,
      silent: 0,
    }));
});

describe("a repository's file", () => {
  test("is refused with the reason", () => {
    const read = compileProject("notify:\n  command: [sh, -c, evil]\n");
    const [problem] = "errors" in read ? read.errors : [];
    expect(problem).toMatchObject({ file: "pawl.yaml", line: 1, message: 'unknown key "notify"' });
    expect(problem!.hint).toContain("never from a repository's file");
  });

  test("starts nothing", () => {
    const place = makePlace();
    const double = program(place, "double", '#!/bin/sh\ntouch "$HOME/ran"\n');
    put(join(place.root, "pawl.yaml"), `notify:\n  batch: 0\n  command: [${double}]\n`);
    put(join(place.root, ".config/pawl/config.yaml"), `notify:\n  batch: 0\n  command: [${double}]\n`);
    expect(runPawl(place, ["check"])).toMatchObject({
      code: 1,
      out: expect.stringContaining("never from a repository"),
    });
    const asked = { tool_name: "Bash", tool_input: {} };
    expect(runHook(place, payload(place, openSession(place, "main"), "PermissionRequest", asked)).out).toBe("");
    expect(isIdle(place)).toBe(true);
    expect(runPawl(place, ["notify", "--test"]).err).toContain("notifications are off");
  });
});

describe("the command", () => {
  test("on, a test, off: the file and what is said", () => {
    const place = makePlace();
    put(join(place.home, CONFIG), "# mine\nshortcuts: off\n");
    const text = () => readFileSync(join(place.home, CONFIG), "utf8");
    expect(runPawl(place, ["notify", "on"]).out).toStartWith("Notifications are on (~/.config/pawl/config.yaml).\n");
    expect(text()).toBe("# mine\nshortcuts: off\nnotify: on\n");
    expect(runPawl(place, ["notify", "on"]).out).toContain(", unchanged");
    expect(runPawl(place, ["notify", "off"]).out).toBe("Notifications are off (~/.config/pawl/config.yaml).\n");
    expect(text()).toBe("# mine\nshortcuts: off\nnotify: off\n");
  });

  test("a test is sent at once, and what failed is named", () => {
    const place = listening();
    const sent = runPawl(place, ["notify", "--test"]);
    expect(sent).toMatchObject({ code: 0, out: expect.stringContaining("command   sent\n") });
    expect(received(place)).toMatchObject([{ what: "test", title: "Pawl: a test" }]);
    put(join(place.home, CONFIG), "notify:\n  desktop: off\n  command: [~/double]\n");
    expect(runPawl(place, ["notify", "--test"]).out).toContain("command   sent\n");
    program(place, "double", "#!/bin/sh\nexit 3\n");
    const failed = runPawl(place, ["notify", "--test"]);
    expect(failed.code).toBe(1);
    expect(failed.out).toMatch(/command {3}failed: \S+ ended with 3\n/);
  });

  test("desktop: notify-send gets text as text", () => {
    const place = makePlace();
    program(place, "bin/notify-send", '#!/bin/sh\nprintf "%s\\n" "$@" > "$HOME/shown"\n');
    const env = { PATH: `${join(place.home, "bin")}:/usr/bin:/bin` };
    expect(runPawl(place, ["notify", "on"], { env }).out).toContain("desktop   notify-send\n");
    expect(runPawl(place, ["notify", "--test"], { env }).out).toContain("desktop   sent\n");
    expect(readFileSync(join(place.home, "shown"), "utf8")).toBe(
      "--app-name=Pawl\n--\nPawl: a test\nThis is a test: Pawl notifies you like this.\n",
    );
  });

  test.each([["on"], ["off"]])("an agent cannot say %s", (word) => {
    const place = makePlace();
    const ran = runPawl(place, ["notify", word], { env: CLIENT });
    expect(ran).toMatchObject({
      code: 1,
      err: expect.stringContaining("an agent cannot turn notifications on or off"),
    });
  });

  test("a file that only its owner should touch stays as it is", () => {
    const place = makePlace();
    put(join(place.home, CONFIG), "{ shortcuts: off }\n");
    expect(runPawl(place, ["notify", "on"])).toMatchObject({ code: 2, err: expect.stringContaining("`notify: on`") });
    expect(readFileSync(join(place.home, CONFIG), "utf8")).toBe("{ shortcuts: off }\n");
  });

  test.each([[["maybe"]], [["on", "off"]], [["--what"]]])("%p is refused", (words) => {
    expect(runPawl(makePlace(), ["notify", ...words]).code).toBe(2);
  });
});
