#include "merganser/cluster/rehoming.hpp"

#include <string>

#include "merganser/announce/network.hpp"
#include "merganser/base/error.hpp"

namespace merganser {
namespace {

constexpr int kDegree = 4;
constexpr announce::Topic kTravelling = 1;

}  // namespace

Rehoming::Rehoming(comm::Transport& transport, Clusterer& clusterer) : transport_(transport), clusterer_(clusterer) {
  const bool one = transport.all_reduce(std::int64_t{clusterer.home_in_one_wave()}, comm::Op::min) != 0;
  if (!one) network_.emplace(transport, announce::DeBruijnNetwork(transport.size(), kDegree));
}

int Rehoming::operator()(Parcels& parcels) {
  int made = 0;
  bool away = true;
  while (away) {
    clusterer_.rehome(parcels);
    ++made;
    const std::int64_t travelling = clusterer_.travelling();
    away = false;
    if (network_) {
      if (travelling > 0) network_->announce(kTravelling, {});
      network_->drain([&away](const announce::Announcement&) { away = true; });
    } else if (travelling > 0) {
      throw InputError("merged parcels that belong to ranks which rank " + std::to_string(transport_.rank()) +
                       " may not ask: " + std::to_string(travelling) +
                       "; a merged parcel lies between its members, so volumes or positions are out of range");
    }
  }
  waves_ += made;
  return made;
}

}  // namespace merganser
