/** The issues of the stand-in for `bd`: how they are found, and how its commands show them. */

export interface Issue {
  id: string;
  title: string;
  description: string;
  status: string;
  priority: number;
  assignee: string;
  created_at: string;
  updated_at: string;
  started_at?: string;
  closed_at?: string;
  close_reason?: string;
  parent?: string;
  labels: string[];
  waits_for: string[];
  comments: { id: string | number; issue_id: string; author: string; text: string; created_at: string }[];
}

export interface State {
  next: number;
  issues: Issue[];
}

/** Whole, or its end, or the beginning of its end. */
export function resolve(state: State, id: string): Issue | string {
  const exact = state.issues.find((issue) => issue.id === id || issue.id.endsWith(`-${id}`));
  if (exact !== undefined) return exact;
  const some = state.issues.filter((issue) => issue.id.startsWith(id) || issue.id.split("-").at(-1)!.startsWith(id));
  if (some.length === 1) return some[0]!;
  if (some.length === 0) return `no issue found matching "${id}"`;
  return `ambiguous ID "${id}" matches ${some.length} issues: [${some.map((issue) => issue.id).join(" ")}]`;
}

export const openBlockers = (state: State, issue: Issue) =>
  issue.waits_for.filter((id) => state.issues.find((one) => one.id === id)?.status !== "closed");

// ── Shapes ──────────────────────────────────────────────────────────────────

export function bare(issue: Issue): Record<string, unknown> {
  const { waits_for: _waits, comments: _comments, parent: _parent, ...fields } = issue;
  const kept = Object.entries(fields).filter(
    ([key, value]) => key === "priority" || (value !== "" && String(value) !== ""),
  );
  return Object.fromEntries(kept);
}

export function counted(issue: Issue): Record<string, unknown> {
  const dependencies = issue.waits_for.map((id) => ({
    issue_id: issue.id,
    depends_on_id: id,
    type: "blocks",
    created_at: issue.created_at,
  }));
  return {
    ...bare(issue),
    ...(dependencies.length > 0 && { dependencies }),
    dependency_count: issue.waits_for.length,
    dependent_count: 0,
    comment_count: issue.comments.length,
    ...(issue.parent !== undefined && { parent: issue.parent }),
  };
}

export function detailed(state: State, issue: Issue): Record<string, unknown> {
  const dependencies = issue.waits_for.map((id) => ({
    ...bare(state.issues.find((one) => one.id === id)!),
    dependency_type: "blocks",
  }));
  return { ...counted(issue), ...(dependencies.length > 0 ? { dependencies } : {}) };
}
