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
for task in demo test build bench sanitize coverage python alone arm64 s390x lint format docs packages; do
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
for tool in bash dirname env sed grep nproc mkdir cat tail tee sleep; do ln -s "$(command -v $tool)" "$temporary/bin/$tool"; done
printf '#!/bin/sh\nexit 1\n' >"$temporary/bin/dpkg-query"
printf '#!/bin/sh\necho amd64\n' >"$temporary/bin/dpkg"
printf '#!/bin/sh\necho 1000\n' >"$temporary/bin/id"
printf '#!/bin/sh\necho apt-get was called\nexit 1\n' >"$temporary/bin/apt-get"
chmod +x "$temporary"/bin/{dpkg,dpkg-query,id,apt-get}
expect 1 "no sudo; as root: apt-get install g++ cmake ninja-build" env PATH="$temporary/bin" ./x build
printf '#!/bin/sh\nexec "$@"\n' >"$temporary/bin/sudo"
chmod +x "$temporary/bin/sudo"
expect 1 "apt-get was called" env PATH="$temporary/bin" ./x build

# Where another apt-get holds the lock, ./x waits for it. A package for this machine is installed whatever other architectures
# of it are; one for another machine only is not.
cat >"$temporary/bin/apt-get" <<'FAKE'
#!/bin/bash
echo "$*" >>"${0%/bin/*}/calls"
case $* in
  *update) [ "$(grep -c 'update$' "${0%/bin/*}/calls")" -ge 3 ] || { echo "E: Could not get lock /lists/lock"; exit 100; } ;;
  *) echo "E: installing ends here"; exit 100 ;;
esac
FAKE
cat >"$temporary/bin/dpkg-query" <<'FAKE'
#!/bin/bash
case ${!#} in
  libfmt-dev) printf 'amd64 installed\narm64 installed\n' ;;
  libhwy-dev) printf 'arm64 installed\n' ;;
  python3) printf 'amd64 config-files\n' ;;
  *) printf 'all installed\n' ;;
esac
FAKE
expect 1 "installing ends here" env PATH="$temporary/bin" ./x build
[ "$(grep -c 'update$' "$temporary/calls")" -eq 3 ] || fail "updates: $(cat "$temporary/calls")"
grep -q ' --no-install-recommends libhwy-dev python3$' "$temporary/calls" || fail "installed: $(cat "$temporary/calls")"
echo "x does what it says"
