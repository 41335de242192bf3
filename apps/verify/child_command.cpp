// verify-child: the runs of one launched job of `verify`, which starts it; a hidden verb.
#include "apps/frame/command.hpp"
#include "apps/frame/ranks.hpp"
#include "apps/verify/runs.hpp"

namespace merganser::app {
namespace {

/// Arguments of the hidden command verify-child, filled by the option parser.
struct VerifyChild {
  std::string plan, output;         ///< JSON files: plan to read, tallies to write
  std::vector<std::string> models;  ///< communication models to verify in this job
};
/// Lists the arguments of verify-child for the option parser.
template <class V>
void describe(VerifyChild& o, V&& option) {
  option.positional("PLAN", o.plan, "plan of the runs (JSON)", Required{}, Reads{});
  option.positional("OUT", o.output, "tallies to write (JSON)", Required{}, Writes{});
  option.positional("MODEL", o.models, "communication models", Required{});
}

/// Body of the hidden command verify-child: executes the runs of a plan on this job's ranks, and writes the tallies after each
/// model, so that those of earlier models remain if a later one fails.
int run(VerifyChild& o, const Invocation&) {
  const VerifyPlan plan = parse_plan(read_json(o.plan));
  const comm::World world = comm::launcher_world();
  Json out;
  for (const auto& model : o.models) {
    Tally tally;
    if (const int code = run_all(plan, model, world.size, tally); code != 0) return code;
    out[model] = to_json(tally);
    if (world.rank == 0) write_record(o.output, out);
  }
  return 0;
}

}  // namespace

extern const Command verify_child_command;
const Command verify_child_command =
    hidden(make_command<VerifyChild, run>("verify-child", "runs of one launched job of verify", ""));

}  // namespace merganser::app
