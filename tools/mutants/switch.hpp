#pragma once
/// Run-time switch of mutated sources: the mutant that is on is number MERGANSER_MUTANT of the environment. Those that run are marked
/// in the file that MERGANSER_MUTANT_REACHED names, which has a byte for each: it is shared memory, so that no process that ends
/// early loses them. Without the C++ library, since the tracing library has none.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// What compilers remark on in mutants. Warnings are errors, so that the flags are those of other builds, whose objects a compiler
// cache has; what follows this file is not checked for them.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Weverything"
#elif defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpragmas"  // for those below that an older compiler does not know
#pragma GCC diagnostic ignored "-Waddress"
#pragma GCC diagnostic ignored "-Waggressive-loop-optimizations"
#pragma GCC diagnostic ignored "-Warray-bounds"
#pragma GCC diagnostic ignored "-Wbool-compare"
#pragma GCC diagnostic ignored "-Wbool-operation"
#pragma GCC diagnostic ignored "-Wdangling-else"
#pragma GCC diagnostic ignored "-Wdangling-pointer"
#pragma GCC diagnostic ignored "-Wdiv-by-zero"
#pragma GCC diagnostic ignored "-Wempty-body"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wfree-nonheap-object"
#pragma GCC diagnostic ignored "-Winfinite-recursion"
#pragma GCC diagnostic ignored "-Wint-in-bool-context"
#pragma GCC diagnostic ignored "-Wlogical-not-parentheses"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wmisleading-indentation"
#pragma GCC diagnostic ignored "-Wnonnull"
#pragma GCC diagnostic ignored "-Woverflow"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wrestrict"
#pragma GCC diagnostic ignored "-Wreturn-local-addr"
#pragma GCC diagnostic ignored "-Wreturn-type"
#pragma GCC diagnostic ignored "-Wsequence-point"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#pragma GCC diagnostic ignored "-Wstringop-overread"
#pragma GCC diagnostic ignored "-Wtautological-compare"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wunused"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-value"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wuse-after-free"
#endif

namespace merganser_mutant {

struct Switch {
  int chosen;
  long size;
  unsigned char* reached;
};

inline Switch from_environment() {
  Switch out{0, 0, nullptr};
  if (const char* number = getenv("MERGANSER_MUTANT")) out.chosen = atoi(number);
  const char* path = getenv("MERGANSER_MUTANT_REACHED");
  const int file = path != nullptr ? open(path, O_RDWR | O_CLOEXEC) : -1;
  struct stat facts;
  if (file < 0) return out;
  if (fstat(file, &facts) == 0) {
    void* at = mmap(nullptr, static_cast<size_t>(facts.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at != MAP_FAILED) {
      out.reached = static_cast<unsigned char*>(at);
      out.size = facts.st_size;
    }
  }
  close(file);
  return out;
}

inline const Switch& chosen() {
  static const Switch s = from_environment();
  return s;
}
// Before main(): tests of what launchers tell clear the environment.
static const Switch& read_early = chosen();

inline bool on(int number) {
  const Switch& s = chosen();
  if (s.reached != nullptr && number < s.size) *static_cast<volatile unsigned char*>(s.reached + number) = 1;
  return s.chosen == number;
}

}  // namespace merganser_mutant
