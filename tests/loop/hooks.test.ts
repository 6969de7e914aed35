/** The hooks that a loop brings with `claude --settings`, and what preflight says of them. */
import { afterAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import ourHooks from "../../plugin/hooks/hooks.json";
import { findHooks, hooksToBring } from "../../src/cli/shared/doctor-context.ts";
import { EVENTS, hookCommand } from "../../src/setup/install/hooks.ts";
import { type Place, removePlaces, runPawl, shell } from "../harness/harness.ts";
import { runInProcess } from "../harness/in-process.ts";
import { BINARY, bare, plugin, user, write } from "../setup/doctor/clinic.ts";

afterAll(removePlaces);

const init = (place: Place, ...args: string[]) => void runInProcess(place, ["init", "--with", "all", "--yes", ...args]);

/** Its home is that of the place until it has answered. */
async function atHome<T>(place: Place, ask: () => Promise<T>): Promise<T> {
  const before = process.env.HOME;
  process.env.HOME = place.home;
  try {
    return await ask();
  } finally {
    process.env.HOME = before;
  }
}

const brought = (place: Place, root = place.root) => atHome(place, () => hooksToBring(root, place.env));

const ways: [string, (place: Place) => void, string | null][] = [
  ["nothing installed", () => {}, hookCommand("local")],
  ["installed for one person", (place) => init(place), hookCommand("local")],
  ["installed for a team", (place) => init(place, "--team"), hookCommand("project")],
  ["installed for all projects", (place) => init(place, "--user"), hookCommand("user")],
  ["the plugin", (place) => plugin(place, "pawl@pawl", ourHooks), null],
  ["no program to call", (place) => rmSync(join(place.home, BINARY)), null],
];

describe("the client runs the same command once, so a loop brings the one that is installed", () => {
  test.each(ways)("%s", async (_way, prepare, command) => {
    const place = bare();
    prepare(place);
    const settings = JSON.parse((await brought(place)) ?? "null");
    if (command === null) return expect(settings).toBeNull();
    expect(Object.keys(settings.hooks)).toEqual([...EVENTS]);
    for (const event of EVENTS) expect(settings.hooks[event][0].hooks[0].command).toBe(command);
  });
  test("in a worktree, that of the main checkout", async () => {
    const place = bare();
    init(place);
    shell(place, "git worktree add -q ../tree");
    const tree = join(place.base, "tree");
    expect(await brought(place, tree)).toBe(await brought(place));
    expect(await brought(place, tree)).toContain("--via local");
  });
});

describe("preflight", () => {
  const found = (place: Place, isBrought: boolean) => atHome(place, () => findHooks(place.root, place.env, isBrought));
  test("brought is as good as installed; switched off is switched off", async () => {
    const place = bare();
    expect(await found(place, false)).toMatchObject({ ok: false, what: expect.stringContaining("no settings file") });
    expect(await found(place, true)).toMatchObject({ ok: true, what: expect.stringContaining("--settings") });
    user(place, '{"disableAllHooks":true}');
    expect(await found(place, true)).toMatchObject({ ok: false, what: expect.stringContaining("disableAllHooks") });
  });
});

test("--dry-run names them, and --json has them in full", () => {
  const place = bare();
  write(place.home, "bin/claude", "#!/bin/sh\n");
  shell(place, `chmod +x ${place.home}/bin/claude`);
  const env = { PATH: `${place.home}/bin:/usr/bin:/bin` };
  expect(runPawl(place, ["loop", "build", "--dry-run"], { env }).out).toContain("--settings <Pawl's hooks>\n");
  const { argv } = JSON.parse(runPawl(place, ["loop", "build", "--dry-run", "--json"], { env }).out);
  expect(JSON.parse(argv.at(-1)).hooks.Stop[0].hooks[0].command).toBe(hookCommand("local"));
});
