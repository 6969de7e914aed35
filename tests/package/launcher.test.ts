/** The npm bin: builds the one binary when it has to, and only then; otherwise it is as if it were not there. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { contentOf } from "../../bin/place.mjs";
import { lastWords } from "../harness/last-words.ts";
import {
  blockScripts,
  environment,
  homeIn,
  type Installed,
  identityOf,
  installed,
  launch,
  launcher,
  manifestOf,
  put,
  ROOT,
  removeScratch,
  run,
  scratch,
  setVersion,
} from "./package.ts";

const { version } = manifestOf(ROOT);
const GOOD = { code: 0, out: `pawl ${version}\n`, err: "" };
/** One package with its binary built: each test works on the package as it is, with a home of its own. */
let built: Installed;

beforeAll(() => {
  built = installed();
  expect(launch(built, ["--version"])).toEqual(GOOD);
});
afterAll(removeScratch);

function freshHome(): Installed {
  return { ...built, ...homeIn(scratch()) };
}

/** Another home, with the binary that was built. */
function readyHome(): Installed {
  const place = freshHome();
  cpSync(dirname(dirname(built.binary)), dirname(dirname(place.binary)), { recursive: true });
  const { size, mtimeNs } = statSync(place.binary, { bigint: true });
  writeFileSync(place.sidecar, readFileSync(built.sidecar, "utf8").replace(/\S+\n$/, `${size}-${mtimeNs}\n`));
  return place;
}

function left({ binary }: Installed): string[] {
  return readdirSync(dirname(binary)).sort();
}

/** A program of ours in the binary's place. */
function stub(place: Installed, script: string): void {
  put(place.binary, `#!/bin/sh\n${script}\n`, 0o755);
}

describe("the binary", () => {
  test("is built by the first call, and by no other", () => {
    const before = identityOf(built.binary);
    expect(launch(built, ["--version"])).toEqual(GOOD);
    expect(identityOf(built.binary)).toBe(before);
    expect(left(built)).toEqual(["pawl", "pawl.version"]);
    expect(readFileSync(built.sidecar, "utf8")).toMatch(
      new RegExp(`^${RegExp.escape(version)} [0-9a-f]{64} \\d+-\\d+\n$`),
    );
  });

  test("is left alone where it is right", () => {
    const place = readyHome();
    const before = identityOf(place.binary);
    expect(launch(place, ["--version"])).toEqual(GOOD);
    expect(identityOf(place.binary)).toBe(before);
  });

  test("is there for both of two first calls at once", async () => {
    const place = freshHome();
    const both = [1, 2].map(() =>
      Bun.spawn(launcher(place, ["--version"]), { env: environment(place.home), stdout: "pipe", stderr: "pipe" }),
    );
    for (const call of both) {
      expect(await new Response(call.stdout).text()).toBe(GOOD.out);
      expect(await new Response(call.stderr).text()).toBe("");
      expect(await call.exited).toBe(0);
    }
    expect(left(place)).toEqual(["pawl", "pawl.version"]);
    expect(launch(place, ["--version"])).toEqual(GOOD);
  });

  const damages: Record<string, (place: Installed) => void> = {
    truncated: ({ binary }) => truncateSync(binary, 1_000_000),
    empty: ({ binary }) => truncateSync(binary, 0),
    "another program": (place) => stub(place, "echo wrong"),
    "not executable": ({ binary }) => chmodSync(binary, 0o644),
    missing: ({ binary }) => rmSync(binary),
    "without its sidecar": ({ sidecar }) => rmSync(sidecar),
    "of another content": ({ sidecar }) =>
      writeFileSync(sidecar, readFileSync(sidecar, "utf8").replace(/[0-9a-f]{64}/, "0".repeat(64))),
  };
  test.each(Object.entries(damages))("is renewed when it is %s", (_, damage) => {
    const place = readyHome();
    damage(place);
    const before = existsSync(place.binary) ? identityOf(place.binary) : "none";
    expect(launch(place, ["--version"])).toEqual(GOOD);
    expect(identityOf(place.binary)).not.toBe(before);
  });

  const changes: Record<string, (root: string) => void> = {
    "a dependency": (root) =>
      put(
        join(root, "package.json"),
        readFileSync(join(root, "package.json"), "utf8").replace('"yaml": "', '"yaml": "9'),
      ),
    "a source": (root) => appendFileSync(join(root, "src/main.ts"), "\n"),
    "a prompt": (root) => appendFileSync(join(root, "prompts/complete-work/intro.md"), "\n"),
    "a workflow": (root) => appendFileSync(join(root, "workflows/complete-work.yaml"), "\n"),
    "a flag": (root) => appendFileSync(join(root, "bin/flags.mjs"), "\n"),
    "a new file": (root) => put(join(root, "src/new.ts"), ""),
    "a name": (root) => renameSync(join(root, "src/text.d.ts"), join(root, "src/words.d.ts")),
  };
  test.each(Object.entries(changes))("is another one when the package differs by %s", (_, change) => {
    const root = join(scratch(), "package");
    cpSync(built.root, root, { recursive: true });
    expect(contentOf(root)).toBe(contentOf(built.root));
    change(root);
    expect(contentOf(root)).not.toBe(contentOf(built.root));
  });

  test("is renewed when the package is another version, to either side", () => {
    const place = installed();
    for (const other of ["9.9.9", "0.0.1"]) {
      setVersion(place.root, other);
      expect(launch(place, ["--version"]).out).toBe(`pawl ${other}\n`);
      expect(readFileSync(place.sidecar, "utf8")).toStartWith(`${other} `);
    }
  });

  test("what a killed build left is swept, what another is making is not", () => {
    const place = freshHome();
    const [old, young] = ["old", "young"].map((name) => join(dirname(place.binary), `.build-${name}`));
    put(join(old!, "pawl"), "half");
    put(join(young!, "pawl"), "half");
    utimesSync(old!, new Date(), new Date(Date.now() - 3_600_000));
    expect(launch(place, ["--version"])).toEqual(GOOD);
    expect(left(place)).toEqual([".build-young", "pawl", "pawl.version"]);
  });

  test("a terminal shows one line while it is made, and none afterwards", async () => {
    const place = freshHome();
    expect(await onTerminal(place)).toBe(`preparing pawl (once per version)…\r\npawl ${version}\r\n`);
    expect(await onTerminal(place)).toBe(`pawl ${version}\r\n`);
  });
});

