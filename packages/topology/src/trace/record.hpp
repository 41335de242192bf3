#pragma once
/// Counters of the tracing library (libmerganser-trace) in one process of a traced program: operations by phase, other rank, kind
/// and size.
///
/// The library is preloaded into programs of any language, so it does not depend on the C++ library. Every thread counts in a
/// table of its own, without locks; the tables are added up when the process ends.
#include <sched.h>

#include <cstddef>
#include <cstdint>

namespace merganser::trace {

/// Kind of a counted operation between ranks: two-sided message, put, get.
enum class Move : std::uint8_t { message, put, get };

constexpr int kOutside = -1;  ///< rank of another world, as of a spawned program
constexpr int kNobody = -2;   ///< MPI_PROC_NULL and the like: not counted
constexpr int kClasses = 48;  ///< number of size classes, equal to comm::kSizeClasses

/// Returns the MPI or OpenSHMEM function of this name behind the tracing library's wrappers; null if there is none.
[[nodiscard]] void* find_function(const char* name);
/// Returns the object of the MPI library of this name that all callers use, which may be a copy in the program; null without one.
[[nodiscard]] void* find_object(const char* name);

/// Sets the rank of this process in the traced program, once it is known, and thereby enables the trace file. Later calls have no
/// effect. @param spawned  true: another program of MPI has started this one
void start(int rank, int ranks, bool spawned);
/// Counts a message, put or get of this thread with rank `peer` of the world in the current phase. Thread-safe, without a lock.
void count(Move move, int peer, std::uint64_t bytes);
/// Begins the phase `level` of the traced program (MPI_Pcontrol): operations are counted in it until the next call.
void begin_phase(int level);
/// Counts a call of the collective `name` of MPI in this process. Thread-safe. @param slot  a static of the caller, 0 at first,
/// which caches the index of `name`
void count_call(const char* name, int* slot);
/// Writes the trace file of this process, unless this is a forked child or nothing has been counted since the last call.
/// @param reason  "finalize", "exit" or "abort"
void write_part(const char* reason);

/// Depth of nested wrapped functions that this thread is in, so that only the outermost call counts.
// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): it is 0 from the start
extern __thread int call_depth __attribute__((tls_model("initial-exec")));

/// Scope of a wrapped MPI or OpenSHMEM call. Calls that the library makes to its own functions are nested, and not counted.
class Call {
 public:
  Call() : outermost_(call_depth++ == 0) {}
  ~Call() { --call_depth; }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  /// Returns true in the outermost wrapped call of this thread, which is counted.
  [[nodiscard]] bool counts() const { return outermost_; }

 private:
  bool outermost_;
};

/// Scoped spin lock of the tracing library on a word of the caller: yields while it is taken, and needs no C++ library.
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
  /// Slot of the hash table: an MPI handle and the value that is stored for it.
  struct Slot {
    std::uintptr_t handle;  ///< 0: never used; kGone: removed
    void* value;            ///< from malloc
  };
  /// Hash table with open addressing, allocated with mask + 1 slots.
  struct Table {
    std::size_t mask;  ///< number of slots less one, a power of two less one
    Slot slots[1];
  };
  static constexpr std::uintptr_t kGone = ~std::uintptr_t{0};  ///< marks the slot of a removed handle
  /// Returns the hash of an MPI handle: the middle bits of a product by the golden ratio (Fibonacci hashing).
  [[nodiscard]] static std::size_t hash(std::uintptr_t handle) {
    return static_cast<std::size_t>((handle * 0x9E3779B97F4A7C15ULL) >> 20);
  }
  [[nodiscard]] static Table* make(std::size_t slots);
  static Slot* find_slot(Table* table, std::uintptr_t handle, bool& fresh);
  void grow();
  void* store(std::uintptr_t handle, void* value, bool replaces);

  Table* table_ = nullptr;
  std::size_t used_ = 0;  ///< slots that are or were taken, those of removed handles included
  int lock_ = 0;          ///< taken by writers only
};

}  // namespace merganser::trace
