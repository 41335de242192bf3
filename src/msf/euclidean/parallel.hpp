#pragma once
/// A loop shared by the threads of a rank.
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace merganser::msf::euclidean {

/// Calls body(begin, end) for consecutive pieces of 0 .. count - 1, each once, on up to `threads` threads.
template <class Body>
void in_parallel(int threads, std::size_t count, const Body& body) {
  const std::size_t piece = count / (static_cast<std::size_t>(threads) * 16) + 1;
  if (threads <= 1 || count < 256) {
    body(std::size_t{0}, count);
    return;
  }
  std::atomic<std::size_t> next{0};
  std::exception_ptr error;
  std::mutex guard;
  const auto work = [&] {
    try {
      for (std::size_t begin = next.fetch_add(piece); begin < count; begin = next.fetch_add(piece))
        body(begin, begin + piece < count ? begin + piece : count);
    } catch (...) {
      const std::lock_guard lock(guard);
      if (!error) error = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  try {
    for (int t = 1; t < threads; ++t) others.emplace_back(work);
  } catch (...) {
    next = count;  // what has started ends, then this is told
    for (auto& other : others) other.join();
    throw;
  }
  work();
  for (auto& other : others) other.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace merganser::msf::euclidean
