/** The report as one screen, and as Markdown. Texts of others are cut to one line, and nothing is hidden in them. */
import { between, fit } from "../../kernel/text/columns.ts";
import { counted } from "../../kernel/text/counted.ts";
import { safeText } from "../../kernel/text/safe-text.ts";
import type { About, CostView, NeedLine, ReportView, UncheckedLine } from "./report-run.ts";

export interface ShownParts {
  /** how a project is called, and where it is */
  name(root: string): string;
  path(root: string): string;
  time(at: string): string;
  /** "yesterday 18:00", as it was asked for */
  asked: string;
  columns: number;
  rows: number;
  /** nothing is left out for want of room */
  full: boolean;
}

interface Item {
  mark: string;
  /** what it is about, and what is said of it */
  head: string;
  text: string;
  /** never cut: half a command is another command */
  end: string;
  /** below it */
  more: { sign: string; text: string; whole: boolean }[];
  /** what tells the rest of `more` */
  rest: string;
}

type Section = [title: string, items: Item[]];

const item = (mark: string, head: string, text: string, more: Partial<Item> = {}): Item => ({
  ...{ mark, head, text, end: "", more: [], rest: "" },
  ...more,
});

// ── What there is ───────────────────────────────────────────────────────────

function buildSections(view: ReportView, shown: ShownParts): Section[] {
  const isOne = view.projects.length <= 1;
  const head = (one: About, reserved = ROOM) => renderHead(one, view, shown, reserved);
  // A command is about the project in whose folder it is typed.
  const place = ({ how, project }: NeedLine) => (isOne || !isCommand(how) ? "" : `, in ${shown.path(project)}`);
  const sections: Section[] = [
    [
      "Needs you",
      view.needs.map((one) => {
        const more = [{ sign: "→", text: `${one.how}${place(one)}`, whole: isCommand(one.how) }];
        return item("▸", head(one), one.what, { end: `, since ${shown.time(one.at)}`, more });
      }),
    ],
    [
      "Proved done",
      view.done.map((one) => {
        const end = one.commit === null ? "" : `, commit ${one.commit.slice(0, 12)}`;
        const more = one.proof.map((text) => ({ sign: "·", text, whole: false }));
        const rest = `\`pawl explain ${one.run}\``;
        return item("✓", head(one, ROOM_OF_TIME), shown.time(one.at), { end, more, rest });
      }),
    ],
    [
      "Failed or stalled",
      [
        ...view.failed.map((one) => {
          const end = one.how === "" ? "" : `  ${one.how}`;
          return item("✗", head(one), `${one.outcome}, ${one.why}`, { end });
        }),
        ...view.unread.map(({ project, why }) => item("✗", isOne ? "not read" : shown.name(project), why)),
      ],
    ],
    [
      "Still running",
      view.running.map((one) => {
        const more = one.said === "" ? [] : [{ sign: "it claims:", text: `“${one.said}”`, whole: false }];
        return item("◦", head(one), one.where, { more });
      }),
    ],
    [
      "Not checked",
      grouped(view.unchecked).map(([one, count]) => {
        const many = `${head({ ...one, run: "", task: "", title: "" })}, ${count} times`;
        return item("?", count === 1 ? head(one) : many, one.what);
      }),
    ],
    ["Cost", costLines(view.cost).map((text) => item("$", "", text))],
  ];
  return sections.filter(([, items]) => items.length > 0);
}

/** The same said of many runs is one line. */
function grouped(lines: UncheckedLine[]): [UncheckedLine, number][] {
  const found = new Map<string, [UncheckedLine, number]>();
  for (const one of lines) {
    const key = [one.project, one.workflow, one.kind, one.what].join("\0");
    found.set(key, [one, (found.get(key)?.[1] ?? 0) + 1]);
  }
  return [...found.values()];
}

const isCommand = (how: string) => how.startsWith("`");

/** Columns next to the names and the title: for what is said, and for what is never cut. */
const ROOM = 50;
const ROOM_OF_TIME = 40;
const SHORTEST_TITLE = 16;
const LONGEST_TITLE = 200;

/** Of a long line the title gives way: a run's name is typed into commands. */
function renderHead(about: About, { projects }: ReportView, shown: ShownParts, reserved: number): string {
  const { project, run, workflow, task, title } = about;
  const place = projects.length > 1 ? `${fit(shown.name(project), 24)}: ` : "";
  const names = [fit(workflow, 24), run].filter(Boolean).join(" ");
  const room = shown.columns - reserved - place.length - names.length;
  const called = fit(title || task, Math.min(LONGEST_TITLE, Math.max(SHORTEST_TITLE, room)));
  return called === "" ? `${place}${names}` : `${place}${called} (${names})`;
}

