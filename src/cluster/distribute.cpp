// Distribution of parcels from any ranks to their owners: checks of all of them, then one exchange in rounds.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/parcels/limits.hpp"
#include "src/cluster/distinct_ids.hpp"
#include "src/cluster/owner_checks.hpp"
#include "src/cluster/parcel_exchange.hpp"
#include "src/cluster/rank_agreement.hpp"
#include "src/cluster/wrap_into_box.hpp"

namespace merganser {

// All checks come before anything is moved, so that an error leaves the parcels of every rank as they were, but for wrapping.
void distribute(Parcels& parcels, const Decomposition& decomposition, comm::Transport& transport) {
  comm::agree(transport, [&] { cluster::check_ranks(decomposition, transport); });
  comm::check_uniform_across_ranks(transport, "distribute", cluster::uniform_values(parcels.schema(), decomposition));
  cluster::check_distinct_over_ranks("parcel id", nearest::PointSet(parcels, 0).ids(nullptr), parcels.size(),
                                     transport);
  const Box& box = decomposition.grid().box;
  std::optional<cluster::ParcelExchange> exchange;
  comm::agree(transport, [&] {
    std::vector<cluster::LeavingParcel> leaving;
    for (std::size_t i = 0; i < parcels.size(); ++i) {
      Site& s = parcels.site(i);
      if (!is_volume(s.volume)) [[unlikely]]
        cluster::check_volume(parcels, i);
      if (!cluster::is_well_inside(box, s)) [[unlikely]]
        cluster::wrap_into_box(box, parcels, i, s, cluster::Walls::refuse);
      const int owner = transport.size() == 1 ? 0 : decomposition.owner({s.x, s.y, s.z});
      if (owner != transport.rank()) leaving.push_back({i, owner});
    }
    exchange.emplace(parcels, std::move(leaving), transport);
  });
  exchange->run();
}

}  // namespace merganser
