/** All checks, in the order a person would ask: is it installed, does it run, what is in its way, what has it kept? */
import { messageOf } from "../../store/files.ts";
import { checkBeside } from "./beside.ts";
import { checkHook } from "./canary.ts";
import { checkLine, checkShortcuts } from "./controls.ts";
import { checkDisk } from "./disk.ts";
import { checkEnvironment } from "./environment.ts";
import { checkErrors } from "./errors.ts";
import { clean, type Finding, type Ground, note, type Section } from "./finding.ts";
import { checkNotify } from "./notify.ts";
import { checkPlugin, ourPlugin, readPlugins } from "./plugins.ts";
import { checkProgram } from "./program.ts";
import { checkClock, checkGit, checkOff } from "./project.ts";
import { checkDoubled, checkRuns } from "./runs.ts";
import { checkDisabled, checkInstalled, checkSettings, checkTexts } from "./settings.ts";
import { readAllSettings } from "./settings-files.ts";
import { checkTrust } from "./trust.ts";

type Check = () => Finding[] | Promise<Finding[]>;

export async function examine(ground: Ground): Promise<Section[]> {
  const files = readAllSettings(ground);
  const plugins = readPlugins(ground, files);
  const plugin = ourPlugin(plugins);
  const sections: [string, Record<string, Check>][] = [
    [
      "Installation",
      {
        settings: () => checkSettings(files),
        plugin: () => checkPlugin(plugin),
        installed: () => checkInstalled(ground, files, plugin),
        doubled: () => checkDoubled(ground),
        disabled: () => checkDisabled(files),
        texts: () => checkTexts(ground),
        line: () => checkLine(ground, files),
      },
    ],
    [
      "Program",
      { program: () => checkProgram(ground), trust: () => checkTrust(ground), hook: () => checkHook(files, plugin) },
    ],
    [
      "Surroundings",
      {
        environment: () => checkEnvironment(ground, files),
        beside: () => checkBeside(ground, files, plugins),
        notify: () => checkNotify(ground),
      },
    ],
    [
      "Project",
      {
        off: () => checkOff(ground),
        shortcuts: () => checkShortcuts(ground),
        git: () => checkGit(ground),
        disk: () => checkDisk(ground),
        clock: () => checkClock(ground),
      },
    ],
    ["Runs", { runs: () => checkRuns(ground), errors: () => checkErrors(ground) }],
  ];
  const done: Section[] = [];
  for (const [title, checks] of sections) done.push({ title, findings: await runAll(checks) });
  return done;
}

/** One check that fails says so, and keeps none of the others from being made. */
async function runAll(checks: Record<string, Check>): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const [name, check] of Object.entries(checks)) {
    try {
      found.push(...(await check()));
    } catch (error) {
      found.push(
        note(
          `${name}-unchecked`,
          `${name} could not be checked: ${clean(messageOf(error), 200)}`,
          "fix that and run doctor again",
        ),
      );
    }
  }
  return found;
}
