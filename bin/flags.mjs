/**
 * How Pawl is compiled, here and on a user's machine. The last two flags keep the .env and bunfig.toml of the folder
 * a hook runs in (the user's repository) out of the binary.
 */
export const FLAGS = [
  "--compile",
  "--minify",
  "--bytecode",
  "--splitting",
  "--format=esm",
  "--no-compile-autoload-dotenv",
  "--no-compile-autoload-bunfig",
];
