#include "merganser/cluster/redistribution.hpp"

#include <string>

#include "merganser/announce/network.hpp"
#include "merganser/base/error.hpp"

namespace merganser {
namespace {

constexpr int kDegree = 4;
constexpr announce::Topic kInTransit = 1;

}  // namespace

Redistribution::Redistribution(comm::Transport& transport, Clusterer& clusterer)
    : transport_(transport), clusterer_(clusterer) {
  const bool one = transport.all_reduce(std::int64_t{clusterer.redistributes_in_one_wave()}, comm::Op::min) != 0;
  if (!one) network_.emplace(transport, announce::DeBruijnNetwork(transport.size(), kDegree));
}

int Redistribution::operator()(Parcels& parcels) {
  int made = 0;
  bool away = true;
  while (away) {
    clusterer_.redistribute(parcels);
    ++made;
    const std::int64_t in_transit = clusterer_.in_transit();
    away = false;
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
