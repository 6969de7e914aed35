/** argv. `hook` is the hot path: everything else is imported only when it is asked for. */
import { type Input, isUnarmed, leave, readStdin } from "./quick.ts";

const [name = "", ...args] = process.argv.slice(2);

// No await before the usual end: an unarmed session leaves here without ever starting the event loop.
if (name === "hook") {
  if (process.env.PAWL === "0") leave();
  const input = readStdin();
  if (!(input instanceof Promise) && isUnarmed(input)) leave();
  void hook(input);
} else void other();

async function hook(given: Input | Promise<Input>): Promise<void> {
  const input = await given;
  if (!isUnarmed(input)) await (await import("./cli/hook.ts")).hook(input, args);
  leave();
}

async function other(): Promise<void> {
  const { main } = await import("./cli/index.ts");
  process.exit(await main(name, args));
}
