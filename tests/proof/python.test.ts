import { runCases } from "./case.ts";
import { ATTACKS, HONEST } from "./python.ts";

runCases([...ATTACKS, ...HONEST]);
