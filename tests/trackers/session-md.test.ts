/** session.md between eight of our sessions and a person. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { openTracker, type Tracker } from "../../src/trackers/index.ts";
import { readNotes } from "../../src/trackers/notes.ts";
import { changeBack, publish, swapFile } from "../../src/trackers/swap.ts";
import { ACTOR, makeWorld, value, type World, word } from "./world.ts";

let world: World;
let tracker: Tracker;
let path: string;
const text = () => readFileSync(path, "utf8");
beforeEach(() => {
  world = makeWorld("session-md");
  tracker = world.tracker;
  path = join(world.root, "session.md");
});
afterEach(() => world.remove());

describe("the file", () => {
  test("keeps everything but the line", () => {
    writeFileSync(path, "\uFEFF# S\r\n\r\n## Pending Tasks\r\n- [ ] **A** — `x` | opus\r\n* [ ] b\r\n## Rest\r\nlast");
    value(tracker.claim("a", ACTOR));
    expect(text()).toMatch(
      /^\uFEFF# S\r\n\r\n## Pending Tasks\r\n- \[>\] \*\*A\*\* — `x` \| opus \| @pawl-1a2b3c4d on [\w-]+ since 2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\dZ\r\n\* \[ \] b\r\n## Rest\r\nlast$/,
    );
    value(tracker.reopen("a"));
    expect(text()).toBe("\uFEFF# S\r\n\r\n## Pending Tasks\r\n- [ ] **A** — `x` | opus\r\n* [ ] b\r\n## Rest\r\nlast");
  });
  test("keeps its mode, and no other file stays behind", () => {
    chmodSync(path, 0o640);
    value(tracker.create({ title: "A" }));
    expect(statSync(path).mode & 0o777).toBe(0o640);
    expect(readdirSync(world.root).sort()).toEqual([".pawl", "session.md"]);
  });
  test("is left alone where nothing changes", () => {
    value(tracker.create({ title: "A" }));
    value(tracker.claim("a", ACTOR));
    const before = statSync(path).ino;
    value(tracker.claim("a", ACTOR));
    value(tracker.label("a", [], ["no-such-label"]));
    expect(statSync(path).ino).toBe(before);
  });
  test("gone, a link, a folder, not UTF-8: said, never an empty list", () => {
    rmSync(path);
    expect(word(tracker.list({}))).toBe("absent");
    expect(word(tracker.create({ title: "A" }))).toBe("absent");
    writeFileSync(join(world.root, "elsewhere"), "- [ ] **A**\n");
    symlinkSync("elsewhere", path);
    expect([tracker.list({}), tracker.claim("a", ACTOR)].map(word)).toEqual(["error", "error"]);
    rmSync(path);
    mkdirSync(path);
    expect(word(tracker.ready({ labels: [] }))).toBe("error");
    rmSync(path, { recursive: true });
    writeFileSync(path, new Uint8Array([45, 32, 0xff]));
    expect(word(tracker.list({}))).toBe("error");
  });
  test("may have 8 MB, and loses none of them; what is larger is said", () => {
    const prose = "The scheduler takes jobs from the queue; — a worker asks.\r\n".repeat(90_000);
    writeFileSync(path, `# S\n${prose}## Pending Tasks\n- [ ] **A** — \`x\` | opus\n${prose.slice(0, 1_000_000)}`);
    const before = text();
    value(tracker.claim("a", ACTOR));
    value(tracker.reopen("a"));
    expect(text() === before).toBe(true);
    appendFileSync(path, "x".repeat(3 << 20));
    expect(word(tracker.list({}))).toBe("error");
  });
  test("a task that would not be seen is not written", () => {
    writeFileSync(path, "# A\n<!-- never closed\n");
    expect(tracker.create({ title: "A" })).toMatchObject({ kind: "failed", code: "refused" });
    expect(text()).toBe("# A\n<!-- never closed\n");
  });
  test("a title, command or label the notation cannot hold is refused", () => {
    for (const title of ["a\nb", "**", "x ** y"]) expect(word(tracker.create({ title }))).toBe("bad-argument");
    expect(word(tracker.create({ title: "x", command: "a`b" }))).toBe("bad-argument");
    expect(word(tracker.create({ title: "x", labels: ["two words"] }))).toBe("bad-argument");
    expect(word(tracker.create({ title: "x", epic: "a|b" }))).toBe("bad-argument");
  });
});

describe("another machine", () => {
  const foreign =
    "## Tasks\n- [>] **A** — | @pawl-9 on desktop-0000 since 2026-11-15T10:00:00Z | #auto\n- [ ] **B** — | #auto\n- [ ] **C** — | #else\n";
  test("its claim is not taken, and the whole scope is left to it", () => {
    writeFileSync(path, foreign);
    expect(tracker.claim("a", "pawl-9")).toMatchObject({
      code: "other-machine",
      why: expect.stringContaining("desktop-0000"),
    });
    expect(word(tracker.ready({ labels: ["auto"] }))).toBe("other-machine");
    expect(value(tracker.ready({ labels: ["else"] })).map(({ id }) => id)).toEqual(["c"]);
    expect(text()).toBe(foreign);
  });
  test("a person's claim is nobody's machine", () => {
    writeFileSync(path, "## Tasks\n- [>] **A** — | @alice | #auto\n- [ ] **B** — | #auto\n- [>] **C** — | #auto\n");
    expect(value(tracker.ready({ labels: ["auto"] })).map(({ id }) => id)).toEqual(["b"]);
    expect(word(tracker.claim("a", ACTOR))).toBe("taken");
    expect(word(tracker.claim("c", ACTOR))).toBe("taken");
  });
});

describe("changing places", () => {
  const temp = () => join(world.root, ".temp");
  const END = { from: 3, to: 3, by: "ours" };
  test("what is not as it was read is left", () => {
    writeFileSync(path, "old");
    const { notes } = readFile(path);
    writeFileSync(path, "theirs");
    expect(swapFile(path, notes, END)).toBe(false);
    expect(text()).toBe("theirs");
  });
  test("as it was read, it is done", () => {
    writeFileSync(path, "old");
    expect(swapFile(path, readFile(path).notes, END)).toBe(true);
    expect(text()).toBe("oldours");
  });
  test.each([
    ["another file", "old\n", "theirs", false, "theirs"],
    ["lines below", "old\n", "old\nmore\n", true, "ours\nmore\n"],
    ["a longer last line", "old", "older", false, "older"],
  ])("written since: %s", (_what, old, theirs, done, left) => {
    writeFileSync(path, old);
    const { notes } = readFile(path);
    writeFileSync(path, theirs);
    writeFileSync(temp(), "ours\n");
    expect(publish(temp(), path, notes, writtenTo(temp()))).toBe(done);
    expect(text()).toBe(left);
    expect(readFileSync(temp(), "utf8")).toBe(done ? theirs : "ours\n");
  });
  test("changing back takes along what was added meanwhile", () => {
    writeFileSync(path, "ours\n");
    const written = writtenTo(path);
    appendFileSync(path, "more\n");
    writeFileSync(temp(), "theirs\n");
    changeBack(temp(), path, written);
    expect(text()).toBe("theirs\nmore\n");
  });
  test("changing back never undoes a person's save: what it held is kept beside it", () => {
    writeFileSync(path, "ours\n");
    const written = writtenTo(path);
    writeFileSync(`${path}.new`, "saved\n");
    renameSync(`${path}.new`, path);
    writeFileSync(temp(), "theirs\n");
    changeBack(temp(), path, written);
    expect(text()).toBe("saved\n");
    const kept = readdirSync(world.root).filter((name) => name.includes(".kept-"));
    expect(kept.map((name) => readFileSync(join(world.root, name), "utf8"))).toEqual(["theirs\n"]);
  });

  function readFile(file: string) {
    const read = readNotes(file, 1 << 20);
    if (!read.ok) throw new Error(read.why);
    return read;
  }
  const writtenTo = (file: string) => ({ print: readFile(file).notes.print, ino: statSync(file).ino });
});

describe.skipIf(process.platform !== "linux")("somebody has it open for writing", () => {
  const claiming = () =>
    Bun.spawn([process.execPath, "-e", CLAIMER, TRACKERS, world.root], { stdout: "pipe", stderr: "inherit" });

  /** What a claim says that begins while the file is open. It waits for a second only; if we were later, once more. */
  async function saidMeanwhile(flags: string, first: string, rest: string, tries = 10): Promise<string> {
    const before = text();
    const fd = openSync(path, flags);
    writeSync(fd, first);
    const child = claiming();
    const said = new Response(child.stdout).text();
    // Either it waits, or it is done, and what follows is written to a file that nobody sees.
    await Promise.race([child.exited, Bun.sleep(400)]);
    writeSync(fd, rest);
    closeSync(fd);
    if (!(await said).startsWith("busy") || tries === 1) return said;
    writeFileSync(path, before);
    return saidMeanwhile(flags, first, rest, tries - 1);
  }

  test("a line written a while after it was opened is not lost", async () => {
    writeFileSync(path, "## Tasks\n- [ ] **A**\n");
    expect(await saidMeanwhile("a", "", "- a late note\n")).toBe("ok\n");
    expect(text()).toMatch(/^## Tasks\n- \[>\] \*\*A\*\* — \| @pawl-[^\n]+\n- a late note\n$/);
  });
  test("who keeps it so keeps it: nothing is written, and it is said", async () => {
    writeFileSync(path, "## Tasks\n- [ ] **A**\n");
    const before = text();
    const fd = openSync(path, "a");
    expect(await new Response(claiming().stdout).text()).toBe(
      "busy another program keeps session.md open for writing\n",
    );
    writeSync(fd, "- a late note\n");
    closeSync(fd);
    expect(text()).toBe(`${before}- a late note\n`);
    expect(readdirSync(world.root).sort()).toEqual([".pawl", "session.md"]);
  });
  test("half a file is not taken for all of it", async () => {
    writeFileSync(path, "## Tasks\n- [ ] **B**\n");
    expect(await saidMeanwhile("w", "## Ta", "sks\n- [ ] **A**\n")).toBe("ok\n");
    expect(text()).toMatch(/^## Tasks\n- \[>\] \*\*A\*\* — \| @pawl-[^\n]+\n$/);
  });
});

