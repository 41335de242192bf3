#pragma once
/// Event queue of the simulated network and of blocked simulated ranks, on top of SimGrid's simulation kernel.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <queue>
#include <vector>

#include "merganser/base/pinned.hpp"

namespace merganser::comm::detail {

/// Discrete-event queue for the simulated network and for simulated ranks that wait in the library. One object for all ranks.
///
/// SimGrid updates all its models at every date that it stops at, which takes longer than the events there. If all ranks are
/// blocked here, only events of this queue can occur: then it runs ahead of SimGrid's clock, up to the next date at which an
/// event wakes a rank.
class Events : Pinned {
 public:
  /// Function that an event of the simulation calls, with the argument given to schedule().
  using Act = void (*)(void*);

  /// Returns the event queue of the simulation; the first call must be in the context of a simulated rank.
  static Events& get();

  /// Returns the simulated date in seconds: of the event in progress, else of the calling rank.
  [[nodiscard]] double now() const;
  /// Schedules a call act(what) in the simulator's context, where it must not block. In any context. Events of one date occur in
  /// the order of these calls. @param date  in seconds; a date in the past means now
  void schedule(double date, Act act, void* what);
  /// Blocks this simulated rank, number `rank` of the world, until wake(rank).
  void block(int rank);
  /// Unblocks a simulated rank of the world; called once for each block().
  void wake(int rank);

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  /// Scheduled call of the simulation; events of one date are ordered by the calls of schedule().
  struct Event {
    double date;          // simulated date in s
    std::uint64_t order;  // number of the call of schedule()
    Act act;              // function to call
    void* what;           // argument of the function
    bool operator<(const Event& o) const { return date > o.date || (date == o.date && order > o.order); }
  };
  struct Clockwork;  // objects of SimGrid

  Events();
  ~Events();
  /// Sets SimGrid's timer to the date of the first event in the queue.
  void arm();
  /// Runs the events of the simulation that are due.
  void run();
  /// Releases the simulated ranks that events have woken.
  void release();

  std::unique_ptr<Clockwork> clockwork_;
  std::priority_queue<Event> queue_;
  std::uint64_t order_ = 0;  // number of events scheduled so far
  bool happening_ = false;   // an event is in progress
  double now_ = 0;           // date of the event in progress, or of the last one
  double armed_ = kNever;    // date at which SimGrid's timer calls run()
  std::size_t blocked_ = 0;  // number of ranks that are blocked here and not woken
  std::size_t ranks_;        // number of simulated ranks
  std::vector<int> woken_;   // ranks to release when SimGrid's clock has reached now_
};

}  // namespace merganser::comm::detail
