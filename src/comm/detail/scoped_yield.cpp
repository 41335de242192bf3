#include "src/comm/detail/scoped_yield.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <string>
#include <string_view>

#include "merganser/base/error.hpp"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid  // glibc before 2.35 has no name for it
#endif

namespace merganser::comm::detail {
namespace {

constexpr long kSpinNs = 50'000;
constexpr long kSleepNs = 50'000;
constexpr long kPatienceNs = 1'000'000;  // as long as a Waiter yields

enum class Mode { off, patient, oversubscribed };
std::atomic<Mode> mode{Mode::off};
std::atomic<int> number{0};  // of the signal; 0: none is free

/// Trivial, since the last calls of a library are made at exit, after the objects of threads have gone.
struct ThreadTimer {
  timer_t id;
  bool asked;
  bool there;
  volatile std::sig_atomic_t depth;
};
thread_local ThreadTimer timer{};

void set(long ns) noexcept {
  itimerspec when{};
  when.it_value.tv_nsec = ns;
  ::timer_settime(timer.id, 0, &when, nullptr);
}

void sleep_in_signal(int) {
  const int saved = errno;
  const timespec rest{0, kSleepNs};
  ::nanosleep(&rest, nullptr);
  if (timer.depth > 0) set(kSpinNs);  // counted from now: a timer that went on by itself would leave no time for work
  errno = saved;
}

/// Takes the highest real-time signal that does what it does by default.
void take_signal() {
  for (int candidate = SIGRTMAX; candidate >= SIGRTMIN; --candidate) {
    struct sigaction now {};
    if (::sigaction(candidate, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
    struct sigaction action {};
    action.sa_handler = sleep_in_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    if (::sigaction(candidate, &action, nullptr) == 0) number = candidate;
    return;
  }
}

/// False if this thread has none: the system refuses, or the signal is blocked here.
bool has_timer() noexcept {
  if (timer.asked) return timer.there;
  timer.asked = true;
  sigset_t blocked;
  const int signal = number.load();
  if (signal == 0 || ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked) != 0 || sigismember(&blocked, signal) != 0)
    return false;
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = signal;
  event.sigev_notify_thread_id = static_cast<pid_t>(::syscall(SYS_gettid));
  timer.there = ::timer_create(CLOCK_MONOTONIC, &event, &timer.id) == 0;
  return timer.there;
}

/// Those that the launcher may use: a rank itself may be bound to one.
int cores_of_job() {
  cpu_set_t set;
  if (::sched_getaffinity(::getppid(), sizeof set, &set) != 0 && ::sched_getaffinity(0, sizeof set, &set) != 0)
    return 0;
  return CPU_COUNT(&set);
}

Mode wanted(int ranks) {
  const char* text = std::getenv("MERGANSER_YIELD");
  const std::string_view value = text != nullptr ? text : "";
  if (value == "0") return Mode::off;
  if (value == "1") return Mode::oversubscribed;
  if (!value.empty())
    throw UsageError("MERGANSER_YIELD is '" + std::string(value) +
                     "'; allowed: 0 (ranks that wait keep their core), 1 (they sleep), or not set");
  return ranks > cores_of_job() ? Mode::oversubscribed : Mode::patient;
}

}  // namespace

void enable_yielding(int ranks) {
  static std::atomic<int> known{0};
  if (ranks > 0) known = ranks;
  mode = wanted(known);
  static std::once_flag once;
  if (mode != Mode::off) std::call_once(once, take_signal);
}

int ranks_here() {
  for (const char* name : {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_STEP_TASKS_PER_NODE"}) {
    const char* text = std::getenv(name);
    const int ranks = text != nullptr ? std::atoi(text) : 0;  // "4(x2)" is 4
    if (ranks > 0) return ranks;
  }
  return 0;
}

bool oversubscribed() noexcept { return mode.load(std::memory_order_relaxed) == Mode::oversubscribed; }

ScopedYield::ScopedYield(Call call) noexcept : on_(false) {
  const Mode now = mode.load(std::memory_order_relaxed);
  if (now == Mode::off || (now == Mode::patient && call == Call::brief) || !has_timer()) return;
  on_ = true;
  timer.depth = timer.depth + 1;
  if (timer.depth == 1) set(now == Mode::oversubscribed ? kSpinNs : kPatienceNs);
}

ScopedYield::~ScopedYield() {
  if (!on_) return;
  timer.depth = timer.depth - 1;
  if (timer.depth == 0) set(0);
}

}  // namespace merganser::comm::detail
