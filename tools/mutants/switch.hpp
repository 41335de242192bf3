#pragma once
/// Run-time switch of mutated sources: the mutant that is on is number MERGANSER_MUTANT of the environment. Those that run are marked
/// in the file that MERGANSER_MUTANT_REACHED names, which has a byte for each: it is shared memory, so that no process that ends
/// early loses them. Without the C++ library, since the tracing library has none.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

inline bool on(int number) {
  static const Switch s = from_environment();
  if (s.reached != nullptr && number < s.size) *static_cast<volatile unsigned char*>(s.reached + number) = 1;
  return s.chosen == number;
}

}  // namespace merganser_mutant
