#!/usr/bin/env bash
# ./x lists its tasks, refuses others, and says in one line what failed and why.
set -euo pipefail
cd "$(dirname "$0")/../.."
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
fail() { echo "x_test: $*" >&2; exit 1; }
expect() { # CODE WORDS COMMAND...: exit code and a part of the last line
  local code=0 wanted=$1 words=$2
  shift 2
  "$@" >"$temporary/out" 2>&1 || code=$?
  [ "$code" -eq "$wanted" ] || fail "exit code $code, not $wanted: $* : $(cat "$temporary/out")"
  tail -n 1 "$temporary/out" | grep -qF -- "$words" || fail "last line lacks '$words': $(cat "$temporary/out")"
}

./x >"$temporary/tasks"
for task in demo test build bench attack lint format docs; do
  grep -qE "^  $task " "$temporary/tasks" || fail "./x does not list $task"
done
expect 2 "unknown task buidl" ./x buidl
expect 0 "kills    SIGKILL to a random rank" ./x attack --list
for task in demo test build bench sanitize coverage python arm64 lint format docs packages; do
  ./x $task --help >"$temporary/out"
  grep -qE "^  $task " "$temporary/out" || fail "./x $task --help does not tell of it"
  ! grep -qE '^(==|  (attack|fuzz) )' "$temporary/out" || fail "./x $task --help does or tells more"
done
expect 2 "unknown class nonsense; known: inputs" ./x attack nonsense --list
export MERGANSER_BUILD=$temporary/build
expect 1 "Configuring failed: CMake Error" ./x build -DMERGANSER_SANITIZE=nonsense
grep -q 'allowed: empty, address, thread' "$temporary/out" || fail "the reason is not told: $(cat "$temporary/out")"

# Packages are missing and there is no way to get them: all of them are named, nothing is tried.
mkdir "$temporary/bin"
for tool in bash dirname env sed grep nproc mkdir cat tail; do ln -s "$(command -v $tool)" "$temporary/bin/$tool"; done
printf '#!/bin/sh\nexit 1\n' >"$temporary/bin/dpkg-query"
printf '#!/bin/sh\necho 1000\n' >"$temporary/bin/id"
printf '#!/bin/sh\necho apt-get was called\nexit 1\n' >"$temporary/bin/apt-get"
chmod +x "$temporary"/bin/{dpkg-query,id,apt-get}
expect 1 "no sudo; as root: apt-get install g++ cmake ninja-build" env PATH="$temporary/bin" ./x build
printf '#!/bin/sh\nexec "$@"\n' >"$temporary/bin/sudo"
chmod +x "$temporary/bin/sudo"
expect 1 "apt-get was called" env PATH="$temporary/bin" ./x build
echo "x does what it says"
