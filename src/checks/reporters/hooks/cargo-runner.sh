#!/bin/sh
# Pawl: cargo and nextest start each test binary through this (CARGO_TARGET_<host>_RUNNER). Names need the long form of
# the output; where --quiet was asked for, it is made short again. What runs no tests passes through.
[ -n "$PAWL_REPORT_DIR" ] || exec "$@"
case "$1" in */deps/*-????????????????) ;; *) exec "$@" ;; esac
for word in "$@"; do
  case "$word" in --list | --bench | --help | --format=json | --format=junit) exec "$@" ;; esac
done
quiet= exact= last=
for word in "$@"; do
  shift
  case "$word" in
    -q | --quiet | --format=terse) quiet=1 ;;
    *) set -- "$@" "$word" ;;
  esac
  [ "$last" != --exact ] || exact=$word
  last=$word
done
report=$PAWL_REPORT_DIR/cargo-$$-$(date +%s)000000
# nextest starts a process for each test: they are one runner
[ -z "$NEXTEST" ] || report=$PAWL_REPORT_DIR/nextest-$PPID-0
# The first source in cargo's list of a target's files tells a library from a program or test of the same name.
# It is seen from the workspace, the test runs in its package.
source=$(sed -n '1{s/^[^:]*: *//;s/ .*//;p;}' "$1.d" 2>/dev/null)
folder=$PWD
until [ -z "$folder" ] || [ -e "$folder/$source" ]; do folder=${folder%/*}; done
case "$source" in /* | "") ;; *) source=${folder:-$PWD}/$source ;; esac
# Only the outermost runner reports: what the tests start must find no trace of us.
for name in $PAWL_REPORT_VARS; do
  eval "before=\${PAWL_WAS_$name-}"
  unset "$name" "PAWL_WAS_$name"
  [ -z "$before" ] || export "$name=$before"
done
unset PAWL_REPORT_DIR PAWL_REPORT_VARS
{
  "$@"
  echo $? >"$report.$$.exit"
} | awk -v report="$report.ndjson" -v quiet="$quiet" -v cwd="$PWD" -v source="$source" -v binary="${1##*/}" \
  -v nextest="$NEXTEST" -v exact="$exact" -v retried="$([ "${NEXTEST_ATTEMPT:-1}" -ge "${NEXTEST_TOTAL_ATTEMPTS:-1}" ] || echo 1)" '
function quoted(text) {
  gsub(/\\/, "\\\\", text); gsub(/"/, "\\\"", text); gsub(/[\001-\037]/, "?", text)
  return "\"" text "\""
}
function say(line) { print line >> report; fflush(report) }
function show(line) {
  if (dots) printf "\n"
  if (!dots || line != "") print line
  dots = 0
  fflush()
}
function show_short(name, status) {
  if (status == "failed") { show(name " --- FAILED"); return }
  printf "%s", status == "passed" ? "." : "i"; fflush()
  dots = 1
}
function start() {
  started = 1
  if (nextest && (getline line < report) > 0) return
  say("{\"ev\":\"start\",\"runner\":\"" (nextest ? "nextest" : "cargo") "\",\"cwd\":" quoted(cwd) "}")
}
function report_test(name, word,   status, parts, count, at, path) {
  status = word ~ /^ok/ ? "passed" : word ~ /^ignored/ ? "skipped" : "failed"
  if (quiet) show_short(name, status)
  sub(/ - should panic$/, "", name)
  pending = ""
  if (retried && status == "failed") return
  count = split(name, parts, "::")
  path = quoted(parts[1])
  for (at = 2; at <= count; at++) path = path "," quoted(parts[at])
  say("{\"ev\":\"test\",\"file\":" quoted(source) ",\"name\":[" (source == "" ? quoted(binary) "," : "") path "],\"status\":\"" status "\"}")
}
BEGIN { if (source == "") sub(/-[0-9a-f]+$/, "", binary) }
!quiet { show($0) }
/^running [0-9]+ tests?$/ && !started { total = $2; start() }
started && pending == "" && /^test [^ ]+( - should panic)? \.\.\. / {
  at = index($0, " ... ")
  name = substr($0, 6, at - 6)
  rest = substr($0, at + 5)
  if (rest ~ /^(ok|FAILED|ignored)(, .*)?( <[0-9.]+s>)?$/) { report_test(name, rest); next }
  pending = name
  if (quiet && rest != "") show(rest)
  next
}
# With one thread the name comes first, then what the test prints, then the result.
pending != "" && /(^|[^a-z])(ok|FAILED|ignored)( <[0-9.]+s>)?$/ {
  match($0, /(ok|FAILED|ignored)( <[0-9.]+s>)?$/)
  if (quiet && RSTART > 1) show(substr($0, 1, RSTART - 1))
  report_test(pending, substr($0, RSTART))
  next
}
started && /^test result: (ok|FAILED)\. / { ended = 1; say("{\"ev\":\"end\"" (nextest ? "" : ",\"total\":" total) "}") }
quiet { show($0) }
END { if (nextest && started && !ended) report_test(exact, "FAILED") }
'
read -r status <"$report.$$.exit" || status=1
rm -f "$report.$$.exit"
[ "$status" -le 128 ] || kill -"$((status - 128))" $$
exit "$status"
