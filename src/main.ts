/** argv. `hook` is the hot path: everything else is imported only when it is asked for. */
import { type Input, isUnarmed, readStdin } from "./quick.ts";

const [name = "", ...args] = process.argv.slice(2);

// No await before the usual end: an unarmed session leaves here without ever starting the event loop.
if (name === "hook" || name === "rewake") {
  if (process.env.PAWL === "0") process.exit(0);
  const input = readStdin();
  if (!(input instanceof Promise) && isUnarmed(input)) process.exit(0);
  void (name === "hook" ? hook(input) : rewake(input));
} else void other();

async function hook(given: Input | Promise<Input>): Promise<void> {
  const input = await given;
  if (!isUnarmed(input)) await (await import("./cli/hook.ts")).hook(input, args);
  process.exit(0);
}

async function rewake(given: Input | Promise<Input>): Promise<void> {
  const input = await given;
  process.exit(isUnarmed(input) ? 0 : (await import("./cli/rewake.ts")).rewake(input));
}

async function other(): Promise<void> {
  if (name === "job") process.exit(await (await import("./cli/job.ts")).run(args));
  const { main } = await import("./cli/index.ts");
  process.exit(await main(name, args));
}
