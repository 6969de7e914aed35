/** The report's screen and its Markdown, whatever is written in titles and messages. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { About, ReportView } from "../../../src/insight/core/report-run.ts";
import { reportMarkdown, reportText, type ShownParts } from "../../../src/insight/core/report-text.ts";
import { fit } from "../../../src/kernel/text/columns.ts";

const AT = "2026-11-16T07:00:00.000Z";
const cost = (runs: (number | null)[], loops: (number | null)[] = []): ReportView["cost"] => {
  const spent = (all: (number | null)[]) => ({
    count: all.length,
    usd: all.reduce<number>((sum, one) => sum + (one ?? 0), 0),
    unknown: all.filter((one) => one === null).length,
  });
  return { runs: spent(runs), loops: spent(loops) };
};
const about = (run: string, more: Partial<About> = {}): About => ({
  ...{ project: "/code/shop", run, workflow: "ship", task: "", title: "", at: "2026-11-15T21:14:00.000Z" },
  ...more,
});

const EMPTY: ReportView = {
  ...{ at: AT, since: "2026-11-15T18:00:00.000Z", projects: ["/code/shop"] },
  ...{ needs: [], done: [], failed: [], running: [], unchecked: [], cost: cost([]), unread: [] },
};

const SHOWN: ShownParts = {
  name: (root) => root.split("/").at(-1)!,
  path: (root) => root,
  time: (at) => at.slice(11, 16),
  ...{ asked: "yesterday 18:00", columns: 100, rows: 44, full: false },
};

const TOP = "Report of /code/shop, since yesterday 18:00 (18:00), now 07:00\n";
const text = (view: Partial<ReportView>, shown: Partial<ShownParts> = {}) =>
  reportText({ ...EMPTY, ...view }, { ...SHOWN, ...shown });
const markdown = (view: Partial<ReportView>) => reportMarkdown({ ...EMPTY, ...view }, SHOWN);

const need = (run: string, how = `\`pawl approve ${run}\``) => ({
  ...about(run),
  what: "your approval is needed",
  how,
});
const done = (run: string, proof = ["build: npm test: 12 passed @ tree 05f1e64b2f"]) => ({
  ...about(run),
  ...{ proof, commit: "1a2b3c4d5e6f7a8b" },
});

describe("the screen", () => {
  test("nothing", () => expect(text({})).toBe(`${TOP}Nothing happened that Pawl knows of.\n`));

  test.each<[string, Partial<ReportView>, string]>([
    [
      "needs",
      { needs: [need("s-1")] },
      "1 needs you\n\nNeeds you\n  ▸ ship s-1: your approval is needed, since 21:14\n      → `pawl approve s-1`\n",
    ],
    [
      "done",
      { done: [done("s-1")] },
      "1 proved done\n\nProved done\n  ✓ ship s-1: 21:14, commit 1a2b3c4d5e6f\n      · build: npm test: 12 passed @ tree 05f1e64b2f\n",
    ],
    [
      "a task",
      { done: [{ ...done("s-1"), task: "app-1", title: "Sign in", commit: null }] },
      "1 proved done\n\nProved done\n  ✓ Sign in (ship s-1): 21:14\n      · build: npm test: 12 passed @ tree 05f1e64b2f\n",
    ],
    [
      "failed",
      { failed: [{ ...about("s-1"), outcome: "aborted", why: "by the person", how: "" }] },
      "1 failed or stalled\n\nFailed or stalled\n  ✗ ship s-1: aborted, by the person\n",
    ],
    [
      "not read",
      { unread: [{ project: "/code/shop", why: "run s-9 is damaged" }] },
      "1 failed or stalled\n\nFailed or stalled\n  ✗ not read: run s-9 is damaged\n",
    ],
    [
      "running",
      { running: [{ ...about("s-1"), where: "◉ ○ BUILD 1 of 2, 3 min", said: "Nearly there" }] },
      "1 running\n\nStill running\n  ◦ ship s-1: ◉ ○ BUILD 1 of 2, 3 min\n      it claims: “Nearly there”\n",
    ],
    [
      "not checked",
      { unchecked: [{ ...about("s-1"), kind: "claimed", what: "look: claimed, nothing was checked" }] },
      "1 not checked\n\nNot checked\n  ? ship s-1: look: claimed, nothing was checked\n",
    ],
  ])("%s", (_, view, wanted) => expect(text(view)).toBe(TOP + wanted));

  test("what was not checked in the same way many times is one line", () => {
    const one = (run: string, what = "look: claimed, nothing was checked") => ({
      ...{ ...about(run, { title: run }), kind: "claimed" as const, what },
    });
    expect(text({ unchecked: [one("s-1"), one("s-2"), one("s-3", "other"), one("s-4")] })).toBe(
      `${TOP}4 not checked\n\nNot checked\n  ? ship, 3 times: look: claimed, nothing was checked\n  ? s-3 (ship s-3): other\n`,
    );
  });

  test.each<[string, ReportView["cost"], string]>([
    ["known", cost([1, 0.5]), "$ $1.50: 2 runs $1.50"],
    ["in part", cost([1, null]), "$ at least $1.00: 2 runs $1.00 (1 did not tell)"],
    ["of loops", cost([], [0.25]), "$ $0.25: 1 iteration of loops $0.25"],
    ["not at all", cost([null]), "$ not known: no client told what it cost"],
  ])("cost %s", (_, cost, wanted) => expect(text({ cost })).toContain(wanted));

  test("the order of the sections, those that need the person first", () => {
    const all = text({
      needs: [need("s-1")],
      done: [done("s-2")],
      failed: [{ ...about("s-3"), outcome: "failed", why: "x", how: "" }],
      running: [{ ...about("s-4"), where: "x", said: "" }],
      unchecked: [{ ...about("s-5"), kind: "claimed", what: "x" }],
      cost: cost([1]),
    });
    const titles = all.split("\n").filter((line) => /^[A-Z][a-z ]+$/.test(line));
    expect(titles).toEqual(["Needs you", "Proved done", "Failed or stalled", "Still running", "Not checked", "Cost"]);
  });

  test("of several projects each line names its own, and a command where to type it", () => {
    const view = { projects: ["/code/shop", "/code/site"], needs: [need("s-1"), need("s-2", "answer in its session")] };
    const shown = text(view);
    expect(shown).toContain("  ▸ shop: ship s-1: your approval");
    expect(shown).toContain("      → `pawl approve s-1`, in /code/shop\n");
    expect(shown).toContain("      → answer in its session\n");
    expect(shown).toContain("Report of 2 projects, ");
  });

  test("a long night still fits one screen, says what is left out, and --full leaves nothing out", () => {
    const many = (count: number) => Array.from({ length: count }, (_, nth) => `s-${nth}`);
    const view: Partial<ReportView> = {
      needs: many(30).map((run) => need(run)),
      done: many(30).map((run) => done(run, many(9))),
      failed: many(30).map((run) => ({ ...about(run), outcome: "failed", why: "x", how: "" })),
      running: many(30).map((run) => ({ ...about(run), where: "x", said: "y" })),
      unchecked: many(30).map((run) => ({ ...about(run), kind: "claimed" as const, what: run })),
    };
    const screen = text(view).split("\n");
    expect(screen.length).toBeLessThanOrEqual(44);
    expect(screen.filter((line) => line === "  … and 27 more: `pawl report --full`")).toHaveLength(5);
    expect(text(view, { full: true }).split("\n").length).toBeGreaterThan(300);
    expect(text({ done: [done("s-1", many(9))] })).toContain("      … 6 more: `pawl explain s-1`\n");
  });

  test("of a long title as much as leaves the run's name and what is needed; in Markdown all of it", () => {
    const title = "Mend the rounding of refunds that were made before the first of March";
    const more = { title, workflow: "complete-work", run: "cw-1a2b3c4d" };
    const needs = [{ ...need(more.run), ...more, what: "your decision is needed (review-decision)" }];
    for (const projects of [["/code/shop"], ["/code/shop", "/code/site"]]) {
      const line = text({ projects, needs }).split("\n")[4]!;
      expect(line).toMatch(/Mend the round.*… \(complete-work cw-1a2b3c4d\): your decision is n.*, since 21:14$/);
    }
    expect(markdown({ needs })).toContain(`- \`${title} (complete-work cw-1a2b3c4d)\`: `);
  });

  test("a command is never cut, however little room there is", () => {
    const why = "because ".repeat(40);
    const failed = [{ ...about("l-1"), outcome: "limit", why, how: "`pawl loop --resume l-1`" }];
    const line = text({ failed }).split("\n").at(-2)!;
    expect(line).toEndWith("…  `pawl loop --resume l-1`");
    expect(Bun.stringWidth(line)).toBeLessThanOrEqual(100);
    const long = { title: "A title of many words ".repeat(9), workflow: "a-workflow-of-a-very-long-name" };
    const project = "/code/a-project-of-a-very-long-name";
    const wide = text({ projects: [project, "/b"], failed: [{ ...failed[0]!, ...long, project }] })
      .split("\n")
      .at(-2)!;
    expect(wide).toEndWith("…  `pawl loop --resume l-1`");
    expect(Bun.stringWidth(wide)).toBeLessThanOrEqual(100);
  });
});

const hostile = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.constantFrom(
    "\u001b[2J\u001b[31mred\u001b[0m",
    "\u001b]0;title\u0007",
    "a\r\nNeeds you\n  ▸ fake",
    "\u202egnp.exe",
    "日本語".repeat(60),
    "👩‍👩‍👧‍👦".repeat(40),
    "x".repeat(5000),
    "`](javascript:alert(1)) <script>alert(1)</script> **b** | @all #1",
    "```\n# heading",
  ),
);

const views = fc.tuple(hostile, hostile, hostile).map(
  ([title, said, workflow]): Partial<ReportView> => ({
    projects: ["/code/shop", "/code/site"],
    needs: [{ ...need("s-1"), title, workflow, what: said }],
    done: [{ ...done("s-2", [said, said]), title, workflow }],
    failed: [{ ...about("s-3", { title, workflow }), outcome: "failed", why: said, how: "" }],
    running: [{ ...about("s-4", { title, workflow }), where: said, said }],
    unchecked: [{ ...about("s-5", { title, workflow }), kind: "approved", what: said }],
    unread: [{ project: "/code/site", why: said }],
  }),
);

describe("hostile texts", () => {
  const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/;

  test("no control character, no line of their own, nothing wider than the screen", () => {
    fc.assert(
      fc.property(views, (view) => {
        const lines = text(view).trimEnd().split("\n");
        expect(lines).toHaveLength(view.running![0]!.said === "" ? 21 : 22);
        expect(lines.filter((line) => CONTROL.test(line))).toEqual([]);
        expect(lines.filter((line) => Bun.stringWidth(line) > 100)).toEqual([]);
      }),
    );
  });

  test("in Markdown they stand as code and nowhere else", () => {
    fc.assert(
      fc.property(views, (view) => {
        const page = markdown(view);
        expect(CONTROL.test(page)).toBe(false);
        const outside = page.replace(/`[^`\n]+`/g, "");
        expect(outside).toMatch(/^[-\w\s#.,:→·]*$/);
      }),
    );
  });

  test("a line is as long as is said, and whole where it fits", () => {
    fc.assert(
      fc.property(hostile, fc.integer({ min: 2, max: 120 }), (said, columns) => {
        const line = fit(said, columns);
        expect(Bun.stringWidth(line)).toBeLessThanOrEqual(columns);
        expect(line).not.toContain("\n");
      }),
    );
    expect(fit("a  b\tc", 5)).toBe("a b c");
    expect(fit("abcdef", 5)).toBe("abcd…");
    expect(fit("日本語", 5)).toBe("日本…");
  });
});
