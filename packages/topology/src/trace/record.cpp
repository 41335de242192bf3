// Counters of the tracing library: per-thread tables, phases, calls, and the file that a process writes at its end.
#include "src/trace/record.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "src/trace/text_buffer.hpp"

namespace merganser::trace {

__thread int call_depth __attribute__((tls_model("initial-exec"))) = 0;

namespace {

/// Counters of one thread for one triple of phase, other rank and kind of operation. One thread writes them, and the thread that
/// writes the file reads them.
struct FlowCounters {
  std::uint64_t key;              // triple, as make_key() packs it
  std::uint64_t bytes;            // sum over operations
  std::uint64_t sizes[kClasses];  // number of operations by size class
  FlowCounters* next;             // list of the same thread
};

/// All counters of one thread of a traced program, in a hash table. The table is never freed: the counts of threads that have ended
/// belong to the process.
struct ThreadCounters {
  FlowCounters* last;    // counters of the latest operation, often of the next one too
  FlowCounters** slots;  // hash table by key
  std::size_t mask;      // number of slots less one, a power of two less one
  std::size_t used;      // slots that are taken
  FlowCounters* cells;   // list of all counters, which other threads may read
  int in_use;            // 1: a live thread counts here
  ThreadCounters* next;  // list of all threads' tables
};

/// Phase of a traced program: a level of MPI_Pcontrol, and the number of calls that began it.
struct Phase {
  int level;
  std::uint64_t entered;
};

/// Name of a collective of MPI, and the number of its calls in this process.
struct CollectiveCalls {
  const char* name;
  std::uint64_t calls;
};

/// State of the tracing library in this process. Constant-initialised, since wrapped functions may be called before
/// constructors run.
struct State {
  int rank = -1;                      // rank in MPI_COMM_WORLD; -1: not yet known
  int ranks = 0;                      // number of ranks of the world
  bool spawned = false;               // true: another program of MPI has started this one
  pid_t pid = 0;                      // process that start() was called in; a forked child has another
  ThreadCounters* threads = nullptr;  // list of all threads' tables, to which tables are only prepended
  pthread_key_t key = 0;              // its destructor releases the table of a thread that ends
  std::uint64_t phase = 0;            // index into phases
  Phase* phases = nullptr;
  std::size_t phase_count = 0;
  CollectiveCalls called[64] = {};
  int called_count = 0;
  int lock = 0;             // protects phases, names of collectives, and the file
  char* written = nullptr;  // body of the latest file
};
State state;

__thread ThreadCounters* this_thread __attribute__((tls_model("initial-exec"))) = nullptr;

constexpr unsigned kMoveBits = 2;
constexpr unsigned kPeerBits = 34;

/// Packs phase, other rank (counted from kNobody, so that it is not negative) and kind of operation into one key of a hash table.
std::uint64_t make_key(std::uint64_t phase, int peer, Move move) {
  return (phase << (kPeerBits + kMoveBits)) | (static_cast<std::uint64_t>(peer + 2) << kMoveBits) |
         static_cast<std::uint64_t>(move);
}

/// Returns the hash of a key of counters: the middle bits of a product by the golden ratio (Fibonacci hashing).
std::size_t hash(std::uint64_t key) { return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ULL) >> 24); }

/// Destructor of the thread-specific key of the tracing library: makes a thread's table available to later threads, with its
/// counts.
void release_thread(void* thread) {
  __atomic_store_n(&static_cast<ThreadCounters*>(thread)->in_use, 0, __ATOMIC_RELEASE);
}

