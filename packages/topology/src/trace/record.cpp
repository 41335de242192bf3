#include "src/trace/record.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace merganser::trace {

__thread int call_depth __attribute__((tls_model("initial-exec"))) = 0;

namespace {

/// Counts of one (phase, rank, kind). Written by one thread, read by whoever writes the part.
struct Cell {
  std::uint64_t key;
  std::uint64_t bytes;
  std::uint64_t sizes[kClasses];
  Cell* next;  // of the same thread
};

struct Thread {
  Cell* last;    // counted last
  Cell** slots;  // by key
  std::size_t mask;
  std::size_t used;
  Cell* cells;
  int in_use;
  Thread* next;
};

struct Phase {
  int level;
  std::uint64_t entered;
};

struct Called {
  const char* name;
  std::uint64_t calls;
};

struct State {
  int rank = -1;
  int ranks = 0;
  bool spawned = false;
  pid_t pid = 0;
  Thread* threads = nullptr;
  pthread_key_t key = 0;
  std::uint64_t phase = 0;  // position in phases
  Phase* phases = nullptr;
  std::size_t phase_count = 0;
  Called called[64] = {};
  int called_count = 0;
  int lock = 0;
  char* written = nullptr;  // the last part's body
};
State state;

__thread Thread* this_thread __attribute__((tls_model("initial-exec"))) = nullptr;

constexpr unsigned kMoveBits = 2;
constexpr unsigned kPeerBits = 34;

std::uint64_t key_of(std::uint64_t phase, int peer, Move move) {
  return (phase << (kPeerBits + kMoveBits)) | (static_cast<std::uint64_t>(peer + 2) << kMoveBits) |
         static_cast<std::uint64_t>(move);
}

std::size_t hash(std::uint64_t key) { return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ULL) >> 24); }

void leave(void* thread) { __atomic_store_n(&static_cast<Thread*>(thread)->in_use, 0, __ATOMIC_RELEASE); }

/// A table for this thread: one that an ended thread has left, else a new one.
Thread* enter() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, [] { pthread_key_create(&state.key, leave); });
  Thread* thread = __atomic_load_n(&state.threads, __ATOMIC_ACQUIRE);
  for (; thread != nullptr; thread = thread->next) {
    int free = 0;
    if (__atomic_compare_exchange_n(&thread->in_use, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) break;
  }
  if (thread == nullptr) {
    thread = static_cast<Thread*>(std::calloc(1, sizeof(Thread)));
    if (thread == nullptr) return nullptr;
    thread->in_use = 1;
    thread->next = __atomic_load_n(&state.threads, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&state.threads, &thread->next, thread, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
    }
  }
  pthread_setspecific(state.key, thread);
  return this_thread = thread;
}

bool grow(Thread& thread) {
  const std::size_t slots = thread.slots == nullptr ? 64 : 2 * (thread.mask + 1);
  auto** bigger = static_cast<Cell**>(std::calloc(slots, sizeof(Cell*)));  // NOLINT(bugprone-sizeof-expression)
  if (bigger == nullptr) return false;
  for (Cell* cell = thread.cells; cell != nullptr; cell = cell->next) {
    std::size_t at = hash(cell->key) & (slots - 1);
    while (bigger[at] != nullptr) at = (at + 1) & (slots - 1);
    bigger[at] = cell;
  }
  std::free(thread.slots);
  thread.slots = bigger;
  thread.mask = slots - 1;
  return true;
}

Cell* cell_of(Thread& thread, std::uint64_t key) {
  if ((thread.slots == nullptr || 2 * thread.used > thread.mask) && !grow(thread)) return nullptr;
  std::size_t at = hash(key) & thread.mask;
  for (; thread.slots[at] != nullptr; at = (at + 1) & thread.mask) {
    if (thread.slots[at]->key == key) return thread.slots[at];
  }
  auto* cell = static_cast<Cell*>(std::calloc(1, sizeof(Cell)));
  if (cell == nullptr) return nullptr;
  cell->key = key;
  cell->next = thread.cells;
  __atomic_store_n(&thread.cells, cell, __ATOMIC_RELEASE);
  thread.slots[at] = cell;
  ++thread.used;
  return cell;
}

