// Sleeps inside polling calls of MPI or OpenSHMEM, by a timer per thread and a handler of a real-time signal.
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

constexpr long kSpinNs = 50'000;         // time in ns between two sleeps in a guarded library call
constexpr long kSleepNs = 50'000;        // length in ns of a sleep in a guarded library call
constexpr long kPatienceNs = 1'000'000;  // about the time for which a Waiter yields before it sleeps

/// Time after which a library call under a ScopedYield begins to sleep: never, after kPatienceNs, or after kSpinNs.
enum class Mode { off, patient, oversubscribed };
std::atomic<Mode> mode{Mode::off};
std::atomic<int> number{0};  // number of the signal; 0: no signal is free

/// Per-thread state of ScopedYield: the POSIX timer whose signal makes the thread sleep while a library polls. The type
/// is trivially destructible, because a library may make its last calls at exit, after the destructors of thread-local
/// objects have run.
struct ThreadTimer {
  timer_t id;
  bool asked;                        // has_timer() has run in this thread
  bool there;                        // the thread has a timer
  volatile std::sig_atomic_t depth;  // number of nested ScopedYields; read in the signal handler
};
thread_local ThreadTimer timer{};

/// Arms this thread's ScopedYield timer to send its signal once, after `ns` nanoseconds; 0 disarms the timer.
void arm_timer(long ns) noexcept {
  itimerspec when{};
  when.it_value.tv_nsec = ns;
  ::timer_settime(timer.id, 0, &when, nullptr);
}

/// Signal handler of the ScopedYield timer, which sleeps in the middle of a polling library call so that another rank gets the
/// core. Makes only async-signal-safe calls and keeps errno of the interrupted code.
void sleep_in_signal(int) {
  const int saved = errno;
  const timespec rest{0, kSleepNs};
  ::nanosleep(&rest, nullptr);
  // Re-armed after the sleep: a periodic timer could fire during it and leave no time for work.
  if (timer.depth > 0) arm_timer(kSpinNs);
  errno = saved;
}

/// Installs the sleeping handler of ScopedYield on the highest real-time signal that has its default action, that is which the
/// program does not use.
void reserve_signal() {
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

/// Returns true if this thread has a timer for ScopedYield; the first call in a thread creates it. False if no signal is free, the
/// thread blocks the signal, or the system refuses a timer: then the thread polls without sleeping.
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

/// Returns the number of cores that the job may use on this host; 0 if unknown. It is the affinity of the parent
/// process, the launcher, because a rank itself may be bound to a single core.
int count_job_cores() {
  cpu_set_t set;
  if (::sched_getaffinity(::getppid(), sizeof set, &set) != 0 && ::sched_getaffinity(0, sizeof set, &set) != 0)
    return 0;
  return CPU_COUNT(&set);
}

/// Chooses the mode of ScopedYield: by the variable MERGANSER_YIELD if set; else oversubscribed if `ranks`, the processes of the
/// job on this host, exceed the cores that the job may use, and patient if not. @throws UsageError for a bad value of the variable
Mode choose_mode(int ranks) {
  const char* text = std::getenv("MERGANSER_YIELD");
  const std::string_view value = text != nullptr ? text : "";
  if (value == "0") return Mode::off;
  if (value == "1") return Mode::oversubscribed;
  if (!value.empty())
    throw UsageError("MERGANSER_YIELD is '" + std::string(value) +
                     "'; allowed: 0 (ranks that wait keep their core), 1 (they sleep), or not set");
  return ranks > count_job_cores() ? Mode::oversubscribed : Mode::patient;
}

}  // namespace

// Set-up of ScopedYield in a process: the mode, and once the signal whose handler sleeps.
void enable_yielding(int ranks) {
  static std::atomic<int> known{0};
  if (ranks > 0) known = ranks;
  mode = choose_mode(known);
  static std::once_flag once;
  if (mode != Mode::off) std::call_once(once, reserve_signal);
}

// Reads the number of processes on this host from the environment; each launcher has a variable of its own.
int count_local_ranks() {
  for (const char* name : {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_STEP_TASKS_PER_NODE"}) {
    const char* text = std::getenv(name);
    const int ranks = text != nullptr ? std::atoi(text) : 0;  // "4(x2)" is 4
    if (ranks > 0) return ranks;
  }
  return 0;
}

bool oversubscribed() noexcept { return mode.load(std::memory_order_relaxed) == Mode::oversubscribed; }

// Begin of a guarded library call: the outermost guard of a thread arms its timer.
ScopedYield::ScopedYield(Call call) noexcept : on_(false) {
  const Mode now = mode.load(std::memory_order_relaxed);
  if (now == Mode::off || (now == Mode::patient && call == Call::brief) || !has_timer()) return;
  on_ = true;
  timer.depth = timer.depth + 1;
  if (timer.depth == 1) arm_timer(now == Mode::oversubscribed ? kSpinNs : kPatienceNs);
}

// End of a guarded library call: the outermost guard disarms the timer, so that the program's own system calls are not
// interrupted.
ScopedYield::~ScopedYield() {
  if (!on_) return;
  timer.depth = timer.depth - 1;
  if (timer.depth == 0) arm_timer(0);
}

}  // namespace merganser::comm::detail
