/** All checks, in the order a person would ask: is it installed, does it run, what is in its way, what has it kept? */
import { messageOf } from "../../store/files.ts";
import { clean, type DoctorContext, type Finding, note, type Section } from "./finding.ts";
import { checkHook, checkProgram, checkTrust } from "./program.ts";
import { checkClock, checkDisk, checkGit, checkOff, checkShortcuts } from "./project.ts";
import { checkDoubled, checkErrors, checkRuns } from "./runs.ts";
import {
  checkDisabled,
  checkInstalled,
  checkLine,
  checkPlugin,
  checkSettings,
  checkTexts,
  checkWorktree,
} from "./settings.ts";
import { ourPlugin, readAllSettings, readPlugins } from "./settings-files.ts";
import { checkBeside, checkCallers, checkEnvironment, checkNotify } from "./surroundings.ts";

type Check = () => Finding[] | Promise<Finding[]>;

export async function examine(ground: DoctorContext): Promise<Section[]> {
  const files = readAllSettings(ground);
  const plugins = readPlugins(ground, files);
  const plugin = ourPlugin(plugins);
  const sections: Record<string, Record<string, Check>> = {
    Installation: {
      settings: () => checkSettings(ground, files),
      plugin: () => checkPlugin(plugin),
      installed: () => checkInstalled(ground, files, plugin),
      worktree: () => checkWorktree(ground, files, plugin),
      doubled: () => checkDoubled(ground),
      disabled: () => checkDisabled(files),
      texts: () => checkTexts(ground),
      line: () => checkLine(ground, files),
    },
    Program: {
      program: () => checkProgram(ground),
      trust: () => checkTrust(ground),
      hook: () => checkHook(files, plugin),
    },
    Surroundings: {
      environment: () => checkEnvironment(ground, files),
      callers: () => checkCallers(),
      beside: () => checkBeside(ground, files, plugins),
      notify: () => checkNotify(ground),
    },
    Project: {
      off: () => checkOff(ground),
      shortcuts: () => checkShortcuts(ground),
      git: () => checkGit(ground),
      disk: () => checkDisk(ground),
      clock: () => checkClock(ground),
    },
    Runs: { runs: () => checkRuns(ground), errors: () => checkErrors(ground) },
  };
  const done: Section[] = [];
  for (const [title, checks] of Object.entries(sections)) done.push({ title, findings: await runAll(checks) });
  return done;
}

/** One check that fails says so, and keeps none of the others from being made. */
async function runAll(checks: Record<string, Check>): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const [name, check] of Object.entries(checks)) {
    try {
      found.push(...(await check()));
    } catch (error) {
      const what = `${name} could not be checked: ${clean(messageOf(error), 200)}`;
      found.push(...note(`${name}-unchecked`, what, "fix that and run doctor again"));
    }
  }
  return found;
}
