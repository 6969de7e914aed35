/** Where there is no /proc, ps tells the parent and its start: the same events are refused, and the same ones count. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  CLIENT,
  errorsOf,
  makePlace,
  openSession,
  payload,
  removePlaces,
  run,
  type Session,
  stopFields,
} from "../../harness/harness.ts";
import { runOf } from "../../harness/run-files.ts";

afterAll(removePlaces);
setDefaultTimeout(60_000);

const hasPs = existsSync("/bin/ps");
if (!hasPs) console.warn("SKIPPED, nothing proven: there is no /bin/ps");

const SOURCE = resolve(import.meta.dir, "../../../src/main.ts");
const HIDE = resolve(import.meta.dir, "../hide-proc.ts");
const HOOK = [process.execPath, "--preload", HIDE, SOURCE, "hook", "claude", "--via", "local"];
const CLAIM = "Written down.\n\n<promise>MEMORY_UPDATED</promise>";

function begun() {
  const place = makePlace();
  const session: Session = { ...openSession(place, "mine"), turn: 1 };
  const send = (name: string, fields: object, before: string[] = []) =>
    run(place, [...before, ...HOOK], { input: JSON.stringify(payload(place, session, name, fields)), env: CLIENT });
  expect(send("UserPromptSubmit", { prompt: "/complete-work" }).out).toContain("step 1 of 4");
  return { place, session, send };
}

const SHELLS: [string, string[]][] = [
  ["a shell", ["sh", "-c", '"$@"; true', "sh"]],
  ["a shell named claude", ["bash", "-c", 'exec -a claude bash -c \'"$@"; true\' sh "$@"', "sh"]],
  ["setsid", ["sh", "-c", 'setsid -w "$@"; true', "sh"]],
];

describe.skipIf(!hasPs)("without /proc", () => {
  test("the client is known by number and start, as ps tells them", () => {
    const { place, session } = begun();
    const pointer = JSON.parse(
      readFileSync(join(place.home, ".local/state/pawl/sessions", `claude-${session.id}`), "utf8"),
    );
    expect(pointer).toMatchObject({ pid: process.pid, boot: "", pid_ns: "" });
    expect(pointer.pid_start).toMatch(/^\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4}$/);
  });

  test.each(SHELLS)("a stop from %s is refused, and the client's own counts", (_name, before) => {
    const { place, session, send } = begun();
    const was = runOf(place.root, session.id);
    send("Stop", stopFields(session, CLAIM), before);
    expect(runOf(place.root, session.id)).toEqual(was);
    expect(errorsOf(place)).toContain("not obeyed");
    expect(send("Stop", stopFields(session, CLAIM)).out).toContain("step 2 of 4");
  });
});
