/** Who changes a task, and whose it is: sessions, dead ones, the person. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { machineName } from "../../../src/trackers/machine.ts";
import { openSession, PAWL, type Place, payload, removePlaces, run, runHook } from "../../harness/harness.ts";
import { runInProcess } from "../../harness/in-process.ts";
import { HOOK, quoted } from "../hook/hostile.ts";
import { HEAD, placeWith as placeOf, session, USER } from "./place.ts";

afterAll(removePlaces);

const SESSION = "1a2b3c4d-0000-4000-8000-000000000000";
const OTHER = "99999999-0000-4000-8000-000000000000";

const placeWith = (line = "- [ ] **A** — | sonnet") => placeOf({ "session.md": `${HEAD}${line}\n` });

/** A session that Pawl knows. */
function remember({ home, root }: Place, id: string, fields: Record<string, unknown> = {}): void {
  const folder = join(home, ".local/state/pawl/sessions");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `claude-${id}`), `${JSON.stringify({ root, run: "", ...fields })}\n`);
}

/** As the agent's shell would run it. */
function byAgent(place: Place, id: string, words: string) {
  const client = join(place.base, "claude");
  symlinkSync("/bin/bash", client);
  const env = { CLAUDE_CODE_SESSION_ID: id, CLAUDECODE: "1" };
  return run(place, [client, "-c", `'${PAWL}' task ${words}; exit $?`], { env });
}

describe("who", () => {
  test("a person, by the system's name for them", () => {
    const place = placeWith();
    expect(runInProcess(place, ["task", "start", "a"], { env: { USER: "mallory" } }).code).toBe(0);
    expect(session(place)).toContain(`| @${USER} on `);
  });

  test("an agent, by its session", () => {
    const place = placeWith();
    expect(byAgent(place, SESSION, "start a")).toMatchObject({ code: 0, err: "" });
    expect(session(place)).toContain("| @pawl-1a2b3c4d on ");
  });

  test("who only says that it is one is not", () => {
    const place = placeWith();
    const env = { CLAUDE_CODE_SESSION_ID: SESSION };
    expect(runInProcess(place, ["task", "start", "a"], { env }).code).toBe(0);
    expect(session(place)).toContain(`| @${USER} on `);
  });

  test("an agent that names another's session is not that one", () => {
    const place = placeWith();
    remember(place, OTHER, { pid: 1, pid_start: "1" });
    expect(byAgent(place, OTHER, "start a").code).toBe(0);
    expect(session(place)).not.toContain("@pawl-99999999");
  });

  test("a name that could be no file's is nobody's", () => {
    const place = placeWith();
    expect(byAgent(place, "../../x", "start a").code).toBe(0);
    expect(session(place)).toContain(`| @${USER} on `);
  });
});

