/** `pawl` without words, in a project where it is installed: what is on here, what needs you, what to type next. */
import { version } from "../../package.json";
import { statusData } from "../controls/core/status.ts";
import { gatherStatus } from "../controls/status.ts";
import { readProject } from "../definitions/project.ts";
import { safeText } from "../kernel/text/safe-text.ts";
import { installedParts } from "../setup/install/plan.ts";
import { installTarget, readManifest } from "../setup/install/target.ts";
import { isOff } from "../store/place.ts";
import { findDefinition } from "./shared/definition-of-done.ts";
import { factLines, projectPath } from "./shared/screen.ts";

/** null: Pawl is not installed here, so the help page says more. */
export function overview(root: string): string | null {
  const { manifest } = readManifest(installTarget("local", root));
  if (manifest === null) return null;
  const scopes = [...new Set(manifest.files.flatMap((entry) => entry.scopes))];
  const parts = scopes.flatMap((scope) => [...installedParts(installTarget(scope, root), manifest)]);
  const done = describeDone(root);
  const waiting = statusData(gatherStatus(root, new Date().toISOString())).runs.flatMap(({ workflow, waits }) =>
    waits ? [`${safeText(workflow)}: ${safeText(waits.what)}; ${safeText(waits.how)}`] : [],
  );
  const on = `hooks${scopes.includes("project") ? " for the team" : " for you"}${parts.map((part) => `, ${part}`).join("")}`;
  const next = [done.next, "pawl report", "pawl explain", "pawl help"].filter(Boolean).slice(0, 3).join("   ");
  const lines = factLines(
    [
      ["on", isOff(root) ? "nothing: Pawl is off in this project (`pawl on`)" : on],
      ["done", done.what],
      ["you", waiting.length === 0 ? "nothing needs you" : waiting.join(`\n${" ".repeat(8)}`)],
      ["next", next],
    ],
    6,
    "  ",
  );
  return `Pawl ${version} in ${projectPath(root)}\n\n${lines.join("\n")}\n`;
}

function describeDone(root: string): { what: string; next: string } {
  const read = readProject(root);
  if ("errors" in read) return { what: "pawl.yaml has errors, so nothing is checked", next: "pawl check" };
  const { lines, text, isTrusted } = findDefinition(root, { team: false });
  if (text !== null || lines.length === 0) return { what: "not defined, so nothing is checked", next: "pawl init" };
  const commands = lines.map((line) => line.split("   ")[0]).join(", ");
  if (!isTrusted) return { what: `${commands}: not approved, so not checked`, next: "pawl trust" };
  const guard = read.project.guard ?? "tell";
  const when = guard === "send-back" || guard === "enforce" ? "after every turn that changed code" : "in workflows";
  return { what: `${commands}, checked ${when}`, next: "pawl verify" };
}
