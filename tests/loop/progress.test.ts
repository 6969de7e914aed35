import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { IterationLine } from "../../src/kernel/types/loop.ts";
import { newLoop } from "../../src/loop/core/loop.ts";
import {
  type Moment,
  openPainter,
  type Row,
  renderFrame,
  renderRow,
  renderTitle,
  terminalView,
} from "../../src/loop/terminal.ts";
import { FAKE_LOOP } from "./fake-loop.ts";

const LIMITS = { max_iterations: 5, failure_threshold: 3, time_limit: 28_800, budget: 20 };
const fresh = newLoop({ id: "lo-1", procedure: "build", ai: "claude", run: "" }, "2026-01-02T03:04:05.000Z");
const later = { ...fresh, iterations: 1, cost_usd: 0.42 };
const at = (hours: number, minutes: number, day = 2) => new Date(2026, 0, day, hours, minutes);
const calm: Moment = {
  procedure: "build",
  iteration: 2,
  max: 5,
  elapsed_ms: 65_900,
  doing: "Edit src/a.ts",
  line: "Now the tests.",
  state: later,
  limits: LIMITS,
  waiting: null,
};

describe("the moving lines", () => {
  const limit = { until: at(15, 0), now: at(13, 48), why: "usage limit: resets 3pm" };
  const table: [string, Partial<Moment>, number, string, string][] = [
    ["all of it", {}, 100, "  build · iteration 2 of 5 · 1m05s · $0.4200 · Edit src/a.ts", "    Now the tests."],
    [
      "nothing known yet",
      { doing: "", line: "", state: null, limits: null, max: null, elapsed_ms: 999 },
      100,
      "  build · iteration 2 · 0s · working",
      "    …",
    ],
    [
      "before the first end nothing has a price",
      { state: fresh },
      100,
      "  build · iteration 2 of 5 · 1m05s · Edit src/a.ts",
      "    Now the tests.",
    ],
    [
      "a sum that is not all",
      { state: { ...later, cost_known: false } },
      100,
      "  build · iteration 2 of 5 · 1m05s · at least $0.4200 · Edit src/a.ts",
      "    Now the tests.",
    ],
    [
      "nobody tells a price",
      { state: { ...later, cost_usd: 0, cost_known: false } },
      100,
      "  build · iteration 2 of 5 · 1m05s · Edit src/a.ts",
      "    Now the tests.",
    ],
    [
      "failures",
      { state: { ...later, failures: 2 } },
      100,
      "  build · iteration 2 of 5 · 1m05s · $0.4200 · 2 of 3 failed in a row · Edit src/a.ts",
      "    Now the tests.",
    ],
    ["narrow", {}, 30, "  build · iteration 2 of 5 ·…", "    Now the tests."],
    ["narrower than anything", {}, 2, "…", "…"],
    ["wide characters", { line: "漢字漢字漢字" }, 12, "  build · …", "    漢字漢…"],
    [
      "escape sequences of others",
      { doing: "Bash \u001b[2Jls", line: "\u001b]0;x\u0007a\r\nb\tc\u009b31m" },
      100,
      "  build · iteration 2 of 5 · 1m05s · $0.4200 · Bash ls",
      "    a b c31m",
    ],
    [
      "a usage limit",
      { waiting: limit },
      100,
      "  build · iteration 2 of 5 · usage limit, resuming at 15:00, 1h12m left",
      "    resets 3pm",
    ],
    [
      "a usage limit until another day",
      { waiting: { ...limit, until: at(1, 5, 3) } },
      100,
      "  build · iteration 2 of 5 · usage limit, resuming at Sat 01:05, 11h17m left",
      "    resets 3pm",
    ],
    [
      "a usage limit that is over",
      { waiting: { ...limit, now: at(15, 1) } },
      100,
      "  build · iteration 2 of 5 · usage limit, resuming at 15:00:00, 0s left",
      "    resets 3pm",
    ],
    [
      "another wait",
      { waiting: { until: new Date(2026, 0, 2, 13, 48, 20), now: at(13, 48), why: "no network" } },
      100,
      "  build · iteration 2 of 5 · retrying at 13:48:20, 20s left",
      "    no network",
    ],
  ];
  for (const [name, change, columns, ...lines] of table)
    test(name, () => {
      const rows = renderFrame({ ...calm, ...change }, columns).map(({ text }) => text);
      expect(rows).toEqual(lines);
      for (const row of rows) expect(Bun.stringWidth(row)).toBeLessThan(columns);
    });
});

