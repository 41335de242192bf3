#pragma once
/// Star finder: stars among points in a caller's arrays, with a mask of small points, and migration of any payload
/// along them.
///
///     StarFinder finder(transport, decomposition);                    // collective
///     finder.find(PointView::rows(xyz, n), small, ids);                  // neighbours only
///     for (const StarLink& l : finder.links()) ...                    // own points that merge, here or elsewhere
///     std::vector<Drop> received;                                        // any trivially copyable type
///     finder.migrate(drops, received);                                // drops[i] is point i; sources go to their centres
///     for (std::size_t k = 0; k < finder.receives().size(); ++k) ...  // received[k] belongs to finder.receives()[k]
///
/// Where the attributes are columns of numbers and merge by the rules of a schema, merge() does all of that.
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "merganser/cluster/options.hpp"
#include "merganser/cluster/report.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/geometry/point_view.hpp"
#include "merganser/parcels/columns.hpp"
#include "merganser/parcels/merge.hpp"

namespace merganser {

/// Star link from a point of this rank to the centre that it merges into, as StarFinder::links() lists them.
struct StarLink {
  std::uint32_t source;      ///< position of the point in the arrays given to find()
  std::int32_t rank;         ///< rank of the centre; this rank or another
  std::uint32_t centre;      ///< position of the centre in the arrays that its rank gave to find()
  std::uint32_t unused = 0;  ///< instead of padding, which C would get uninitialised: mg_link is this record
  std::int64_t centre_id;    ///< id of the centre
  double distance2;          ///< canonical squared distance of the two, Box::distance2
};

/// Star link from a point of another rank that merges into a centre of this one, as StarFinder::receives() lists them.
struct StarReceive {
  std::uint32_t centre;      ///< position of the centre in the arrays given to find()
  std::int32_t rank;         ///< rank of the point
  std::uint32_t source;      ///< position of the point in the arrays that its rank gave to find()
  std::uint32_t unused = 0;  ///< instead of padding, which C would get uninitialised: mg_receive is this record
  std::int64_t source_id;    ///< id of the point
  double distance2;          ///< canonical squared distance of the two
};

/// Options of a StarFinder; the same on every rank.
struct FinderOptions {
  Prune prune = Prune::single_pass;   ///< pruning method
  links::IterativeOptions iterative;  ///< parameters of Prune::iterative
  /// True: find() sets StarLink::centre_id and distance2 in all links. False: it leaves both 0 in links whose ends are on
  /// this rank, where they follow from the caller's arrays, and takes about a tenth less time.
  bool details = true;
};

/// Finder of stars among points that are distributed to the ranks that own their positions, over one transport: every
/// small point has a link to its nearest other point, and links are cut until no point that stays merges itself
/// (links::prune_single_pass). The stars depend neither on the number of ranks nor on the model, the decomposition or
/// the order of points.
class StarFinder {
 public:
  /// Makes the communication objects. Collective. @throws UsageError on every rank alike for invalid options, or if
  /// ranks differ in them or in the decomposition, or the decomposition is for another number of ranks
  StarFinder(comm::Transport& transport, const Decomposition& decomposition, const FinderOptions& options = {});
  ~StarFinder();
  StarFinder(StarFinder&&) noexcept;

  /// Finds the stars. Called by every rank; communicates with neighbours only, no collective (with Prune::iterative:
  /// collective). The arrays are read during the call only.
  /// @param points  positions in the rank's block, its faces included, once they are wrapped into the periodic axes of
  /// the box (Box::wrap): the stars have the same bits as with points wrapped by the caller. The upper face of a
  /// periodic axis is wrapped to the lower one: a point there belongs to the rank whose block begins at that face
  /// @param small   a byte per point: not 0 if a partner is searched for it. A partner may be small or not.
  /// @param ids     distinct over all ranks; they decide between equal distances and in pairs. Empty: rank * 2^40 +
  /// position, so that equal distances are decided by the decomposition
  /// @throws UsageError for arrays of different lengths; InputError naming a point that is not finite or outside the
  /// rank's block, or two points of this rank with one id. They are thrown on this rank alone, before anything is sent:
  /// end the job (comm::end_job, MPI_Abort), or use the decorator `checked`, with which every rank throws.
  /// @throws InputError on this rank alone, while others may block, if an id that another rank sends is that of a point
  /// of this rank or of a third one: any two ids on which the stars depend are compared so. With `checked` all ids of
  /// all ranks are compared first. check_distinct() does that once.
  /// Cost: O(n log n) for n points, wherever they are; about 48 bytes of memory a point, kept for the next call, up to
  /// 32 more where ids do not ascend, and 24 where a point was wrapped.
  void find(const PointView& points, std::span<const std::uint8_t> small, std::span<const std::int64_t> ids = {});
  /// Validates the arguments of find(): throws the errors that find() would throw before it sends anything. Local:
  /// ranks can agree on the result (comm::agree), so that none blocks for a rank whose points are refused. Cost: O(n).
  void check(const PointView& points, std::span<const std::uint8_t> small, std::span<const std::int64_t> ids = {});

