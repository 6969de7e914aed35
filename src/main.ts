/** argv. `hook` is the hot path: everything else is imported only when it is asked for. */
import { type Input, isUnarmed, leave, readStdin } from "./quick.ts";

const { argv, env } = process;

// No await before the usual end: an unarmed session leaves here without ever starting the event loop.
if (argv[2] === "hook") {
  if (env.PAWL === "0") leave();
  const input = readStdin();
  if ("then" in input) void input.then(deal);
  else deal(input);
} else void other();

function deal(input: Input): void {
  if (isUnarmed(input)) leave();
  void hook(input);
}

async function hook(input: Input): Promise<void> {
  await (await import("./cli/hook.ts")).hook(input, argv.slice(3));
  leave();
}

async function other(): Promise<void> {
  const { main } = await import("./cli/index.ts");
  process.exit(await main(argv[2] ?? "", argv.slice(3)));
}
