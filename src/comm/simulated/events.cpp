// Event queue of the simulated network, driven by one timer of SimGrid, and gates that block simulated ranks.
#include "src/comm/simulated/events.hpp"

#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>

#include <algorithm>

#include "src/comm/detail/simulated.hpp"

namespace merganser::comm::detail {

namespace s4u = simgrid::s4u;
using simgrid::kernel::timer::Timer;

/// Objects of SimGrid that the event queue of the simulated network uses.
struct Events::Clockwork {
  Timer* next = nullptr;                 // timer that calls run() at the date armed_; null: none is set
  std::vector<s4u::SemaphorePtr> gates;  // by rank of the world: semaphore on which the rank blocks
};

Events& Events::get() {
  static Events events;
  return events;
}

Events::Events() : clockwork_(std::make_unique<Clockwork>()), ranks_(static_cast<std::size_t>(simulated_world().size)) {
  clockwork_->gates.resize(ranks_);
}

Events::~Events() = default;

double Events::now() const { return happening_ ? now_ : s4u::Engine::get_clock(); }

// Inserts an event into the queue; within an event run() goes on with the queue, so no timer is needed.
void Events::schedule(double date, Act act, void* what) {
  queue_.push({std::max(date, now()), order_++, act, what});
  if (!happening_) arm();
}

// Blocks a simulated rank in the library: SimGrid runs other ranks meanwhile.
void Events::block(int rank) {
  auto& gate = clockwork_->gates[static_cast<std::size_t>(rank)];
  if (gate == nullptr) gate = s4u::Semaphore::create(0);
  ++blocked_;
  gate->acquire();
}

// Ends a simulated rank's wait: within an event the rank is released later, at the date of the event.
void Events::wake(int rank) {
  --blocked_;
  if (happening_)
    woken_.push_back(rank);
  else
    clockwork_->gates[static_cast<std::size_t>(rank)]->release();
}

/// Sets SimGrid's timer to the date of the first event in the queue, unless it is set to an earlier one.
void Events::arm() {
  if (queue_.empty() || queue_.top().date >= armed_) return;
  if (clockwork_->next != nullptr) clockwork_->next->remove();
  armed_ = queue_.top().date;
  clockwork_->next = Timer::set(std::max(armed_, s4u::Engine::get_clock()), [this] {
    clockwork_->next = nullptr;
    armed_ = kNever;
    run();
  });
}

/// Runs the events of the queue that are due, and, while all ranks are blocked, those ahead of SimGrid's clock. A woken rank acts
/// at SimGrid's clock, so events after its date must not occur before it has acted: `until` ends there. The ranks are released once
/// the clock has advanced to that date.
void Events::run() {
  const double clock = s4u::Engine::get_clock();
  double until = blocked_ == ranks_ ? kNever : clock;
  happening_ = true;
  while (!queue_.empty() && queue_.top().date <= until) {
    const Event event = queue_.top();
    queue_.pop();
    now_ = event.date;
    event.act(event.what);
    if (!woken_.empty()) until = std::min(until, std::max(now_, clock));
  }
  happening_ = false;
  if (!woken_.empty()) {
    if (now_ <= clock)
      release();
    else
      Timer::set(now_, [this] { release(); });
  }
  arm();
}

/// Releases the simulated ranks that events have woken, whose date SimGrid's clock has reached.
void Events::release() {
  for (const int rank : woken_) clockwork_->gates[static_cast<std::size_t>(rank)]->release();
  woken_.clear();
}

}  // namespace merganser::comm::detail
