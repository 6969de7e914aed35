import { insideRoot } from "../../store/files.ts";

/** Where a run keeps what git has not got, to compare with it later; null without a run. */
export const objectsOf = (root: string, run: string) => (run === "" ? null : insideRoot(root, `.pawl/objects/${run}`));
