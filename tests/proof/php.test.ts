import { runCases } from "./case.ts";
import { ATTACKS, HONEST } from "./php.ts";

runCases([...ATTACKS, ...HONEST]);
