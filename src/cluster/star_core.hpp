#pragma once
/// Common core of Clusterer and StarFinder: from points to stars, and the migration of payloads of leaves to their
/// centres.
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "merganser/base/timer.hpp"
#include "src/cluster/candidate_ranks.hpp"
#include "src/cluster/distributed_search.hpp"
#include "src/cluster/far_search.hpp"

namespace merganser::cluster {

/// Stopwatch of a merge step's stages, which adds the time since the last call to the times in its report.
class Laps {
 public:
  /// Adds to the time of a stage of the merge step the seconds since the last call, or the construction.
  void add_to(double& stage) {
    const double time = now();
    stage += time - last_;
    last_ = time;
  }

 private:
  double last_ = now();
};

/// Options of the star search of Clusterer and StarFinder; the same on every rank.
struct StarOptions {
  SearchOptions search;               ///< search rule, and whether positions are exchanged
  Prune prune = Prune::single_pass;   ///< pruning method
  links::IterativeOptions iterative;  ///< parameters of Prune::iterative
};
/// Validates the options of the star search. Local. @throws UsageError for a value that is none of its enumeration
void check(const StarOptions& options);
/// Returns the options of the star search as texts that must be equal on all ranks (comm::check_uniform_across_ranks).
[[nodiscard]] std::vector<comm::UniformValue> uniform_values(const StarOptions& options);

/// Star search of one rank: finds the links among the points of a step and prunes them into stars, over the same
/// communication objects in every step. Vertices are positions in the order of cells().
class StarCore {
 public:
  /// Makes the star search of a Clusterer or StarFinder: determines the ranks to which its queries may go, and makes its
  /// communication objects. Collective.
  /// @param sample  points distributed like those to come, to determine how far the candidates must reach; null:
  /// touching blocks
  StarCore(comm::Transport& transport, const Decomposition& decomposition, const StarOptions& options,
           const nearest::PointSet* sample);

  /// Finds the stars among the points of all ranks: search, far search, announcement and pruning. Called by every rank;
  /// neighbours only, unless the options are collective. Reads `points` until the next call.
  /// @param scratch  memory that the search grows as it needs, free afterwards; simulated ranks free it before they wait
  /// @param sorted   room for points.size() sites, read until the next call; on simulated ranks the container's own, until the merge
  /// @return false if this rank had nothing to search: links() and stars() are then empty
  /// @throws InputError for invalid points or equal ids; Clusterer::step documents on which ranks
  bool find(const nearest::PointSet& points, Site* sorted, RawBuffer& scratch, StepNumbers& numbers, Laps& laps);

  /// Removes the stars of the last find(): migrate() sends no leaf until the next find().
  void clear();

  /// Callback that writes the row in which the leaf at a vertex migrates, row_bytes bytes.
  using PackRow = std::function<void(std::uint32_t vertex, std::byte* row)>;
  /// Sends the row of every leaf whose centre is on another rank to that rank; appends to `received` the rows of leaves that
  /// arrive, in the order of Links::in. Called by every rank after find(); neighbours only. @throws CommError if ranks differ
  /// in row_bytes
  void migrate(std::size_t row_bytes, const PackRow& pack, std::vector<std::byte>& received);

  /// Returns the process graph of the star search as seen by this rank: the ranks to which its queries may go.
  [[nodiscard]] const comm::Graph& graph() const { return graph_; }
  /// Returns the mailbox of the star search, over the process graph of the ranks to which its queries may go.
  [[nodiscard]] comm::Mailbox& mailbox() { return *mailbox_; }
  /// Returns the candidate ranks, to which queries may go.
  [[nodiscard]] const CandidateRanks& candidates() const { return candidates_; }
  /// Returns the communication objects over the process graph, for a pruning.
  [[nodiscard]] links::Channels channels() { return {transport_, *mailbox_, *stream_}; }
  /// Returns the distributed search, with the links of the last find().
  [[nodiscard]] DistributedSearch& search() { return search_; }
  /// Returns the stars of the last find(): which links of this rank the pruning kept.
  [[nodiscard]] const links::Stars& stars() const { return *stars_; }
  /// Returns the far search, with the far links of the last find().
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
  bool busy_ = false;  // links start or end on this rank
  Arcs active_out_;
  Arcs active_in_;
};

}  // namespace merganser::cluster