const TRACKERS = join(import.meta.dir, "../../src/trackers/index.ts");
const CLAIMER = `
const { openTracker } = await import(process.argv[1]);
const { value: tracker } = openTracker(process.argv[2], { kind: "session-md", deadline_ms: 10000 });
const { kind, code, why } = tracker.claim("a", "pawl-1");
console.log(kind === "ok" ? kind : code + " " + why);
`;

const WRITER = `
const { openTracker } = await import(process.argv[1]);
const [root, name, count] = process.argv.slice(2);
const { value: tracker } = openTracker(root, { kind: "session-md", deadline_ms: 120000 });
// A person who stands still with the file open is waited for no longer than a second.
const again = (work) => { for (;;) { const done = work(); if (done.code !== "busy") return done; } };
for (let n = 0; n < Number(count); n++) {
  const made = again(() => tracker.create({ title: "Task " + name + " " + n }));
  if (made.kind !== "ok") { console.log(JSON.stringify(made)); continue; }
  const { id } = made.value;
  for (const work of [() => tracker.claim(id, "pawl-" + name), () => tracker.label(id, ["l" + n], []), () => tracker.comment(id, "said " + name + n)]) {
    const done = again(work);
    if (done.kind !== "ok") console.log(JSON.stringify(done));
  }
}
`;