test("what a finished iteration leaves, and the title", () => {
  const line: IterationLine = {
    iteration: 3,
    at: "",
    verdict: "refused",
    why: "tests\nfail\u001b[1m",
    elapsed_ms: 1_500,
    cost_usd: null,
    session: null,
  };
  expect(renderRow(line, 80)).toEqual({ text: "✘ 3 refused · 1.5s · tests fail", colour: "red" });
  expect(renderRow(line, 12).text).toBe("✘ 3 refuse…");
  const title = { procedure: "build", ai: "claude", limits: LIMITS };
  expect(renderTitle(title)).toBe("pawl loop build with claude · at most 5 iterations, 8h00m, $20.00");
  expect(renderTitle({ ...title, limits: { ...LIMITS, max_iterations: null } })).toContain("any number of iterations");
});

describe("drawing", () => {
  const row = (text: string): Row => ({ text, colour: "none" });
  const visible = (text: string) => text.replaceAll("\u001b", "^").replaceAll("\r", "\\r").replaceAll("\n", "\\n");

  test("only what has changed is written, and nothing where nothing has", () => {
    const written: string[] = [];
    const painter = openPainter(
      (text) => written.push(visible(text)),
      () => 80,
      false,
    );
    painter.draw([row("a"), row("b")]);
    painter.draw([row("a"), row("b")]);
    painter.draw([row("a"), row("c")]);
    painter.draw([row("a"), row("c")], [row("done")]);
    painter.draw([]);
    painter.draw([]);
    expect(written).toEqual([
      "^[?25l^[?7la\\r\\nb\\r^[1A^[?7h^[?25h",
      "^[?25l^[?7l\\r\\r\\nc^[K\\r^[1A^[?7h^[?25h",
      "^[?25l^[?7l\\r^[K\\r\\n^[J^[1A^[?7h^[?25hdone\\r\\n^[?25l^[?7la\\r\\nc\\r^[1A^[?7h^[?25h",
      "^[?25l^[?7l\\r^[K\\r\\n^[J^[1A^[?7h^[?25h",
    ]);
  });

  test("colours are left out where they are not wanted", () => {
    const drawn = (colours: boolean) => {
      let text = "";
      openPainter(
        (more) => (text += more),
        () => 80,
        colours,
      ).draw([{ text: "x", colour: "green" }]);
      return text;
    };
    expect(drawn(true)).toContain("\u001b[32mx\u001b[0m");
    expect(drawn(false)).not.toContain("[32m");
  });

  test("a flood of output is drawn at most ten times a second", async () => {
    let writes = 0;
    const screen = { out: () => void writes++, err: () => undefined };
    const view = terminalView(screen, {
      procedure: "build",
      ai: "x",
      limits: LIMITS,
      columns: () => 80,
      verbose: true,
    });
    view.began(1, 5, "s");
    const before = writes;
    const began = performance.now();
    for (let n = 0; performance.now() - began < 650; n++) {
      view.output(new TextEncoder().encode(`line ${n}\n`.repeat(1_000)));
      await new Promise(setImmediate);
    }
    view.stop();
    const drawn = writes - before;
    expect(drawn).toBeGreaterThanOrEqual(1);
    // and once more for the end
    expect(drawn).toBeLessThanOrEqual(2 + (performance.now() - began) / 100);
  });
});