  /// Returns the links of this rank's points that merge, one per point. Valid until the next find(). Local.
  [[nodiscard]] std::span<const StarLink> links() const;
  /// Returns the positions of the points whose centre is on another rank, in the order in which migrate() sends them.
  /// Valid until the next find(). Local.
  [[nodiscard]] std::span<const std::uint32_t> sends() const;
  /// Returns the links of points of other ranks that merge into points of this one, in the order in which migrate()
  /// delivers them. Valid until the next find(). Local.
  [[nodiscard]] std::span<const StarReceive> receives() const;
  /// Returns counts and times of this rank in the last find(). Local.
  [[nodiscard]] const StepNumbers& numbers() const;

  /// Sends rows[i] for each point i of sends() to the rank of its centre; `received` becomes a row for each of receives().
  /// Called by every rank after find(), once for each payload, with the same T on every rank. Neighbours only.
  /// @param rows  row i is that of the point at position i; T is deduced from `received`
  /// @throws UsageError if there are not as many rows as points given to find(); CommError if ranks differ in the size of T
  template <class T>
  void migrate(std::span<const std::type_identity_t<T>> rows, std::vector<T>& received) {
    static_assert(
        std::is_trivially_copyable_v<T>,
        "StarFinder::migrate: rows are sent as bytes, so T must be trivially copyable: plain numbers and structs "
        "of them, no pointers that own memory, strings or vectors");
    check_row_count(rows.size());
    std::vector<std::byte> bytes;
    migrate_bytes(std::as_bytes(rows), sizeof(T), bytes);
    received.clear();
    received.reserve(bytes.size() / sizeof(T));
    std::array<std::byte, sizeof(T)> row;  // so that T needs no default constructor
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
      std::memcpy(row.data(), bytes.data() + at, sizeof(T));
      if constexpr (std::is_trivially_copyable_v<T>)
        received.push_back(std::bit_cast<T>(row));  // else one error is enough
    }
  }
  /// Callback that writes one row of the payload: that of point `position`, exactly row_bytes bytes.
  using PackRow = std::function<void(std::uint32_t position, std::byte* row)>;
  /// Sends rows of a type that is not known in C++ to the ranks of their centres, as migrate() sends typed ones: row i begins
  /// at byte i * row_bytes. Called by every rank after find(), with the same row_bytes. Neighbours only.
  /// @throws UsageError if there are not as many rows as points; CommError if ranks differ in row_bytes
  void migrate_bytes(std::span<const std::byte> rows, std::size_t row_bytes, std::vector<std::byte>& received);
  /// Sends rows of row_bytes bytes that a callback writes, called once for each of sends(), to the ranks of their centres.
  /// Called by every rank after find(), with the same row_bytes. Neighbours only.
  /// @throws CommError if ranks differ in row_bytes
  void migrate_packed(std::size_t row_bytes, const PackRow& pack, std::vector<std::byte>& received);

  /// Merges the stars of the last find(): the attributes of the sources (points that merge into another one, the centre of their star)
  /// are sent to the ranks of the centres, every centre becomes the merged parcel of its star (parcels/merge.hpp), and the sources of
  /// this rank are removed from the caller's columns, whose other rows move up in their order. Called by every rank; each communicates
  /// with neighbour ranks only. Positions of centres are wrapped into the box; those of other points are left unchanged.
  /// @param columns  those given to find(): same points, same order. The ids move with the rest.
  /// @return number of points left on this rank
  /// @throws UsageError where columns do not match the schema; InputError for values out of the bounds of limits.hpp
  std::size_t merge(const MergeRules& rules, const Columns& columns);

 private:
  /// Validates the number of rows of a payload to migrate. @throws UsageError if it is not that of the points given to find()
  void check_row_count(std::size_t rows) const;

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace merganser
