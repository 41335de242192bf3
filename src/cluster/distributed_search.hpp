#pragma once
/// From sorted parcels to the links of one rank: local search, then questions to the ranks that may know better.
#include <cstdint>
#include <utility>
#include <vector>

#include "merganser/cluster/options.hpp"
#include "merganser/cluster/report.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/nearest/cell_list.hpp"
#include "src/cluster/cover.hpp"
#include "src/cluster/distinct_ids.hpp"

namespace merganser::cluster {

/// Arcs that take part in a wave.
using Arcs = std::vector<std::uint8_t>;

/// Largest distance from a point to its nearest among this rank's own; infinite if there are fewer than two.
double largest_gap(const nearest::PointSet& points, const Decomposition& decomposition, int rank);

/// How a search goes; the same on every rank.
struct SearchOptions {
  Search search = Search::exact;
  /// The ends of links between ranks tell each other where in the container their points are (CrossLink::remote_position).
  bool positions = false;
};

/// "Who is nearest to this point?", where that may be on a rank that is no candidate of its own.
struct FarQuestion {
  Vec3 point;
  double distance2;  ///< of the nearest known
  std::int64_t id;   ///< of the nearest known; larger than any id if none
  std::int64_t source_id;
  std::uint32_t vertex;
  std::uint32_t position;  ///< in the container
  std::int32_t rank;
  std::uint32_t unused = 0;
};

/// Nearest-neighbour graph of one rank over the neighbours of a symmetric graph.
class DistributedSearch {
 public:
  /// The least distance to a point of a rank that is no candidate.
  struct SearchCutoff {
    double own2;  ///< of this rank, squared
    double min;   ///< least of all ranks
  };
  DistributedSearch(comm::Mailbox& mailbox, const Decomposition& decomposition, int rank, const SearchCutoff& cutoff,
                    const SearchOptions& options);

  /// Bins, then asks the neighbours (one wave). False if neither this rank nor a neighbour has anything to do: the step
  /// is over, but for far links. `sorted` and `scratch`: see CellList::sort.
  /// @throws InputError before anything is sent for a point that is not in this rank's block, or an id that two have
  bool ask(const nearest::PointSet& points, Site* sorted, std::byte* scratch, StepNumbers& report);
  /// Answers and takes answers (one wave); afterwards every link is known to its source, but for far ones.
  void answer();
  /// Tells the owners of targets on other ranks (one wave); afterwards links() is complete.
  void announce(StepNumbers& report);

  // What FarSearch needs.
  /// Whether points leave no large hole in this rank's block, known since ask(); see Cover.
  [[nodiscard]] bool full() const { return full_; }
  /// Per arc: the rank there is not full.
  [[nodiscard]] const Arcs& open_neighbours() const { return open_neighbours_; }
  /// Points whose nearest may be on a rank that cannot be asked. After the answers.
  [[nodiscard]] std::vector<FarQuestion> far_questions();
  /// Improves `best` if a point of this rank is nearer to `point`; sorts them first if ask() did not have to.
  void nearest(const Vec3& point, Site* sorted, std::byte* scratch, nearest::Best& best);
  /// Takes note of the id of a point of another rank. @throws InputError if a point of this rank or of a third one has it
  void meet(std::int64_t id, int rank) { foreign_ids_.meet(id, rank); }
  /// Marks the link of a vertex with a far question as a far link.
  void mark_far_link(std::uint32_t vertex);

  [[nodiscard]] links::Links& links() { return links_; }
  [[nodiscard]] const nearest::CellList& cells() const { return cells_; }
  [[nodiscard]] const std::vector<double>& distance2() const { return distance2_; }
  /// Points given to ask().
  [[nodiscard]] std::size_t size() const { return points_->size(); }
  /// By vertex, of the points given to ask().
  [[nodiscard]] links::Ids ids() const { return points_->ids(cells_.order()); }

 private:
  struct Open {
    nearest::CellList::Open local;  // best.vertex: local, or kNone where a remote one is nearer
    std::uint32_t arc = 0;
    std::uint32_t remote_vertex = links::kNone;
    std::uint32_t remote_position = 0;
    bool is_far_link = false;
  };
  void sort(Site* sorted, std::byte* scratch);
  void search_local();
  void post_questions();
  bool take_questions();
  void take_announcements();
  [[nodiscard]] std::vector<std::uint32_t> owners_cells8(const Vec3& p) const;

  comm::Mailbox& mailbox_;
  const Decomposition& decomposition_;
  int rank_;
  double cutoff2_;
  Cover cover_;
  bool full_ = true;
  bool sorted_ = false;  // the cells, in this step
  SearchOptions options_;
  const nearest::PointSet* points_ = nullptr;
  IdSet own_ids_;
  ForeignIds foreign_ids_;
  nearest::CellList cells_;
  links::Links links_;
  std::vector<double> distance2_;  // cells8: squared length of each link
  std::vector<Open> open_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> far_asked_;  // vertex, index into open_; ascending
  std::vector<std::vector<std::uint32_t>> asked_;                   // per arc: indices into open_
  Arcs i_asked_;
  Arcs was_asked_;
  Arcs open_neighbours_;
  std::int64_t small_ = 0;
};

}  // namespace merganser::cluster
