import type { Io } from "./args.ts";

const WIDEST = 100;
const NARROWEST = 60;
const UNKNOWN = 80;

/** As wide as the terminal, but no wider than is read with ease; what goes elsewhere has its whole width. */
export const screenColumns = ({ isTTY }: Io): number =>
  isTTY ? Math.max(NARROWEST, Math.min(WIDEST, process.stdout.columns || UNKNOWN)) : WIDEST;
