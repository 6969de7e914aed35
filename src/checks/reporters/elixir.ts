/** Elixir: a formatter next to ExUnit's own. It is compiled by the virtual machine that loads it, so it fits any version. */
import { type Family, isPlain } from "./family.ts";
import formatter from "./hooks/pawl_exunit.erl" with { type: "text" };

export const elixir: Family = {
  hooks: { "pawl_exunit.erl": formatter },
  env({ hooks }, { ELIXIR_ERL_OPTIONS = "" }) {
    if (!isPlain(hooks)) return {};
    const load = `catch(code:load_binary(pawl_exunit,[],element(3,compile:file("${hooks}/pawl_exunit",[binary]))))`;
    const formatters = "-ex_unit formatters ['Elixir.ExUnit.CLIFormatter',pawl_exunit]";
    return { ELIXIR_ERL_OPTIONS: `${ELIXIR_ERL_OPTIONS} ${formatters} -eval ${load}`.trim() };
  },
};
