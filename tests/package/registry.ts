/** A registry on this machine (verdaccio), which knows only what a test publishes, and npm with nothing but it. */
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Ran } from "../harness/harness.ts";
import { npm } from "./npm.ts";
import { environment, ROOT, run, scratch } from "./package.ts";

/** Pinned: newer ones want Node 22. It asks for the tag `cjs` of node-fetch, which not every registry has. */
const VERSION = "6.8.0";
const OVERRIDES = { "node-fetch": "2.6.7" };

export interface Registry {
  url: string;
  stop: () => Promise<void>;
}

function installVerdaccio(): string {
  const folder = join(ROOT, "node_modules/.cache", `verdaccio-${VERSION}`);
  if (!existsSync(folder)) {
    const work = `${folder}.${process.pid}`;
    mkdirSync(work, { recursive: true });
    writeFileSync(join(work, "package.json"), JSON.stringify({ overrides: OVERRIDES }));
    npm(["install", "--ignore-scripts", `verdaccio@${VERSION}`], { cwd: work, home: scratch() });
    renameSync(work, folder);
  }
  return join(folder, "node_modules/verdaccio/bin/verdaccio");
}

export async function startRegistry(): Promise<Registry> {
  const program = installVerdaccio();
  const base = scratch();
  const probe = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const url = `http://127.0.0.1:${probe.port}`;
  await probe.stop(true);
  const config = { storage: "./storage", uplinks: {}, max_body_size: "300mb", log: { type: "stdout", level: "error" } };
  const packages = { "**": { access: "$all", publish: "$all" } };
  writeFileSync(join(base, "config.yaml"), JSON.stringify({ ...config, packages }));
  const command = ["node", program, "--config", join(base, "config.yaml"), "--listen", url];
  const call = Bun.spawn(command, {
    cwd: base,
    env: environment(base),
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  const stop = async () => {
    call.kill();
    await call.exited;
  };
  for (let tries = 0; tries < 200; tries++) {
    if (
      await fetch(`${url}/-/ping`).then(
        (answer) => answer.ok,
        () => false,
      )
    )
      return { url, stop };
    await Bun.sleep(100);
  }
  await stop();
  throw new Error("verdaccio did not answer within 20 s");
}

/** A person's shell: own home, npm cache and prefix; no registry but ours. */
export function shellOf(home: string, url: string, command: string, cwd: string): Ran {
  const host = url.replace("http:", "");
  writeFileSync(
    join(home, ".npmrc"),
    `registry=${url}\n${host}/:_authToken=none\nprefix=${home}/prefix\nupdate-notifier=false\n`,
  );
  const PATH = `${home}/prefix/bin:${process.env.PATH}`;
  return run(["/bin/sh", "-c", command], { cwd, env: environment(home, { PATH }) });
}
