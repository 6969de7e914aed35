import { runCases } from "./case.ts";
import { ATTACKS } from "./javascript-attacks.ts";
import { HONEST } from "./javascript-honest.ts";

runCases([...ATTACKS.bun!, ...HONEST.bun!]);
