/** argv. `hook` is the hot path: everything else is imported only when it is asked for. */
import { isUnarmed, readStdin } from "./quick.ts";

const [name = "", ...args] = process.argv.slice(2);

if (name === "hook") {
  if (process.env.PAWL !== "0") {
    const input = await readStdin();
    if (!isUnarmed(input)) {
      const { hook } = await import("./cli/hook.ts");
      await hook(input, args);
    }
  }
  process.exit(0);
} else {
  const { main } = await import("./cli/index.ts");
  process.exit(await main(name, args));
}
