// Transports without a callback: over a communicator of the program, over one process, and over the launcher's ranks (Session).
#include "merganser/comm/open.hpp"

#include <exception>
#include <utility>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/vectors.hpp"
#include "src/comm/decorators/decorator.hpp"
#include "src/comm/decorators/decorators.hpp"
#include "src/comm/detail/models.hpp"
#include "src/comm/detail/process.hpp"
#include "src/comm/detail/self_test.hpp"
#include "src/comm/detail/waiter.hpp"

namespace merganser::comm {
namespace {

using detail::BackendEntry;
using detail::TransportBase;

/// Owner of a transport that open(), open_alone() or Session has made, and of its decorators; its destructor closes the transport,
/// collectively.
class Opened final : public detail::Decorator {
 public:
  Opened(std::unique_ptr<TransportBase> base, std::unique_ptr<Transport> decorated)
      : Decorator(decorated ? *decorated : *base, nullptr), base_(std::move(base)), decorated_(std::move(decorated)) {}
  /// Closes the transport, unless an exception unwinds or the program has finalised MPI. Collective.
  ~Opened() override {
    // During unwinding the other ranks may be in any call, so nothing collective is safe.
    if (std::uncaught_exceptions() > 0 || has_mpi_ended()) return;
    try {
      base_->close();
    } catch (const std::exception&) {  // a destructor cannot report it
    }
  }

 private:
  [[nodiscard]] std::unique_ptr<Transport> wrapped(std::unique_ptr<Transport> part) override { return part; }
  /// Returns true if the program has finalised MPI, and OpenSHMEM with it: then nothing of the transport is left to be freed.
  [[nodiscard]] bool has_mpi_ended() const {
    return capabilities().processes && detail::mpi() != nullptr && !detail::mpi()->communicators->running();
  }

