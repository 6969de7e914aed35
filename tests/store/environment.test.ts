import { afterEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs"; // biome-ignore format: one thought
import { join } from "node:path";
import {
  allowedPart,
  asEnvironment,
  environmentFault,
  environmentFor,
  recordEnvironment,
  recordedEnvironment,
} from "../../src/store/environment.ts";
import { cannotAdd, isAllowedVariable } from "../../src/store/processes/allowed-variables.ts";
import { isLoaderVariable } from "../../src/store/processes/loader-variables.ts";
import { withEnvironment } from "../harness/environment.ts";
import { removeTemps, tempRoot } from "./samples.ts";

afterEach(removeTemps);

const USUAL = "/usr/bin:/bin";
const inHome = <T>(home: string, work: () => T, env: Record<string, string> = {}): T =>
  withEnvironment({ HOME: home, PATH: USUAL, ...env }, work);

describe("what is allowed", () => {
  const KEPT =
    "HOME USER LANG LC_ALL LC_CTYPE TZ TMPDIR CI https_proxy NODE_EXTRA_CA_CERTS JAVA_HOME GOPATH CARGO_HOME VIRTUAL_ENV BUN_INSTALL";
  const DROPPED =
    "NODE_OPTIONS NODE_ENV npm_config_registry NPM_CONFIG_SCRIPT_SHELL RUSTFLAGS CARGO_BUILD_RUSTC PYTHONPATH PYTEST_ADDOPTS GOFLAGS LD_PRELOAD BASH_ENV GIT_DIR CLAUDECODE AI_AGENT SSH_AUTH_SOCK DATABASE_URL SKIP_TESTS LC_ lc_all XHOME BUN_OPTIONS MAKEFLAGS";
  test.each(KEPT.split(" "))("%s", (name) => expect(isAllowedVariable(name)).toBe(true));
  test.each(DROPPED.split(" "))("not %s", (name) => expect(isAllowedVariable(name)).toBe(false));

  test("nothing that makes a program load other code, but PATH, which is recorded", () => {
    const all = [...readFileSync(join(import.meta.dir, "../../src/store/processes/allowed-variables.ts"), "utf8").matchAll(/\b[A-Za-z_]+\b/g)]; // biome-ignore format: one thought
    const names = new Set(all.map(([name]) => name).filter((name) => isAllowedVariable(name)));
    expect(names.size).toBeGreaterThan(100);
    expect([...names].filter(isLoaderVariable)).toEqual(["PATH"]);
  });

  test.each([
    ["PYTHONPATH", null],
    ["DATABASE_URL", null],
    ["A=B", "is not the name of a variable"],
    ["BUN_OPTIONS", "is never handed to a check"],
    ["BUN_JSC_useJIT", "is never handed to a check"],
    ["LD_PRELOAD", "is never handed to a check"],
    ["PAWL_GATE", "is never handed to a check"],
    ["PWD", "is never handed to a check"],
  ])("the person may add %s: %p", (name, why) => expect(cannotAdd(name)).toBe(why));

  test("PATH: absolute folders that are there, once each; a shell's own link by where it leads", () => {
    const base = tempRoot();
    mkdirSync(join(base, "real"));
    symlinkSync("real", join(base, "link"));
    const path = (text: string) => inHome(base, () => allowedPart({ PATH: text }).PATH);
    expect(path(`.::relative:/usr/bin:${base}/gone:/bin:/usr/bin`)).toBe("/usr/bin:/bin");
    expect(path("")).toBe("/usr/local/bin:/usr/bin:/bin");
    if (base.startsWith("/tmp/")) expect(path(`${base}/link`)).toBe(`${base}/real`);
  });
});

describe("the record", () => {
  test("is the person's alone, outside the project, and holds for every caller", () => {
    const [root, home] = [tempRoot(), tempRoot()];
    inHome(home, () => recordEnvironment(root, { ...process.env, SECRET: "s3", X: "1" }, ["SECRET"]), { LANG: "C" }); // biome-ignore format: one thought
    const trust = join(home, ".local/share/pawl/trust");
    const file = join(trust, readdirSync(trust)[0]!, "environment.json");
    expect((lstatSync(file).mode & 0o777).toString(8)).toBe("600");
    expect(existsSync(join(root, ".pawl"))).toBe(false);
    const seen = inHome(home, () => environmentFor(root), { LANG: "de", PATH: "/bin", X: "2" });
    expect(seen.env).toEqual({ HOME: home, PATH: USUAL, LANG: "C", SECRET: "s3" });
    expect(inHome(home, () => asEnvironment(seen.env).hash)).toBe(seen.hash);
    expect(inHome(tempRoot(), () => asEnvironment(seen.env).hash)).not.toBe(seen.hash);
  });

  const FORGED: [string, (file: string, other: string) => void][] = [
    ["edited", (file) => writeFileSync(file, readFileSync(file, "utf8").replace("/usr/bin", "/tmp/bin"))],
    ["of another project", (file, other) => writeFileSync(file, readFileSync(other))],
    ["writable by others", (file) => chmodSync(file, 0o666)],
    [
      "a link",
      (file) => {
        renameSync(file, `${file}.2`);
        symlinkSync(`${file}.2`, file);
      },
    ],
  ];
  test.each(FORGED)("%s: there is none", (_name, forge) => {
    const [root, other, home] = [tempRoot(), tempRoot(), tempRoot()];
    const files = [root, other].map((project) =>
      inHome(home, () => {
        const trust = join(home, ".local/share/pawl/trust");
        const before = existsSync(trust) ? readdirSync(trust) : [];
        recordEnvironment(project, process.env);
        return join(trust, readdirSync(trust).find((name) => !before.includes(name))!, "environment.json");
      }),
    );
    expect(inHome(home, () => recordedEnvironment(root))).not.toBeNull();
    forge(files[0]!, files[1]!);
    expect(inHome(home, () => recordedEnvironment(root))).toBeNull();
  });

  test("says what is gone", () => {
    const home = tempRoot();
    const fault = (env: Record<string, string>) =>
      inHome(home, () => environmentFault({ env: { HOME: home, PATH: USUAL, ...env }, hash: "" }));
    expect(fault({})).toBeNull();
    expect(fault({ PATH: `/usr/bin:${home}/node-18/bin` })).toContain("/node-18/bin is in the recorded environment and is gone"); // biome-ignore format: one thought
    expect(fault({ TMPDIR: `${home}/tmp` })).toContain("/tmp is in the recorded");
    expect(fault({ HOME: "/elsewhere" })).toBe("the recorded HOME is /elsewhere");
  });
});
