import { runCases } from "./case.ts";
import { ATTACKS, HONEST } from "./ruby.ts";

runCases([...ATTACKS, ...HONEST]);
