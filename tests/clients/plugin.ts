/** Our plugin, installed by the real client from this repository, and the program where its hooks look for it. */
import { copyFile, link, mkdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { claudeBinary } from "./install.ts";
import { PAWL, type Project } from "./project.ts";

export const REPOSITORY = resolve(import.meta.dir, "../..");
export const PLUGIN = join(REPOSITORY, "plugin");
const NOBODY = "http://127.0.0.1:9";

export interface Said {
  code: number;
  text: string;
}

/** `claude …` in the project's home, with no one to talk to: it has to work offline. */
export async function claude(project: Project, ...args: string[]): Promise<Said> {
  const child = Bun.spawn([await claudeBinary(), ...args], {
    cwd: project.root,
    env: project.env(NOBODY),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, text: out + err };
}

export async function installPlugin(project: Project): Promise<void> {
  for (const args of [
    ["marketplace", "add", REPOSITORY],
    ["install", "pawl@pawl"],
  ]) {
    const { code, text } = await claude(project, "plugin", ...args);
    if (code !== 0) throw new Error(`claude plugin ${args.join(" ")}: ${text}`);
  }
}

/** As the installer does it, but without a copy of a hundred megabytes where a link will do. */
export async function installProgram(project: Project): Promise<string> {
  const path = join(project.home, ".local/share/pawl/bin/pawl");
  await mkdir(dirname(path), { recursive: true });
  await link(PAWL, path).catch(() => copyFile(PAWL, path));
  await copyFile(join(REPOSITORY, "bin/hook.sh"), join(project.home, ".local/share/pawl/hook"));
  return path;
}
