/**
 * Python: a sitecustomize of ours, which chains to the one it hides, watches for pytest and unittest. No PYTEST_ADDOPTS:
 * where a command sets a PYTHONPATH of its own, `-p` would fail for a module that is not found; like this, names are
 * missing and nothing else.
 */
import type { Family } from "./family.ts";
import sitecustomize from "./hooks/sitecustomize.py" with { type: "text" };

const PASSED_ON = ["PYTHONPATH", "PAWL_*"];

export const python: Family = {
  hooks: { "python/sitecustomize.py": sitecustomize },
  env: ({ hooks }, env) => ({
    PYTHONPATH: joined(":", `${hooks}/python`, env.PYTHONPATH),
    // Compiled files are known by size and second: an edit within one second would run the code from before it.
    PYTHONPYCACHEPREFIX: `${hooks}/python/compiled`,
    // tox starts with an environment of its own: version 3 reads the first, 4.11 and later the second
    TOX_TESTENV_PASSENV: joined(" ", ...PASSED_ON, env.TOX_TESTENV_PASSENV),
    TOX_OVERRIDE: joined(";", `testenv.pass_env+=${PASSED_ON.join(",")}`, env.TOX_OVERRIDE),
  }),
};

const joined = (by: string, ...parts: (string | undefined)[]) => parts.filter(Boolean).join(by);
