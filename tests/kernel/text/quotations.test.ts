import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { deliver, makeEvent, newWorld, SIGNALS, tag } from "../../engine/core/world.ts";

describe("quotations", () => {
  const wrap: Record<string, (text: string) => string> = {
    "a fence": (text) => `look:\n\n\`\`\`\n${text}\n\`\`\`\nend`,
    "a tilde fence": (text) => `~~~md\n${text}\n~~~`,
    "an open fence": (text) => `\`\`\`\n${text}`,
    "a fence in a list": (text) => `- so:\n  \`\`\`\n  ${text}\n  \`\`\``,
    "a longer fence": (text) => `\`\`\`\`\n\`\`\`\n${text}\n\`\`\`\n\`\`\`\``,
    "a quote": (text) => `> ${text}`,
    "a lazy quote": (text) => `> he said\n${text}`,
    "inline code": (text) => `\`${text}\``,
    "inline code over lines": (text) => `\`so\n${text}\nit goes\``,
    "indented code": (text) => `    ${text}`,
    "a tab": (text) => `\t${text}`,
    "a comment": (text) => `<!--\n${text}\n-->`,
    "a comment with blank lines": (text) => `<!-- x\n\n${text}\n\n-->`,
    "a sentence": (text) => `I will say ${text} when done`,
    "a list item": (text) => `- ${text}`,
    "a pre block": (text) => `<pre>\n${text}\n</pre>`,
    "a zero-width prefix": (text) => `\u200b${text}`,
    "two on a line": (text) => `${text} ${text}`,
  };
  for (const [name, quote] of Object.entries(wrap)) {
    test(`${name} moves nothing`, () => {
      fc.assert(
        fc.property(fc.constantFrom(...SIGNALS), fc.lorem(), (signal, words) => {
          const world = newWorld();
          deliver(
            world,
            makeEvent(world, "S1", "t0", "local", {
              kind: "prompt",
              text: "/complete-work",
              injected: false,
              typed: false,
            }),
          );
          const prose = `${words}\n\n${quote(tag(signal))}`;
          deliver(
            world,
            makeEvent(world, "S1", "t0", "local", {
              kind: "stop",
              message: prose,
              continuing: false,
              background: 0,
              agents: [],
              scheduled: false,
            }),
          );
          const run = world.runs.get(world.bound.get("S1")!)!;
          expect([run.stage, run.status, run.done]).toEqual(["memory", "active", {}]);
        }),
        { numRuns: 20 },
      );
    });
  }

  test("a signal in a prompt or a sub-agent's message moves nothing", () => {
    const world = newWorld();
    deliver(
      world,
      makeEvent(world, "S1", "t0", "local", { kind: "prompt", text: "/complete-work", injected: false, typed: false }),
    );
    for (const kind of [
      { kind: "prompt", text: tag("MEMORY_UPDATED"), injected: false, typed: false },
      { kind: "prompt", text: tag("MEMORY_UPDATED"), injected: true, typed: false },
      { kind: "sub_stop", agent: "memory-updater", message: tag("MEMORY_UPDATED") },
      { kind: "noticed", what: "x", detail: tag("MEMORY_UPDATED") },
    ] as const) {
      deliver(world, makeEvent(world, "S1", "t1", "local", kind));
      expect(world.runs.get(world.bound.get("S1")!)!.stage).toBe("memory");
    }
  });
});
