#pragma once
/// What happens when on a simulated machine, besides what SimGrid knows of.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <queue>
#include <vector>

#include "merganser/base/pinned.hpp"

namespace merganser::comm::detail {

/// Dates of the network and of ranks that wait in the library. All ranks use one.
///
/// SimGrid asks all its models for every date that it comes to, which takes longer than what happens there. Where every rank waits
/// here, nothing can happen but what is in this queue: then it goes ahead of SimGrid's clock, up to the next date at which it wakes
/// a rank.
class Events : Pinned {
 public:
  using Act = void (*)(void*);

  /// A rank's context must call it first.
  static Events& get();

  /// Seconds of the simulation: of what happens, or of the rank that asks.
  [[nodiscard]] double now() const;
  /// Calls act(what) in the simulator's context, where it must not block. In any context. What has the same date happens in the
  /// order of these calls. @param date  in the past: now
  void at(double date, Act act, void* what);
  /// Keeps this rank, `rank` of the world, until wake(), which is called once for each block().
  void block(int rank);
  void wake(int rank);

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  struct Event {
    double date;
    std::uint64_t order;
    Act act;
    void* what;
    bool operator<(const Event& o) const { return date > o.date || (date == o.date && order > o.order); }
  };
  struct Clockwork;  // of SimGrid

  Events();
  ~Events();
  void arm();
  void run();
  void release();

  std::unique_ptr<Clockwork> clockwork_;
  std::priority_queue<Event> queue_;
  std::uint64_t order_ = 0;
  bool happening_ = false;
  double now_ = 0;           // while something happens
  double armed_ = kNever;    // when SimGrid calls run()
  std::size_t blocked_ = 0;  // ranks that wait here and have not been woken
  std::size_t ranks_;
  std::vector<int> woken_;  // ranks that go on when SimGrid's clock has come there
};

}  // namespace merganser::comm::detail
