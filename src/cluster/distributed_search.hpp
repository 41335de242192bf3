#pragma once
/// Distributed nearest-neighbour search: local search, then queries to candidate ranks whose blocks lie within the
/// distance found. Three waves over a symmetric process graph: queries, replies, announcements of cross-rank links.
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

/// Flags of the arcs of a rank in the process graph: 1 where the arc takes part in a wave of the mailbox.
using Arcs = std::vector<std::uint8_t>;

/// Returns the region of space that a rank's cell list covers: its block, and which faces of it are walls of the box.
[[nodiscard]] nearest::Region block_region(const Decomposition& d, int rank);

/// Returns the largest distance from a point of this rank to its nearest neighbour among the points of this rank, in
/// units of the box; infinite if the rank has fewer than two points. Local.
double largest_gap(const nearest::PointSet& points, const Decomposition& decomposition, int rank);

/// Options of the distributed nearest-neighbour search; the same on every rank.
struct SearchOptions {
  Search search = Search::exact;  ///< search rule: exact or cells8
  /// True if both ends of links between ranks exchange the positions of their points in the container
  /// (CrossLink::remote_position).
  bool positions = false;
};

/// Record of the far search of a merge step, sent as bytes: query for the parcel nearest to a point, flooded among the ranks around
/// a hole because that parcel may be on a rank to which the sender sends no queries of the ordinary search.
struct FarQuery {
  Vec3 point;              ///< position of the parcel whose nearest is searched, in canonical coordinates
  double distance2;        ///< squared distance of the nearest parcel found so far; infinite if none
  std::int64_t id;         ///< id of that parcel; larger than any id if none
  std::int64_t source_id;  ///< id of the parcel
  std::uint32_t vertex;    ///< vertex of the parcel on its rank
  std::uint32_t position;  ///< position of the parcel in the container of its rank
  std::int32_t rank;       ///< rank of the parcel
  std::uint32_t unused = 0;
};

/// Distributed nearest-neighbour search for the links of one rank's small points, over the neighbours of a symmetric process
/// graph. A merge step calls send_queries(), exchange_replies() and announce(), with the far search in between; the object is
/// reused by every step.
class DistributedSearch {
 public:
  /// Search cutoffs: the least distances between a point of a rank and a point of a rank that is no candidate of it.
  struct SearchCutoff {
    double own2;  ///< search cutoff of this rank, squared
    double min;   ///< least search cutoff of all ranks, not squared
  };
  DistributedSearch(comm::Mailbox& mailbox, const Decomposition& decomposition, int rank, const SearchCutoff& cutoff,
                    const SearchOptions& options);

  /// Bins this rank's points into cells, searches the nearest among them, and sends queries to candidate ranks (one wave).
  /// Called by every rank. Returns false if this rank has no small points and has received no queries: then the step is over
  /// on this rank, except for far links. @param sorted  receives the sites in the order of cells, once that is needed
  /// @param scratch  memory that the search grows to CellList::scratch_bytes(); on simulated ranks it is freed when the search of
  /// this rank's own points is over, and `points` is then not read for positions any more
  /// @throws InputError before anything is sent for a point that is not in this rank's block, or an id that two have
  bool send_queries(const nearest::PointSet& points, Site* sorted, RawBuffer& scratch, StepNumbers& report);
  /// Searches the nearest points of this rank for neighbours' queries and exchanges the replies (one wave over arcs
  /// with queries). Afterwards every link except far links is stored on the rank of its source.
  void exchange_replies();
  /// Sends an announcement of each cross-rank link to the rank of its target (one wave over arcs with queries);
  /// afterwards links() is complete. Adds the number of small points without a link to the report.
  void announce(StepNumbers& report);

  // Interface of FarSearch.
  /// Returns true if the points leave no large hole in this rank's block (Cover::is_full), valid since send_queries().
  [[nodiscard]] bool is_full() const { return full_; }
  /// Returns, for each arc, 1 if the block of the neighbouring rank is not full (may have a large hole), as marked in its message
  /// to send_queries().
  [[nodiscard]] const Arcs& open_neighbours() const { return open_neighbours_; }
  /// Returns queries for the points of this rank whose nearest may be on a rank that is no candidate: the nearest known is not
  /// within the search cutoff. After exchange_replies(). Local.
  [[nodiscard]] std::vector<FarQuery> far_queries();
  /// Replaces `best` by the point of this rank nearest to the point of a flooded query, if that is nearer. Sorts this rank's
  /// points into the order of cells first if send_queries() has not done so.
  void nearest(const Vec3& point, Site* sorted, RawBuffer& scratch, nearest::Best& best);
  /// Checks the id of a point that the search received from another rank. @throws InputError if a point of this rank or of a
  /// third one has it
  void check_foreign_id(std::int64_t id, int rank) { foreign_ids_.insert(id, rank); }
  /// Marks the link of a vertex for which far_queries() returned a query as a far link; announce() does not announce
  /// far links.
  void mark_far_link(std::uint32_t vertex);

  /// Returns the links of this rank's points to their nearest, and those from other ranks, complete after announce().
  [[nodiscard]] links::Links& links() { return links_; }
  /// Returns the cell list in which the search finds this rank's points.
  [[nodiscard]] const nearest::CellList& cells() const { return cells_; }
  /// Returns the squared length of the link of each point of this rank, by vertex (search rule cells8 only).
  [[nodiscard]] const std::vector<double>& distance2() const { return distance2_; }
  /// Returns the number of this rank's points in the search, as given to send_queries().
  [[nodiscard]] std::size_t size() const { return points_->size(); }
  /// Returns the ids of this rank's points in the search, by vertex (position in the order of cells).
  [[nodiscard]] links::Ids ids() const { return points_->ids(cells_.order()); }

 private:
  /// Small point of this rank whose nearest may be on another rank, with the best reply of candidate ranks so far.
  struct OpenPoint {
    nearest::CellList::Open local;  // best.vertex: local, or kNone where a remote one is nearer
    std::uint32_t arc = 0;
    std::uint32_t remote_vertex = links::kNone;
    std::uint32_t remote_position = 0;
    bool is_far_link = false;
  };
  // Steps of send_queries() and of the stages that follow it; documented at their definitions in distributed_search.cpp.
  void sort(Site* sorted, RawBuffer& scratch);
  void search_local();
  void post_queries();
  bool receive_queries();
  void receive_announcements();
  [[nodiscard]] std::vector<std::uint32_t> owners_cells8(const Vec3& p) const;

  comm::Mailbox& mailbox_;
  const Decomposition& decomposition_;
  int rank_;
  double cutoff2_;
  Cover cover_;
  bool full_ = true;
  bool sorted_ = false;  // the points have been sorted into cells in this step
  SearchOptions options_;
  const nearest::PointSet* points_ = nullptr;
  IdSet own_ids_;
  ForeignIds foreign_ids_;
  nearest::CellList cells_;
  links::Links links_;
  std::vector<double> distance2_;  // cells8: squared length of each link
  std::vector<OpenPoint> open_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> far_open_;  // vertex, index into open_; ascending
  std::vector<std::vector<std::uint32_t>> queries_by_arc_;         // per arc: indices into open_
  Arcs queried_;                                                   ///< arcs on which this rank has sent queries
  Arcs querying_;                                                  ///< arcs on which queries have arrived
  Arcs open_neighbours_;                                           ///< arcs to ranks whose blocks are not full
  std::int64_t small_ = 0;
};

}  // namespace merganser::cluster
