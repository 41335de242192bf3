#pragma once
/// Redistribution of merged parcels to their owners, over any distance, without a collective: waves of
/// Clusterer::redistribute, and announcements by which all ranks find that none is left.
#include <cstdint>
#include <optional>

#include "merganser/announce/announcement_network.hpp"
#include "merganser/cluster/cluster.hpp"

namespace merganser {

/// Repeated Clusterer::redistribute, as many waves as necessary, the same number on every rank.
///
///     Redistribution redistribute(transport, clusterer);                 // collective
///     for (...) { clusterer.step(parcels); redistribute(parcels); }      // neighbours only
///
/// One wave suffices, and nothing else is sent, if Clusterer::redistributes_in_one_wave() is true on every rank: up to
/// 27 ranks, and above that unless parcels are so few that candidate ranks lie beyond touching blocks. Otherwise each
/// wave is followed by time_to_live() steps of an announcement network (about log4 of the ranks), in which a rank that
/// has forwarded a parcel announces it; a wave without any such announcement is the last, since all parcels are on
/// their owners.
class Redistribution {
 public:
  /// Determines over all ranks whether one wave brings every merged parcel to its owner, and makes the announcement network if
  /// not. Collective. Transport and Clusterer must outlive this object and keep their addresses.
  Redistribution(comm::Transport& transport, Clusterer& clusterer);

  /// Sends the parcels of every rank to their owners. Called by every rank after a step. No collective.
  /// @return waves made, the same on every rank
  /// @throws InputError naming the rank if a parcel has come farther than merging can bring it, where one wave suffices
  int operator()(Parcels& parcels);

  /// Returns the number of redistribution waves made so far, the same on every rank.
  [[nodiscard]] std::int64_t waves() const noexcept { return waves_; }
  /// Returns true if redistribution waves are followed by announcements of parcels in transit; the same on every rank.
  [[nodiscard]] bool announces() const noexcept { return network_.has_value(); }

 private:
  comm::Transport& transport_;
  Clusterer& clusterer_;
  std::optional<announce::AnnouncementNetwork> network_;
  std::int64_t waves_ = 0;
};

}  // namespace merganser
