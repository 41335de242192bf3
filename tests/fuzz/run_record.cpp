// requires: apps topology
/// Reads a run record as compare, topo advise and doctor do.
#include "apps/compare/record.hpp"
#include "apps/topo/hints_of_cells.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

using namespace app;

bool feed_run_record(std::string_view input) {
  Json json;
  if (!read_or_refuse([&] { json = parse_json(input, "file"); })) return false;
  static_cast<void>(read_or_refuse([&] { static_cast<void>(measured_hints(read_known(json, "file"), "file")); }));
  static_cast<void>(read_or_refuse([&] { static_cast<void>(machine_text(json, "file")); }));
  RecordFacts facts;
  if (!read_or_refuse([&] { facts = extract_facts(json, "file"); })) return false;
  static_cast<void>(read_or_refuse([&] { add_launches(facts, extract_facts(json, "other")); }));
  return true;
}

}  // namespace

extern const Target run_record_target{"run_record", 8192, feed_run_record};

}  // namespace merganser::fuzz
