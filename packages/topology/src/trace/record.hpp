#pragma once
/// Counters of the tracing library in one process: operations by phase, other rank, kind and size.
///
/// The library is preloaded into programs of any language, so it does not depend on the C++ library. Every thread counts in a
/// table of its own, without locks; the tables are added up when the process ends.
#include <sched.h>

#include <cstddef>
#include <cstdint>

namespace merganser::trace {

/// Kind of an operation: two-sided message, put, get.
enum class Move : std::uint8_t { message, put, get };

constexpr int kOutside = -1;  ///< a rank of another world
constexpr int kNobody = -2;   ///< MPI_PROC_NULL and the like: not counted
constexpr int kClasses = 48;  ///< number of size classes, equal to comm::kSizeClasses

/// Returns the function of this name in the library that the program is linked with; null if there is none.
[[nodiscard]] void* find_function(const char* name);
/// Returns the object of this name that all callers use, which may be a copy in the program; null if there is none.
[[nodiscard]] void* find_object(const char* name);

/// Sets the rank of this process, once it is known, and thereby enables the file. Later calls have no effect.
void start(int rank, int ranks, bool spawned);
/// Counts an operation of this thread with a rank of the world. Thread-safe, without a lock.
void count(Move move, int peer, std::uint64_t bytes);
/// Begins the phase `level`: operations are counted in it until the next call.
void begin_phase(int level);
/// Counts a call of a collective. Thread-safe. @param slot  a static of the caller, 0 at first, which caches the index of `name`
void count_call(const char* name, int* slot);
/// Writes the file of this process, unless this is a forked child or nothing has been counted since the last call.
/// @param reason  "finalize", "exit" or "abort"
void write_part(const char* reason);

/// Depth of nested wrapped functions that this thread is in, so that only the outermost call counts.
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): it is 0 from the start
extern __thread int call_depth __attribute__((tls_model("initial-exec")));

/// Scope of a wrapped call. Calls that the library makes to itself are nested, and not counted.
class Call {
 public:
  Call() : outermost_(call_depth++ == 0) {}
  ~Call() { --call_depth; }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  /// Returns true in the outermost call.
  [[nodiscard]] bool counts() const { return outermost_; }

 private:
  bool outermost_;
};

/// Lock held in a scope, on a word of the caller: a spin lock that yields, without the C++ library.
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

/// Hash table from handles (communicators, windows, requests) to what is stored about them. Lookup takes no lock; a handle may not
/// be used by one thread while another frees it, which the standards forbid too.
class HandleTable {
 public:
  /// Returns the value that is stored for a handle; null if there is none. Wait-free.
  [[nodiscard]] void* find(std::uintptr_t handle) const;
  /// Stores a value, which must come from malloc; the table owns it, and frees the one that it replaces.
  /// @return false if memory does not suffice: the value is freed
  bool replace(std::uintptr_t handle, void* value);
  /// Stores a value, which must come from malloc, unless the handle has one, which another thread may be reading: then the
  /// given one is freed. @return the value of the handle; null if memory does not suffice, when the given one is freed
  void* insert(std::uintptr_t handle, void* value);
  /// Removes a handle and frees its value.
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
  static Slot* find_slot(Table* table, std::uintptr_t handle, bool& fresh);
  void grow();
  void* store(std::uintptr_t handle, void* value, bool replaces);

  Table* table_ = nullptr;
  std::size_t used_ = 0;
  int lock_ = 0;
};

}  // namespace merganser::trace
