/** argv. `hook` is the hot path: everything else is imported only when needed. */
import { isUnarmed, leave, mayBeShortcut, readStdin } from "./fast-path.ts";
import type { Input } from "./kernel/types/input.ts";

const { argv, env } = process;
const name = argv[2] ?? "";

// No await before the usual end: an unarmed session leaves here without ever starting the event loop.
if ((name === "hook" || name === "rewake") && argv[3] !== "--help" && argv[3] !== "-h") {
  if (env.PAWL === "0") leave();
  const input = readStdin();
  if ("then" in input) void input.then(deal);
  else deal(input);
} else void other();

function deal(input: Input): void {
  if (isUnarmed(input)) leave();
  void (name === "hook" ? hook(input) : rewake(input));
}

async function hook(input: Input): Promise<void> {
  await (await import("./cli/hook.ts")).hook(input, argv.slice(3), mayBeShortcut);
  leave();
}

async function rewake(input: Input): Promise<void> {
  process.exit((await import("./cli/rewake.ts")).rewake(input));
}

async function other(): Promise<void> {
  const args = argv.slice(3);
  if (name === "job") process.exit(await (await import("./cli/job.ts")).run(args));
  if (name === "statusline" && !args.includes("--help")) {
    await (await import("./cli/statusline.ts")).answer(args, readStdin);
    leave();
  }
  const { main } = await import("./cli/index.ts");
  process.exit(await main(name, args));
}