/** A part that no one told makes the sum a lower bound. */
function costLines({ runs, loops }: CostView): string[] {
  const unknown = runs.unknown + loops.unknown;
  const count = runs.count + loops.count;
  if (count === 0) return [];
  if (unknown === count) return ["not known: no client told what it cost (`pawl statusline` and loops keep it)"];
  const parts = [
    ...(runs.count > 0 ? [`${counted(runs.count, "run")} ${money(runs.usd)}${lacking(runs.unknown)}`] : []),
    ...(loops.count > 0
      ? [`${counted(loops.count, "iteration")} of loops ${money(loops.usd)}${lacking(loops.unknown)}`]
      : []),
  ];
  return [`${unknown > 0 ? "at least " : ""}${money(runs.usd + loops.usd)}: ${parts.join(", ")}`];
}

const lacking = (unknown: number) => (unknown === 0 ? "" : ` (${unknown} did not tell)`);
const money = (usd: number) => `$${usd.toFixed(2)}`;

function firstLine({ projects, since, at }: ReportView, shown: ShownParts): string {
  const where = projects.length === 1 ? shown.path(projects[0]!) : `${projects.length} projects`;
  return `${where}, since ${shown.asked} (${shown.time(since)}), now ${shown.time(at)}`;
}

function counts({ needs, done, failed, running, unchecked, unread }: ReportView): string {
  const parts: [number, string][] = [
    [needs.length, needs.length === 1 ? "needs you" : "need you"],
    [done.length, "proved done"],
    [failed.length + unread.length, "failed or stalled"],
    [running.length, "running"],
    [unchecked.length, "not checked"],
  ];
  const said = parts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  return said.length === 0 ? "Nothing happened that Pawl knows of." : said.join(" · ");
}

// ── As a screen ─────────────────────────────────────────────────────────────

/** How many entries of a section, and how many lines below each; the first that fits the screen is taken. */
const LEVELS = [
  { most: 12, below: 4 },
  { most: 8, below: 3 },
  { most: 6, below: 2 },
  { most: 5, below: 1 },
  { most: 4, below: 1 },
  { most: 3, below: 1 },
  { most: 2, below: 1 },
];
const EVERYTHING = { most: Number.MAX_SAFE_INTEGER, below: Number.MAX_SAFE_INTEGER };

export function reportText(view: ReportView, shown: ShownParts): string {
  const sections = buildSections(view, shown);
  const top = [fit(`Report of ${firstLine(view, shown)}`, shown.columns), fit(counts(view), shown.columns)];
  const lines = (level: (typeof LEVELS)[number]) => [
    ...top,
    ...sections.flatMap(([title, items]) => ["", title, ...renderLines(items, level, shown.columns)]),
  ];
  if (shown.full) return `${lines(EVERYTHING).join("\n")}\n`;
  const fitting = LEVELS.find((level) => lines(level).length < shown.rows) ?? LEVELS.at(-1)!;
  return `${lines(fitting).join("\n")}\n`;
}

function renderLines(items: Item[], { most, below }: (typeof LEVELS)[number], columns: number): string[] {
  const hidden = items.length - most;
  // One more entry takes no more room than the line that would speak of it.
  const kept = hidden > 0 ? items.slice(0, most) : items;
  const more = hidden > 0 ? [`  … and ${hidden} more: \`pawl report --full\``] : [];
  return [...kept.flatMap((item) => itemLines(item, below, columns)), ...more];
}

function itemLines({ mark, head, text, end, more, rest }: Item, below: number, columns: number): string[] {
  const first = between(`  ${mark} ${head}${head === "" ? "" : ": "}`, text, end, columns);
  const hidden = more.length - below;
  const isTold = hidden > 0 && below > 1;
  const kept = more.slice(0, isTold ? below - 1 : below);
  const lines = kept.map((one) => {
    const start = `      ${one.sign} `;
    return one.whole ? `${start}${fit(one.text, 400)}` : between(start, one.text, "", columns);
  });
  return [first, ...lines, ...(isTold ? [`      … ${hidden + 1} more: ${rest}`] : [])];
}

// ── As Markdown ─────────────────────────────────────────────────────────────

/** Nothing is left out. Texts of others stand as code: nothing in them is a link, a picture, a name or HTML. */
export function reportMarkdown(view: ReportView, shown: ShownParts): string {
  const sections = buildSections(view, { ...shown, columns: Number.MAX_SAFE_INTEGER }).map(([title, items]) =>
    [`### ${title}`, "", ...items.flatMap(itemMarkdown), ""].join("\n"),
  );
  return [`## Report of ${code(firstLine(view, shown))}`, "", counts(view), "", ...sections].join("\n");
}

function itemMarkdown({ head, text, end, more }: Item): string[] {
  const first = [code(head), code(`${text}${end.startsWith(",") ? end : ""}`)].filter(Boolean).join(": ");
  const how = end.startsWith(",") || end === "" ? "" : ` → ${code(end.replaceAll("`", ""))}`;
  const signs: Record<string, string> = { "·": "", "→": "→ " };
  const said = (one: Item["more"][number]) => code(one.whole ? one.text.replaceAll("`", "") : one.text);
  return [`- ${first}${how}`, ...more.map((one) => `  - ${signs[one.sign] ?? `${one.sign} `}${said(one)}`)];
}

function code(text: string): string {
  const line = safeText(text).replace(/\s+/g, " ").trim().slice(0, 500).replaceAll("`", "'");
  return line === "" ? "" : `\`${line}\``;
}