async function onTerminal(place: Installed): Promise<string> {
  let shown = "";
  const decoder = new TextDecoder();
  const data = (_: unknown, bytes: Uint8Array) => {
    shown += decoder.decode(bytes, { stream: true });
  };
  const env = environment(place.home);
  const words = lastWords();
  const call = Bun.spawn(launcher(place, ["--version"]), {
    env,
    terminal: { cols: 100, rows: 20, data, exit: words.exit },
  });
  expect(await call.exited).toBe(0);
  await words.heard();
  call.terminal?.close();
  return shown;
}

describe("nothing around it gets into the binary", () => {
  test("neither the settings of the folder the call was made in, nor options in the environment", () => {
    const place = freshHome();
    const folder = scratch();
    put(join(folder, "bunfig.toml"), "this = [is not TOML\n");
    put(join(folder, "evil.ts"), "process.exit(66);\n");
    const more = { BUN_OPTIONS: `--preload=${join(folder, "evil.ts")}` };
    launch(place, ["--version"], more, folder);
    expect(left(place)).toEqual(["pawl", "pawl.version"]);
    expect(launch(place, ["--version"], {}, folder)).toEqual(GOOD);
    expect(readdirSync(folder).sort()).toEqual(["bunfig.toml", "evil.ts"]);
  });

  test("nor the tsconfig.json of a project that has Pawl in its node_modules", () => {
    const place = installed("node_modules/pawl");
    put(join(place.base, "tsconfig.json"), '{"compilerOptions":{"paths":{"yaml":["./evil.ts"]}}}');
    put(join(place.base, "evil.ts"), "export default {};\n");
    expect(launch(place, ["--version"])).toEqual(GOOD);
  });
});

describe("Bun", () => {
  test.each(["hoisted", "nested"] as const)("is found where install scripts were blocked: %s", (where) => {
    const place = installed();
    blockScripts(place, where);
    expect(launch(place, ["--version"])).toEqual(GOOD);
  });

  test("is missed with a word on how to get it", () => {
    const place = installed();
    rmSync(join(place.root, "node_modules"));
    const { code, out, err } = launch(place, ["--version"]);
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(err).toMatch(/^pawl: there is no Bun for .*\n {2}hint: .*install pawl again/);
    expect(left(place)).toEqual([]);
  });
});

describe("where it cannot build", () => {
  test("the binary that is there is used, untouched, and that is said", () => {
    const place = installed();
    expect(launch(place, ["--version"])).toEqual(GOOD);
    const before = identityOf(place.binary);
    writeFileSync(join(place.root, "src/main.ts"), "import './nowhere.ts';\n");
    setVersion(place.root, "9.9.9");
    const { code, out, err } = launch(place, ["--version"]);
    expect({ code, out }).toEqual({ code: 0, out: GOOD.out });
    expect(err).toMatch(/^pawl: cannot compile: /);
    expect(err).toEndWith(`  going on with the binary that is there: ${version}\n`);
    expect(identityOf(place.binary)).toBe(before);
    expect(left(place)).toEqual(["pawl", "pawl.version"]);
  });

  test("a binary that does not run never takes the place of one that does", () => {
    const place = installed();
    expect(launch(place, ["--version"])).toEqual(GOOD);
    writeFileSync(join(place.root, "src/main.ts"), "process.exit(1);\n");
    const { out, err } = launch(place, ["--version"]);
    expect(out).toBe(GOOD.out);
    expect(err).toMatch(/^pawl: the new binary does not run: exit code 1\n/);
  });

  test("a home that cannot be written to is an error with a remedy", () => {
    const place = freshHome();
    writeFileSync(join(place.home, ".local"), "a file");
    const { code, out, err } = launch(place, ["--version"]);
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(err).toMatch(/^pawl: cannot write to .*my home\/\.local\/share\/pawl\/bin: .*\n {2}hint: .*HOME\n$/);
  });

  test("a read-only home too", () => {
    const place = freshHome();
    chmodSync(place.home, 0o555);
    for (const folder of [dirname(place.root), dirname(place.home)]) chmodSync(folder, 0o755);
    const asNobody = process.getuid?.() === 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : [];
    const cmd = [...asNobody, ...launcher(place, ["--version"])];
    const { code, err } = run(cmd, { cwd: "/", env: environment(place.home) });
    expect(err).toMatch(/^pawl: cannot write to .*(EACCES|EROFS|EPERM)/);
    expect(code).toBe(3);
  });

  test("a home that is no absolute path too", () => {
    const { code, err } = launch({ ...built, home: "relative/home" }, ["--version"]);
    expect({ code, err }).toEqual({
      code: 3,
      err: "pawl: there is no home folder\n  hint: set HOME to an absolute path\n",
    });
  });
});
