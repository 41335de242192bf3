// Hints from measured cells: kernels are compared within one graph, size and completion class only.
#include "apps/topo/hints_of_cells.hpp"

#include <fmt/core.h>

#include "apps/frame/table.hpp"
#include "merganser/base/text.hpp"

namespace merganser::app {
namespace {

constexpr double kFarSlower = 3;  // ratio of a one-sided to a two-sided time in one completion class

/// Returns the least median time [ns] of a communication model's kernels on the graph, size and completion class of the cell
/// `like`, and sets the name of that kernel; 0 if none was measured.
double fastest_time(const std::vector<topology::KnownCell>& cells, const topology::KnownCell& like,
                    const std::string& model, std::string& kernel) {
  double best = 0;
  for (const auto& c : cells)
    if (c.model == model && c.completion == like.completion && c.graph == like.graph &&
        c.load.bytes == like.load.bytes && (best == 0 || c.time() < best)) {
      best = c.time();
      kernel = c.kernel;
    }
  return best;
}

/// Adds a hint of doctor for each one-sided model (rma, shmem) that is over 3 times slower than p2p in at least half of the cells.
void add_slow_models(const std::vector<topology::KnownCell>& cells, std::vector<Hint>& out) {
  for (const char* model : {"rma", "shmem"}) {
    double worst = kFarSlower;
    int slow = 0, all = 0;
    std::string evidence;
    for (const auto& c : cells) {
      if (c.model != "p2p") continue;
      std::string one_sided, two_sided;
      const double theirs = fastest_time(cells, c, model, one_sided);
      const double ours = fastest_time(cells, c, "p2p", two_sided);
      if (theirs == 0 || c.kernel != two_sided) continue;
      ++all;
      if (theirs <= kFarSlower * ours) continue;
      ++slow;
      if (theirs / ours <= worst) continue;
      worst = theirs / ours;
      evidence = one_sided + " takes " + seconds_text(theirs * 1e-9) + ", " + two_sided + ' ' +
                 seconds_text(ours * 1e-9) + " (both " + c.completion + ", " + bytes_text(c.load.size()) +
                 " an arc): " + fixed_text(worst, 1) + " times";
    }
    // A few cells may be slow by their size or by noise.
    if (slow == 0 || 2 * slow < all) continue;
    out.push_back({std::string(model) + " is more than three times slower than two-sided messages doing the same",
                   fmt::format("{}; so in {} of {} cells", evidence, slow, all),
                   std::string(model) == "rma"
                       ? "see which component serves windows: OMPI_MCA_osc=sm,rdma,pt2pt on one host; a component that "
                         "needs the target's help (pt2pt, ucx) does this"
                       : "see UCX_TLS (it must hold sm, or be unset) and the symmetric heap's place; else use p2p"});
  }
}

}  // namespace

// Hints of doctor from measured exchanges: slow one-sided models, kernels with signals that do not work, oversubscription.
std::vector<Hint> measured_hints(const Known& known, const std::string& source) {
  std::vector<Hint> out;
  add_slow_models(known.cells, out);
  for (const auto& u : known.unusable)
    if (u.kernel.find("signal") != std::string::npos)
      out.push_back({u.kernel + " does not work here", u.reason,
                     "use shmem.put-signal with slots of its own, or a library with OpenSHMEM 1.5"});
  if (known.oversubscribed)
    out.push_back({"ranks shared cores while this was measured: times are those of the scheduler",
                   source + ": oversubscribed", "measure with at most one rank for each core"});
  return out;
}

}  // namespace merganser::app
