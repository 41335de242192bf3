#include "merganser/comm/runtime.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <thread>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/base/resources.hpp"
#include "merganser/base/text.hpp"
#include "merganser/base/vectors.hpp"
#include "src/comm/decorators/decorators.hpp"
#include "src/comm/detail/auto_choice.hpp"
#include "src/comm/detail/models.hpp"
#include "src/comm/detail/process.hpp"
#include "src/comm/detail/registry.hpp"
#include "src/comm/detail/waiter.hpp"

namespace merganser::comm {
namespace {

void run_on(const detail::BackendEntry& entry, const RunOptions& options, const std::string& choice,
            const std::function<void(Transport&)>& body) {
  detail::check_ranks(options, entry.info);
  detail::read_wait_limit();
  choose_vectors();
  const auto decorators = detail::parse_decorators(options.decorators);
  const auto each = [&](detail::TransportBase& transport) {
    transport.note_choice(choice);
    const auto decorated = detail::decorate(transport, decorators);
    body(decorated ? *decorated : static_cast<Transport&>(transport));
  };
  if (entry.run != nullptr) return entry.run(options.ranks == 0 ? 1 : options.ranks, each);
  detail::self_test_over_world(entry);
  detail::run_process(entry.start, each);
}

}  // namespace

std::span<const Backend> backends() {
  static detail::ListOfAll<Backend> all;
  return all.get([] { return detail::infos_of<Backend>(detail::backend_entries()); });
}

void check_backend(std::string_view name) {
  if (name != "auto") (void)detail::find_model(name);
}

std::span<const std::string_view> missing_backends() { return detail::missing_backend_names(); }

bool launched() { return launcher_world().size > 1; }

void run(const RunOptions& options, const std::function<void(Transport&)>& body) {
  const detail::Choice choice = detail::model_of_job(options);
  run_on(*choice.entry, options, choice.line, body);
}

void check_thread_ranks(int ranks) {
  if (ranks <= 1) return;  // the thread that asks, which is there
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

void abort(int exit_code) {
  if (detail::mpi() != nullptr) detail::mpi()->abort(exit_code);
  if (detail::shmem() != nullptr) detail::shmem()->abort(exit_code);
  std::_Exit(exit_code);
}

namespace {

constexpr auto kGrace = std::chrono::milliseconds(300);  // within which failures of other ranks are collected
constexpr auto kMaxWait = std::chrono::seconds(10);      // until the rank that speaks has ended the job
// In which the launcher passes on what a rank has told: Hydra drops what it has not read when a rank aborts.
constexpr auto kForwarding = std::chrono::milliseconds(100);

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
    std::this_thread::sleep_for(kMaxWait);
  } else {
    tell();
    if (launched()) std::this_thread::sleep_for(kForwarding);
  }
  abort(exit_code);
}

std::vector<std::string> library_faults() {
  std::vector<std::string> known;
  for (const detail::Library* library : {detail::mpi(), detail::shmem()}) {
    if (library == nullptr || library->faults == nullptr) continue;
    for (std::string& fault : library->faults()) known.push_back(std::move(fault));
  }
  return known;
}
std::string mpi_library() { return detail::mpi() != nullptr ? detail::mpi()->version() : "none"; }
std::string shmem_library() { return detail::shmem() != nullptr ? detail::shmem()->version() : "none"; }

}  // namespace merganser::comm
