/** Preloaded into a child process: as on a system whose libc is not known. */
import { mock } from "bun:test";
import { join } from "node:path";
import * as real from "../../src/native/libc.ts";

mock.module(join(import.meta.dir, "../../src/native/libc.ts"), () => ({ ...real, libc: null }));
