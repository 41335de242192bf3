#!/usr/bin/env bash
# ./x fuzz and ./x coverage: what they tell without building, and what they refuse; every target has seeds.
set -euo pipefail
cd "$(dirname "$0")/../.."
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
fail() { echo "command_test: $*" >&2; exit 1; }
expect() { # CODE WORDS COMMAND...: exit code and a part of the last line
  local code=0 wanted=$1 words=$2
  shift 2
  "$@" >"$temporary/out" 2>&1 || code=$?
  [ "$code" -eq "$wanted" ] || fail "exit code $code, not $wanted: $* : $(cat "$temporary/out")"
  tail -n 1 "$temporary/out" | grep -qF -- "$words" || fail "last line lacks '$words': $(cat "$temporary/out")"
}

./x >"$temporary/tasks"
for task in fuzz coverage; do grep -qE "^  $task " "$temporary/tasks" || fail "./x does not list $task"; done
./x fuzz --list >"$temporary/list"
for file in tests/fuzz/*.cpp; do
  name=$(basename "$file" .cpp)
  grep -qE "^$name +(Reads|Takes) .*\.$" "$temporary/list" || fail "--list does not say what $name reads"
  [ -n "$(ls "tests/fuzz/seeds/$name")" ] || fail "$name has no seeds"
  grep -q "\"$name\"" "$file" || fail "$file defines a target of another name"
done
for path in tests/fuzz/seeds/* tests/fuzz/dictionaries/*; do
  name=$(basename "$path" .dict)
  [ -f "tests/fuzz/$name.cpp" ] || fail "$path is of no target"
done
expect 0 "--again runs one input" ./x fuzz --help
expect 1 "unknown target nonsense" ./x fuzz nonsense
expect 1 "unknown option --nonsense" ./x fuzz --nonsense
expect 1 '--for "soon"; allowed: a number and s, m or h' ./x fuzz --for soon
expect 1 "--again needs one target" ./x fuzz --again README.md
expect 1 "--again needs one target" ./x fuzz metis --again README.md # graph_metis and process_graph_metis
expect 1 "--again nowhere: no such file" ./x fuzz json --again nowhere
expect 1 '--at-least "all"; allowed: a number of percent' ./x coverage --at-least all
expect 2 "nowhere is no folder" tools/coverage nowhere
echo "x fuzz and x coverage do what they say"