int class_of(std::uint64_t bytes) {
  const int width = bytes == 0 ? 0 : 64 - __builtin_clzll(bytes);
  return width < kClasses ? width : kClasses - 1;
}

void add(std::uint64_t& counter, std::uint64_t more) {
  __atomic_store_n(&counter, counter + more, __ATOMIC_RELAXED);  // this thread alone writes it
}
std::uint64_t read(const std::uint64_t& counter) { return __atomic_load_n(&counter, __ATOMIC_RELAXED); }

/// Text that grows.
class Text {
 public:
  ~Text() { std::free(data_); }
  __attribute__((format(printf, 2, 3))) void add(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char piece[512];
    const int length = std::vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    if (length <= 0) return;
    const auto bytes =
        static_cast<std::size_t>(length) < sizeof piece ? static_cast<std::size_t>(length) : sizeof piece - 1;
    if (used_ + bytes + 1 > room_) {
      const std::size_t room = 2 * (room_ + bytes + 1);
      char* bigger = static_cast<char*>(std::realloc(data_, room));
      if (bigger == nullptr) return;
      data_ = bigger;
      room_ = room;
    }
    std::memcpy(data_ + used_, piece, bytes + 1);
    used_ += bytes;
  }
  [[nodiscard]] const char* data() const { return data_ != nullptr ? data_ : ""; }
  [[nodiscard]] std::size_t size() const { return used_; }

 private:
  char* data_ = nullptr;
  std::size_t used_ = 0;
  std::size_t room_ = 0;
};

/// Adds what another thread has counted under the same key.
void merge(Thread& into) {
  for (Thread* thread = __atomic_load_n(&state.threads, __ATOMIC_ACQUIRE); thread != nullptr; thread = thread->next) {
    for (Cell* cell = __atomic_load_n(&thread->cells, __ATOMIC_ACQUIRE); cell != nullptr; cell = cell->next) {
      Cell* sum = cell_of(into, cell->key);
      if (sum == nullptr) return;
      sum->bytes += read(cell->bytes);
      for (int c = 0; c < kClasses; ++c) sum->sizes[c] += read(cell->sizes[c]);
    }
  }
}

void release(Thread& thread) {
  for (Cell* cell = thread.cells; cell != nullptr;) {
    Cell* next_cell = cell->next;
    std::free(cell);
    cell = next_cell;
  }
  std::free(thread.slots);
}

std::uint64_t operations_of(const Cell& cell) {
  std::uint64_t operations = 0;
  for (const std::uint64_t n : cell.sizes) operations += n;
  return operations;
}

int level_of(std::uint64_t phase) { return phase < state.phase_count ? state.phases[phase].level : 0; }

void describe_cell(Text& text, const Cell& cell) {
  static const char* const kMoves[] = {"message", "put", "get"};
  const auto peer = static_cast<int>((cell.key >> kMoveBits) & ((std::uint64_t{1} << kPeerBits) - 1)) - 2;
  int first = 0;
  int last = kClasses - 1;
  while (first < last && cell.sizes[first] == 0) ++first;
  while (last > first && cell.sizes[last] == 0) --last;
  text.add("flow %d %d %s %llu %llu %d", level_of(cell.key >> (kPeerBits + kMoveBits)), peer,
           kMoves[cell.key & ((1U << kMoveBits) - 1)], static_cast<unsigned long long>(operations_of(cell)),
           static_cast<unsigned long long>(cell.bytes), first);
  for (int c = first; c <= last; ++c) text.add(" %llu", static_cast<unsigned long long>(cell.sizes[c]));
  text.add("\n");
}

