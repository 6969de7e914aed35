/**
 * A macro: runs while Pawl is bundled, and what it returns becomes part of the program. The bundler cannot call itself from
 * a macro, so it is called as a program.
 */
export function bundle(entry: string): string {
  const cmd = [process.execPath, "build", `${import.meta.dir}/${entry}`, "--target=browser", "--minify"];
  const { success, stdout, stderr } = Bun.spawnSync(cmd);
  if (!success) throw new Error(stderr.toString());
  return stdout.toString();
}
