// Frame of commands that run on ranks: the choice of --comm auto, and the error line and exit code for each kind of exception.
#include "apps/frame/ranks.hpp"

#include <fmt/core.h>

#include <atomic>
#include <filesystem>
#include <new>
#include <system_error>

#include "apps/frame/command.hpp"
#include "apps/frame/job_report.hpp"
#include "merganser/base/text.hpp"
#include "merganser/stats/decision.hpp"

namespace merganser::app {
namespace {

/// Ends the run of a command after an error of this rank alone. If ranks are threads, it throws: the runtime releases
/// the other ranks and rethrows the error to the caller. If ranks are processes, it ends the job, because the other
/// ranks may wait for this one for ever; one message is printed however many ranks fail.
[[noreturn]] void end_after_local_failure(const comm::Transport& transport, const std::string& what, int code) {
  const std::string message = transport.size() > 1 ? fmt::format("rank {}: {}", transport.rank(), what) : what;
  if (!transport.capabilities().processes) throw Error(message, code);
  report_failing(code);
  comm::end_job(code, [&] {
    print_error_line(message, code);
    report_end(code);
  });
}

}  // namespace

// Names for the help and the condition of `--comm`.
std::string model_names() { return "auto|" + joined(comm::backends(), "|", &comm::Backend::name); }

std::string process_model_names() {
  std::string out;
  for (const auto& b : comm::backends())
    if (b.processes) out += (out.empty() ? "" : "|") + std::string(b.name);
  return out.empty() ? "p2p" : out;  // without any, a name that this build refuses, so that the condition is valid
}

Proposes known_models(std::vector<std::string> words) {
  for (const auto& b : comm::backends()) words.emplace_back(b.name);
  return {std::move(words)};
}

// Rule of `--comm auto`: of the models within 5 % of the fastest, the first in the order of backends(); a bootstrap
// over the measured passes tells which others are as fast.
comm::ModelChoice choose_model(std::span<const comm::MeasuredModel> models) {
  std::vector<Candidate> candidates;
  for (const auto& m : models) candidates.push_back({std::string(m.name), m.passes_ns, 0});
  const Decision decision = decide(candidates, {.resamples = 200});
  comm::ModelChoice choice{decision.chosen, {}};
  for (const auto& s : decision.order) {
    const bool equal = s.near_tie || s.candidate == decision.order.front().candidate;
    if (s.candidate != decision.chosen && equal) choice.equals.push_back(s.candidate);
  }
  return choice;
}

// Frame of every command that runs on ranks: maps each kind of exception to one line and one exit code.
int run_on_ranks(const RankOptions& options, const std::function<void(comm::Transport&)>& body) {
  std::atomic<int> code{0};
  comm::RunOptions run{options.comm, options.ranks, options.decorators, {}, choose_model};
  comm::run(run, [&](comm::Transport& transport) {
    report_working();
    try {
      body(transport);
    } catch (const comm::Released&) {
      throw;  // run() rethrows the error of the rank that failed
    } catch (const CollectiveError& e) {
      if (!transport.capabilities().processes) throw;
      code = e.exit_code();
      if (transport.rank() == 0) print_error_line(e.what(), e.exit_code());
    } catch (const Error& e) {
      end_after_local_failure(transport, e.what(), e.exit_code());
    } catch (const std::filesystem::filesystem_error& e) {
      end_after_local_failure(transport, e.what(), InputError("").exit_code());
    } catch (const std::system_error& e) {
      end_after_local_failure(transport, refusal_text(e), CommError("").exit_code());
    } catch (const std::bad_alloc&) {
      end_after_local_failure(transport, "out of memory; use more ranks or a smaller input", kInternalError);
    } catch (const std::exception& e) {
      end_after_local_failure(transport, e.what(), kInternalError);
    }
  });
  return code;
}

}  // namespace merganser::app
