/** Which host calls `pawl hook auto`: one plugin is loaded by several, and each has its own language. */

/** Claude Code keeps a conversation as <its folder>/projects/<project>/<session>.jsonl; all others differ. */
const CLAUDE_TRANSCRIPT = /\/projects\/[^/]+\/[^/]+\.jsonl$/;

/** null: no one we can talk to. The environment proves little, since an agent may be started inside another. */
export function detectHost(payload: unknown, env: Record<string, string | undefined>): "claude" | null {
  if (typeof payload !== "object" || payload === null) return null;
  const { transcript_path: transcript, turn_id: codex } = payload as Record<string, unknown>;
  if (typeof transcript === "string" && transcript !== "") return CLAUDE_TRANSCRIPT.test(transcript) ? "claude" : null;
  return codex === undefined && env.AI_AGENT?.startsWith("claude-code_") ? "claude" : null;
}

/**
 * Copilot runs the hooks of `.claude/settings*.json` in a trusted folder, too. Each of its payloads has a time, as none of
 * Claude Code's has, and none names a transcript of Claude Code's.
 */
export function isFromAnotherHost(payload: unknown): boolean {
  if (typeof payload !== "object" || payload === null) return false;
  const { transcript_path: transcript, timestamp } = payload as Record<string, unknown>;
  return timestamp !== undefined && !(typeof transcript === "string" && CLAUDE_TRANSCRIPT.test(transcript));
}
