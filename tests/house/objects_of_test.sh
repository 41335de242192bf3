#!/usr/bin/env bash
# Builds that take objects of another one: which are refused, and that one which takes modules compiles none of them.
#   objects_of_test.sh CMAKE BUILD COMPILER, where the whole of BUILD is built
set -euo pipefail
cmake=$1 build=$2 compiler=$3
source=$(cd "$(dirname "$0")/../.." && pwd)
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
fail() { echo "objects_of_test: $*: $(cat "$temporary/out")" >&2; exit 1; }
configure() { # NAME OPTIONS...
  local name=$1
  shift
  "$cmake" -S "$source" -B "$temporary/$name" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DMERGANSER_MPI=OFF -DMERGANSER_SHMEM=OFF \
    -DMERGANSER_NETCDF=OFF -DMERGANSER_ZLIB=OFF -DMERGANSER_FORTRAN=OFF -DMERGANSER_EXAMPLES=OFF -DBUILD_TESTING=OFF "$@" \
    >"$temporary/out" 2>&1
}
refused() { # TEXT OPTIONS...: lines of CMake's messages are joined
  local text=$1
  shift
  ! configure refused "$@" || fail "not refused: $*"
  tr -s ' \n' ' ' <"$temporary/out" | grep -qF "$text" || fail "it does not say \"$text\""
  rm -rf "$temporary/refused"
}

type=$(sed -n 's/^CMAKE_BUILD_TYPE:[A-Z]*=//p' "$build/CMakeCache.txt")
flags=$(sed -n 's/^CMAKE_CXX_FLAGS:[A-Z]*=//p' "$build/CMakeCache.txt")
same=("-DMERGANSER_OBJECTS_OF=$build" "-DCMAKE_BUILD_TYPE=$type" "-DCMAKE_CXX_FLAGS=$flags")
mkdir "$temporary/empty"
cp "$build/CMakeCache.txt" "$temporary/empty"
refused "where nothing is built; allowed: the folder of a build" "${same[@]}" -DMERGANSER_OBJECTS_OF="$temporary"
refused 'where CMAKE_CXX_FLAGS is "' "${same[@]}" -DCMAKE_CXX_FLAGS=-fno-inline
refused "which has no libmerganser_base.a; allowed: a folder in which the target merganser_modules is built" \
  "${same[@]}" -DMERGANSER_OBJECTS_OF="$temporary/empty"
refused 'MERGANSER_TAKE has "roms"; allowed: modules, apps, tests, or names of modules' "${same[@]}" "-DMERGANSER_TAKE=roms;apps"

configure taking "${same[@]}" "-DMERGANSER_TAKE=apps;modules" || fail "refused"
ninja -C "$temporary/taking" -t targets all >"$temporary/out"
! grep -E 'src/(msf|flow|cluster|links)/.*\.o:|apps/.*\.o: CXX' "$temporary/out" | grep -qvE 'apps/(merganser|commands)\.cpp\.o:' || fail "modules or the command are compiled again"
grep -q '^bin/merganser: CXX_EXECUTABLE' "$temporary/out" || fail "there is no command"
grep -qE 'src/comm/backends/threads\.cpp\.o: CXX' "$temporary/out" || fail "comm, which differs, is not compiled"
echo "what belongs to another build is taken or refused"
