#pragma once
/// Digest and conserved moments of a set of parcels: independent of order, of the number of ranks and of the
/// distribution over them.
#include <cstdint>
#include <string>
#include <vector>

#include "merganser/base/exact_sum.hpp"
#include "merganser/geometry/box.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser {

/// Order-independent digest (multiset hash) of a set of parcels: of ids and all bits of all attributes: two 64-bit sums of a hash
/// per parcel. The digest of several ranks' parcels is the sum of theirs, word by word (modulo 2^64).
struct Digest {
  std::uint64_t a = 0;  ///< sum of the first hash of each parcel
  std::uint64_t b = 0;  ///< sum of the second hash of each parcel
  /// Adds the digest of other parcels, for example those of another rank, word by word modulo 2^64.
  Digest& operator+=(const Digest& o);
  [[nodiscard]] std::string to_string() const;  ///< the digest as 32 hexadecimal digits
  friend bool operator==(const Digest&, const Digest&) = default;
};
/// Computes the digest of ids, positions, volumes and attributes of one rank's parcels. Local.
[[nodiscard]] Digest digest(const Parcels& parcels);

/// Conserved quantities of one rank's parcels as exact sums, which do not depend on the order of addition.
struct Moments {
  std::int64_t parcels = 0;     ///< number of parcels
  ExactSum volume;              ///< sum of the volumes V of the parcels
  ExactSum volume_position[3];  ///< sum of V x on wall axes; 0 on periodic axes, where it is not well defined
  /// Per component of a conserved rule: sum of V a for `mean`, of a for the sums
  std::vector<ExactSum> volume_attribute;
  /// Adds the conserved quantities of other parcels, such as another rank's.
  void add(const Moments& o);
};
/// Computes the conserved quantities of one rank's parcels (volume, moments, attributes) as exact sums. Local.
[[nodiscard]] Moments moments(const Parcels& parcels, const Box& box);

}  // namespace merganser
