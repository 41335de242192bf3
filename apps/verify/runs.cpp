// Runs of verify: merge steps in every decomposition, search and pruning, whose digests are compared with the serial reference.
#include "apps/verify/runs.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "apps/cluster/difference.hpp"
#include "apps/cluster/merge_options.hpp"
#include "apps/frame/gather.hpp"
#include "apps/frame/progress.hpp"
#include "apps/frame/ranks.hpp"
#include "apps/verify/cases.hpp"
#include "merganser/base/timer.hpp"
#include "merganser/cluster/redistribution.hpp"
#include "merganser/cluster/reference.hpp"
#include "merganser/io/parcel_file.hpp"

namespace merganser::app {
namespace {

/// Input of a run of verify as one rank holds it before it is distributed to the owners of positions.
struct Input {
  Grid grid;
  double ratio = 20;  // volume of a cell over that below which a parcel is small
  Parcels mine;       // this rank's part of the parcels
};

/// Loads an input of verify, each parcel on one rank: a generated one dealt round-robin, or a file's. Collective.
Input load_input(const VerifyPlan& plan, std::size_t index, comm::Transport& t) {
  Input in;
  if (index >= static_cast<std::size_t>(plan.samples)) {
    const std::size_t file = index - static_cast<std::size_t>(plan.samples);
    const std::string& path = plan.files[file];
    const io::ParcelFileInfo info = io::read_info(path, t);
    in.grid = info.grid;
    in.ratio = plan.file_ratios.at(file);
    in.mine = io::read_parcels(path, info, t);
    return in;
  }
  const Case c = make_case(plan.seed, static_cast<int>(index));
  in.grid = c.grid;
  in.ratio = c.min_volume_ratio;
  for (std::size_t i = 0; i < c.parcels.size(); ++i)
    if (static_cast<int>(i % static_cast<std::size_t>(t.size())) == t.rank())
      in.mine.append(c.parcels.site(i), c.parcels.row(i));
  return in;
}

/// Executes kVerifySteps merge steps on a copy of the parcels `start`. Collective. @return this rank's parcels after them
Parcels merge_steps(comm::Transport& t, const Decomposition& d, const Parcels& start, const ClusterOptions& options) {
  Parcels p = start;
  Clusterer clusterer(t, d, p.schema(), options, &p);
  Redistribution redistribute(t, clusterer);
  for (int i = 0; i < kVerifySteps; ++i) {
    clusterer.step(p);
    redistribute(p);
  }
  return p;
}

/// Returns the first difference of merged parcels to those of the serial reference on rank 0, which computes it; empty on the
/// others. Collective.
std::string explain_mismatch(const VerifyPlan& plan, std::size_t index, const MethodOptions& m, comm::Transport& t,
                             const Parcels& got) {
  const Parcels all = collect(t, got);
  Input in = load_input(plan, index, t);
  Parcels reference = collect(t, in.mine);
  if (t.rank() != 0) return "";
  for (int i = 0; i < kVerifySteps; ++i) cluster_reference(reference, in.grid, cluster_options(m, in.ratio));
  const std::string text = first_difference(reference, all);
  return text.empty() ? "the digest differs, but no parcel does" : text;
}

/// Returns distinct decompositions of a grid over the ranks of `t`; with several ranks the last has balanced cuts. Collective.
std::vector<Decomposition> distinct_decompositions(const Grid& grid, const Parcels& parcels, comm::Transport& t) {
  const std::string n = std::to_string(t.size());
  std::vector<Decomposition> out;
  std::vector<std::string> seen;
  for (const std::string& shape :
       {std::string("auto"), n + "x1x1", "1x" + n + "x1", "1x1x" + n, std::string("2d"), std::string("3d")}) {
    try {
      Decomposition d(grid, t.size(), shape);
      if (std::find(seen.begin(), seen.end(), d.describe()) != seen.end()) continue;
      seen.push_back(d.describe());
      out.push_back(std::move(d));
    } catch (const Error&) {
      // Does not fit this grid.
    }
  }
  if (!out.empty() && t.size() > 1) {
    BlockOptions balanced;
    balanced.decomposition = out[0].describe();
    balanced.balance = true;
    out.push_back(decompose(grid, balanced, parcels, t));
  }
  return out;
}

/// One rank's part of the runs of verify on one model and number of ranks: executes runs and compares their digests with the
/// expected ones.
class Verifier {
 public:
  /// Counts runs and failures in `tally`, on rank 0.
  Verifier(const VerifyPlan& plan, comm::Transport& t, std::string model, Tally& tally)
      : plan_(plan), t_(t), model_(std::move(model)), tally_(tally) {}

