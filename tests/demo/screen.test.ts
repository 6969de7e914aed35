import { describe, expect, test } from "bun:test";
import { openScreen } from "../../src/demo/screen.ts";

describe("the screen", () => {
  async function paint(columns: number, color: boolean): Promise<string> {
    let text = "";
    const write = (more: string) => {
      text += more;
    };
    const screen = openScreen({ write, color, paced: false, columns });
    await screen.title("A title of some length, longer than the narrowest of screens would like");
    await screen.say("pawl → you", `❌ Commit ${"word ".repeat(40)}${"/path".repeat(50)}\n✅ Done`);
    return text;
  }

  test.each([[60], [80], [100], [200]])("%d columns: no line is wider, none than 100", async (columns) => {
    const text = await paint(columns, false);
    const widest = Math.max(...text.split("\n").map((line) => Bun.stringWidth(line)));
    expect(widest).toBeLessThanOrEqual(Math.min(columns, 100));
    expect(text.replace(/\s/g, "")).toContain("/path".repeat(50));
  });

  test("colours only where they are wanted", async () => {
    const colored = await paint(80, true);
    expect(colored).toContain("\x1b[32;1m");
    expect(colored.replace(/\x1b\[[0-9;]*m/g, "")).toBe(await paint(80, false));
  });
});
