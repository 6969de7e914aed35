/** The house as docs/ARCHITECTURE.md describes it: rooms, their direction, no cycles, no drawer. */
import { describe, expect, test } from "bun:test";
import { dirname, join, normalize } from "node:path";
import { inPage, measure, ROOMS, sources, textOf } from "../../scripts/house.ts";

const IMPORT = /(?:\bfrom\s+|\bimport\(|\bimport\s+|\brequire\()"(\.[^"]+)"/g;
const files = sources();
const known = new Set(files);

/** Every import, types and lazy ones included; files that are not ours (package.json, texts) are left out. */
const imports = new Map(
  files.map((file) => {
    const named = [...textOf(file).matchAll(IMPORT)].map((match) => normalize(join(dirname(file), match[1]!)));
    return [file, [...new Set(named)].filter((target) => known.has(target))];
  }),
);

const roomOf = (file: string) => (file.includes("/") ? file.slice(0, file.indexOf("/")) : "(root)");
const CAPABILITIES = ["auto", "formal", "controls", "guard", "loop", "insight", "notify", "verify", "play"];
const LEVELS = [
  ...["kernel", "native", "store", "hosts", "definitions", "trackers", "checks", "engine"].map((room) => [room]),
  CAPABILITIES,
  ["web", "setup", "demo"],
  ["cli"],
  ["(root)"],
];
const level = (room: string) => LEVELS.findIndex((rooms) => rooms.includes(room));

/** Pure parts of capabilities that lower rooms build on; docs/ARCHITECTURE.md names them. */
const BELOW: Record<string, string[]> = {
  definitions: ["controls/core/", "checks/core/"],
  engine: ["auto/core/", "formal/core/", "loop/core/"],
  controls: ["auto/core/"],
};

describe("rooms", () => {
  test("the map in ARCHITECTURE.md names every room, and no other", () => {
    const rooms = measure().map(({ room }) => room);
    expect(rooms.filter((room) => room !== "(root)").sort()).toEqual(Object.keys(ROOMS).sort());
    const named = [...inPage().matchAll(/^\| `([^`]+)` \|/gm)].map((match) => match[1]);
    expect(named.sort()).toEqual([...rooms].sort());
  });

  test("each room imports only rooms below it", () => {
    const wrong = [...imports].flatMap(([file, targets]) =>
      targets
        .filter((target) => {
          const [from, to] = [roomOf(file), roomOf(target)];
          if (from === to || level(to) < level(from)) return false;
          return !(BELOW[from] ?? []).some((folder) => target.startsWith(folder));
        })
        .map((target) => `${file} → ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  test("kernel/types imports nothing but itself", () => {
    const types = [...imports].filter(([file]) => file.startsWith("kernel/types/"));
    expect(types.length).toBeGreaterThan(5);
    expect(types.flatMap(([, targets]) => targets).filter((target) => !target.startsWith("kernel/types/"))).toEqual([]);
  });

  test("no folder is a drawer: about 25 files at most", () => {
    const count = new Map<string, number>();
    for (const file of files) count.set(dirname(file), (count.get(dirname(file)) ?? 0) + 1);
    expect([...count].filter(([, files]) => files > 27)).toEqual([]);
  });
});

test("no import cycle, type imports included", () => {
  const state = new Map<string, "open" | "done">();
  const path: string[] = [];
  const cycles: string[] = [];
  const visit = (file: string) => {
    if (state.get(file) === "done") return;
    if (state.get(file) === "open") return void cycles.push([...path.slice(path.indexOf(file)), file].join(" → "));
    state.set(file, "open");
    path.push(file);
    for (const target of imports.get(file) ?? []) visit(target);
    path.pop();
    state.set(file, "done");
  };
  for (const file of files) visit(file);
  expect(cycles).toEqual([]);
});

test("core is pure: no clock, no randomness, no disk, no process", () => {
  const IMPURE =
    /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bprocess\.(?:env|cwd|exit|pid|argv|std|kill)|"node:|"bun:|\bfetch\(|\bsetTimeout\(/;
  const pure = files.filter((file) => /^kernel\/|\/core\//.test(file));
  const code = (file: string) => textOf(file).replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
  expect(pure.length).toBeGreaterThan(50);
  expect(pure.filter((file) => IMPURE.test(code(file)))).toEqual([]);
});