void describe(Text& text) {
  Thread all{};
  merge(all);
  std::uint64_t self[2] = {0, 0};
  std::uint64_t outside[2] = {0, 0};
  text.add("phase %d %llu\n", level_of(0),
           static_cast<unsigned long long>(state.phase_count > 0 ? state.phases[0].entered : 0));
  for (std::size_t p = 1; p < state.phase_count; ++p) {
    text.add("phase %d %llu\n", state.phases[p].level, static_cast<unsigned long long>(state.phases[p].entered));
  }
  for (const Cell* cell = all.cells; cell != nullptr; cell = cell->next) {
    const auto peer = static_cast<int>((cell->key >> kMoveBits) & ((std::uint64_t{1} << kPeerBits) - 1)) - 2;
    if (peer != kOutside && peer != state.rank) {
      describe_cell(text, *cell);
      continue;
    }
    std::uint64_t* sums = peer == kOutside ? outside : self;
    sums[0] += operations_of(*cell);
    sums[1] += cell->bytes;
  }
  release(all);
  text.add("self %llu %llu\n", static_cast<unsigned long long>(self[0]), static_cast<unsigned long long>(self[1]));
  text.add("outside %llu %llu\n", static_cast<unsigned long long>(outside[0]),
           static_cast<unsigned long long>(outside[1]));
  for (int i = 0; i < state.called_count; ++i) {
    const auto calls = static_cast<unsigned long long>(read(state.called[i].calls));
    if (calls > 0) text.add("collective %s %llu\n", state.called[i].name, calls);
  }
  text.add("end\n");
}

void complain(const char* path) {
  char line[4200];
  const int length =
      std::snprintf(line, sizeof line, "merganser trace: cannot write %s: %s\n", path, std::strerror(errno));
  if (length > 0) {
    [[maybe_unused]] const auto ignored =
        ::write(STDERR_FILENO, line,
                static_cast<std::size_t>(length) < sizeof line ? static_cast<std::size_t>(length) : sizeof line - 1);
  }
}

bool write_all(int file, const char* data, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t done = ::write(file, data, bytes);
    if (done < 0 && errno != EINTR) return false;
    if (done < 0) continue;
    data += done;
    bytes -= static_cast<std::size_t>(done);
  }
  return true;
}

void write_file(const char* header, const Text& body) {
  const char* folder = std::getenv("MERGANSER_TRACE_FOLDER");
  if (folder == nullptr || *folder == '\0') folder = "merganser-trace";
  (void)::mkdir(folder, 0777);
  char path[2048];
  char draft[2080];
  if (state.spawned) {
    std::snprintf(path, sizeof path, "%s/spawned-%d-rank-%d.trace", folder, static_cast<int>(::getppid()), state.rank);
  } else {
    std::snprintf(path, sizeof path, "%s/rank-%d.trace", folder, state.rank);
  }
  std::snprintf(draft, sizeof draft, "%s.draft", path);
  ::unlink(draft);  // what a killed program left; and nobody's link is followed
  const int file = ::open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0) return complain(path);
  const bool good = write_all(file, header, std::strlen(header)) && write_all(file, body.data(), body.size());
  if (::close(file) != 0 || !good || std::rename(draft, path) != 0) {
    complain(path);
    ::unlink(draft);
  }
}

__attribute__((destructor)) void at_end() { write_part("exit"); }

}  // namespace

void start(int rank, int ranks, bool spawned) {
  if (state.rank >= 0) return;
  state.ranks = ranks;
  state.spawned = spawned;
  state.pid = ::getpid();
  state.rank = rank;
}