  /// Executes the runs of every decomposition, search and pruning on one input of verify. Collective.
  void verify_input(std::size_t index) {
    Input in = load_input(plan_, index, t_);
    const auto epochs = epoch_choices().words;
    for (const Decomposition& d : distinct_decompositions(in.grid, in.mine, t_)) {
      Parcels start = in.mine;
      distribute(start, d, t_);
      if (t_.rank() == 0) ++tally_.shapes;
      for (std::size_t s = 0; s < plan_.searches.size(); ++s)
        for (const Prune prune : plan_.prunes) {
          // Epoch and sub-communicator must not affect the result either; they vary with the input to limit the number of runs.
          const MethodOptions m{plan_.searches[s], prune, epochs[(index + s) % epochs.size()].second,
                                index % 2 == 1 && t_.capabilities().sub_transports};
          run_once(index, s, m, in.ratio, d, start, "");
        }
    }
  }

  /// Executes one run of verify under the chaos decorator, with input, decomposition, search and pruning chosen by the seed.
  /// Collective.
  void run_chaos(int seed) {
    const auto index = static_cast<std::size_t>(seed) % static_cast<std::size_t>(plan_.samples);
    Input in = load_input(plan_, index, t_);
    const auto all = distinct_decompositions(in.grid, in.mine, t_);
    if (all.empty()) return;
    const Decomposition& d = all[static_cast<std::size_t>(seed) / 7 % all.size()];
    Parcels start = in.mine;
    distribute(start, d, t_);
    const auto u = static_cast<std::size_t>(seed);
    const std::size_t s = u / 2 % plan_.searches.size();
    const MethodOptions m{plan_.searches[s], plan_.prunes[u % plan_.prunes.size()], epoch_choices().words[u % 3].second,
                          false};
    run_once(index, s, m, in.ratio, d, start, fmt::format(", chaos:{}", seed));
  }

 private:
  /// Executes one run of verify, and counts it on rank 0. The first mismatch is explained, which gathers parcels: all ranks count
  /// mismatches alike, so all take part in it.
  void run_once(std::size_t index, std::size_t search, const MethodOptions& m, double ratio, const Decomposition& d,
                const Parcels& start, const std::string& extra) {
    const std::string label =
        fmt::format("{}, {} ranks, {}, blocks {}, search {}, prune {}{}: ", plan_.input_name(index), t_.size(), model_,
                    d.describe(), search_name(m.search), prune_name(m.prune), extra);
    Parcels got;
    try {
      got = merge_steps(t_, d, start, cluster_options(m, ratio));
    } catch (const Error& e) {
      throw Error(label + e.what(), e.exit_code());
    }
    const std::string text = total_digest(t_, digest(got)).to_string();
    const bool good = text == plan_.expected[index][search];
    std::string why;
    if (!good && mismatches_ == 0) why = explain_mismatch(plan_, index, m, t_, got);
    if (!good) ++mismatches_;
    if (t_.rank() != 0) return;
    ++(extra.empty() ? tally_.runs : tally_.chaos_runs);
    if (good) return;
    if (++tally_.failures == 1) tally_.first_failure = label + why;
  }