// ── A real terminal ─────────────────────────────────────────────────────────

const BUN = join(import.meta.dir, "../../node_modules/.bin/bun");
const windows: { clear(): void }[] = [];
afterEach(() => {
  for (const window of windows.splice(0)) window.clear();
});

describe.skipIf(!Bun.which("tmux"))("on a terminal", () => {
  test("a whole loop, with two changes of width", async () => {
    const window = openWindow(80, []);
    await window.shows(
      /^ {2}build · iteration 1 of 5 · \d+s · Edit src\/parser.ts\n {4}I begin with the parser and 漢字\.$/m,
    );
    await window.shows(/· [1-9]\d*s ·/);
    window.go("second");
    await window.shows("$0.4200 · writing\n    漢字漢字");
    window.resize(50);
    await window.shows(/^ {2}build · iteration 2 of 5 · \d+s · \$0.4200 · writ…\n {4}(漢字){11}…$/m);
    window.resize(100);
    await window.shows(/· writing\n {4}(漢字){23}漢…$/m);
    expect(window.screen().match(/iteration 2 of 5/g)).toHaveLength(1);
    window.go("wait");
    await window.shows(
      /^⟳ 2 not counted · 1m05s .*\n {2}build · iteration 2 of 5 · usage limit, resuming at .*\d\d:\d\d, 1h1[12]m left\n/m,
    );
    window.go("end");
    await window.shows(/✔ build: SUCCESS\n[\s\S]*2 iterations, 3m15s, \$1\.26\nover 0/);
    expect(window.screen()).not.toContain("build · iteration");
    expect(window.cursor()).toBe("1 1");
  }, 120_000);

  test("interrupted, it leaves the summary and the cursor", async () => {
    const window = openWindow(80, []);
    await window.shows("Edit src/parser.ts");
    window.press("C-c");
    await window.shows(/^pawl loop build .*\n✘ build: interrupted\n[\s\S]*--resume lo-1[\s\S]*over 0/);
    expect(window.cursor()).toBe("1 1");
  }, 120_000);

  test("what the agent says scrolls by above", async () => {
    const window = openWindow(80, ["--verbose"]);
    await window.shows(
      /claude .*\n {2}I begin with the parser and 漢字\.\n {2}▸ Edit src\/parser.ts\n {2}build · iteration 1 of 5/,
    );
  }, 120_000);
});

function openWindow(columns: number, args: string[]) {
  const folder = mkdtempSync(join(tmpdir(), "pawl-progress-"));
  const socket = join(folder, "tmux");
  const tmux = (...words: string[]) =>
    Bun.spawnSync(["tmux", "-S", socket, "-f", "/dev/null", ...words], {
      env: { PATH: process.env.PATH ?? "", HOME: folder, TERM: "xterm-256color", LC_ALL: "C.UTF-8" },
    }).stdout.toString();
  const command = `${BUN} ${FAKE_LOOP} ${folder} ${args.join(" ")}; echo over $?; exec sleep 100`;
  tmux("-u", "new-session", "-d", "-x", String(columns), "-y", "20", command);
  const screen = () => tmux("capture-pane", "-p");
  const window = {
    screen,
    async shows(what: string | RegExp) {
      const end = Date.now() + 25_000;
      while (!(typeof what === "string" ? screen().includes(what) : what.test(screen()))) {
        if (Date.now() > end) throw new Error(`not on the screen: ${what}\n${screen()}`);
        await Bun.sleep(30);
      }
    },
    go: (step: string) => writeFileSync(join(folder, step), ""),
    resize: (width: number) => tmux("resize-window", "-x", String(width), "-y", "20"),
    press: (key: string) => tmux("send-keys", key),
    cursor: () => tmux("display", "-p", "#{cursor_flag} #{wrap_flag}").trim(),
    clear() {
      tmux("kill-server");
      rmSync(folder, { recursive: true, force: true });
    },
  };
  windows.push(window);
  return window;
}
