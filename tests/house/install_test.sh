#!/usr/bin/env bash
# An outside project finds the installed library with CMake and with pkg-config, and gets the same result from both.
# install_test.sh SOURCE BUILD CXX
set -euo pipefail
source=$1 build=$2 cxx=$3
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
prefix=$temporary/prefix
fail() { echo "install_test: $*" >&2; exit 1; }
quietly() { "$@" >"$temporary/log" 2>&1 || { cat "$temporary/log"; fail "failed: $*"; }; }

quietly cmake --install "$build" --prefix "$prefix"
if grep -rlE "($source|$build)(/|\"|$)" "$prefix" --include='*.cmake' --include='*.pc'; then
  fail "the installed files above name the source or build tree"
fi

quietly cmake -S "$source/examples" -B "$temporary/examples" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$cxx"
quietly cmake --build "$temporary/examples" -j 2
one=$("$temporary/examples/01_cluster" 1) || fail "the example ended with exit code $?"
echo "find_package: $one"
[[ $one == *"of 20000 parcels merged"* ]] || fail "unexpected output: $one"
for ranks in 2 3 4; do
  [ "$("$temporary/examples/01_cluster" $ranks)" = "$one" ] || fail "another result on $ranks ranks"
done
for example in "$source"/examples/[0-9]*.cpp; do
  example=$(basename "$example" .cpp)
  [ "$example" != 09_your_communicator ] || example=your_communicator # built where there is an MPI
  [ "$example" != your_communicator ] || [ -x "$temporary/examples/$example" ] || continue
  [ -n "$("$temporary/examples/$example" 3)" ] || fail "$example of the installed library ended with exit code $?"
done

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name merganser.pc)")
export PKG_CONFIG_PATH
read -ra flags <<<"$(pkg-config --cflags --libs merganser)"
quietly "$cxx" "$source/examples/01_cluster.cpp" "${flags[@]}" -o "$temporary/by_pkg_config"
[ "$("$temporary/by_pkg_config" 2)" = "$one" ] || fail "another result through pkg-config"
echo "pkg-config: the same"

mkdir "$temporary/newer"
cat >"$temporary/newer/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.22)
project(newer LANGUAGES CXX)
find_package(merganser 99.0 REQUIRED)
CMAKE
if cmake -S "$temporary/newer" -B "$temporary/newer/build" -DCMAKE_PREFIX_PATH="$prefix" >"$temporary/log" 2>&1; then
  fail "version 99.0 was accepted"
fi
grep -q 'version: 0' "$temporary/log" || fail "the version is not told: $(cat "$temporary/log")"
echo "version 99.0: refused"
