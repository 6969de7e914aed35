/** What is not as it should be yet, by "project: case", and why. A case that comes right fails until its line is removed. */
export const KNOWN: Record<string, string> = {
  "node: the code silences the assertions": "still passes: every test of the beginning passes; verify --prove shows it",
  "node: the code is right only below the runner": "still passes: the tests see right code",
  "node: the code knows the tested values": "still passes: no test says anything else",
  "pytest: the code changes pytest's own reports":
    "still passes: the runner itself says passed; verify --prove shows it",
};
