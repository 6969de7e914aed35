import { afterAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { PAWL, type Place, removePlaces } from "../harness.ts";
import { ground, snapshot } from "./ground.ts";

afterAll(removePlaces);

/** On a real pseudo-terminal; each answer is typed when its question stands there. */
async function typed(place: Place, args: string[], answers: string[]): Promise<{ code: number; screen: string }> {
  const decoder = new TextDecoder();
  let screen = "";
  let asked = 0;
  const child = Bun.spawn([PAWL, ...args], {
    cwd: place.root,
    env: place.env,
    terminal: {
      cols: 200,
      rows: 50,
      data: (terminal, bytes) => {
        screen += decoder.decode(bytes, { stream: true });
        if (screen.split("[y/N]").length - 1 > asked) terminal.write(`${answers[asked++] ?? ""}\r`);
      },
    },
  });
  const code = await child.exited;
  child.terminal?.close();
  return { code, screen };
}

describe("a person is asked", () => {
  for (const answer of ["n", "", "maybe"]) {
    test(`${JSON.stringify(answer)} is a no`, async () => {
      const place = ground();
      const before = snapshot(place.base);
      const { code, screen } = await typed(place, ["init"], [answer]);
      expect(screen).toContain("Nothing was changed.");
      expect(code).toBe(1);
      expect(snapshot(place.base)).toEqual(before);
    });
  }
  test("yes, and no configuration", async () => {
    const place = ground({ "go.mod": "module x\n" });
    const { code, screen } = await typed(place, ["init"], ["y", "n"]);
    expect(screen).toContain("Also suggest these checks");
    expect(screen).toContain("The hook was fired once and answered in");
    expect(code).toBe(0);
    expect(existsSync(join(place.root, "pawl.yaml"))).toBe(false);
  });
  test("yes to both, and out again", async () => {
    const place = ground({ "go.mod": "module x\n" });
    const before = snapshot(place.root);
    expect((await typed(place, ["init"], ["yes", "y"])).code).toBe(0);
    expect(existsSync(join(place.root, "pawl.yaml"))).toBe(true);
    expect((await typed(place, ["init"], [])).screen).toContain("nothing to do");
    expect((await typed(place, ["uninstall"], ["n"])).code).toBe(1);
    expect((await typed(place, ["uninstall"], ["y"])).code).toBe(0);
    expect(snapshot(place.root)).toEqual(before);
  });
});
