/** Calls trust's functions in a process and a home of its own: [[name, ...arguments], …] → results. */
import { computeClosure } from "../../src/checks/closure/closure.ts";
import type { Gate } from "../../src/kernel/types/workflow.ts";
import { agentCalling, isPerson } from "../../src/store/processes/person.ts";
import { grantTrust, lastTrusted, readTrust, revokeTrust } from "../../src/store/trust.ts";

type Draft = Omit<Gate, "name" | "id">;
const closure = (root: string, gates: Draft[]) =>
  computeClosure(
    root,
    gates.map((gate, at) => ({ name: `gate ${at}`, id: String(at), ...gate })),
  );

const known: Record<string, (...args: never[]) => unknown> = {
  isPerson,
  agentCalling,
  lastTrusted,
  revokeTrust,
  trusted: (root: string, gates: Draft[]) => readTrust(root, closure(root, gates)),
  grant: (root: string, gates: Draft[]) => grantTrust(root, closure(root, gates), "tester"),
};

const results = (JSON.parse(process.argv[2]!) as [string, ...never[]][]).map(([name, ...args]) => {
  try {
    return known[name]!(...args) ?? null;
  } catch (error) {
    return { thrown: String(error) };
  }
});
console.log(JSON.stringify(results));