  std::unique_ptr<TransportBase> base_;   // the transport of the communication model
  std::unique_ptr<Transport> decorated_;  // null without decorators
};

/// Wraps a transport of open() into its decorators and an owner that closes it. Local.
/// @param choice  line on the communication models that "auto" measured
std::unique_ptr<Transport> make_opened(std::unique_ptr<TransportBase> base, const std::string& choice,
                                       const std::vector<detail::DecoratorSpec>& decorators) {
  base->note_choice(choice);
  auto decorated = detail::decorate(*base, decorators);
  return std::make_unique<Opened>(std::move(base), std::move(decorated));
}

/// Communicator of the program over which open() makes a transport, and a temporary transport over the same ranks for checks and
/// choices before.
struct OpeningRanks {
  int communicator;        // as a Fortran handle
  TransportBase& control;  // over two-sided MPI, which any communicator allows
};

/// Validates that a communication model can run on the ranks of the program's communicator. Local. @throws UsageError if it cannot
void check_model(const BackendEntry& entry, const OpeningRanks& ranks) {
  const std::string size = std::to_string(ranks.control.size());
  if (!entry.info.processes && ranks.control.size() > 1) {
    throw UsageError("model 'threads' over a communicator of " + size + " ranks; allowed: one rank");
  }
  if (entry.refusal == nullptr) return;
  if (const std::string why = entry.refusal(ranks.communicator); !why.empty()) throw UsageError(why);
}

/// Returns true on every rank if the communication model can run on all ranks of the program's communicator. Collective.
bool is_accepted_by_all(const BackendEntry& entry, const OpeningRanks& ranks) {
  if (entry.refusal == nullptr) return true;
  return ranks.control.all_reduce(entry.refusal(ranks.communicator).empty() ? 0 : 1, Op::max) == 0;
}

/// Options of open() that agree_on_options() has checked to be equal on all ranks of the communicator.
struct CheckedOptions {
  std::string backend;                            // name of the communication model, or "auto"
  std::vector<detail::DecoratorSpec> decorators;  // in the order of the option
};

/// Validates the options of open() on every rank of the communicator and compares them over all. Collective. @throws UsageError on
/// every rank if an option is invalid or differs
CheckedOptions agree_on_options(const OpenOptions& options, const OpeningRanks& ranks) {
  CheckedOptions wanted{detail::resolve_backend_name(options.backend), {}};
  agree(ranks.control, [&] {
    detail::update_wait_limit();
    choose_vectors();
    wanted.decorators = detail::parse_decorators(options.decorators);
    if (wanted.backend != "auto") check_model(detail::find_model(wanted.backend), ranks);
  });
  check_uniform_across_ranks(ranks.control, "open", {{"backend", wanted.backend}, {"decorators", options.decorators}});
  return wanted;
}

/// Chooses the communication model of open(): the named model, threads for one rank, else the fastest by measurement.
/// Collective.
detail::Choice choose_model(const CheckedOptions& wanted, const OpenOptions& options, const OpeningRanks& ranks) {
  if (wanted.backend != "auto") return {&detail::find_model(wanted.backend), ""};
  if (ranks.control.size() == 1) return {&detail::find_model("threads"), ""};
  auto models = detail::process_models();
  std::erase_if(models, [&](const BackendEntry* entry) { return !is_accepted_by_all(*entry, ranks); });
  const auto visit = [&](const BackendEntry& entry, const BackendEntry::Each& each) {
    detail::run_process([&] { return entry.open(ranks.communicator); }, each);
  };
  return detail::measure_and_choose({std::move(models), visit, options.pattern, options.choose});
}

/// Returns the entry points for communicators of the MPI in use, after validating the program's communicator. Local.
/// @throws UsageError, with `call` before the text, without MPI and for a communicator that cannot be used
const detail::Communicators& require_communicators(const std::string& call, int communicator) {
  if (detail::mpi() == nullptr)
    throw UsageError(call +
                     ": this build has no MPI, so there are no communicators; allowed: open_alone(), run(), and a "
                     "plug-in for the MPI of the program, by use_mpi()");
  const detail::Communicators& communicators = *detail::mpi()->communicators;
  if (const std::string why = communicators.refusal(communicator); !why.empty()) throw UsageError(call + ": " + why);
  return communicators;
}

/// Runs the self test of a communication model over the ranks of the program's communicator, by a transport of its own, unless all
/// of them have passed it before. Collective.
void self_test_over(const BackendEntry& entry, const OpeningRanks& ranks) {
  const int size = ranks.control.size();
  if (size == 1) return;
  if (ranks.control.all_reduce(detail::self_test_passed(entry.info.name, size) ? 0 : 1, Op::max) == 0) return;
  detail::run_process([&] { return entry.open(ranks.communicator); }, detail::run_self_test);
}

/// Opens a transport over the ranks of the program's communicator in four steps: options, choice of the model, self test, then
/// the transport. Collective.
std::unique_ptr<Transport> open_over(const OpeningRanks& ranks, const OpenOptions& options) {
  const CheckedOptions wanted = agree_on_options(options, ranks);
  const detail::Choice choice = choose_model(wanted, options, ranks);
  self_test_over(*choice.entry, ranks);
  std::unique_ptr<TransportBase> base;
  agree(ranks.control, [&] { base = choice.entry->open(ranks.communicator); });
  return make_opened(std::move(base), choice.line, wanted.decorators);
}

}  // namespace

// Makes a transport over a communicator of the program; a temporary transport of the model p2p serves for the checks before.
std::unique_ptr<Transport> open(int communicator, const OpenOptions& options) {
  (void)require_communicators("open", communicator);
  const auto control = detail::find_model("p2p").open(communicator);
  try {
    auto transport = open_over({communicator, *control}, options);
    control->close();
    return transport;
  } catch (const std::exception& e) {
    if (detail::was_agreed(e)) control->close();  // collective: only if every rank throws the same error
    throw;
  }
}

Cartesian cartesian(int communicator) {
  Cartesian found = require_communicators("cartesian", communicator).cartesian(communicator);
  if (found.shape.empty())
    throw UsageError("cartesian: the communicator has no Cartesian topology; allowed: one made by MPI_Cart_create");
  return found;
}

// Makes a transport of one rank by the model threads, without any library.
std::unique_ptr<Transport> open_alone(const std::string& decorators) {
  const auto list = detail::parse_decorators(decorators);
  detail::update_wait_limit();
  choose_vectors();
  return make_opened(detail::find_model("threads").start(), "", list);
}

// Makes the transport of all ranks of the launcher for the life of an object instead of one call of run().
Session::Session(const RunOptions& options) {
  const detail::Choice choice = detail::choose_job_model(options);
  detail::check_ranks(options, choice.entry->info);
  if (!choice.entry->info.processes && options.ranks > 1) {
    throw UsageError("a Session of " + std::to_string(options.ranks) +
                     " thread ranks; allowed: one in a process without a launcher, or run()");
  }
  detail::read_wait_limit();
  choose_vectors();
  const auto decorators = detail::parse_decorators(options.decorators);
  detail::self_test_over_world(*choice.entry);
  try {
    transport_ = make_opened(choice.entry->start(), choice.line, decorators);
  } catch (const std::exception& e) {
    if (!detail::was_agreed(e)) detail::mark_local_failure();
    throw;
  }
}

Session::~Session() {
  if (std::uncaught_exceptions() > 0) detail::mark_local_failure();
}

}  // namespace merganser::comm
