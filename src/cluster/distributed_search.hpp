#pragma once
/// From sorted parcels to the links of one rank: local search, then questions to the ranks that may know better.
#include <cstdint>
#include <vector>

#include "merganser/cluster/options.hpp"
#include "merganser/cluster/report.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/nearest/cell_list.hpp"

namespace merganser::cluster {

/// Arcs that take part in a wave.
using Arcs = std::vector<std::uint8_t>;

/// Largest distance from a point to its nearest among this rank's own; infinite if there are fewer than two.
double largest_gap(const nearest::PointSet& points, const Decomposition& decomposition, int rank);

/// How a search goes; the same on every rank.
struct SearchOptions {
  Search search = Search::exact;
  /// The ends of links between ranks tell each other where in the container their points are (far_positions()).
  bool positions = false;
};

/// Nearest-neighbour graph of one rank over the neighbours of a symmetric graph.
class DistributedSearch {
 public:
  /// @param sight2  square of the distance within which every rank can be asked
  DistributedSearch(comm::Mailbox& mailbox, const Decomposition& decomposition, int rank, double sight2,
                    const SearchOptions& options);

  /// Bins, then asks the neighbours (one wave). False if neither this rank nor a neighbour has anything to do: the step
  /// is over. `sorted` and `scratch`: see CellList::sort.
  bool ask(const nearest::PointSet& points, Site* sorted, std::byte* scratch, StepNumbers& report);
  /// Answers and takes answers (one wave); afterwards every link is known to its source.
  void answer(StepNumbers& report);
  /// Tells the owners of targets on other ranks (one wave); afterwards links() is complete.
  void announce(StepNumbers& report);

  [[nodiscard]] links::Links& links() { return links_; }
  [[nodiscard]] const nearest::CellList& cells() const { return cells_; }
  [[nodiscard]] const std::vector<double>& distance2() const { return distance2_; }
  /// By vertex, of the points given to ask().
  [[nodiscard]] links::Ids ids() const { return points_->ids(cells_.order()); }
  /// Positions in the other rank's container of the far ends of links that leave and of those that arrive, in the order of
  /// links().out and .in.
  struct FarPositions {
    std::vector<std::uint32_t> out;
    std::vector<std::uint32_t> in;
  };
  [[nodiscard]] const FarPositions& far_positions() const { return far_positions_; }

 private:
  struct Open {
    nearest::CellList::Open local;  // best.vertex: local, or kNone where a remote one is nearer
    std::uint32_t arc = 0;
    std::uint32_t far_vertex = links::kNone;
    std::uint32_t far_position = 0;
  };
  void search_local();
  void post_questions();
  void require_sight() const;
  void take_announcements();
  [[nodiscard]] std::vector<std::uint32_t> owners_cells8(const Vec3& p) const;

  comm::Mailbox& mailbox_;
  const Decomposition& decomposition_;
  int rank_;
  double sight2_;
  SearchOptions options_;
  const nearest::PointSet* points_ = nullptr;
  nearest::CellList cells_;
  links::Links links_;
  FarPositions far_positions_;
  std::vector<double> distance2_;  // cells8: squared length of each link
  std::vector<Open> open_;
  std::vector<std::vector<std::uint32_t>> asked_;  // per arc: indices into open_
  Arcs i_asked_;
  Arcs was_asked_;
  std::int64_t small_ = 0;
};

}  // namespace merganser::cluster