/** As an editor that is slow, or a busy machine: between opening the file and writing to it others have their turn. */
async function noteSlowly(ms: number, note: string): Promise<void> {
  const fd = openSync(path, "a");
  if (ms > 0) await Bun.sleep(ms);
  writeSync(fd, note);
  closeSync(fd);
}

/** A writer that stands still for a while, wherever it is. */
async function stopped(child: Bun.Subprocess, ms: number): Promise<void> {
  child.kill("SIGSTOP");
  await Bun.sleep(ms);
  child.kill("SIGCONT");
  await Bun.sleep(10);
}

test("eight writers and a person lose nothing", async () => {
  const [writers, each] = [8, 12];
  const children = Array.from({ length: writers }, (_, at) =>
    Bun.spawn([process.execPath, "-e", WRITER, TRACKERS, world.root, `w${at}`, String(each)], { stderr: "inherit" }),
  );
  let running = true;
  const all = Promise.all(children.map((child) => new Response(child.stdout).text())).then((said) => {
    running = false;
    return said.join("");
  });
  let notes = 0;
  for (; running; notes++) {
    await noteSlowly(notes % 8, `- note ${notes} of a person\n`);
    await stopped(children[notes % writers]!, notes % 5);
  }
  expect(await all).toBe("");
  const lines = text().split("\n");
  expect(lines.filter((line) => /^- note \d+ of a person$/.test(line)).length).toBe(notes);
  expect(notes).toBeGreaterThan(20);
  const tasks = value(tracker.list({ state: "claimed" }));
  expect(tasks.length).toBe(writers * each);
  for (const task of tasks) {
    const [, name, n] = /^Task (w\d) (\d+)$/.exec(task.title)!;
    expect(task).toMatchObject({ owner: `pawl-${name}`, labels: [`l${n}`], text: `- said ${name}${n}` });
  }
}, 120_000);

test("without time left nothing is written", () => {
  value(tracker.create({ title: "A" }));
  const before = text();
  const late = value(openTracker(world.root, { kind: "session-md", deadline_ms: 0 }));
  expect(word(late.claim("a", ACTOR))).toBe("busy");
  expect(text()).toBe(before);
});
