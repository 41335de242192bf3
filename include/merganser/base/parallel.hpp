#pragma once
/// Threads within a rank: fork-join regions and dynamically scheduled loops.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <span>
#include <thread>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser {

/// Least number of points or edges that are shared by threads: fewer cost less than starting one.
inline constexpr std::size_t kMinThreadItems = 4096;

/// Guard that joins the threads of a fork-join region at the end of a block, also when an exception leaves it.
struct Joined {
  std::vector<std::thread>& team;  ///< threads to join; may grow during the block
  ~Joined() {
    for (std::thread& t : team) t.join();
  }
};

/// Runs body(0) .. body(threads - 1) concurrently in a fork-join region, body(0) on the calling thread; after all have ended,
/// throws the exception of the lowest one that failed.
void in_parallel(int threads, const auto& body) {
  // Exceptions must not leave a thread: each is kept, and one is thrown after all threads have been joined.
  if (threads <= 1) {
    body(0);
    return;
  }
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(threads));
  const auto guarded = [&](int t) {
    try {
      body(t);
    } catch (...) {
      errors[static_cast<std::size_t>(t)] = std::current_exception();
    }
  };
  {
    std::vector<std::thread> team;
    const Joined joined{team};
    for (int t = 1; t < threads; ++t) team.emplace_back(guarded, t);
    guarded(0);
  }
  for (const auto& e : errors)
    if (e) std::rethrow_exception(e);
}

/// Runs a loop over 0 .. count - 1 on up to `threads` threads: calls body(begin, end) for consecutive pieces, each once, with
/// dynamic scheduling; fewer than 256 items are processed by the calling thread. Throws the exception of the lowest thread that
/// failed, after all have stopped.
void share_loop(int threads, std::size_t count, const auto& body) {
  if (count < 256) threads = 1;
  const std::size_t piece = threads <= 1 ? count : count / (static_cast<std::size_t>(threads) * 16) + 1;
  std::atomic<std::size_t> next{0};
  in_parallel(threads, [&](int) {
    for (std::size_t begin = next.fetch_add(piece); begin < count; begin = next.fetch_add(piece))
      body(begin, std::min(begin + piece, count));
  });
}

/// Returns the part of an array that thread t of a static loop processes: part t of `parts` parts of about equal length.
template <class T>
std::span<const T> thread_share(std::span<const T> all, int t, int parts) {
  const auto n = static_cast<std::size_t>(parts);
  const std::size_t begin = all.size() * static_cast<std::size_t>(t) / n;
  return all.subspan(begin, all.size() * (static_cast<std::size_t>(t) + 1) / n - begin);
}

}  // namespace merganser
