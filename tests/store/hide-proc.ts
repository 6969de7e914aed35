/** Loaded before Pawl's source: a machine without /proc, where only ps tells of processes. */
import { proc } from "../../src/store/processes/owner.ts";

proc.root = "/no/such/folder";
