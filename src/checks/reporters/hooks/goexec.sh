#!/bin/sh
# Pawl: `go test` starts each test binary through this (GOFLAGS=-exec). Names need -test.v; the lines that it adds are
# taken out again, so that what is printed stays as it was. `go run` and lists of tests pass through.
case "$1" in *.test) ;; *) exec "$@" ;; esac
verbose=
for word in "$@"; do
  case "$word" in
    -test.v=false) ;;
    -test.v*) verbose=1 ;;
    -test.list=?* | -test.bench=?* | -test.fuzz=?* | -test.fuzzworker*) exec "$@" ;;
  esac
done
[ -n "$PAWL_REPORT_DIR" ] || exec "$@"
report=$PAWL_REPORT_DIR/go-$$-$(date +%s)000000
# Only the outermost runner reports: what the tests start must find no trace of us.
for name in $PAWL_REPORT_VARS; do
  eval "before=\${PAWL_WAS_$name-}"
  unset "$name" "PAWL_WAS_$name"
  [ -z "$before" ] || export "$name=$before"
done
unset PAWL_REPORT_DIR PAWL_REPORT_VARS
[ -n "$verbose" ] || set -- "$@" -test.v=true
{
  "$@" 2>&1
  echo $? >"$report.exit"
} | awk -v report="$report.ndjson" -v verbose="$verbose" -v cwd="$PWD" '
function quoted(text) {
  gsub(/\\/, "\\\\", text); gsub(/"/, "\\\"", text); gsub(/[\001-\037]/, "?", text)
  return "\"" text "\""
}
function say(line) { print line >> report; fflush(report) }
function show(line) { print line; fflush() }
# What a test printed without an end of line stands before ours.
function rest_of_line(text) { if (text ~ /[^ ]/) { printf "%s", text; fflush() } }
function report_test(name, status,   parts, count, at, path) {
  count = split(name, parts, "/")
  path = quoted(parts[1])
  for (at = 2; at <= count; at++) path = path "," quoted(parts[at])
  say("{\"ev\":\"test\",\"name\":[" path "],\"status\":\"" status "\"}")
}
# The log of a failed test comes after its result, further in by as much; that of others is not shown without -v.
function show_failed(line, name,   lines, count, at) {
  show(line)
  match(line, /^ */)
  count = split(log_of[name], lines, "\n")
  for (at = 1; at < count; at++) show(substr("                                ", 1, RLENGTH) lines[at])
}
BEGIN { say("{\"ev\":\"start\",\"runner\":\"go\",\"cwd\":" quoted(cwd) "}") }
verbose { show($0) }
{ line = $0; gsub(/\026/, "", line) }
match(line, /=== (RUN|PAUSE|CONT|NAME) +[^ ]+$/) {
  if (!verbose) rest_of_line(substr(line, 1, RSTART - 1))
  name = substr(line, RSTART); sub(/^=== [A-Z]+ +/, "", name)
  if (line ~ /=== RUN/) running[name] = 1
  current = name; logging = 0
  next
}
match(line, /--- (PASS|FAIL|SKIP): [^ ]+ \([0-9.]+s\)$/) {
  before = substr(line, 1, RSTART - 1)
  split(substr(line, RSTART), word, " ")
  name = word[3]
  if (name in running) report_test(name, word[2] == "PASS:" ? "passed" : word[2] == "FAIL:" ? "failed" : "skipped")
  delete running[name]
  if (!verbose) {
    rest_of_line(before)
    if (word[2] == "FAIL:") show_failed((before ~ /[^ ]/ ? "" : before) substr(line, length(before) + 1), name)
  }
  current = ""; logging = 0
  next
}
line ~ /^(PASS|FAIL)$/ && !ended { ended = 1; say("{\"ev\":\"end\"}") }
verbose { next }
current != "" && /^    [^ ]+\.go:[0-9]+: / { logging = 1; log_of[current] = log_of[current] $0 "\n"; next }
logging && /^        / { log_of[current] = log_of[current] $0 "\n"; next }
{ logging = 0; show($0) }
'
read -r status <"$report.exit" || status=1
rm -f "$report.exit"
[ "$status" -le 128 ] || kill -"$((status - 128))" $$
exit "$status"
