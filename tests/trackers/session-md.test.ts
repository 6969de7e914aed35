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
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { openTracker, type Tracker } from "../../src/trackers/index.ts";
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
    expect(tracker.list({})).toMatchObject({ code: "error", why: "session.md cannot be read: it is larger than 8 MB" });
  });
  test("a task that would not be seen is not written", () => {
    writeFileSync(path, "# A\n<!-- never closed\n");
    expect(tracker.create({ title: "A" })).toMatchObject({ kind: "failed", code: "refused" });
    expect(text()).toBe("# A\n<!-- never closed\n");
  });
  test("stars in a title come back as they were", () => {
    for (const title of ["use 2**3", "**", "*a*", "\\*"])
      expect(tracker.create({ title })).toMatchObject({ kind: "ok", value: { title } });
  });

  test("a title, command or label the notation cannot hold is refused", () => {
    for (const title of ["a\nb", " a"]) expect(word(tracker.create({ title }))).toBe("bad-argument");
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

describe.skipIf(process.platform !== "linux")("another program has it open for writing", () => {
  /** What a claim says that begins while the file is open, with `rest` written 400 ms later. */
  async function claimMeanwhile(flags: string, first: string, rest: string): Promise<string> {
    const fd = openSync(path, flags);
    writeSync(fd, first);
    const child = Bun.spawn([process.execPath, "-e", CLAIMER, TRACKERS, world.root], {
      stdout: "pipe",
      stderr: "inherit",
    });
    await Promise.race([child.exited, Bun.sleep(400)]);
    writeSync(fd, rest);
    closeSync(fd);
    return new Response(child.stdout).text();
  }

  test("a line written after the file was replaced is there at the next look", async () => {
    writeFileSync(path, "## Tasks\n- [ ] **A**\n");
    const fd = openSync(path, "a");
    value(tracker.claim("a", "pawl-1"));
    writeSync(fd, "- [ ] **Late**\n");
    expect(value(tracker.list({})).map(({ id }) => id)).toEqual(["a", "late"]);
    writeSync(fd, "- a note\n");
    closeSync(fd);
    value(tracker.close("a", ""));
    expect(text()).toMatch(/^## Tasks\n- \[x\] \*\*A\*\* — \| @pawl-[^\n]+\n- \[ \] \*\*Late\*\*\n- a note\n$/);
    expect(readdirSync(world.root).sort()).toEqual([".pawl", "session.md"]);
  });
  test("half a file is not taken for all of it", async () => {
    writeFileSync(path, "## Tasks\n- [ ] **B**\n");
    expect(await claimMeanwhile("w", "## Ta", "sks\n- [ ] **A**\n")).toBe("ok\n");
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
  // A line of the last moments may have gone to a file that was replaced: the next look brings it over.
  const tasks = value(tracker.list({ state: "claimed" }));
  const lines = text().split("\n");
  expect(lines.filter((line) => /^- note \d+ of a person$/.test(line)).length).toBe(notes);
  expect(notes).toBeGreaterThan(20);
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
