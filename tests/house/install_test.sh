#!/usr/bin/env bash
# An outside project finds the installed library with CMake and with pkg-config, as archives and as a shared library, or takes
# a local copy of the sources, and gets the same result from all.
# install_test.sh SOURCE BUILD CXX [FORTRAN [LAUNCHER...]]: with a compiler for Fortran and a launcher ("mpiexec -n") also what
# is for C and Fortran, over MPI.
set -euo pipefail
source=$1 build=$2 cxx=$3 fortran=${4-}
launcher=("${@:5}")
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
prefix=$temporary/prefix
fail() { echo "install_test: $*" >&2; exit 1; }
quietly() { "$@" >"$temporary/log" 2>&1 || { cat "$temporary/log"; fail "failed: $*"; }; }

quietly cmake --install "$build" --prefix "$prefix"
python3 "$source/tools/runtime_paths.py" "$prefix" >"$temporary/log" || { cat "$temporary/log"; fail "RUNPATH of what is installed"; }
if grep -rlE "($source|$build)(/|\"|$)" "$prefix" --include='*.cmake' --include='*.pc'; then
  fail "the installed files above name the source or build tree"
fi

# Documents, examples, man pages and completion.
documents=$prefix/share/doc/merganser
for file in README.md docs/architecture.md examples/01_cluster.cpp; do
  [ -f "$documents/$file" ] || fail "$file is not among the installed documents"
done
if [ -d "$build/man" ] && [ -x "$prefix/bin/merganser" ]; then
  [ "$(find "$prefix/share/man/man1" -name 'merganser*.1' | wc -l)" -gt 10 ] || fail "man pages are missing"
  for file in bash-completion/completions/merganser zsh/site-functions/_merganser fish/vendor_completions.d/merganser.fish; do
    [ -f "$prefix/share/$file" ] || fail "$file is missing"
  done
fi

# A relative path, as people type it.
cd "$(dirname "$prefix")"
quietly cmake -S "$source/examples" -B "$temporary/examples" -DCMAKE_PREFIX_PATH="$(basename "$prefix")" \
  -DCMAKE_CXX_COMPILER="$cxx"
cd - >/dev/null
# Some examples in each language; the build compiles all of them.
known=$(cmake --build "$temporary/examples" --target help)
examples=()
for example in 01_cluster 10_stars_of_your_points your_communicator stars_c epic_shape; do
  ! grep -qE "^(\.\.\. )?$example(:|\$)" <<<"$known" || examples+=("$example")
done
quietly cmake --build "$temporary/examples" -j 2 --target "${examples[@]}"
one=$("$temporary/examples/01_cluster" 1) || fail "the example ended with exit code $?"
echo "find_package: $one"
[[ $one == *"of 20000 parcels merged"* ]] || fail "unexpected output: $one"
for ranks in 2 3 4; do
  [ "$("$temporary/examples/01_cluster" $ranks)" = "$one" ] || fail "another result on $ranks ranks"
done
for example in 10_stars_of_your_points your_communicator; do
  [ "$example" != your_communicator ] || [ -x "$temporary/examples/$example" ] || continue # built where there is an MPI
  [ -n "$("$temporary/examples/$example" 3)" ] || fail "$example of the installed library ended with exit code $?"
done

