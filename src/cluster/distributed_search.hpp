#pragma once
/// From sorted parcels to the links of one rank: local search, then questions to the ranks that may know better.
#include <cstdint>
#include <vector>

#include "merganser/cluster/cluster.hpp"
#include "merganser/nearest/cell_list.hpp"

namespace merganser::cluster {

/// Arcs that take part in a wave.
using Arcs = std::vector<std::uint8_t>;

/// Largest distance from a parcel to its nearest among this rank's own; infinite if there are fewer than two.
double largest_gap(const Parcels& parcels, const Decomposition& decomposition, int rank);

/// Nearest-neighbour graph of one rank over the neighbours of a symmetric graph.
class DistributedSearch {
 public:
  /// @param sight2  square of the distance within which every rank can be asked
  DistributedSearch(comm::Mailbox& mailbox, const Decomposition& decomposition, int rank, double sight2,
                    const ClusterOptions& options);

  /// Bins, then asks the neighbours (one wave). False if neither this rank nor a neighbour has anything to do: the step
  /// is over. `sorted` and `scratch`: see CellList::sort.
  bool ask(const Parcels& parcels, Site* sorted, std::byte* scratch, StepReport& report);
  /// Answers and takes answers (one wave); afterwards every link is known to its source.
  void answer(const Parcels& parcels, StepReport& report);
  /// Tells the owners of targets on other ranks (one wave); afterwards links() is complete.
  void announce(const Parcels& parcels, StepReport& report);

  [[nodiscard]] links::Links& links() { return links_; }
  [[nodiscard]] const nearest::CellList& cells() const { return cells_; }
  [[nodiscard]] const std::vector<double>& distance2() const { return distance2_; }
  [[nodiscard]] links::Ids ids(const Parcels& parcels) const;
  [[nodiscard]] double small_volume() const { return small_volume_; }

 private:
  struct Open {
    nearest::CellList::Open local;  // best.vertex: local, or kNone where a remote one is nearer
    std::uint32_t arc = 0;
    std::uint32_t far_vertex = links::kNone;
  };
  void search_local(const Parcels& parcels);
  void post_questions();
  void require_sight(const Parcels& parcels) const;
  [[nodiscard]] std::vector<std::uint32_t> owners_cells8(const Vec3& p) const;

  comm::Mailbox& mailbox_;
  const Decomposition& decomposition_;
  int rank_;
  double sight2_;
  const ClusterOptions& options_;
  double small_volume_;
  nearest::CellList cells_;
  links::Links links_;
  std::vector<double> distance2_;  // cells8: squared length of each link
  std::vector<Open> open_;
  std::vector<std::vector<std::uint32_t>> asked_;  // per arc: indices into open_
  Arcs i_asked_;
  Arcs was_asked_;
  std::int64_t small_ = 0;
};

}  // namespace merganser::cluster
