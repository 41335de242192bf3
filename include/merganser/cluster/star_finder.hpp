#pragma once
/// Stars of points that are the caller's: which of them merge into which, in memory and with a mask of the caller's own.
///
///     StarFinder finder(transport, decomposition);                    // collective
///     finder.find(PointView::rows(xyz, n), small, ids);                  // neighbours only
///     for (const StarLink& l : finder.links()) ...                    // own points that merge, here or elsewhere
///     finder.migrate(rows, row_bytes, received);                       // theirs come here, ours go there; any payload
///     for (std::size_t k = 0; k < finder.receives().size(); ++k) ...  // received row k belongs to finder.receives()[k]
///
/// Or, where the attributes are columns of numbers and merge by the rules of a schema, merge() does all of that.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "merganser/cluster/options.hpp"
#include "merganser/cluster/report.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/geometry/point_view.hpp"
#include "merganser/parcels/columns.hpp"
#include "merganser/parcels/merge.hpp"

namespace merganser {

/// A point of this rank that merges into a centre.
struct StarLink {
  std::uint32_t source;  ///< the point: its position in the arrays given to find()
  std::int32_t rank;     ///< where the centre is; this rank or another
  std::uint32_t centre;  ///< the centre's position in the arrays that its rank gave to find()
  std::uint32_t unused = 0;
  std::int64_t centre_id;  ///< the centre's id
  double distance2;        ///< canonical squared distance between the two, Box::distance2
};

/// A point of another rank that merges into a centre of this one.
struct StarReceive {
  std::uint32_t centre;  ///< the centre: its position in the arrays given to find()
  std::int32_t rank;     ///< where the point is
  std::uint32_t source;  ///< the point's position in the arrays that its rank gave to find()
  std::uint32_t unused = 0;
  std::int64_t source_id;  ///< the point's id
  double distance2;        ///< canonical squared distance between the two
};

/// How a StarFinder cuts links into stars; the same on every rank.
struct FinderOptions {
  Prune prune = Prune::single_pass;
  links::IterativeOptions iterative;
  /// Fill StarLink::centre_id and distance2 of links within a rank, which the caller's arrays tell too. Without, they are
  /// 0 there, and find() takes about a tenth less.
  bool details = true;
};

/// Finds stars among points that lie on the ranks that own their place, over one transport: every small point has a link
/// to its nearest other point, and links are cut until no point that stays merges itself (links::prune_single_pass). The
/// stars depend neither on the number of ranks nor on the model, the decomposition or the order of points.
class StarFinder {
 public:
  /// Makes the communication objects. Collective. @throws UsageError on every rank alike for bad options, or if ranks
  /// differ in them or in the decomposition, or the decomposition is for another number of ranks
  StarFinder(comm::Transport& transport, const Decomposition& decomposition, const FinderOptions& options = {});
  ~StarFinder();
  StarFinder(StarFinder&&) noexcept;

  /// Finds the stars. Called by every rank; talks to neighbours only, no collective (with Prune::iterative: collective).
  /// The arrays are read during the call only.
  /// @param points  positions in the rank's block, its faces included, once they are wrapped into the periodic axes of the box
  /// (Box::wrap): with those outside of it the stars have the bits they would have had, had the caller wrapped them. The upper
  /// face of a periodic axis is wrapped to the lower one: a point there belongs to the rank whose block begins at that
  /// @param small   a byte per point: not 0 if it looks for a partner. A partner may be small or not.
  /// @param ids     distinct over all ranks; they decide between equal distances and in pairs. Empty: rank * 2^40 +
  /// position, so that equal distances are decided by the decomposition
  /// @throws UsageError for arrays of different lengths; InputError naming a point that is not finite or outside the
  /// rank's block, or two points of this rank with one id. They are thrown on this rank alone, before anything is sent: end the
  /// job (comm::end_job, MPI_Abort), or use the decorator `checked`, with which every rank throws.
  /// @throws InputError on this rank alone, while others may wait, if an id that another rank sends is that of a point of
  /// this rank or of a third one: any two ids that the stars depend on are compared so. With `checked` all ids of all ranks
  /// are compared first. check_distinct() does that once.
  /// Cost: O(n log n) for n points, wherever they are; about 48 bytes of memory a point, kept for the next call, up to 32
  /// more where ids do not ascend, and 24 where a point was wrapped.
  void find(const PointView& points, std::span<const std::uint8_t> small, std::span<const std::int64_t> ids = {});
  /// Throws what find() would throw before it sends anything. Local: ranks can agree on it (comm::agree), and none waits in vain
  /// for one that is refused. Cost: O(n).
  void check(const PointView& points, std::span<const std::uint8_t> small, std::span<const std::int64_t> ids = {});

  /// This rank's points that merge, each once. Valid, like the next two, until the next find().
  [[nodiscard]] std::span<const StarLink> links() const;
  /// Positions of those among them whose centre is on another rank, in the order in which migrate() sends them.
  [[nodiscard]] std::span<const std::uint32_t> sends() const;
  /// Points of other ranks that merge here, in the order in which migrate() delivers them.
  [[nodiscard]] std::span<const StarReceive> receives() const;
  /// Counts and times of the last find().
  [[nodiscard]] const StepNumbers& numbers() const;

  /// Writes one row of the payload: that of point `position`, exactly as many bytes as said.
  using PackRow = std::function<void(std::uint32_t position, std::byte* row)>;
  /// Sends a row for each of sends() to the rank of its centre; `received` becomes a row for each of receives(). Called
  /// by every rank after find(), as often as there are payloads; row_bytes the same on every rank. Neighbours only.
  /// @param rows  row i is the point at position i, row_bytes apart
  void migrate(std::span<const std::byte> rows, std::size_t row_bytes, std::vector<std::byte>& received);
  /// The same for a payload that lies elsewhere than in rows.
  void migrate(std::size_t row_bytes, const PackRow& pack, std::vector<std::byte>& received);

  /// Merges the stars of the last find(): the attributes of sources travel, every centre becomes what its star gives
  /// (parcels/merge.hpp), and the sources of this rank are taken out of all columns, the others moving up in their order.
  /// Called by every rank. Centres get positions in the box; the others keep those that they have.
  /// @param columns  those given to find(): same points, same order. The ids move with the rest.
  /// @return points left on this rank
  /// @throws UsageError where columns do not match the schema
  std::size_t merge(const MergeRules& rules, const Columns& columns);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace merganser
