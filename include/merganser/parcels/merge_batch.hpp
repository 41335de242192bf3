#pragma once
/// Batched merge of stars of EPIC's schema in the lanes of vectors: eight stars with the same number of sources at a
/// time, with the same bits as merge_star(). Local.
#include <array>
#include <cstddef>

#include "merganser/geometry/box.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser {

/// Batch of stars of parcels of EPIC's schema, merged as soon as eight with the same number of sources are there. Results are
/// written by flush() at the latest.
class EpicMergeBatch {
 public:
  static constexpr std::size_t kLanes = 8;       ///< stars per batch
  static constexpr std::size_t kMaxSources = 3;  ///< larger stars go to merge_epic
  static constexpr std::size_t kFields = 13;     ///< x y z volume, vorticity 3, buoyancy, B 5

  /// Makes an empty batch of stars of parcels in a box.
  explicit EpicMergeBatch(const Box& box) : box_(box) {}

  /// Begins a star whose merged parcel goes to `site` and `row` (id and padding of the row are not touched). Both must
  /// hold the centre and stay valid until flush(). Then add its sources by ascending id, exactly `sources` of them, and
  /// call end().
  /// @param sources  1 to kMaxSources
  void centre(std::size_t sources, Site* site, double* row) {
    lot_ = &lots_[sources - 1];
    lot_->site[lot_->count] = site;
    lot_->row[lot_->count] = row;
    member_ = 0;
    store_member(*site, row);
  }
  /// Adds a source parcel to the star that centre() began last. The values are copied.
  void source(const Site& site, const double* row) { store_member(site, row); }
  /// Ends the star that centre() began last, after its last source; merges the stars of its batch if that is full.
  void end() {
    if (++lot_->count == kLanes) merge(*lot_, member_ - 1);
  }
  /// Merges the stars of all batches that are not full, and writes their merged parcels.
  void flush() {
    for (std::size_t i = 0; i < kMaxSources; ++i)
      if (lots_[i].count > 0) merge(lots_[i], i + 1);
  }

  /// Up to eight stars with the same number of sources: fields of their members by lane, and the output of each star.
  struct Lot {
    alignas(64) double member[kMaxSources + 1][kFields][kLanes] = {};  ///< by member (0: centre), field, star
    std::array<Site*, kLanes> site{};                                  ///< by star: receives position and volume
    std::array<double*, kLanes> row{};                                 ///< by star: receives the attributes
    std::size_t count = 0;                                             ///< stars in the batch
  };

 private:
  /// Copies position, volume and attributes of a parcel into the lane of the star begun last.
  void store_member(const Site& s, const double* row) {
    auto& m = lot_->member[member_++];
    const std::size_t lane = lot_->count;
    m[0][lane] = s.x;
    m[1][lane] = s.y;
    m[2][lane] = s.z;
    m[3][lane] = s.volume;
    for (std::size_t f = 4; f < kFields; ++f) m[f][lane] = row[f - 3];
  }
  /// Merges the stars of a lot in the lanes of vectors, writes the merged parcels and empties the lot.
  void merge(Lot& lot, std::size_t sources);

  Box box_;                            // domain, for displacements and wrapping
  std::array<Lot, kMaxSources> lots_;  // lots by number of sources of their stars, less one
  Lot* lot_ = nullptr;                 // lot of the star begun last
  std::size_t member_ = 0;             // members of that star so far
};

}  // namespace merganser
