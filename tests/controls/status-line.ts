/** The status line, asked for as the client does. */
import { join } from "node:path";
import type { Armed } from "../cli/hook/hostile.ts";
import { type Place, type RunOptions, runPawl } from "../harness/harness.ts";
import { runOf } from "../harness/run-files.ts";

export interface Told {
  session?: string;
  usd?: number;
  api?: number;
  added?: number;
  used?: number | null;
  folder?: string;
}

/** As version 2.1.197 of the client writes it. */
export const told = (
  place: Place,
  { session = "nobody", usd = 0, api = 0, added = 0, used = null, folder }: Told = {},
) => ({
  session_id: session,
  transcript_path: "/none.jsonl",
  cwd: folder ?? place.root,
  effort: { level: "high" },
  model: { id: "claude-opus-4-8[1m]", display_name: "Opus 4.8 (1M context)" },
  workspace: { current_dir: folder ?? place.root, project_dir: folder ?? place.root, added_dirs: [] },
  version: "2.1.197",
  cost: {
    total_cost_usd: usd,
    total_duration_ms: Math.round(performance.now()),
    total_api_duration_ms: api,
    total_lines_added: added,
    total_lines_removed: 0,
  },
  context_window: { total_input_tokens: 0, context_window_size: 1_000_000, used_percentage: used },
  exceeds_200k_tokens: false,
});

export const ask = (place: Place, input: unknown, args: string[] = [], options: RunOptions = {}) =>
  runPawl(place, ["statusline", ...args], { input: `${JSON.stringify(input)}\n`, ...options });
export const line = (place: Place, more?: Told) => ask(place, told(place, more));
export const mine = ({ place, session }: Armed, more: Told = {}) => line(place, { session: session.id, ...more });
export const NOTHING = { code: 0, out: "", err: "" };
export const FIRST = "complete-work  ◉ ○ ○ ○  MEMORY  1 of 4, 0 min\n";

export const runFolder = ({ place, session }: Armed) =>
  join(place.root, ".pawl/runs", runOf(place.root, session.id)!.id);
