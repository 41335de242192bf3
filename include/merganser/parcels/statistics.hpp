#pragma once
/// Digest, sums and checks of a set of parcels; independent of order and of how they are spread over ranks.
#include <cstdint>
#include <string>
#include <vector>

#include "merganser/base/exact_sum.hpp"
#include "merganser/geometry/box.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser {

/// Order-independent digest of ids and all bits of all attributes: two 64-bit sums of a hash per parcel. Add the
/// digests of the ranks word by word (modulo 2^64).
struct Digest {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  Digest& operator+=(const Digest& o);
  [[nodiscard]] std::string text() const;  ///< the digest as 32 hexadecimal digits
  friend bool operator==(const Digest&, const Digest&) = default;
};
/// Digest of one rank's parcels. Local.
[[nodiscard]] Digest digest(const Parcels& parcels);

/// Conserved quantities of one rank's parcels.
struct Moments {
  std::int64_t parcels = 0;
  ExactSum volume;
  ExactSum volume_position[3];             ///< on wall axes; periodic axes are not well defined and stay 0
  std::vector<ExactSum> volume_attribute;  ///< per component of rule mean: sum of V a; of the sums: sum of a
  /// Adds those of another rank.
  void add(const Moments& o);
};
/// Sums over one rank's parcels. Local.
[[nodiscard]] Moments moments(const Parcels& parcels, const Box& box);

}  // namespace merganser