void count(Move move, int peer, std::uint64_t bytes) {
  if (peer == kNobody) return;
  Thread* thread = this_thread;
  if (__builtin_expect(thread == nullptr, 0) && (thread = enter()) == nullptr) return;
  const std::uint64_t key = key_of(__atomic_load_n(&state.phase, __ATOMIC_RELAXED), peer, move);
  Cell* cell = thread->last;
  if (cell == nullptr || cell->key != key) {
    cell = cell_of(*thread, key);
    if (cell == nullptr) return;
    thread->last = cell;
  }
  add(cell->bytes, bytes);
  add(cell->sizes[class_of(bytes)], 1);
}

void begin_phase(int level) {
  const Lock lock(state.lock);
  if (state.phase_count == 0) {
    state.phases = static_cast<Phase*>(std::calloc(1, sizeof(Phase)));
    if (state.phases == nullptr) return;
    state.phase_count = 1;
  }
  std::size_t at = 0;
  while (at < state.phase_count && state.phases[at].level != level) ++at;
  if (at == state.phase_count) {
    auto* more = static_cast<Phase*>(std::realloc(state.phases, (at + 1) * sizeof(Phase)));
    if (more == nullptr) return;
    state.phases = more;
    state.phases[at] = {level, 0};
    ++state.phase_count;
  }
  ++state.phases[at].entered;
  __atomic_store_n(&state.phase, at, __ATOMIC_RELAXED);
}

void count_call(const char* name, int* slot) {
  int mine = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
  if (mine == 0) {
    const Lock lock(state.lock);
    mine = *slot;
    if (mine == 0 && state.called_count < static_cast<int>(sizeof state.called / sizeof *state.called)) {
      state.called[state.called_count].name = name;
      mine = ++state.called_count;
      __atomic_store_n(slot, mine, __ATOMIC_RELEASE);
    }
    if (mine == 0) return;
  }
  __atomic_fetch_add(&state.called[mine - 1].calls, 1, __ATOMIC_RELAXED);
}

void write_part(const char* reason) {
  if (state.rank < 0 || state.pid != ::getpid()) return;
  const Lock lock(state.lock);
  Text body;
  describe(body);
  if (state.written != nullptr && std::strcmp(state.written, body.data()) == 0) return;
  char header[4096];
  char program[2048] = "?";
  const ssize_t length = ::readlink("/proc/self/exe", program, sizeof program - 1);
  if (length > 0) program[length] = '\0';
  for (char* c = program; *c != '\0'; ++c) {
    if (*c == '\n') *c = '?';
  }
  std::snprintf(header, sizeof header, "merganser-trace 1\nprogram %s\nrank %d of %d\nended %s\n", program, state.rank,
                state.ranks, reason);
  write_file(header, body);
  std::free(state.written);
  state.written = ::strdup(body.data());
}

namespace {

/// For libraries loaded later and not for everybody, as interpreters do: searches what is there.
void* search_loaded(const char* name) {
  struct Search {
    const char* name;
    void* found;
  } search{name, nullptr};
  ::dl_iterate_phdr(
      [](struct dl_phdr_info* info, std::size_t, void* data) {
        auto& wanted = *static_cast<Search*>(data);
        const char* base = std::strrchr(info->dlpi_name, '/');
        base = base != nullptr ? base + 1 : info->dlpi_name;
        const bool likely = std::strncmp(base, "libmpi", 6) == 0 || std::strncmp(base, "liboshmem", 9) == 0 ||
                            std::strncmp(base, "libsma", 6) == 0 || std::strncmp(base, "libpmpi", 7) == 0;
        if (!likely) return 0;
        void* library = ::dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
        if (library == nullptr) return 0;
        wanted.found = ::dlsym(library, wanted.name);
        ::dlclose(library);
        return wanted.found != nullptr ? 1 : 0;
      },
      &search);
  return search.found;
}

}  // namespace

void* next(const char* name) {
  void* found = ::dlsym(RTLD_NEXT, name);
  return found != nullptr ? found : search_loaded(name);
}

void* object(const char* name) {
  void* found = ::dlsym(RTLD_DEFAULT, name);
  return found != nullptr ? found : search_loaded(name);
}

}  // namespace merganser::trace