  const VerifyPlan& plan_;
  comm::Transport& t_;
  std::string model_;
  Tally& tally_;
  int mismatches_ = 0;  // so far, the same on every rank
};

/// Executes all runs of verify on one model and number of ranks: every combination on every input, then its share of the chaos
/// seeds.
int make_runs(const VerifyPlan& plan, const std::string& model, int ranks, Tally& tally) {
  int code = run_on_ranks({model, ranks, ""}, [&](comm::Transport& t) {
    Verifier v(plan, t, model, tally);
    ProgressLine line(t.rank() == 0);
    for (std::size_t i = 0; i < plan.inputs(); ++i) {
      line.show_count("runs on input", static_cast<double>(i + 1), static_cast<double>(plan.inputs()));
      v.verify_input(i);
    }
  });
  if (plan.samples == 0) return code;
  const auto turns = static_cast<int>(plan.ranks.size());
  const auto turn = static_cast<int>(std::find(plan.ranks.begin(), plan.ranks.end(), ranks) - plan.ranks.begin());
  ProgressLine line(comm::launcher_world().rank == 0);
  for (std::int64_t next = turn; next < plan.chaos && code == 0; next += turns) {
    const int seed = static_cast<int>(next);
    line.show_count("chaos seed", seed, plan.chaos);
    code = run_on_ranks({model, ranks, fmt::format("chaos:{}", seed)},
                        [&](comm::Transport& t) { Verifier(plan, t, model, tally).run_chaos(seed); });
  }
  return code;
}

}  // namespace

std::string VerifyPlan::input_name(std::size_t input) const {
  if (input >= static_cast<std::size_t>(samples)) return files[input - static_cast<std::size_t>(samples)];
  return "sample " + make_case(seed, static_cast<int>(input)).name;
}

// Expected digests of verify, by the serial reference on one thread.
void compute_expected(VerifyPlan& plan) {
  plan.expected.clear();
  ProgressLine line(true);
  for (std::size_t i = 0; i < plan.inputs(); ++i) {
    line.show_count("serial reference of input", static_cast<double>(i + 1), static_cast<double>(plan.inputs()));
    plan.expected.emplace_back();
    run_on_ranks({"threads", 1, ""}, [&](comm::Transport& t) {
      const Input in = load_input(plan, i, t);
      for (const Search search : plan.searches) {
        Parcels p = in.mine;
        const MethodOptions m{search, Prune::single_pass, comm::Epoch::lifetime, false};
        for (int k = 0; k < kVerifySteps; ++k) cluster_reference(p, in.grid, cluster_options(m, in.ratio));
        plan.expected[i].push_back(digest(p).to_string());
      }
    });
  }
}

// Runs of verify on one model and number of ranks, and the time of all of them.
int run_all(const VerifyPlan& plan, const std::string& model, int ranks, Tally& tally) {
  const double start = now();
  const int code = make_runs(plan, model, ranks, tally);
  tally.seconds = now() - start;
  return code;
}

Json to_json(const VerifyPlan& plan) {
  Json out = {{"samples", plan.samples},         {"seed", plan.seed},   {"files", Json::array()},
              {"file_ratios", plan.file_ratios}, {"chaos", plan.chaos}, {"ranks", plan.ranks},
              {"expected", plan.expected}};
  for (const auto& file : plan.files) out["files"].push_back(bytes_to_utf8(file));
  for (const Search s : plan.searches) out["searches"].push_back(static_cast<int>(s));
  for (const Prune p : plan.prunes) out["prunes"].push_back(static_cast<int>(p));
  return out;
}

VerifyPlan parse_plan(const Json& json) {
  VerifyPlan plan;
  plan.samples = json.at("samples").get<int>();
  plan.seed = json.at("seed").get<std::uint64_t>();
  for (const auto& file : json.at("files")) plan.files.push_back(utf8_to_bytes(file.get<std::string>()));
  plan.file_ratios = json.at("file_ratios").get<std::vector<double>>();
  plan.chaos = json.at("chaos").get<int>();
  plan.ranks = json.at("ranks").get<std::vector<int>>();
  plan.expected = json.at("expected").get<std::vector<std::vector<std::string>>>();
  for (const auto& s : json.at("searches")) plan.searches.push_back(static_cast<Search>(s.get<int>()));
  for (const auto& p : json.at("prunes")) plan.prunes.push_back(static_cast<Prune>(p.get<int>()));
  return plan;
}

Json to_json(const Tally& t) {
  return {{"runs", t.runs},
          {"chaos_runs", t.chaos_runs},
          {"shapes", t.shapes},
          {"failures", t.failures},
          {"first_failure", bytes_to_utf8(t.first_failure)},
          {"seconds", t.seconds}};
}

Tally parse_tally(const Json& json) {
  return {json.at("runs").get<std::int64_t>(),         json.at("chaos_runs").get<std::int64_t>(),
          json.at("shapes").get<std::int64_t>(),       json.at("failures").get<std::int64_t>(),
          json.at("first_failure").get<std::string>(), json.at("seconds").get<double>()};
}

}  // namespace merganser::app
