#pragma once
/// Vectorised search of several nearest parcels in fixed point, dispatched at run time to the vector instructions of the CPU. Private to
/// the module.
#include <span>

#include "merganser/geometry/box.hpp"
#include "merganser/nearest/several_nearest.hpp"
#include "src/nearest/block_search.hpp"

namespace merganser::nearest {

/// Parcels near one point that several_search() compares in double precision, at most.
inline constexpr std::uint32_t kMaxNear = 64;

/// Receiver of what several_search() finds.
class SeveralSink {
 public:
  virtual ~SeveralSink() = default;
  bool gives_up =
      false;  ///< several_search() leaves later parcels but those that the filter of all coordinates decides
  /// Takes the nearest parcels of a small one, ascending by (distance2, id): as many as are searched, or all within the bound.
  virtual void take(std::uint32_t vertex, std::span<const Near> nearest) = 0;
  /// Takes a small parcel whose nearest several_search() could not decide. @param reach2  a squared distance within which there are as
  /// many parcels as are searched, or infinite
  virtual void leave(std::uint32_t vertex, double reach2) = 0;
  /// Sorts parcels near a small one by (distance2, id).
  virtual void sort(std::span<Near> near) const = 0;
};

/// Arguments of several_search().
struct SeveralSearch {
  BlockSearch block;    ///< cells and filter coordinates; `target` and `open` are not used
  const Site* sites;    ///< by vertex
  Box box;              ///< domain
  std::uint32_t count;  ///< parcels searched around each small one, 1 to kMaxNear / 2
  double most2;         ///< greatest squared distance of the positions of these, inclusive; infinite: any
  MoreAxes more;        ///< coordinates beside the position
  double units;         ///< squared distances times this are those of the filter
  SeveralSink* sink;    ///< receives the results, in the order of nodes
};

/// Writes coordinates of the filter beside the position, as BlockSearch::more. Local. @param more  1 to kMaxMoreFilter coordinates
/// @param units  of the filter in 1 of a coordinate @param to  by axis: `count` numbers
/// @return false, and what is in `to` says nothing, if some are too far from each other
bool write_more_filter(const MoreAxes& more, std::size_t count, double units, std::uint16_t* const* to);
/// Finds the nearest parcels of every small parcel within the 2x2x2 cells around the parcel's node: those near enough in fixed point are
/// compared in double precision, by canonical distances. Results are exact; parcels that have no certain one are left to the sink. Reads
/// as block_search(). Local.
void several_search(const SeveralSearch& s);

}  // namespace merganser::nearest
