import { runCases } from "./case.ts";
import { ATTACKS, HONEST } from "./go.ts";

runCases([...ATTACKS, ...HONEST]);
