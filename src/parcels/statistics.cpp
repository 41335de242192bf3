// Digest of parcels as a sum of hashes, and conserved quantities as exact sums.
#include "merganser/parcels/statistics.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <span>

#include "merganser/base/text.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace merganser {
namespace {

/// Returns the hash (XXH64) of the words of a parcel as little-endian bytes, so that digests are equal on machines of any byte
/// order.
std::uint64_t hash_words(const std::vector<std::uint64_t>& words, std::uint64_t seed) {
  if constexpr (std::endian::native == std::endian::big) {
    std::vector<std::uint64_t> swapped;
    for (const std::uint64_t w : words) swapped.push_back(__builtin_bswap64(w));
    return XXH64(swapped.data(), swapped.size() * sizeof(std::uint64_t), seed);
  }
  return XXH64(words.data(), words.size() * sizeof(std::uint64_t), seed);
}

}  // namespace

Digest& Digest::operator+=(const Digest& o) {
  a += o.a;
  b += o.b;
  return *this;
}

std::string Digest::to_string() const { return hex16_text(a) + hex16_text(b); }

// Computes the digest of a rank's parcels: the sum over parcels of two hashes of id, position, volume and attributes.
Digest digest(const Parcels& parcels) {
  std::size_t components = 0;  // without the padding of a row
  for (const Attribute& a : parcels.schema().attributes()) components += static_cast<std::size_t>(a.components);
  std::vector<std::uint64_t> words(5 + components);
  Digest sum;
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const Site& s = parcels.site(i);
    const double* row = parcels.row(i);
    words[0] = std::bit_cast<std::uint64_t>(row[0]);
    words[1] = std::bit_cast<std::uint64_t>(s.x);
    words[2] = std::bit_cast<std::uint64_t>(s.y);
    words[3] = std::bit_cast<std::uint64_t>(s.z);
    words[4] = std::bit_cast<std::uint64_t>(s.volume);
    for (std::size_t c = 0; c < components; ++c) words[5 + c] = std::bit_cast<std::uint64_t>(row[1 + c]);
    sum.a += hash_words(words, 0);
    sum.b += hash_words(words, 0x9E3779B97F4A7C15ULL);
  }
  return sum;
}

// Adds the conserved quantities of other parcels, which may have more attributes than were seen so far.
void Moments::add(const Moments& o) {
  parcels += o.parcels;
  volume.add(o.volume);
  for (int a = 0; a < 3; ++a) volume_position[a].add(o.volume_position[a]);
  if (volume_attribute.size() < o.volume_attribute.size()) volume_attribute.resize(o.volume_attribute.size());
  for (std::size_t i = 0; i < o.volume_attribute.size(); ++i) volume_attribute[i].add(o.volume_attribute[i]);
}

// Computes the conserved quantities of a rank's parcels: one exact sum for each component of a conserved rule.
Moments moments(const Parcels& parcels, const Box& box) {
  /// Component of an attribute whose total merging conserves, weighted by volume for the rule `mean`.
  struct ConservedColumn {
    std::size_t offset;  // in a payload row
    bool weighted;       // by the volume of the parcel
  };
  std::vector<ConservedColumn> columns;
  std::size_t offset = 1;
  for (const Attribute& a : parcels.schema().attributes()) {
    for (int c = 0; c < a.components; ++c, ++offset)
      if (is_conserved(a.rule)) columns.push_back({offset, a.rule == Rule::mean});
  }
  Moments m;
  m.parcels = static_cast<std::int64_t>(parcels.size());
  m.volume_attribute.resize(columns.size());
  constexpr std::size_t kLot = 512;  // parcels that stay in the cache while each of their sums is made
  std::array<double, kLot> terms;
  for (std::size_t begin = 0; begin < parcels.size(); begin += kLot) {
    const std::size_t count = std::min(kLot, parcels.size() - begin);
    const Site* const sites = parcels.sites() + begin;
    const auto sum = [&](ExactSum& to, const auto& term) {
      for (std::size_t i = 0; i < count; ++i) terms[i] = term(i);
      to.add(std::span<const double>(terms.data(), count));
    };
    sum(m.volume, [&](std::size_t i) { return sites[i].volume; });
    const std::array<double Site::*, 3> axes{&Site::x, &Site::y, &Site::z};
    for (std::size_t a = 0; a < 3; ++a)
      if (!box.periodic[a])
        sum(m.volume_position[a], [&](std::size_t i) { return sites[i].volume * (sites[i].*axes[a]); });
    for (std::size_t c = 0; c < columns.size(); ++c)
      sum(m.volume_attribute[c], [&](std::size_t i) {
        const double value = parcels.row(begin + i)[columns[c].offset];
        if (std::isnan(value)) return 0.0;  // missing: of rule sum_present
        return columns[c].weighted ? sites[i].volume * value : value;
      });
  }
  return m;
}

}  // namespace merganser
