// Lock-free registry of temporary paths, which a signal handler walks: no lock, no memory from the heap.
#include "merganser/base/cleanup.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <utility>

namespace merganser {
namespace {

/// State of an entry of the registry of temporary paths.
enum class SlotState : int { free, being_filled, file, folder };

/// Entry of the registry of paths that a signal handler removes. `state` is set last and cleared first, so the handler
/// reads the other members only while they are complete.
struct Slot {
  std::atomic<SlotState> state{SlotState::free};
  std::uint64_t order = 0;  // of registration
  pid_t owner = 0;          // process that registered it: a child made by fork() has a copy of the registry
  std::array<char, kCleanupLength> path{};
};
static_assert(std::atomic<SlotState>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

std::array<Slot, kCleanupNames> g_slots;
std::atomic<std::uint64_t> g_order{0};  // registrations so far
std::atomic<bool> g_ending{false};      // removal has begun: this process is about to end
std::atomic<int> g_making{0};           // threads in a scope of MakingFiles
thread_local int t_making = 0;          // depth of such scopes of this thread
constexpr int kMilliseconds = 300;      // that a thread may take from a name to its file

/// Removes the registered temporary paths of one kind (files or folders) of this process, the latest registration first. Each pass
/// looks for the greatest order below the last one, since a signal handler may not allocate memory to sort.
void remove_paths(SlotState kind) noexcept {
  const pid_t self = ::getpid();
  for (std::uint64_t below = UINT64_MAX;;) {
    const Slot* last = nullptr;
    for (const auto& slot : g_slots)
      if (slot.state.load() == kind && slot.owner == self && slot.order < below &&
          (last == nullptr || slot.order > last->order))
        last = &slot;
    if (last == nullptr) return;
    below = last->order;
    kind == SlotState::folder ? ::rmdir(last->path.data()) : ::unlink(last->path.data());
  }
}

}  // namespace

// Registers a temporary path, lock-free, since a signal may arrive at any time.
CleanupName::CleanupName(std::string_view path, bool folder) {
  if (path.empty() || path.size() >= kCleanupLength) return;
  for (int i = 0; i < kCleanupNames && slot_ < 0; ++i) {
    auto expected = SlotState::free;
    if (g_slots[static_cast<std::size_t>(i)].state.compare_exchange_strong(expected, SlotState::being_filled))
      slot_ = i;
  }
  if (slot_ < 0) return;
  Slot& slot = g_slots[static_cast<std::size_t>(slot_)];
  *std::copy(path.begin(), path.end(), slot.path.begin()) = '\0';
  slot.order = g_order++;
  slot.owner = ::getpid();
  slot.state = folder ? SlotState::folder : SlotState::file;
  // The handler of another thread may have gone through the list already; what is made from here on would stay.
  while (g_ending) ::pause();
}

CleanupName::CleanupName(CleanupName&& other) noexcept : slot_(std::exchange(other.slot_, -1)) {}

CleanupName& CleanupName::operator=(CleanupName&& other) noexcept {
  if (this != &other) {
    release();
    slot_ = std::exchange(other.slot_, -1);
  }
  return *this;
}

// Ends the registration of a temporary path, which has been removed or has become permanent.
void CleanupName::release() noexcept {
  if (slot_ >= 0) g_slots[static_cast<std::size_t>(std::exchange(slot_, -1))].state = SlotState::free;
}

// Enters a scope in which temporary files are created; blocks for ever if a signal handler removes them already.
MakingFiles::MakingFiles() noexcept {
  if (t_making > 0) {
    ++t_making;
    return;
  }
  // Counted before g_ending is read: either removal sees this scope and waits for it, or this scope sees that removal has begun.
  ++g_making;
  ++t_making;
  if (!g_ending) return;
  --g_making;
  while (true) ::pause();
}

MakingFiles::~MakingFiles() {
  if (--t_making == 0) --g_making;
}

void close_making_files() noexcept {
  if (std::exchange(t_making, 0) > 0) --g_making;
}

// Removes all temporary paths, for a signal handler; threads that are between a name and its file are waited for.
void remove_cleanup_names() noexcept {
  const int saved = errno;
  g_ending = true;
  // The handler runs on a thread that it has interrupted, so a scope of this very thread must not be waited for.
  for (int i = 0; i < kMilliseconds && g_making > std::min(t_making, 1); ++i) {
    const timespec pause{0, 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
  remove_paths(SlotState::file);
  remove_paths(SlotState::folder);
  errno = saved;
}

}  // namespace merganser
