/** A messy evening: several sessions in two projects of one home, each left at another point. Made by real hook calls. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { perform, type Step, sessionOf, type World } from "../scenarios/scenario.ts";
import { makePlace, type Place, run } from "./harness.ts";
import { runOf } from "./run-files.ts";

const SHIP = `name: ship
signals: promise
arm: ["/ship"]
stages:
  - id: build
    say: Build it.
    on:
      BUILT: { to: look, gates: [{ run: [sh, check.sh] }] }
      BROKEN: { halt: "It cannot be built" }
  - id: look
    say: Look at it.
    on:
      LOOKED: { to: send }
  - id: send
    say: Send it.
    on:
      SENT: { end: completed, gates: [{ git: committed-or-clean }] }
`;

const SIGN = `name: sign
signals: promise
arm: ["/sign"]
stages:
  - id: sign
    say: Sign it.
    on:
      SIGNED: { end: completed, gates: [{ person: "Have you looked at the diff?" }] }
`;

export const openWorld = (place: Place): World => ({ place, sessions: {}, current: "A", last: null });

export function make(world: World, ...steps: Step[]): void {
  for (const step of steps) perform(world, step);
}

export const idOf = (world: World, session: string) => {
  world.current = session;
  return runOf(world.place.root, sessionOf(world).id)!.id;
};

export const promise = (name: string, said = "So it is.") => `${said}\n\n<promise>${name}</promise>`;

/** A second project of the same person. */
export function besides({ place }: World, name: string): World {
  const root = join(place.base, name);
  run(place, ["git", "clone", "-q", place.root, root], {});
  run(place, ["git", "-C", root, "config", "user.email", "tester@example.org"], {});
  run(place, ["git", "-C", root, "config", "user.name", "Tester"], {});
  return openWorld({ ...place, root });
}

/** With two workflows whose gates are trusted: `ship`, which runs check.sh, and `sign`, which asks the person. */
export function openShop(): World {
  const world = openWorld(makePlace());
  const folder = join(world.place.root, ".pawl/workflows");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "ship.yaml"), SHIP);
  writeFileSync(join(folder, "sign.yaml"), SIGN);
  make(
    world,
    { write: { "check.sh": "test ! -e broken\n" } },
    { sh: "git add check.sh && git commit -qm check" },
    { trust: true },
  );
  return world;
}

/** From its first word to its last: proved at both ends, only claimed in the middle. */
export const ship = (session: string): Step[] => [
  { session, prompt: "/ship" },
  { stop: promise("BUILT") },
  { stop: promise("LOOKED") },
  { write: { [`${session}.txt`]: "made\n" } },
  { sh: `git add ${session}.txt && git commit -qm "by ${session}"` },
  { stop: promise("SENT") },
];

export const sentBack = (session: string): Step[] => [
  { write: { broken: "yes\n" } },
  { session, prompt: "/ship" },
  { stop: promise("BUILT", "All green!") },
];
