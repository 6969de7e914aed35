/** A process of its own: `bun sync-once.ts DATABASE ROOT`. */
import { openInsight } from "../../src/insight/query.ts";

const [path = "", root = ""] = process.argv.slice(2);
const insight = openInsight({ path, projects: [root] });
console.log(JSON.stringify(insight.sync()));
insight.close();
