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

/// A transport inside its decorators, which closes it at its end.
class Opened final : public detail::Decorator {
 public:
  Opened(std::unique_ptr<TransportBase> base, std::unique_ptr<Transport> decorated)
      : Decorator(decorated ? *decorated : *base, nullptr), base_(std::move(base)), decorated_(std::move(decorated)) {}
  ~Opened() override {
    if (std::uncaught_exceptions() > 0 || over()) return;  // the others may be anywhere
    try {
      base_->close();
    } catch (const std::exception&) {  // nobody is left to be told
    }
  }

 private:
  [[nodiscard]] std::unique_ptr<Transport> wrapped(std::unique_ptr<Transport> part) override { return part; }
  /// Whether the program has ended MPI first, and OpenSHMEM with it: nothing is left to be freed.
  [[nodiscard]] bool over() const {
    return capabilities().processes && detail::mpi() != nullptr && !detail::mpi()->communicators->running();
  }

  std::unique_ptr<TransportBase> base_;
  std::unique_ptr<Transport> decorated_;  // null without decorators
};

std::unique_ptr<Transport> opened(std::unique_ptr<TransportBase> base, const std::string& choice,
                                  const std::vector<detail::DecoratorSpec>& decorators) {
  base->note_choice(choice);
  auto decorated = detail::decorate(*base, decorators);
  return std::make_unique<Opened>(std::move(base), std::move(decorated));
}

/// A communicator of the caller's, and a transport of its ranks for what they must agree on first.
struct Ranks {
  int communicator;
  TransportBase& control;
};

void check_model(const BackendEntry& entry, const Ranks& ranks) {
  const std::string size = std::to_string(ranks.control.size());
  if (!entry.info.processes && ranks.control.size() > 1) {
    throw UsageError("model 'threads' over a communicator of " + size + " ranks; allowed: one rank");
  }
  if (entry.refusal == nullptr) return;
  if (const std::string why = entry.refusal(ranks.communicator); !why.empty()) throw UsageError(why);
}

/// Whether no rank refuses it.
bool all_can(const BackendEntry& entry, const Ranks& ranks) {
  if (entry.refusal == nullptr) return true;
  return ranks.control.all_reduce(entry.refusal(ranks.communicator).empty() ? 0 : 1, Op::max) == 0;
}

/// What every rank of the communicator says alike.
struct Wanted {
  std::string backend;
  std::vector<detail::DecoratorSpec> decorators;
};

Wanted agreed(const OpenOptions& options, const Ranks& ranks) {
  Wanted wanted{detail::wanted_name(options.backend), {}};
  agree(ranks.control, [&] {
    detail::read_wait_limit_again();
    choose_vectors();
    wanted.decorators = detail::parse_decorators(options.decorators);
    if (wanted.backend != "auto") check_model(detail::find_model(wanted.backend), ranks);
  });
  check_uniform_across_ranks(ranks.control, "open", {{"backend", wanted.backend}, {"decorators", options.decorators}});
  return wanted;
}

detail::Choice model_of(const Wanted& wanted, const OpenOptions& options, const Ranks& ranks) {
  if (wanted.backend != "auto") return {&detail::find_model(wanted.backend), ""};
  if (ranks.control.size() == 1) return {&detail::find_model("threads"), ""};
  auto models = detail::process_models();
  std::erase_if(models, [&](const BackendEntry* entry) { return !all_can(*entry, ranks); });
  const auto visit = [&](const BackendEntry& entry, const BackendEntry::Each& each) {
    detail::run_process([&] { return entry.open(ranks.communicator); }, each);
  };
  return detail::choose({std::move(models), visit, options.pattern, options.choose});
}

/// @throws UsageError beginning with `call` if there is nothing to be asked about the communicator
const detail::Communicators& communicators_for(const std::string& call, int communicator) {
  if (detail::mpi() == nullptr)
    throw UsageError(call +
                     ": this build has no MPI, so there are no communicators; allowed: open_alone(), run(), and a "
                     "plug-in for the MPI of the program, by use_mpi()");
  const detail::Communicators& communicators = *detail::mpi()->communicators;
  if (const std::string why = communicators.refusal(communicator); !why.empty()) throw UsageError(call + ": " + why);
  return communicators;
}

/// Runs the self test of the model over these ranks, unless it has passed on all of them before.
void self_test_over(const BackendEntry& entry, const Ranks& ranks) {
  const int size = ranks.control.size();
  if (size == 1) return;
  if (ranks.control.all_reduce(detail::self_test_passed(entry.info.name, size) ? 0 : 1, Op::max) == 0) return;
  detail::run_process([&] { return entry.open(ranks.communicator); }, detail::run_self_test);
}

std::unique_ptr<Transport> open_over(const Ranks& ranks, const OpenOptions& options) {
  const Wanted wanted = agreed(options, ranks);
  const detail::Choice choice = model_of(wanted, options, ranks);
  self_test_over(*choice.entry, ranks);
  std::unique_ptr<TransportBase> base;
  agree(ranks.control, [&] { base = choice.entry->open(ranks.communicator); });
  return opened(std::move(base), choice.line, wanted.decorators);
}

}  // namespace

std::unique_ptr<Transport> open(int communicator, const OpenOptions& options) {
  (void)communicators_for("open", communicator);
  const auto control = detail::find_model("p2p").open(communicator);
  try {
    auto transport = open_over({communicator, *control}, options);
    control->close();
    return transport;
  } catch (const std::exception& e) {
    if (detail::was_agreed(e)) control->close();
    throw;
  }
}

Cartesian cartesian(int communicator) {
  Cartesian found = communicators_for("cartesian", communicator).cartesian(communicator);
  if (found.shape.empty())
    throw UsageError("cartesian: the communicator has no Cartesian topology; allowed: one made by MPI_Cart_create");
  return found;
}

std::unique_ptr<Transport> open_alone(const std::string& decorators) {
  const auto list = detail::parse_decorators(decorators);
  detail::read_wait_limit_again();
  choose_vectors();
  return opened(detail::find_model("threads").start(), "", list);
}

Session::Session(const RunOptions& options) {
  const detail::Choice choice = detail::model_of_job(options);
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
    transport_ = opened(choice.entry->start(), choice.line, decorators);
  } catch (const std::exception& e) {
    if (!detail::was_agreed(e)) detail::mark_local_failure();
    throw;
  }
}

Session::~Session() {
  if (std::uncaught_exceptions() > 0) detail::mark_local_failure();
}

}  // namespace merganser::comm
