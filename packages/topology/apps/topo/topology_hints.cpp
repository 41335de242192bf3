// What doctor tells of records of topo bench, and of a measurement between two ranks.
#include "apps/topo/hints_of_cells.hpp"
#include "apps/topo/launches.hpp"

namespace merganser::app {
namespace {

constexpr double kMeasureSeconds = 5;

std::vector<Hint> hints_of_record(const std::string& path) {
  return measured_hints(known_of(read_json(path), path), path);
}

std::vector<Hint> hints_of_measurement() {
  return measured_hints(measure_job({"chain", false, 2, {"all"}, {"8", "65536"}, kMeasureSeconds, 1}),
                        "the measurement");
}

}  // namespace

extern const MeasuredHints topology_hints;
const MeasuredHints topology_hints = {hints_of_record, hints_of_measurement};

}  // namespace merganser::app
