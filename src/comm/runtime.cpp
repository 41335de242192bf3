#include "merganser/comm/runtime.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "merganser/base/error.hpp"
#include "merganser/base/resources.hpp"
#include "merganser/base/text.hpp"
#include "src/comm/decorators/decorators.hpp"
#include "src/comm/detail/auto_choice.hpp"
#include "src/comm/detail/registry.hpp"
#include "src/comm/detail/waiter.hpp"

namespace merganser::comm {
namespace {

std::mutex choice_mutex;
std::string choice_line;

void remember_choice(const std::string& line) {
  const std::scoped_lock lock(choice_mutex);
  choice_line = line;
}

[[noreturn]] void refuse_name(std::string_view name) {
  std::string text = "unknown communication model '" + std::string(name) + "'; known: auto";
  for (const auto& backend : backends()) text += " " + std::string(backend.name);
  for (const auto& missing : missing_backends()) text += "; not in this build: " + std::string(missing);
  throw UsageError(text);
}

const detail::BackendEntry& find(std::string_view name) {
  for (const auto* entry : detail::backend_entries()) {
    if (entry->info.name == name) return *entry;
  }
  refuse_name(name);
}

std::string wanted_name(const RunOptions& options) {
  if (options.backend != "auto") return options.backend;
  const char* pinned = std::getenv("MERGANSER_COMM");
  return pinned != nullptr && *pinned != '\0' ? pinned : "auto";
}

void check_ranks(const RunOptions& options, const Backend& backend) {
  if (options.ranks < 0) {
    throw UsageError("ranks is " + std::to_string(options.ranks) + "; allowed: 0 (the default) and more");
  }
  const int world = launcher_world().size;
  if (!backend.processes && world > 1) {
    throw UsageError("model 'threads' runs in one process, but a launcher started this one as one of " +
                     std::to_string(world) + " ranks; start it without a launcher or choose a model of processes");
  }
  if (backend.processes && options.ranks != 0 && options.ranks != world) {
    throw UsageError(
        "model '" + std::string(backend.name) + "' is asked for " + std::to_string(options.ranks) + " ranks, but " +
        (world > 1 ? "the launcher started " + std::to_string(world) : std::string("no launcher started them")) +
        "; use: mpirun -n " + std::to_string(options.ranks));
  }
}

void run_on(const detail::BackendEntry& entry, const RunOptions& options, const std::function<void(Transport&)>& body) {
  check_ranks(options, entry.info);
  detail::read_wait_limit();
  const auto decorators = detail::parse_decorators(options.decorators);
  entry.run(options.ranks == 0 ? 1 : options.ranks, [&](detail::TransportBase& transport) {
    const auto decorated = detail::decorate(transport, decorators);
    body(decorated ? *decorated : static_cast<Transport&>(transport));
  });
}

}  // namespace

std::span<const Backend> backends() {
  static const std::vector<Backend> all = [] {
    std::vector<Backend> infos;
    for (const auto* entry : detail::backend_entries()) infos.push_back(entry->info);
    return infos;
  }();
  return all;
}

void check_backend(std::string_view name) {
  if (name != "auto") (void)find(name);
}

std::span<const std::string_view> missing_backends() { return detail::missing_backend_names(); }

bool launched() { return launcher_world().size > 1; }

void run(const RunOptions& options, const std::function<void(Transport&)>& body) {
  remember_choice({});
  const std::string name = wanted_name(options);
  if (name != "auto") return run_on(find(name), options, body);
  if (!launched()) return run_on(find("threads"), options, body);
  const auto choice = detail::choose(options);
  remember_choice(choice.line);
  run_on(*choice.entry, options, body);
}

void check_thread_ranks(int ranks) {
  // Stack and kernel memory of a thread, its transport and its share of the heap; what a gather holds of each other.
  constexpr double kBytesPerRank = 48 * 1024;
  constexpr double kBytesPerPair = 64;
  const ThreadRoom room = thread_room();
  const auto there = static_cast<double>(available_bytes());
  // The greatest P with P (a + b P) below what is there.
  const double fit = there == 0
                         ? 0x1p31
                         : (std::sqrt(kBytesPerRank * kBytesPerRank + 4 * kBytesPerPair * there) - kBytesPerRank) /
                               (2 * kBytesPerPair);
  const std::int64_t most = std::min(room.more + 1, std::max<std::int64_t>(1, static_cast<std::int64_t>(fit)));
  if (ranks <= most) return;
  const double p = ranks;
  throw UsageError("ranks: " + std::to_string(ranks) + " threads, which need about " +
                   bytes_text(p * (kBytesPerRank + kBytesPerPair * p)) + "; allowed here: up to " +
                   std::to_string(most) + " (" + (most <= room.more ? "there is " + bytes_text(there) : room.limit) +
                   "); more ranks need processes on more machines: merganser run -n N");
}

std::string last_choice() {
  const std::scoped_lock lock(choice_mutex);
  return choice_line;
}

void abort(int exit_code) {
  if (detail::mpi() != nullptr) detail::mpi()->abort(exit_code);
  if (detail::shmem() != nullptr) detail::shmem()->abort(exit_code);
  std::_Exit(exit_code);
}

namespace {

constexpr auto kGrace = std::chrono::milliseconds(300);  // in which others that fail at the same time are heard
constexpr auto kMostWait = std::chrono::seconds(10);     // until the rank that speaks has ended the job

bool is_comm(int exit_code) { return exit_code == CommError("").exit_code(); }

/// Whether another rank's failure tells more than this one's: those of communication follow from others.
bool tells_more(const detail::FailureNotice& theirs, const detail::FailureNotice& mine) {
  if (is_comm(theirs.exit_code) != is_comm(mine.exit_code)) return is_comm(mine.exit_code);
  return theirs.rank < mine.rank;
}

/// Whether this rank is the one that tells the user.
bool speaks(const detail::Library& library, int exit_code) {
  if (!library.heard_failures().empty()) return false;
  const detail::FailureNotice mine{launcher_world().rank, exit_code};
  library.tell_failure(exit_code);
  const bool foremost = mine.rank == 0 && !is_comm(exit_code);
  const auto end = std::chrono::steady_clock::now() + (foremost ? kGrace / 10 : kGrace);
  while (std::chrono::steady_clock::now() < end) {  // this also lets the notices leave
    for (const auto& theirs : library.heard_failures()) {
      if (tells_more(theirs, mine)) return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace

void end_job(int exit_code, const std::function<void()>& tell) {
  const detail::Library* library = detail::mpi() != nullptr ? detail::mpi() : detail::shmem();
  if (launched() && library != nullptr && !speaks(*library, exit_code)) {
    std::this_thread::sleep_for(kMostWait);
  } else {
    tell();
  }
  abort(exit_code);
}

std::string mpi_library() { return detail::mpi() != nullptr ? detail::mpi()->version() : "none"; }
std::string shmem_library() { return detail::shmem() != nullptr ? detail::shmem()->version() : "none"; }

}  // namespace merganser::comm
