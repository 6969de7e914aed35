#!/bin/bash
# The handler of the promise-tag document, made to work on what the host really sends.
set -eo pipefail

STATE_FILE="$HOME/.claude/work-completion.local.md"
LOG_FILE="$HOME/.claude/logs/work-completion.log"

INPUT=$(cat)
SESSION=$(jq -r '.session_id' <<<"$INPUT")
MESSAGE=$(jq -r '.last_assistant_message' <<<"$INPUT")
PROMISE=$(grep -oP '<promise>\K[^<]+' <<<"$MESSAGE" | tail -1 || true)
[ -n "$PROMISE" ] || exit 0

mkdir -p "$(dirname "$LOG_FILE")"
NOW=$(date -u +%Y-%m-%dT%H:%M:%SZ)
echo "[$NOW] $PROMISE" >>"$LOG_FILE"

save_state() {
  cat >"$STATE_FILE.tmp" <<EOF
---
step: $1
memory_updated: true
last_promise: "$PROMISE"
session_id: "$SESSION"
timestamp: $NOW
---
EOF
  mv "$STATE_FILE.tmp" "$STATE_FILE"
}

block() {
  jq -n --arg reason "$1" --arg message "$2" '{decision: "block", reason: $reason, systemMessage: $message}'
}

case "$PROMISE" in
  MEMORY_UPDATED) save_state 2 && block "Continue with step 2 (review)" "Step 1 is done" ;;
  REVIEW_COMPLETE) save_state 3 && block "Continue with step 3 (cleanup)" "Step 2 is done" ;;
  REVIEW_ISSUES_FOUND) block "Critical review issues detected" "Fix critical issues first" ;;
  MEMORY_UPDATE_FAILED | COMMIT_FAILED) block "Step failed" "Fix the error and try again" ;;
  WORKFLOW_COMPLETE | WORKFLOW_ABORTED) rm -f "$STATE_FILE" ;;
esac
