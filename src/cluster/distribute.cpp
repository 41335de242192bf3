// Distribution of parcels from any ranks to their owners by one collective exchange.
#include <string>

#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/parcels/limits.hpp"
#include "merganser/parcels/packed.hpp"
#include "src/cluster/distinct_ids.hpp"
#include "src/cluster/owner_checks.hpp"
#include "src/cluster/rank_agreement.hpp"
#include "src/cluster/remove_parcels.hpp"
#include "src/cluster/wrap_into_box.hpp"

namespace merganser {

// All checks come before anything is moved, so that an error leaves the parcels of every rank as they were, but for wrapping.
void distribute(Parcels& parcels, const Decomposition& decomposition, comm::Transport& transport) {
  comm::agree(transport, [&] { cluster::check_ranks(decomposition, transport); });
  comm::check_uniform_across_ranks(transport, "distribute", cluster::uniform_values(parcels.schema(), decomposition));
  cluster::check_distinct_over_ranks("parcel id", nearest::PointSet(parcels, 0).ids(nullptr), parcels.size(),
                                     transport);
  const Box& box = decomposition.grid().box;
  std::vector<std::vector<std::byte>> to(static_cast<std::size_t>(transport.size()));
  std::vector<std::uint8_t> gone;  // empty while all parcels are where they belong
  comm::agree(transport, [&] {
    for (std::size_t i = 0; i < parcels.size(); ++i) {
      Site& s = parcels.site(i);
      if (!is_volume(s.volume)) [[unlikely]]
        cluster::check_volume(parcels, i);
      if (!cluster::is_well_inside(box, s)) [[unlikely]]
        cluster::wrap_into_box(box, parcels, i, s, cluster::Walls::refuse);
      const int owner = transport.size() == 1 ? 0 : decomposition.owner({s.x, s.y, s.z});
      if (owner == transport.rank()) continue;
      gone.resize(parcels.size(), 0);
      append_parcel(to[static_cast<std::size_t>(owner)], s, parcels.row(i), parcels.schema().width());
      gone[i] = 1;
    }
  });
  if (!gone.empty()) cluster::remove_parcels(parcels, gone);
  for (const auto message : comm::all_to_all(transport, std::move(to))) append_parcels(message, parcels);
}

}  // namespace merganser
