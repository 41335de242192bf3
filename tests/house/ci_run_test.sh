#!/usr/bin/env bash
# .ci/run with an ./x that only pretends: what is begun when, what is shown, and what it ends with.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
fail() { echo "ci_run_test: $*: $(cat "$temporary/out")" >&2; exit 1; }
says() { grep -qE -- "$1" "$temporary/out" || fail "it does not say \"$1\""; }
run() { # CODE PARTS...
  local code=0 wanted=$1
  shift
  : >"$temporary/events"
  (cd "$temporary" && env -u FAILS .ci/run "$@" >out 2>&1) || code=$?
  [ "$code" -eq "$wanted" ] || fail "exit code $code, not $wanted, of .ci/run $*"
}
line_of() { # EVENT: where it stands in the order of events
  grep -nxF -- "$1" "$temporary/events" | head -n 1 | cut -d: -f1 | grep . || fail "there was no \"$1\""
}
before() { [ "$(line_of "$1")" -lt "$(line_of "$2")" ] || fail "\"$1\" did not come before \"$2\": $(cat "$temporary/events")"; }

mkdir -p "$temporary/.ci" "$temporary/build-races/bin" "$temporary/build-without/bin"
cp "$source/.ci/run" "$temporary/.ci/run"
cat >"$temporary/x" <<'X'
#!/usr/bin/env bash
echo "begin $1" >>events
echo "$1 is at work"
met() { # EVENT: waits for it
  for _ in $(seq 600); do ! grep -qxF "$1" events || return 0; sleep 0.1; done
  echo "there was no $1 beside it" && exit 4
}
case $1 in # two parts that are at work at the same time
  build) [ "${2-}" = --preset ] || met "begin docs" ;;
  docs) ! grep -qxF "begin packages" events || met "begin build" ;;
esac
echo "end $1" >>events
[ "$1" != test ] || echo "100% tests passed, 0 tests failed out of 7"
[ ! -f fails ] || [ "$1" != "$(cat fails)" ] || { echo "something is wrong with $1"; exit 3; }
X
chmod +x "$temporary/x"
mkdir -p "$temporary/tests/io" "$temporary/tests/house"
: >"$temporary/tests/house/tutorials_test.py"
printf '#!/bin/sh\n' >"$temporary/tests/io/readers.sh"
chmod +x "$temporary/tests/io/readers.sh"
for folder in build-races build-without; do
  printf '#!/bin/sh\nexit 0\n' >"$temporary/$folder/bin/merganser"
  chmod +x "$temporary/$folder/bin/merganser"
done

run 0
before "end packages" "begin format"
before "end build" "begin test"
before "end build" "begin attack"
for part in packages format docs build tests races demo core python attack; do
  says "^=== $part: passed in"
  says "^$part +passed +[0-9]+ +[0-9]+$"
done
says "^docs is at work"
for part in sanitize fuzz lint alone arm64 simulate; do
  ! grep -qxF "begin $part" "$temporary/events" || fail "the long part $part was begun without --all"
done
says "^100% tests passed, 0 tests failed out of 7"
[ "$(tail -n 1 "$temporary/out")" = "All of it passed" ] || fail "the last line does not say that all passed"
[ "$(tail -n 2 "$temporary/out" | head -n 1)" = "100% tests passed, 0 tests failed out of 7" ] || fail "what ctest said is not last but one"
at_once=$(awk '$1 == "begin" { n++ } $1 == "end" { n-- } n > most { most = n } END { print most }' "$temporary/events")
[ "$at_once" -eq 2 ] || fail "$at_once parts at a time, not 2"

run 0 --all
before "end build" "begin arm64"
before "end build" "begin sanitize"
for part in lint sanitizers threads fuzz; do says "^$part +passed"; done
says "^rest +passed"
for part in arm64 simulate; do says "^$part +passed"; done

echo test >"$temporary/fails"
run 1
says "^=== tests: failed in"
says "^attack +passed"
says "^docs +passed"
says "^=== The first that failed: (tests|races|core) \(exit code 3\)"
[ "$(tail -n 2 "$temporary/out" | head -n 1)" = "something is wrong with test" ] || fail "the failure is not told in the end"
echo build >"$temporary/fails"
run 1
says "^tests +not begun +- +-$"
says "^attack +not begun +- +-$"
says "^docs +passed"
echo packages >"$temporary/fails"
run 1
says "^tests +not begun"
[ "$(wc -l <"$temporary/events")" -eq 2 ] || fail "more was begun than what failed"

rm "$temporary/fails"
run 0 docs lint
[ "$(tr '\n' ',' <"$temporary/events")" = "begin docs,end docs,begin lint,end lint," ] || fail "not docs and then lint alone"
run 2 lint speling
says 'there is no part "speling"; allowed: packages format'
run 0 --list
[ "$(wc -l <"$temporary/out")" -eq 20 ] || fail "--list has not 20 lines"
run 0 --help
says "what each does"
echo ".ci/run does what it says"
