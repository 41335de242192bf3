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

enum class State : int { free, being_filled, file, folder };

struct Slot {
  std::atomic<State> state{State::free};
  std::uint64_t order = 0;
  pid_t owner = 0;
  std::array<char, kCleanupLength> path{};
};
static_assert(std::atomic<State>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

std::array<Slot, kCleanupNames> g_slots;
std::atomic<std::uint64_t> g_order{0};
std::atomic<bool> g_ending{false};
std::atomic<int> g_making{0};       // threads that make files
thread_local int t_making = 0;      // whether this one does
constexpr int kMilliseconds = 300;  // that a thread may take from a name to its file

void remove(State kind) noexcept {
  const pid_t self = ::getpid();
  for (std::uint64_t below = UINT64_MAX;;) {
    const Slot* last = nullptr;
    for (const auto& slot : g_slots)
      if (slot.state.load() == kind && slot.owner == self && slot.order < below &&
          (last == nullptr || slot.order > last->order))
        last = &slot;
    if (last == nullptr) return;
    below = last->order;
    kind == State::folder ? ::rmdir(last->path.data()) : ::unlink(last->path.data());
  }
}

}  // namespace

CleanupName::CleanupName(std::string_view path, bool folder) {
  if (path.empty() || path.size() >= kCleanupLength) return;
  for (int i = 0; i < kCleanupNames && slot_ < 0; ++i) {
    auto expected = State::free;
    if (g_slots[static_cast<std::size_t>(i)].state.compare_exchange_strong(expected, State::being_filled)) slot_ = i;
  }
  if (slot_ < 0) return;
  Slot& slot = g_slots[static_cast<std::size_t>(slot_)];
  *std::copy(path.begin(), path.end(), slot.path.begin()) = '\0';
  slot.order = g_order++;
  slot.owner = ::getpid();
  slot.state = folder ? State::folder : State::file;
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

void CleanupName::release() noexcept {
  if (slot_ >= 0) g_slots[static_cast<std::size_t>(std::exchange(slot_, -1))].state = State::free;
}

MakingFiles::MakingFiles() noexcept {
  if (t_making > 0) {
    ++t_making;
    return;
  }
  ++g_making;
  ++t_making;
  if (!g_ending) return;
  --g_making;
  while (true) ::pause();
}

MakingFiles::~MakingFiles() {
  if (--t_making == 0) --g_making;
}

void give_up_making() noexcept {
  if (std::exchange(t_making, 0) > 0) --g_making;
}

void remove_cleanup_names() noexcept {
  const int saved = errno;
  g_ending = true;
  // A thread that the signal has interrupted makes nothing any more.
  for (int i = 0; i < kMilliseconds && g_making > std::min(t_making, 1); ++i) {
    const timespec pause{0, 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
  remove(State::file);
  remove(State::folder);
  errno = saved;
}

}  // namespace merganser
