#pragma once
/// What Clusterer and StarFinder have in common: from points to stars, and the way of those that leave.
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "merganser/base/timer.hpp"
#include "src/cluster/candidate_ranks.hpp"
#include "src/cluster/distributed_search.hpp"
#include "src/cluster/far_search.hpp"

namespace merganser::cluster {

/// Adds the time since the last lap to a stage.
class Laps {
 public:
  void to(double& stage) {
    const double time = now();
    stage += time - last_;
    last_ = time;
  }

 private:
  double last_ = now();
};

/// How stars are found; the same on every rank.
struct StarOptions {
  SearchOptions search;
  Prune prune = Prune::single_pass;
  links::IterativeOptions iterative;
};
/// @throws UsageError for a value that is none of its enumeration
void check(const StarOptions& options);
/// The options as values that every rank must give alike.
[[nodiscard]] std::vector<comm::UniformValue> uniform_values(const StarOptions& options);

/// The stars of one rank, again and again over the same communication objects. Vertices are positions in the order of
/// cells().
class StarCore {
 public:
  /// Determines the candidate ranks and makes the communication objects. Collective.
  /// @param sample  points spread like those to come, to find how far the candidates must reach; null: touching blocks will do
  StarCore(comm::Transport& transport, const Decomposition& decomposition, const StarOptions& options,
           const nearest::PointSet* sample);

  /// Finds the stars; see Clusterer::step and StarFinder::find. Reads `points` until the next call.
  /// @param scratch  nearest::CellList::scratch_bytes(points.size()) bytes, free afterwards
  /// @param sorted   room for points.size() sites, read until the next call
  /// @return false if there was nothing to do here: links() and stars() are then empty
  bool find(const nearest::PointSet& points, Site* sorted, std::byte* scratch, StepNumbers& numbers, Laps& laps);

  /// Forgets what was found: nothing is sent by migrate() until the next find().
  void forget();

  /// Writes the row of a vertex, row_bytes of them.
  using PackRow = std::function<void(std::uint32_t vertex, std::byte* row)>;
  /// Sends a row for every kept link that leaves; appends to `received` those for kept links that arrive, in the order of
  /// links().in. Called by every rank after find().
  void migrate(std::size_t row_bytes, const PackRow& pack, std::vector<std::byte>& received);

  [[nodiscard]] const comm::Graph& graph() const { return graph_; }
  [[nodiscard]] comm::Mailbox& mailbox() { return *mailbox_; }
  [[nodiscard]] DistributedSearch& search() { return search_; }
  [[nodiscard]] const links::Stars& stars() const { return *stars_; }
  [[nodiscard]] FarSearch& far() { return far_; }

 private:
  void prune(StepNumbers& numbers);
  void count_links(StepNumbers& numbers);
  void migrate_near(std::size_t row_bytes, const PackRow& pack);

  comm::Transport& transport_;
  const Decomposition& decomposition_;
  StarOptions options_;
  CandidateRanks candidates_;
  comm::Graph graph_;
  std::unique_ptr<comm::Mailbox> mailbox_;
  std::unique_ptr<comm::Stream> stream_;
  DistributedSearch search_;
  FarSearch far_;
  links::SinglePass single_pass_;
  links::IterativePruner iterative_;
  links::Stars nothing_;
  links::Stars iterative_stars_;
  const links::Stars* stars_ = &nothing_;
  bool busy_ = false;  // links start or end here
  Arcs active_out_;
  Arcs active_in_;
};

}  // namespace merganser::cluster
