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
expect 0 "adds those of this machine to that file" ./x fuzz --help
expect 1 "unknown target nonsense" ./x fuzz nonsense
expect 1 "unknown option --nonsense" ./x fuzz --nonsense
expect 1 '--for "soon"; allowed: a number and s, m or h' ./x fuzz --for soon
expect 1 '--goal "many"; allowed: a whole number from 1' ./x fuzz --goal many
expect 1 '--jobs "0"; allowed: a whole number from 1' ./x fuzz --jobs 0
expect 1 '--preset "dev"; allowed: fuzz, fuzz-quick, fuzz-fast' ./x fuzz --preset dev
expect 1 "--keep without --tally; allowed: ./x fuzz --tally --keep" ./x fuzz --keep
expect 1 "--keep with names of targets; allowed: of all" ./x fuzz json --tally --keep
expect 1 "--again needs one target" ./x fuzz --again README.md
expect 1 "--again needs one target" ./x fuzz metis --again README.md # graph_metis and process_graph_metis
expect 1 "--again nowhere: no such file" ./x fuzz json --again nowhere
expect 1 '--at-least "all"; allowed: a number of percent' ./x coverage --at-least all
expect 2 "nowhere is no folder" tools/coverage nowhere

# The ledger: runs of a target add up until its code changes.
tree=$temporary/tree
mkdir -p "$tree"
cp -r --parents x tools/fuzz tests/fuzz/json.cpp tests/fuzz/support src/base include/merganser/base apps/frame "$tree"
cd "$tree"
tallied() { ./x fuzz --tally json | tr -s ' ' | sed -n 2p; }
[ "$(tallied)" = "json 0 0 0 0 0" ] || fail "a target that never ran: $(tallied)"
mkdir build-fuzz build-fuzz-quick build-fuzz-fast
# shellcheck source=tools/fuzz
digest=$(. tools/fuzz && fuzz_digest json)
printf 'json\t%s\t%s\t%s\t%s\t-\n' "$digest" 700 2 0 "$digest" 500 4 1 0123456789ab 9000 9 0 >build-fuzz/ledger.tsv
printf 'traffic\t%s\t80000\t9\t1\t-\n' "$digest" >>build-fuzz/ledger.tsv
[ "$(tallied)" = "json 1200 200 0 0 1" ] || fail "two runs of this code: $(tallied)"
printf 'json\t%s\t100\t3\t0\t-\n' "$digest" >build-fuzz-quick/ledger.tsv
printf 'json\t%s\t5000\t1\t1\t2030-01-02T03:04:05Z\n' "$digest" >build-fuzz-fast/ledger.tsv
[ "$(tallied)" = "json 1300 144 5000 5000 2" ] || fail "runs of three builds: $(tallied)"

# What is kept counts like what was run here, and is not counted twice.
kept() { grep -v '^#' tests/fuzz/ledger.tsv | tr '\t' ' '; }
for time in once twice; do
  ./x fuzz --tally --keep >out
  [ "$(tallied)" = "json 1300 144 5000 5000 2" ] || fail "kept $time: $(tallied)"
done
[ "$(kept)" = "json $digest fuzz 1300 9 1 -
json $digest fuzz-fast 5000 1 1 2030-01-02T03:04:05Z" ] || fail "rows of the ledger: $(kept)"
printf 'json\t%s\t10\t1\t0\t2030-01-03T03:04:05Z\n' "$digest" >build-fuzz/ledger.tsv
[ "$(tallied)" = "json 1310 131 5000 5000 2" ] || fail "kept ones and new ones: $(tallied)"
echo "// changed" >>apps/frame/json.cpp
[ "$(tallied)" = "json 0 0 0 0 0" ] || fail "the code has changed: $(tallied)"
./x fuzz --tally --keep >out
[ "$(kept | head -n 1)" = "json $digest fuzz 1310 10 1 2030-01-03T03:04:05Z" ] || fail "the code that was run last: $(kept)"
changed=$(. tools/fuzz && fuzz_digest json)
printf 'json\t%s\t20\t1\t0\t-\n' "$changed" >build-fuzz/ledger.tsv
./x fuzz --tally --keep >out
[ "$(kept | head -n 1)" = "json $changed fuzz 20 1 0 -" ] || fail "the code that is there now: $(kept)"
printf '#1024 pulse\n#2048 RELOAD\n==1== ERROR\n' >log
[ "$(. tools/fuzz && fuzz_runs log)" = 2048 ] || fail "runs of a target that was ended by a finding"
echo "x fuzz and x coverage do what they say"
