import { describe, expect, test } from "bun:test";
import { inProject } from "../../src/kernel/project-paths.ts";
import type { Json, ToolCall } from "../../src/kernel/types/run.ts";

const call = (input: Json): ToolCall => ({ id: "t", name: "Bash", input, result: null, at: "", agent: "" });

describe("paths as the project sees them", () => {
  test.each<[root: string, given: string, wanted: string]>([
    ["/tmp/p", "/tmp/p/src/a.ts", "src/a.ts"],
    ["/tmp/p", "/tmp/p//src/a.ts", "src/a.ts"],
    ["/tmp/p", "/tmp/p/.env", ".env"],
    ["/tmp/p", "/tmp/other/a.ts", "/tmp/other/a.ts"],
    ["/tmp/p", "/tmp/p2/a.ts", "/tmp/p2/a.ts"],
    ["/tmp/p", "/tmp/p/../q/a.ts", "/tmp/p/../q/a.ts"],
    ["/tmp/p", "/mnt/tmp/p/a.ts", "/mnt/tmp/p/a.ts"],
    ["/tmp/p", "src/a.ts", "src/a.ts"],
    ["/w/.claude/worktrees/x", "/w/.claude/worktrees/x/src/a.ts", "src/a.ts"],
    ["/w/build/p", "sed -i s/a/b/ /w/build/p/a.ts /tmp/x", "sed -i s/a/b/ a.ts /tmp/x"],
    ["/tmp/p", "cat >/tmp/p/a.ts; cp x '/tmp/p/b.ts'", "cat >a.ts; cp x 'b.ts'"],
    ["/tmp/p", "cd /tmp/p/ && rm -r /tmp/p", "cd /tmp/p/ && rm -r /tmp/p"],
    ["/tmp/my p", "rm /tmp/my\\ p/a.ts '/tmp/my p/b.ts'", "rm a.ts 'b.ts'"],
    ["/tmp/a+b.c", "rm /tmp/a+b.c/x /tmp/aab.c/x", "rm x /tmp/aab.c/x"],
    ["", "/src/a.ts", "/src/a.ts"],
    ["/", "/src/a.ts", "/src/a.ts"],
  ])("in %s: %s", (root, given, wanted) => {
    expect(inProject(root)(call({ command: given })).input).toEqual({ command: wanted });
    expect(inProject(root)(call({ file_path: given })).input).toEqual({ file_path: wanted });
    expect(inProject(root)(call({ cmd: ["sh", given] })).input).toEqual({ cmd: ["sh", wanted] });
  });

  test("texts stay as they are, and a result is not read before it is asked for", () => {
    const input = { file_path: "/tmp/p/a", content: "see /tmp/p/b" };
    const lazy: ToolCall = {
      ...call(input),
      get result(): never {
        throw new Error("read");
      },
    };
    const seen = inProject("/tmp/p")(lazy);
    expect(seen.input).toEqual({ file_path: "a", content: "see /tmp/p/b" });
    expect(() => seen.result).toThrow("read");
  });
});
