/** Is a person there? The answer goes to a file: the screen may be one that no one sees. */
import { renameSync, writeFileSync } from "node:fs";
import { isPerson } from "../../src/store/processes/person.ts";

const path = process.argv[2]!;
writeFileSync(`${path}.new`, JSON.stringify(isPerson()));
renameSync(`${path}.new`, path);
