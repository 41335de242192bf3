// Hints of doctor: from a record of topo bench, and from a short measurement between two ranks.
#include "apps/topo/hints_of_cells.hpp"
#include "apps/topo/launches.hpp"

namespace merganser::app {
namespace {

/// Returns the hints of doctor that follow from the measured exchanges in a record of topo bench. @throws InputError
std::vector<Hint> record_hints(const std::string& path) {
  return measured_hints(read_known(read_json(path), path), path);
}

/// Measures exchanges between two ranks for about 5 s with all kernels, and returns the hints of doctor that follow from them.
std::vector<Hint> measurement_hints() {
  TopoBenchOptions o;
  o.graphs = {"chain"};
  o.models = {"all"};
  o.sizes = {"8", "65536"};
  o.ranks = 2;
  o.time = 5;
  return measured_hints(measure_known(std::move(o)), "the measurement");
}

}  // namespace

extern const MeasuredHints topology_hints;
const MeasuredHints topology_hints = {record_hints, measurement_hints};

}  // namespace merganser::app
