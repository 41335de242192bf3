#!/usr/bin/env bash
# Test of ./x fuzz and ./x coverage without building: lists, refusals, the number of runs of a mock target, and the ledger; and that every
# target has seeds.
set -euo pipefail
cd "$(dirname "$0")/../.."
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
unset MERGANSER_BUILD
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
for time in soon 0 0s 00h; do
  expect 1 "--for \"$time\"; allowed: a whole number from 1 and s, m or h" ./x fuzz --for $time
done
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

# Rows of the ledger count like runs of this build folder, and are not counted twice.
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
# From here on rows of two digests are kept, in the order of digests.
printf 'json\t%s\t20\t1\t0\t-\n' "$changed" >build-fuzz/ledger.tsv
./x fuzz --tally --keep >out
kept | grep -Fqx "json $changed fuzz 20 1 0 -" || fail "the code that is there now: $(kept)"
printf 'json\t%s\t3000000000\t1\t0\t-\n' "$changed" "$changed" >build-fuzz/ledger.tsv
for time in before after; do
  [ "$(tallied)" = "json 6000000020 2000000006 0 0 0" ] || fail "sums beyond 2^31 $time they are kept: $(tallied)"
  ./x fuzz --tally --keep >out
done
kept | grep -Fqx "json $changed fuzz 6000000020 3 0 -" || fail "sums beyond 2^31: $(kept)"

# Only entries that were read are removed: not ledgers of other builds if one is named, and not entries written meanwhile.
mkdir build-mine pretended
printf 'json\t%s\t400\t1\t0\t-\n' "$changed" >build-mine/ledger.tsv
cp build-mine/ledger.tsv build-fuzz/ledger.tsv
MERGANSER_BUILD=build-mine ./x fuzz --tally --keep >out
kept | grep -Fqx "json $changed fuzz 6000000420 4 0 -" || fail "the ledger of a named build: $(kept)"
[ ! -s build-mine/ledger.tsv ] || fail "the ledger of a named build is kept and still there"
[ "$(cut -f3 build-fuzz/ledger.tsv)" = 400 ] || fail "the ledger of a build that is not named is gone"
pretend() { # PROGRAM: does what comes in; real ones are in $PRETENDED_PATH
  cat >"pretended/$1"
  chmod +x "pretended/$1"
}
export PRETENDED_PATH=$PATH PATH=$PWD/pretended:$PATH
pretend sort <<'TEXT'
#!/usr/bin/env bash
[ $# -gt 0 ] || cat row >>build-fuzz/ledger.tsv
PATH=$PRETENDED_PATH exec sort "$@"
TEXT
printf 'json\t%s\t7000\t1\t0\t-\n' "$changed" >row
./x fuzz --tally --keep >out
rm pretended/sort
kept | grep -Fqx "json $changed fuzz 6000000820 5 0 -" || fail "while it keeps rows: $(kept)"
[ "$(cut -f3 build-fuzz/ledger.tsv)" = 7000 ] || fail "a row that was written meanwhile is gone"
[ "$(tallied)" = "json 6000007820 1000001303 0 0 0" ] || fail "a row that was written meanwhile: $(tallied)"
[ "$(ls build-fuzz)" = ledger.tsv ] || fail "left in the folder of a build: $(ls build-fuzz)"

# A mock target that behaves as the file "does" says: the number of its runs, and the entries they leave.
pretend dpkg-query <<<'#!/bin/sh
echo installed'
pretend cmake <<<'#!/bin/sh'
pretend merganser_fuzz <<'TEXT'
#!/usr/bin/env bash
if [ "$1" = --list ]; then echo json 100; exit; fi
echo "$@" >>rounds
. ./does
TEXT
mkdir -p build-fuzz/tests/fuzz
mv pretended/merganser_fuzz build-fuzz/tests/fuzz
touch tools/packages does
rounds() { # DOES OPTIONS...: rounds that were run, and the columns code, inputs, findings of the ledger
  echo "$1" >does
  shift
  rm -f rounds build-fuzz/ledger.tsv tests/fuzz/ledger.tsv
  timeout 20 ./x fuzz json "$@" >out 2>&1 || fail "exit code $?: ./x fuzz json $*: $(cat out)"
  echo "$(wc -l <rounds): $(cut -f2,3,5 build-fuzz/ledger.tsv | tr '\t\n' ' ;')"
}
check() { # WHAT WANTED GOT
  [ "$2" = "$3" ] || fail "$1: $3, not $2"
}
five="echo stat::number_of_executed_units: 5"
check "rounds until a goal" "3: $changed 5 0;$changed 5 0;$changed 5 0;" "$(rounds "$five" --goal 12)"
check "with libFuzzer's options" "1: $changed 5 0;" "$(rounds "$five" --for 1h -- -max_total_time=1)"
grep -q -- "-max_total_time=3601 .*-max_total_time=1" rounds || fail "the time of the one round: $(cat rounds)"
check "with a goal and libFuzzer's options" "1: $changed 5 0;" "$(rounds "$five" --goal 12 -- -only_ascii=1)"
check "without progress" "1: $changed 0 0;" "$(rounds "exit 0" --for 1h)"
check "code that changes after it was compiled" "3: $changed 5 0;$changed 5 0;$changed 5 0;" \
  "$(rounds "$five; echo '// again' >>apps/frame/json.cpp" --goal 12)"
changed=$(. tools/fuzz && fuzz_digest json)
# shellcheck disable=SC2016 # the pretended programs expand these
{
  ended='trap "$five; exit 72" TERM; kill $PPID; for i in $(seq 100); do sleep 0.1; done'
  check "ended in the middle" "1: $changed 5 0;" "$(rounds "five='$five'; $ended" --for 1h)"
  pretend date <<<'#!/usr/bin/env bash
[ ! -f one ] || kill "$(cat one)"
PATH=$PRETENDED_PATH exec date "$@"'
  check "ended while it is recorded" "1: $changed 5 0;" "$(rounds "$five; echo \$PPID >one" --for 1h)"
}
printf '#1024 pulse\n#2048 RELOAD\n==1== ERROR\n' >log
[ "$(. tools/fuzz && fuzz_runs log)" = 2048 ] || fail "runs of a target that was ended by a finding"
echo "x fuzz and x coverage do what they say"
