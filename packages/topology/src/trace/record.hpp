#pragma once
/// What the tracing library keeps of one process: operations by phase, other rank, kind and size.
///
/// It is loaded into programs of any language, so it uses nothing of the C++ library. Every thread counts in a table of
/// its own, without locks; the tables are added up when the process ends.
#include <sched.h>

#include <cstddef>
#include <cstdint>

namespace merganser::trace {

enum class Move : std::uint8_t { message, put, get };

constexpr int kOutside = -1;  ///< a rank of another world
constexpr int kNobody = -2;   ///< MPI_PROC_NULL and the like: not counted
constexpr int kClasses = 48;  ///< as comm::kSizeClasses

/// A function of the library that the program is linked with; null if it has none such.
[[nodiscard]] void* next(const char* name);
/// An object of that library: the one that all callers use, which may be a copy in the program.
[[nodiscard]] void* object(const char* name);

/// Rank of this process, as soon as it is known. Later calls change nothing.
void start(int rank, int ranks, bool spawned);
/// Counts an operation of this thread with a rank of the world.
void count(Move move, int peer, std::uint64_t bytes);
/// Begins the phase `level`.
void begin_phase(int level);
/// Counts a call that has no arcs. `slot` is a static of the caller, 0 at first.
void count_call(const char* name, int* slot);
/// Writes what has been counted so far, if this is the process that was started and something is new.
void write_part(const char* reason);

/// Calls of wrapped functions that this thread is in.
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): it is 0 from the start
extern __thread int call_depth __attribute__((tls_model("initial-exec")));

/// Inside of calls that the library makes for itself nothing is counted.
class Call {
 public:
  Call() : outermost_(call_depth++ == 0) {}
  ~Call() { --call_depth; }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  [[nodiscard]] bool counts() const { return outermost_; }

 private:
  bool outermost_;
};

/// A mutex without the C++ library.
class Lock {
 public:
  explicit Lock(int& word) : word_(word) {
    while (__atomic_exchange_n(&word_, 1, __ATOMIC_ACQUIRE) != 0) sched_yield();
  }
  ~Lock() { __atomic_store_n(&word_, 0, __ATOMIC_RELEASE); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int& word_;
};

/// What is known of a handle (communicator, window, request). Reading takes no lock; a handle may not be used by one
/// thread while another frees it, which the standards forbid too.
class HandleTable {
 public:
  [[nodiscard]] void* find(std::uintptr_t handle) const;
  /// `value` must come from malloc; a value that was there is freed.
  void insert(std::uintptr_t handle, void* value);
  void erase(std::uintptr_t handle);

 private:
  struct Slot {
    std::uintptr_t handle;
    void* value;
  };
  struct Table {
    std::size_t mask;
    Slot slots[1];
  };
  static constexpr std::uintptr_t kGone = ~std::uintptr_t{0};
  [[nodiscard]] static std::size_t hash(std::uintptr_t handle) {
    return static_cast<std::size_t>((handle * 0x9E3779B97F4A7C15ULL) >> 20);
  }
  [[nodiscard]] static Table* make(std::size_t slots);
  static Slot* slot_for(Table* table, std::uintptr_t handle, bool& fresh);
  void grow();

  Table* table_ = nullptr;
  std::size_t used_ = 0;
  int lock_ = 0;
};

}  // namespace merganser::trace
