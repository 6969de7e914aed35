import { runCases } from "./case.ts";
import { ATTACKS, HONEST } from "./rust.ts";

runCases([...ATTACKS, ...HONEST]);