describe("a claim of another", () => {
  const claimed = (actor: string, on: string, since = "2026-01-01T10:00:00Z") =>
    `- [>] **A** — | sonnet | @${actor} on ${on} since ${since}`;
  /** The name is made from the home, which is each place's own. */
  const here = ({ home }: Place) => {
    const before = process.env.HOME;
    process.env.HOME = home;
    const name = machineName();
    process.env.HOME = before;
    return name;
  };
  const held = (live: boolean) => {
    const place = placeWith();
    writeFileSync(join(place.root, "session.md"), `${HEAD}${claimed("pawl-99999999", here(place))}\n`);
    if (live) remember(place, OTHER);
    return place;
  };

  const verbs = ["start a", "done a", "block a", "drop a", "open a", "edit a --title B"];
  test.each(verbs)("%s: not while that session is at work, but with --force", (words) => {
    const place = held(true);
    const before = session(place);
    const ran = runInProcess(place, ["task", ...words.split(" ")]);
    expect(ran).toMatchObject({ code: 1, out: "" });
    expect(ran.err).toContain("a is in progress: pawl-99999999 on ");
    expect(ran.err).toContain("--force");
    expect(session(place)).toBe(before);
    expect(runInProcess(place, ["task", ...words.split(" "), "--force"])).toMatchObject({ code: 0, err: "" });
    expect(session(place)).not.toBe(before);
  });

  test.each(verbs)("%s: a dead session holds nothing", (words) => {
    const place = held(false);
    expect(runInProcess(place, ["task", ...words.split(" ")])).toMatchObject({ code: 0, err: "" });
  });

  /** A client that stays until its stdin ends; what it runs is a child of its own. */
  async function withClient(place: Place, script: string, then: () => void): Promise<void> {
    const client = join(place.base, "claude");
    symlinkSync("/bin/bash", client);
    const { env } = place;
    const cmd = [client, "-c", `${script} > /dev/null; echo ready; read -r end`];
    const child = Bun.spawn({ cmd, cwd: place.root, env, stdin: "pipe", stdout: "pipe" });
    try {
      const { value } = await child.stdout.getReader().read();
      expect(new TextDecoder().decode(value)).toBe("ready\n");
      then();
    } finally {
      child.stdin.end();
      await child.exited;
    }
  }
  const prompted = (place: Place, id: string) =>
    payload(place, openSession(place, id), "UserPromptSubmit", { prompt: "x" });
  const byHook = (place: Place) => `printf %s ${quoted({ ...prompted(place, "A"), session_id: OTHER })} | ${HOOK}`;

  test.each([
    ["x", byHook],
    ["pawl task start", () => `CLAUDE_CODE_SESSION_ID=${OTHER} CLAUDECODE=1 '${PAWL}' task start a`],
  ])("%s: taken without a run, it is held as long as the client is there, and no longer", async (_way, script) => {
    const place = placeWith();
    let fresh = "";
    await withClient(place, script(place), () => {
      fresh = session(place)!;
      const old = fresh.replace(/since \S+/, "since 2026-01-01T10:00:00Z");
      expect(old).toContain("[>] **A** — | sonnet | @pawl-99999999 on ");
      writeFileSync(join(place.root, "session.md"), old);
      expect(runHook(place, prompted(place, "B")).out).toContain("No pending tasks.");
      expect(runInProcess(place, ["task", "done", "a"]).err).toContain("a is in progress: pawl-99999999 on ");
    });
    writeFileSync(join(place.root, "session.md"), fresh);
    expect(runHook(place, prompted(place, "C")).out).toContain("Resume this task, it is yours");
  });

  test("a new conversation of the same client goes on with it", async () => {
    const place = placeWith();
    const again = `{ printf %s ${quoted(prompted(place, "B"))} | ${HOOK} > heard; }`;
    await withClient(place, `${byHook(place)} > first; ${again}`, () => {
      expect(readFileSync(join(place.root, "heard"), "utf8")).toContain("Resume this task, it is yours");
    });
  });

  test("labels may be taken off a task in progress: that stops its run", () => {
    const place = held(true);
    expect(runInProcess(place, ["task", "edit", "a", "--label", "later"]).code).toBe(0);
  });

  test("a session of another machine is not known to be dead", () => {
    const place = placeWith(claimed("pawl-99999999", "elsewhere-0000"));
    expect(runInProcess(place, ["task", "done", "a"]).code).toBe(1);
    expect(runInProcess(place, ["task", "done", "a", "--force"]).code).toBe(0);
  });

  test("the session itself may do all of it", () => {
    for (const words of ["done a", "block a", "drop a", "open a", "edit a --title B"]) {
      const place = held(true);
      expect(byAgent(place, OTHER, words)).toMatchObject({ code: 0, err: "" });
    }
  });

  test("a person's is not started by others without --force, but may be closed", () => {
    const place = placeWith("- [>] **A** — | sonnet | @ann");
    expect(runInProcess(place, ["task", "start", "a"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("--force"),
    });
    expect(runInProcess(place, ["task", "start", "a", "--force"]).code).toBe(0);
    expect(session(place)).toContain(`@${USER}`);
    const other = placeWith("- [>] **A** — | sonnet | @ann");
    expect(runInProcess(other, ["task", "done", "a"]).code).toBe(0);
  });
});