/// Returns a table of counters for this thread: that of a thread that has ended, else a new table. Null without memory.
ThreadCounters* acquire_thread() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, [] { pthread_key_create(&state.key, release_thread); });
  ThreadCounters* thread = __atomic_load_n(&state.threads, __ATOMIC_ACQUIRE);
  for (; thread != nullptr; thread = thread->next) {
    int free = 0;
    if (__atomic_compare_exchange_n(&thread->in_use, &free, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) break;
  }
  if (thread == nullptr) {
    thread = static_cast<ThreadCounters*>(std::calloc(1, sizeof(ThreadCounters)));
    if (thread == nullptr) return nullptr;
    thread->in_use = 1;
    thread->next = __atomic_load_n(&state.threads, __ATOMIC_RELAXED);
    // Tables are only ever prepended, so a plain compare-and-swap suffices (no ABA).
    while (!__atomic_compare_exchange_n(&state.threads, &thread->next, thread, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
    }
  }
  pthread_setspecific(state.key, thread);
  return this_thread = thread;
}

/// Doubles the hash table of one thread's counters; other threads read only the list of cells. @return false without memory
bool grow(ThreadCounters& thread) {
  const std::size_t slots = thread.slots == nullptr ? 64 : 2 * (thread.mask + 1);
  auto** bigger =
      static_cast<FlowCounters**>(std::calloc(slots, sizeof(FlowCounters*)));  // NOLINT(bugprone-sizeof-expression)
  if (bigger == nullptr) return false;
  for (FlowCounters* cell = thread.cells; cell != nullptr; cell = cell->next) {
    std::size_t at = hash(cell->key) & (slots - 1);
    while (bigger[at] != nullptr) at = (at + 1) & (slots - 1);
    bigger[at] = cell;
  }
  std::free(thread.slots);
  thread.slots = bigger;
  thread.mask = slots - 1;
  return true;
}

/// Returns the counters of one key in a thread's table, created if need be; null without memory. Called by the owning thread only.
FlowCounters* get_cell(ThreadCounters& thread, std::uint64_t key) {
  if ((thread.slots == nullptr || 2 * thread.used > thread.mask) && !grow(thread)) return nullptr;
  std::size_t at = hash(key) & thread.mask;
  for (; thread.slots[at] != nullptr; at = (at + 1) & thread.mask) {
    if (thread.slots[at]->key == key) return thread.slots[at];
  }
  auto* cell = static_cast<FlowCounters*>(std::calloc(1, sizeof(FlowCounters)));
  if (cell == nullptr) return nullptr;
  cell->key = key;
  cell->next = thread.cells;
  // Released after its members are set: the thread that writes the file may follow the list at any time.
  __atomic_store_n(&thread.cells, cell, __ATOMIC_RELEASE);
  thread.slots[at] = cell;
  ++thread.used;
  return cell;
}

/// Returns the size class of a message: 0 for none, else the number of bits of its length, at most kClasses - 1.
int size_class(std::uint64_t bytes) {
  const int width = bytes == 0 ? 0 : 64 - __builtin_clzll(bytes);
  return width < kClasses ? width : kClasses - 1;
}

/// Adds to a counter of operations or bytes of this thread.
void add(std::uint64_t& counter, std::uint64_t more) {
  // Only this thread writes the counter, so no atomic addition is needed; the store is atomic for the reader.
  __atomic_store_n(&counter, counter + more, __ATOMIC_RELAXED);
}
/// Reads a counter of operations or bytes that another thread may be writing.
std::uint64_t read(const std::uint64_t& counter) { return __atomic_load_n(&counter, __ATOMIC_RELAXED); }

/// Sums the counters of all threads of the process, key by key, for the trace file. @param into  empty at first
/// @return false if memory does not suffice
bool merge(ThreadCounters& into) {
  for (ThreadCounters* thread = __atomic_load_n(&state.threads, __ATOMIC_ACQUIRE); thread != nullptr;
       thread = thread->next) {
    for (FlowCounters* cell = __atomic_load_n(&thread->cells, __ATOMIC_ACQUIRE); cell != nullptr; cell = cell->next) {
      FlowCounters* sum = get_cell(into, cell->key);
      if (sum == nullptr) return false;
      sum->bytes += read(cell->bytes);
      for (int c = 0; c < kClasses; ++c) sum->sizes[c] += read(cell->sizes[c]);
    }
  }
  return true;
}

/// Frees the counters and the hash table of the sum over threads that merge() made.
void release(ThreadCounters& thread) {
  for (FlowCounters* cell = thread.cells; cell != nullptr;) {
    FlowCounters* next_cell = cell->next;
    std::free(cell);
    cell = next_cell;
  }
  std::free(thread.slots);
}

/// Returns the number of operations counted for one phase, other rank and kind: the sum over size classes.
std::uint64_t count_operations(const FlowCounters& cell) {
  std::uint64_t operations = 0;
  for (const std::uint64_t n : cell.sizes) operations += n;
  return operations;
}

/// Returns the level of MPI_Pcontrol of a phase by its index; 0 before the first phase.
int phase_level(std::uint64_t phase) { return phase < state.phase_count ? state.phases[phase].level : 0; }

/// Appends the line "flow" of a trace file for one phase, other rank and kind, without leading and trailing size classes of 0.
void format_flow(TextBuffer& text, const FlowCounters& cell) {
  static const char* const kMoves[] = {"message", "put", "get"};
  const auto peer = static_cast<int>((cell.key >> kMoveBits) & ((std::uint64_t{1} << kPeerBits) - 1)) - 2;
  int first = 0;
  int last = kClasses - 1;
  while (first < last && cell.sizes[first] == 0) ++first;
  while (last > first && cell.sizes[last] == 0) --last;
  text.add("flow %d %d %s %llu %llu %d", phase_level(cell.key >> (kPeerBits + kMoveBits)), peer,
           kMoves[cell.key & ((1U << kMoveBits) - 1)], static_cast<unsigned long long>(count_operations(cell)),
           static_cast<unsigned long long>(cell.bytes), first);
  for (int c = first; c <= last; ++c) text.add(" %llu", static_cast<unsigned long long>(cell.sizes[c]));
  text.add("\n");
}

/// Appends the body of a trace file: phases, flows, the rank's operations with itself and with other worlds, collectives.
void format_body(TextBuffer& text) {
  ThreadCounters all{};
  if (!merge(all)) text.set_incomplete();
  std::uint64_t self[2] = {0, 0};
  std::uint64_t outside[2] = {0, 0};
  text.add("phase %d %llu\n", phase_level(0),
           static_cast<unsigned long long>(state.phase_count > 0 ? state.phases[0].entered : 0));
  for (std::size_t p = 1; p < state.phase_count; ++p) {
    text.add("phase %d %llu\n", state.phases[p].level, static_cast<unsigned long long>(state.phases[p].entered));
  }
  for (const FlowCounters* cell = all.cells; cell != nullptr; cell = cell->next) {
    const auto peer = static_cast<int>((cell->key >> kMoveBits) & ((std::uint64_t{1} << kPeerBits) - 1)) - 2;
    if (peer != kOutside && peer != state.rank) {
      format_flow(text, *cell);
      continue;
    }
    std::uint64_t* sums = peer == kOutside ? outside : self;
    sums[0] += count_operations(*cell);
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

/// Prints on standard error that the trace file of this process cannot be written, with the text of errno.
void report_error(const char* path) {
  char line[4200];
  const int length =
      std::snprintf(line, sizeof line, "merganser trace: cannot write %s: %s\n", path, std::strerror(errno));
  if (length > 0) {
    [[maybe_unused]] const auto ignored =
        ::write(STDERR_FILENO, line,
                static_cast<std::size_t>(length) < sizeof line ? static_cast<std::size_t>(length) : sizeof line - 1);
  }
}

/// Writes all bytes of a trace file, retrying when interrupted by a signal. @return false on an error
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

/// Writes the trace file of this process, rank-N.trace, under a temporary name and renames it, so that it appears whole or not at
/// all. Errors are printed: a traced program goes on.
void write_file(const char* header, const TextBuffer& body) {
  const char* folder = std::getenv("MERGANSER_TRACE_FOLDER");
  if (folder == nullptr || *folder == '\0') folder = "merganser-trace";
  if (!body.is_complete()) {
    errno = ENOMEM;
    return report_error(folder);
  }
  (void)::mkdir(folder, 0777);
  char path[2048];
  char draft[2080];
  if (state.spawned) {
    std::snprintf(path, sizeof path, "%s/spawned-%d-rank-%d.trace", folder, static_cast<int>(::getppid()), state.rank);
  } else {
    std::snprintf(path, sizeof path, "%s/rank-%d.trace", folder, state.rank);
  }
  std::snprintf(draft, sizeof draft, "%s.draft", path);
  ::unlink(draft);  // left by a killed program; O_EXCL and O_NOFOLLOW then refuse what another user may have put there
  const int file = ::open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0) return report_error(path);
  const bool good = write_all(file, header, std::strlen(header)) && write_all(file, body.data(), body.size());
  if (::close(file) != 0 || !good || std::rename(draft, path) != 0) {
    report_error(path);
    ::unlink(draft);
  }
}

/// Destructor of the tracing library: writes the trace file of a program that ends without finalising MPI or OpenSHMEM.
__attribute__((destructor)) void write_at_exit() { write_part("exit"); }

}  // namespace

// Start of counting: `rank` is set last, since a rank of 0 or more enables the trace file.
void start(int rank, int ranks, bool spawned) {
  if (state.rank >= 0) return;
  state.ranks = ranks;
  state.spawned = spawned;
  state.pid = ::getpid();
  state.rank = rank;
}

// Hot path of the tracing library, within every send, put and get: one cell of this thread's table grows, without a
// lock.
void count(Move move, int peer, std::uint64_t bytes) {
  if (peer == kNobody) return;
  ThreadCounters* thread = this_thread;
  if (__builtin_expect(thread == nullptr, 0) && (thread = acquire_thread()) == nullptr) return;
  const std::uint64_t key = make_key(__atomic_load_n(&state.phase, __ATOMIC_RELAXED), peer, move);
  FlowCounters* cell = thread->last;
  if (cell == nullptr || cell->key != key) {
    cell = get_cell(*thread, key);
    if (cell == nullptr) return;
    thread->last = cell;
  }
  add(cell->bytes, bytes);
  add(cell->sizes[size_class(bytes)], 1);
}

// Phase of the program, from MPI_Pcontrol: later operations count under its key.
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

// Counts a call of a collective, whose messages MPI sends by itself; the caller keeps the index of the name.
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

// Writes the trace file of this process if its counters have changed since the file was last written.
void write_part(const char* reason) {
  // A forked child has another process id: it must not overwrite the file of its parent.
  if (state.rank < 0 || state.pid != ::getpid()) return;
  const Lock lock(state.lock);
  TextBuffer body;
  format_body(body);
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

/// Searches the loaded MPI and OpenSHMEM libraries for a symbol: RTLD_NEXT and RTLD_DEFAULT do not find symbols of libraries that
/// were loaded later without RTLD_GLOBAL, as interpreters do.
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

void* find_function(const char* name) {
  void* found = ::dlsym(RTLD_NEXT, name);
  return found != nullptr ? found : search_loaded(name);
}

void* find_object(const char* name) {
  void* found = ::dlsym(RTLD_DEFAULT, name);
  return found != nullptr ? found : search_loaded(name);
}

}  // namespace merganser::trace
