// Redistribution of merged parcels to their owners: waves, and announcements by which all ranks find the last one.
#include "merganser/cluster/redistribution.hpp"

#include <string>

#include "merganser/announce/network.hpp"
#include "merganser/base/error.hpp"

namespace merganser {
namespace {

constexpr int kDegree = 4;                 ///< arcs of each rank in the announcement network
constexpr announce::Topic kInTransit = 1;  ///< topic: a parcel of this wave is not at its owner yet

}  // namespace

// Redistribution over any distance: the announcement network is made only if some rank's parcels may need more than one
// wave. Collective.
Redistribution::Redistribution(comm::Transport& transport, Clusterer& clusterer)
    : transport_(transport), clusterer_(clusterer) {
  const bool one = transport.all_reduce(std::int64_t{clusterer.redistributes_in_one_wave()}, comm::Op::min) != 0;
  if (!one) network_.emplace(transport, announce::DeBruijnNetwork(transport.size(), kDegree));
}

// Repeats redistribution waves until every merged parcel is on its owner; after each wave, ranks that sent a parcel to
// another rank than its owner announce it.
int Redistribution::operator()(Parcels& parcels) {
  int made = 0;
  bool away = true;
  while (away) {
    clusterer_.redistribute(parcels);
    ++made;
    const std::int64_t in_transit = clusterer_.in_transit();
    away = false;
    // drain() returns when announcements of this wave have reached every rank, so all ranks compute the same `away` and
    // make the same number of waves.
    if (network_) {
      if (in_transit > 0) network_->announce(kInTransit, {});
      network_->drain([&away](const announce::Announcement&) { away = true; });
    } else if (in_transit > 0) {
      throw InputError("merged parcels whose owners are no candidates of rank " + std::to_string(transport_.rank()) +
                       ": " + std::to_string(in_transit) +
                       "; a merged parcel lies between its members, so volumes or positions are out of range");
    }
  }
  waves_ += made;
  return made;
}

}  // namespace merganser
