/** `pawl task` on beads and GitHub, behind their stand-ins. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makePlace, type Place, removePlaces, run, textOf } from "../../harness/harness.ts";
import { runInProcess } from "../../harness/in-process.ts";
import { done, USER } from "./place.ts";

afterAll(removePlaces);

const DOUBLES = join(import.meta.dir, "../../doubles");
const LABELS = ["web", "ui", "blocked", "p0", "p1", "p3", "p4"];
type Kind = "beads" | "github";

function placeWith(kind: Kind, yaml = kind === "github" ? "tracker: { kind: github, repo: o/r }\n" : ""): Place {
  const place = makePlace();
  Object.assign(place.env, {
    PATH: `${DOUBLES}:${place.env.PATH}`,
    DOUBLE_BUN: process.execPath,
    GH_DOUBLE_STATE: join(place.base, "github.sqlite"),
  });
  if (kind === "beads") mkdirSync(join(place.root, ".beads"));
  if (yaml !== "") writeFileSync(join(place.root, "pawl.yaml"), yaml);
  if (kind === "github") for (const label of LABELS) run(place, ["gh", "label", "create", label], {});
  return place;
}

const task = (place: Place, ...args: string[]) => runInProcess(place, ["task", ...args]);
const json = (place: Place, ...args: string[]) => JSON.parse(done(task(place, ...args, "--json")));

describe.each<Kind>(["beads", "github"])("%s", (kind) => {
  test("add creates it and says its id; no session.md appears", () => {
    const place = placeWith(kind);
    const args = ["Fix *login* bug", "--label", "web", "--label", "ui", "--priority", "1", "--text", "More\nlines"];
    const { id, line, where, task: made, undo } = json(place, "add", ...args);
    expect(line).toBe(kind === "github" ? "#1: Fix *login* bug" : `${id}: Fix *login* bug`);
    expect(where).toBe(kind === "github" ? "o/r" : ".beads");
    expect(made).toMatchObject({ title: "Fix *login* bug", state: "open", priority: 1, text: "More\nlines" });
    expect(made.labels).toEqual(expect.arrayContaining(["web", "ui"]));
    expect(undo).toBe(`pawl task drop ${id}`);
    expect(done(task(place, "list"))).toContain("Fix *login* bug");
    expect(textOf(join(place.root, "session.md"))).toBeNull();
  });

  test.each(["--command=/x", "--model=opus", "--restart"])("%s cannot be stored there: refused", (option) => {
    const place = placeWith(kind);
    const ran = task(place, "add", "A", option);
    expect(ran).toMatchObject({ code: 1, out: "" });
    expect(ran.err).toContain(`${kind} cannot store ${option.split("=")[0]}`);
    expect(json(place, "list").tasks).toEqual([]);
    const { id } = json(place, "add", "B");
    expect(task(place, "edit", id, option)).toMatchObject({ code: 1, out: "" });
  });

  test("start, done, open, block, drop, each by a part of the title", () => {
    const place = placeWith(kind);
    const { id } = json(place, "add", "Fix login bug");
    json(place, "add", "Other");
    const stateAfter = (...args: string[]) => {
      const { task: now } = json(place, ...args);
      expect(json(place, "show", id).task).toEqual(now);
      return [now.state, now.owner];
    };
    expect(stateAfter("start", "login")).toEqual(["claimed", USER]);
    expect(json(place, "start", "login").changed).toBe(false);
    expect(stateAfter("done", "LOGIN", "--reason", "works")[0]).toBe("closed");
    expect(json(place, "done", "login").changed).toBe(false);
    expect(task(place, "start", "login").err).toContain(`${id} is done`);
    expect(stateAfter("open", "login")).toEqual(["open", null]);
    expect(stateAfter("block", "login", "--reason", "waits")[0]).toBe("blocked");
    expect(stateAfter("open", "login")).toEqual(["open", null]);
    expect(stateAfter("drop", "login")[0]).toBe(kind === "beads" ? "closed" : "dropped");
    expect(json(place, "drop", "login").changed).toBe(false);
    expect(json(place, "list").tasks.map(({ title }: { title: string }) => title)).toEqual(["Other"]);
    expect(json(place, "list", "--all").tasks).toHaveLength(2);
  }, 60_000);

  test("what was in progress can be blocked, and is nobody's then", () => {
    const place = placeWith(kind);
    json(place, "add", "A");
    json(place, "start", "A");
    expect(json(place, "block", "A").task).toMatchObject({ state: "blocked", owner: null });
  });

  test("edit, and back", () => {
    const place = placeWith(kind);
    const { id } = json(place, "add", "A", "--label", "web", "--text", "old");
    const before = json(place, "show", id).task;
    const edit = ["--title", "B", "--text", "new", "--priority", "3", "--label", "ui", "--unlabel", "web"];
    const changed = json(place, "edit", id, ...edit);
    expect(changed.task).toMatchObject({ title: "B", text: "new", priority: 3 });
    expect(changed.task.labels).toContain("ui");
    expect(changed.task.labels).not.toContain("web");
    const undo = changed.undo.replace(/^pawl task /, "").split(" ");
    const back = json(place, ...undo).task;
    expect(back).toMatchObject({ title: "A", text: "old", priority: 2 });
    expect(back.labels.filter((label: string) => !/^p\d$/.test(label))).toEqual(before.labels);
  });

  test("its own refusals are told", () => {
    const place = placeWith(kind);
    place.env[kind === "beads" ? "BD_DOUBLE_FAULT" : "GH_DOUBLE_FAULT"] = kind === "beads" ? "no-database" : "auth";
    for (const args of [["list"], ["add", "A"], ["done", "A"]]) {
      const { code, err } = task(place, ...args);
      expect(code).toBe(1);
      expect(err).toMatch(/^pawl: .*(no beads database|gh auth login).*\n {2}hint: \S/s);
      expect(err).not.toContain("makes a session.md");
    }
  });
});

describe("GitHub only where it is named", () => {
  const found = (yaml = "") => {
    const place = placeWith("github", yaml);
    run(place, ["git", "remote", "add", "origin", "https://github.com/o/r.git"], {});
    run(place, ["gh", "issue", "create", "--title=Public", "--repo=github.com/o/r"], {});
    return place;
  };

  test("what is there may be looked at, but is not changed", () => {
    const place = found();
    expect(done(task(place, "list"))).toContain("Public");
    for (const args of [
      ["start", "1"],
      ["done", "1"],
      ["edit", "1", "--title", "x"],
      ["drop", "1"],
    ]) {
      const ran = task(place, ...args);
      expect(ran).toMatchObject({ code: 1, out: "" });
      expect(ran.err).toContain("nothing is written there unless pawl.yaml says `tracker: { kind: github }`");
    }
    expect(json(place, "show", "1").task).toMatchObject({ title: "Public", state: "open" });
  });

  test("named, it is the remote's", () => {
    const place = found("tracker: { kind: github }\n");
    expect(json(place, "add", "A").where).toBe("github.com/o/r");
    expect(json(place, "done", "#1").task.state).toBe("closed");
  });

  test("tasks that nobody can be asked for are not no tasks, and no reason to begin a second list", () => {
    const places = [placeWith("beads"), placeWith("beads", "tracker: { kind: github, repo: o/r }\n")];
    for (const [at, place] of places.entries()) {
      place.env.PATH = "/usr/bin:/bin";
      for (const args of [["list"], ["add", "A"], ["done", "A"]]) {
        const ran = task(place, ...args);
        expect(ran).toMatchObject({ code: 1, out: "" });
        expect(ran.err).toContain(`${["bd", "gh"][at]} is not installed`);
        expect(ran.err).toContain("hint: install it");
      }
      expect(textOf(join(place.root, "session.md"))).toBeNull();
    }
  });
});
