/** What a person types behind `p:`: where it is written, and that many at once lose nothing. */
import { afterEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recordTask } from "../../src/trackers/record-task.ts";

const MODULE = join(import.meta.dir, "../../src/trackers/record-task.ts");
const HEAD = "## Pending Tasks\n";
const PATH = process.env.PATH;
const roots: string[] = [];

function project(files: Record<string, string> = {}): string {
  const root = mkdtempSync(join(tmpdir(), "pawl-record-"));
  roots.push(root);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  return root;
}

afterEach(() => {
  process.env.PATH = PATH;
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

const session = (root: string) => readFileSync(join(root, "session.md"), "utf8");

describe("the line that is written is the one that is reported", () => {
  const rows: [string, string, string][] = [
    ["use 2**3 and a  b*", "- [ ] **Use 2\\*\\*3 and a  b\\*** — | sonnet", ""],
    ["p: is a letter", "- [ ] **P: is a letter** — | sonnet", ""],
    ["fix login bug", "- [ ] **Fix login bug** — | sonnet", ""],
    ["fix login — `/plan x` | opus | restart", "- [ ] **Fix login** — `/plan x` | opus | restart", ""],
    ["fix #web p0\nwhy\n\n- [ ] how", "- [ ] **Fix** — | sonnet | p0 | #web", "  why\n\n  - [ ] how\n"],
  ];
  test.each(rows)("%j", (typed, line, text) => {
    const root = project({ "session.md": `# S\n\n${HEAD}- [ ] **A** — | opus\n\n## Notes\n` });
    const recorded = recordTask(root, typed);
    expect(recorded).toMatchObject({ ok: true, value: { line, where: "session.md" } });
    expect(session(root)).toBe(`# S\n\n${HEAD}- [ ] **A** — | opus\n${line}\n${text}\n## Notes\n`);
  });
});

test("nothing typed, or no place for it, is said, and nothing is made", () => {
  const root = project();
  expect(recordTask(root, " \n ")).toEqual({ ok: false, why: "there is no text to record" });
  expect(readdirSync(root)).toEqual([]);
  const broken = project({ "pawl.yaml": "tracker: [1]\n" });
  expect(recordTask(broken, "x")).toMatchObject({ ok: false, why: expect.stringMatching(/^pawl\.yaml:1:\d+: /) });
  expect(readdirSync(broken)).toEqual(["pawl.yaml"]);
});

test("in beads the name is what was typed", () => {
  process.env.PATH = `${join(import.meta.dir, "../doubles")}:${PATH}`;
  process.env.DOUBLE_BUN = process.execPath;
  const root = project();
  mkdirSync(join(root, ".beads"));
  expect(recordTask(root, "use 2**3  or *")).toMatchObject({
    ok: true,
    value: { line: expect.stringMatching(/: Use 2\*\*3 {2}or \*$/) },
  });
});

test("in beads what has no field of its own stays in the text", () => {
  process.env.PATH = `${join(import.meta.dir, "../doubles")}:${PATH}`;
  process.env.DOUBLE_BUN = process.execPath;
  const root = project();
  mkdirSync(join(root, ".beads"));
  const recorded = recordTask(root, "fix login — `/plan x` | opus | restart #web\nmore");
  expect(recorded).toMatchObject({ ok: true, value: { where: ".beads" } });
  const { id, line } = (recorded as { value: { id: string; line: string } }).value;
  expect(line).toBe(`${id}: Fix login`);
  const [issue] = JSON.parse(
    Bun.spawnSync({ cmd: ["bd", "show", id, "--json"], cwd: root, env: process.env }).stdout.toString(),
  );
  expect(issue).toMatchObject({ description: "`/plan x` | opus | restart\n\nmore", labels: ["web"] });
});

describe("eight sessions at once, ten tasks each", () => {
  const script = `
    const { recordTask } = await import(${JSON.stringify(MODULE)});
    const [root, name] = process.argv.slice(1);
    for (let at = 0; at < 10; at++) {
      const said = recordTask(root, \`task \${name} \${at} — | opus\\nbelow \${name} \${at}\`);
      if (!said.ok) throw new Error(said.why);
    }`;

  /** All begin each round when the clock says so. */
  const ROUNDS = 10;
  const together = `
    const { recordTask } = await import(${JSON.stringify(MODULE)});
    const [name, start, ...roots] = process.argv.slice(1);
    for (const [round, root] of roots.entries()) {
      while (Date.now() < Number(start) + round * 200);
      const said = recordTask(root, "task " + name);
      if (!said.ok) throw new Error(said.why);
    }`;
  const wanted8 = Array.from({ length: 8 }, (_, name) => `- [ ] **Task ${name}** — | sonnet`);

  async function race(root: string): Promise<void> {
    const children = Array.from({ length: 8 }, (_, name) =>
      Bun.spawn([process.execPath, "-e", script, root, String(name)], { stderr: "pipe" }),
    );
    for (const child of children)
      expect([await child.exited, await new Response(child.stderr).text()]).toEqual([0, ""]);
  }

  const wanted = Array.from({ length: 80 }, (_, at) => `${Math.floor(at / 10)} ${at % 10}`);
  const linesOf = (text: string) => [...text.matchAll(/^- \[ \] \*\*Task (\d \d)\*\* — \| opus\n {2}below \1\n/gm)];

  test("none is lost or torn, where there is a file", async () => {
    const notes = "\n## Notes\r\nkept\n";
    const root = project({ "session.md": `${HEAD}- [ ] **A** — | opus\n${notes}` });
    await race(root);
    const lines = linesOf(session(root));
    expect(lines.map((line) => line[1]!).sort()).toEqual(wanted);
    const rest = lines.reduce((text, line) => text.replace(line[0], ""), session(root));
    expect(rest).toBe(`${HEAD}- [ ] **A** — | opus\n${notes}`);
    expect(readdirSync(root).sort()).toEqual([".pawl", "session.md"]);
  }, 120_000);

  test("nor where each of them would make the file, at the same moment", async () => {
    const roots = Array.from({ length: ROUNDS }, () => project());
    const start = Date.now() + 1_000;
    const children = Array.from({ length: 8 }, (_, name) =>
      Bun.spawn([process.execPath, "-e", together, String(name), String(start), ...roots], { stderr: "pipe" }),
    );
    for (const child of children)
      expect([await child.exited, await new Response(child.stderr).text()]).toEqual([0, ""]);
    for (const root of roots) {
      expect(session(root)).toStartWith(HEAD);
      expect(session(root).slice(HEAD.length).split("\n").sort()).toEqual(["", ...wanted8]);
    }
  }, 120_000);
});
