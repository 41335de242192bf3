#pragma once
/// Batched merge of stars of EPIC's schema in the lanes of vectors: eight stars with the same number of sources at a
/// time, with the same bits as merge_star(). Local.
#include <array>
#include <cstddef>

#include "merganser/geometry/box.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser {

/// Batch of stars, merged as soon as eight with the same number of sources are there. Results are written by flush() at
/// the latest.
class EpicMergeBatch {
 public:
  static constexpr std::size_t kLanes = 8;       ///< stars per batch
  static constexpr std::size_t kMaxSources = 3;  ///< larger stars go to merge_epic
  static constexpr std::size_t kFields = 13;     ///< x y z volume, vorticity 3, buoyancy, B 5

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
  /// Adds a source of the star begun last. The values are copied.
  void source(const Site& site, const double* row) { store_member(site, row); }
  /// Ends the star begun last, after its last source; merges its batch if that is full.
  void end() {
    if (++lot_->count == kLanes) merge(*lot_, member_ - 1);
  }
  /// Merges the stars of batches that are not full.
  void flush() {
    for (std::size_t i = 0; i < kMaxSources; ++i)
      if (lots_[i].count > 0) merge(lots_[i], i + 1);
  }

  /// Batch of stars with the same number of sources: fields of members by lane, and the output of each star.
  struct Lot {
    alignas(64) double member[kMaxSources + 1][kFields][kLanes] = {};
    std::array<Site*, kLanes> site{};
    std::array<double*, kLanes> row{};
    std::size_t count = 0;  ///< stars in the batch
  };

 private:
  void store_member(const Site& s, const double* row) {
    auto& m = lot_->member[member_++];
    const std::size_t lane = lot_->count;
    m[0][lane] = s.x;
    m[1][lane] = s.y;
    m[2][lane] = s.z;
    m[3][lane] = s.volume;
    for (std::size_t f = 4; f < kFields; ++f) m[f][lane] = row[f - 3];
  }
  void merge(Lot& lot, std::size_t sources);

  Box box_;
  std::array<Lot, kMaxSources> lots_;
  Lot* lot_ = nullptr;
  std::size_t member_ = 0;
};

}  // namespace merganser