stars=$("$temporary/examples/stars_c" 1)
[[ $stars == *" 0 arrived wrong" ]] || fail "unexpected output of stars_c: $stars"
[ "$("$temporary/examples/stars_c" 3)" = "$stars" ] || fail "stars_c has another result on 3 ranks"
echo "C: $stars"
if [ ${#launcher[@]} -gt 0 ]; then
  [ "$("${launcher[@]}" 4 "$temporary/examples/stars_c")" = "$stars" ] || fail "stars_c has another result on 4 processes"
fi
if [ -n "$fortran" ] && [ ${#launcher[@]} -gt 0 ]; then
  parcels=$("${launcher[@]}" 1 "$temporary/examples/epic_shape")
  [[ $parcels == *"merged in 100 steps"*digest* ]] || fail "unexpected output of epic_shape: $parcels"
  [ "$("${launcher[@]}" 4 "$temporary/examples/epic_shape")" = "$parcels" ] || fail "epic_shape has another result on 4 processes"
  echo "Fortran: $parcels"
  mkdir "$temporary/fortran"
  cp "$source/examples/fortran/stars.f90" "$temporary/fortran"
  cat >"$temporary/fortran/CMakeLists.txt" <<'CMAKE'
cmake_minimum_required(VERSION 3.22)
project(yours LANGUAGES Fortran)
find_package(merganser REQUIRED COMPONENTS fortran)
add_executable(stars stars.f90)
target_link_libraries(stars PRIVATE merganser::fortran)
CMAKE
  quietly cmake -S "$temporary/fortran" -B "$temporary/fortran/build" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_Fortran_COMPILER="$fortran" -DCMAKE_CXX_COMPILER="$cxx"
  quietly cmake --build "$temporary/fortran/build"
  [[ $("${launcher[@]}" 2 "$temporary/fortran/build/stars") == *"points merge on rank"* ]] || fail "stars of a project in Fortran"
  echo "a project in Fortran alone: works"
fi

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name merganser.pc)")
export PKG_CONFIG_PATH
for file in "$PKG_CONFIG_PATH"/*.pc; do
  quietly pkg-config --validate "$(basename "$file" .pc)"
  [ "$(pkg-config --modversion "$(basename "$file" .pc)")" = "$(pkg-config --modversion merganser)" ] || fail "version of $file"
done
read -ra flags <<<"$(pkg-config --cflags --libs merganser)"
quietly "$cxx" "$source/examples/01_cluster.cpp" "${flags[@]}" -o "$temporary/by_pkg_config"
[ "$("$temporary/by_pkg_config" 2)" = "$one" ] || fail "another result through pkg-config"
echo "pkg-config: the same"
# Archives from compilers that know nothing of C++, as strictly as they can be asked.
if [ -n "$(find "$prefix" -name merganser.h)" ]; then
  for name in merganser merganser-c-static; do
    read -ra flags <<<"$(pkg-config --cflags merganser-c-static)"
    read -ra libraries <<<"$(pkg-config --libs "$name")"
    quietly cc -std=c99 -Wall -Werror -pedantic "${flags[@]}" "$source/examples/c/stars_c.c" "${libraries[@]}" -o "$temporary/c_archives"
    [ "$("$temporary/c_archives" 3)" = "$stars" ] || fail "stars_c has another result through $name"
  done
  echo "pkg-config from C, archives: the same"
fi
wrapper=$(sed -n 's/^MPI_Fortran_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
if [ -n "$fortran" ] && [ ${#launcher[@]} -gt 0 ] && [ -x "$wrapper" ]; then
  mkdir "$temporary/by_archives"
  cd "$temporary/by_archives" # where the compiler writes modules
  folder=$(pkg-config --variable=fortrandir merganser-c-static)
  read -ra flags <<<"$(pkg-config --cflags merganser-c-static)"
  read -ra libraries <<<"$(pkg-config --libs merganser-c-static)"
  files=()
  for file in merganser_c.f90 merganser_transports.F90 merganser_columns.f90 merganser_stars.f90 merganser_friends.f90 \
    merganser_steps.f90 merganser.f90; do
    files+=("$folder/$file")
  done
  quietly "$wrapper" -Werror -DMERGANSER_MPI_F08 "${flags[@]}" "${files[@]}" "$source/examples/fortran/stars.f90" "${libraries[@]}" -o stars
  [[ $("${launcher[@]}" 2 ./stars) == *"points merge on rank"* ]] || fail "stars in Fortran through merganser-c-static"
  cd - >/dev/null
  echo "pkg-config from Fortran, archives: works"
fi
if [ -n "$fortran" ] && [ ${#launcher[@]} -gt 0 ] && command -v make mpicc mpif90 >/dev/null; then
  mkdir "$temporary/by_make"
  cp -r "$source/examples/Makefile" "$source/examples/c" "$source/examples/fortran" "$temporary/by_make"
  quietly make -C "$temporary/by_make"
  [[ $("${launcher[@]}" 2 "$temporary/by_make/stars") == *"points merge on rank"* ]] || fail "stars of examples/Makefile"
  [[ $("${launcher[@]}" 2 "$temporary/by_make/stars_c") == *point* ]] || fail "stars_c of examples/Makefile"
  echo "examples/Makefile, C and Fortran with libmerganser.so: works"
fi

# outside FOLDER: configures and builds a project of two files; the lines of its CMakeLists.txt come on standard input.
outside() {
  mkdir "$temporary/$1"
  { printf 'cmake_minimum_required(VERSION 3.22)\nproject(outside LANGUAGES CXX)\n' && cat; } >"$temporary/$1/CMakeLists.txt"
  quietly cmake -S "$temporary/$1" -B "$temporary/$1/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$cxx"
  quietly cmake --build "$temporary/$1/build" -j 2 --target outside
}

shared=$(find "$prefix" -name 'libmerganser.so')
if [ -n "$shared" ]; then
  outside shared <<CMAKE
find_package(merganser REQUIRED)
add_executable(outside "$source/examples/01_cluster.cpp")
target_link_libraries(outside PRIVATE merganser::shared)
CMAKE
  [[ $(readelf -d "$temporary/shared/build/outside") == *libmerganser.so.0.* ]] || fail "not linked with the shared library"
  [ "$("$temporary/shared/build/outside" 3)" = "$one" ] || fail "another result of the shared library"
  read -ra flags <<<"$(pkg-config --cflags --libs merganser-shared)"
  quietly "$cxx" "$source/examples/01_cluster.cpp" "${flags[@]}" -o "$temporary/by_pkg_config_shared"
  [ "$(LD_LIBRARY_PATH=$(dirname "$shared") "$temporary/by_pkg_config_shared" 2)" = "$one" ] ||
    fail "another result of the shared library through pkg-config"
  echo "shared library: the same"
  if [ -e "$prefix/include/merganser/merganser.h" ]; then # the C interface
    cat >"$temporary/main.c" <<'C'
#include <merganser/merganser.h>
int main(void) { return mg_abi() == MG_ABI ? 0 : 1; }
C
    read -ra flags <<<"$(pkg-config --cflags --libs merganser-c)"
    quietly cc -std=c99 -Wall -Werror -pedantic "$temporary/main.c" "${flags[@]}" -o "$temporary/in_c"
    LD_LIBRARY_PATH=$(dirname "$shared") "$temporary/in_c" || fail "the program in C ended with exit code $?"
    quietly "$cxx" -x c++ "$temporary/main.c" -x none "${flags[@]}" -o "$temporary/in_cpp"
    LD_LIBRARY_PATH=$(dirname "$shared") "$temporary/in_cpp" || fail "the C interface in C++ ended with exit code $?"
    echo "shared library in C, and its C interface in C++: works"
  fi
fi

cat >"$temporary/main.cpp" <<'CPP'
#include <merganser/base/text.hpp>
int main() { return merganser::count_text(374900) == "374,900" ? 0 : 1; }
CPP
outside copy <<CMAKE
include(FetchContent)
FetchContent_Declare(merganser SOURCE_DIR "$source")
FetchContent_MakeAvailable(merganser)
if(NOT TARGET merganser::merganser OR TARGET merganser)
  message(FATAL_ERROR "a project inside another one has its libraries and nothing else")
endif()
add_executable(outside ../main.cpp)
target_link_libraries(outside PRIVATE merganser::base)
CMAKE
"$temporary/copy/build/outside" || fail "the program of a local copy ended with exit code $?"
echo "FetchContent of a local copy: works"

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
