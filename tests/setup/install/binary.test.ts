import { afterAll, expect, test } from "bun:test";
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { version } from "../../../package.json";
import { makePlace, type Place, removePlaces, runPawl, textOf } from "../../harness/harness.ts";
import { ground, put } from "./ground.ts";

afterAll(removePlaces);

const HOME_OF_IT = ".local/share/pawl/bin/pawl";

test("the binary puts itself where hooks call it, and renews what is not itself", () => {
  const place = makePlace({ git: false });
  const path = join(place.home, HOME_OF_IT);
  const init = () => runPawl(place, ["init", "--with", "all", "--yes"]);
  expect(init().out).toContain(`create  ~/${HOME_OF_IT}`);
  expect(statSync(path).mode & 0o7777).toBe(0o755);
  expect(textOf(`${path}.version`)).toMatch(new RegExp(`^${RegExp.escape(version)} [0-9a-f]{64}\n$`));
  expect(readdirSync(dirname(path)).sort()).toEqual(["pawl", "pawl.version"]);
  const first = statSync(path).ino;
  expect(init().out).toContain("nothing to do");
  rmSync(`${path}.version`);
  expect(init().out).toContain("nothing to do");
  expect(statSync(path).ino).toBe(first);
  put(place.home, `${HOME_OF_IT}.version`, "0.0.1 00\n");
  expect(init().out).toContain(`renew   ~/${HOME_OF_IT}`);
  chmodSync(path, 0o644);
  expect(init().out).toContain(`renew   ~/${HOME_OF_IT}`);
  swapLastByte(path);
  expect(init().out).toContain(`renew   ~/${HOME_OF_IT}`);
  rmSync(path);
  put(place.home, HOME_OF_IT, "#!/bin/sh\necho pawl 0.0.1\n");
  const renewed = init();
  expect(renewed.out).toContain(`renew   ~/${HOME_OF_IT}`);
  expect({ code: renewed.code, err: renewed.err }).toEqual({ code: 0, err: "" });
  expect(statSync(path).size).toBeGreaterThan(1e6);
});

/** Another content of the same size, under the old sidecar. */
function swapLastByte(path: string): void {
  const file = openSync(path, "r+");
  const at = statSync(path).size - 1;
  const byte = new Uint8Array(1);
  readSync(file, byte, 0, 1, at);
  writeSync(
    file,
    byte.map((value) => value ^ 1),
    0,
    1,
    at,
  );
  closeSync(file);
}

test("a failed installation leaves no binary behind, and no binary means no installation", () => {
  const place = makePlace({ git: false });
  put(place.root, ".claude", "a file");
  expect(runPawl(place, ["init", "--with", "all", "--yes"]).code).toBe(1);
  expect(existsSync(join(place.home, HOME_OF_IT))).toBe(false);
  rmSync(join(place.root, ".claude"));
  put(place.home, ".local/share", "a file");
  const { code, err } = runPawl(place, ["init", "--with", "all", "--yes"]);
  expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining("pawl cannot be written") });
  expect(readdirSync(place.root)).toEqual([]);
});

test("a hook that does not answer is told", () => {
  const place = ground({}, { git: false });
  const path = join(place.home, HOME_OF_IT);
  rmSync(path);
  expect(proof(place)).toEqual({ ok: false, why: "the binary does not answer" });
  copyFileSync(join(import.meta.dir, "../../../bin/hook.sh"), join(place.home, ".local/share/pawl/hook"));
  const program = (body: string) => {
    put(place.home, HOME_OF_IT, `#!/bin/sh\n${body}\n`);
    chmodSync(path, 0o755);
    return proof(place);
  };
  const named = `[ "$1" = hook ] || { echo pawl ${version}; exit; }`;
  expect(proof(place)).toEqual({ ok: false, why: "the binary does not answer" });
  expect(program("exit 3")).toEqual({ ok: false, why: "the binary does not answer" });
  expect(program("echo pawl 0.0.1")).toEqual({ ok: false, why: 'it answers "pawl 0.0.1"' });
  expect(program(`${named}; echo no`)).toEqual({ ok: false, why: "it printed no JSON: no\n" });
  expect(program(`${named}; echo bad >&2; exit 7`)).toEqual({ ok: false, why: "it ended with 7 bad\n".trim() });
  expect(program(`${named}; cat`)).toMatchObject({ ok: true, version });
});

/** In a process with that home. */
function proof({ root, env }: Place): unknown {
  const script = `import { proveHook } from ${JSON.stringify(join(import.meta.dir, "../../../src/setup/install/binary.ts"))};
    console.log(JSON.stringify(proveHook("local", ${JSON.stringify(root)})));`;
  const { stdout } = Bun.spawnSync([process.execPath, "-e", script], { env });
  return JSON.parse(stdout.toString());
}
