/** What a person does with `pawl trust` at a terminal, for tests that are about something else. HOME says for whom. */
import { computeClosure } from "../../src/checks/closure/closure.ts";
import { projectGates } from "../../src/definitions/registry.ts";
import { grantTrust } from "../../src/store/trust.ts";
import { withEnvironment } from "./environment.ts";
import type { Place } from "./harness.ts";

export const trustProject = ({ root, env }: Place): void => withEnvironment(env, () => grant(root));

function grant(root: string): void {
  const { gates, problems } = projectGates(root);
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  grantTrust(root, computeClosure(root, gates), "tester");
}

if (import.meta.main) grant(process.argv[2]!);
