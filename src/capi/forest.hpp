#pragma once
/// A forest that a handle stands for.
#include <vector>

#include "merganser/capi/forest.h"
#include "merganser/msf/forest.hpp"
#include "src/capi/objects.hpp"

namespace merganser::capi {

class ForestObject final : public OverTransport {
 public:
  static constexpr const char* kKind = "forest";
  ForestObject(std::shared_ptr<TransportObject> transport, msf::Forest found)
      : OverTransport(std::move(transport)), forest(std::move(found)) {
    edges.reserve(forest.edges.size());
    for (const auto& e : forest.edges) edges.push_back({e.low, e.high, graphs::weight_of(forest.kind, e.weight)});
  }

  const msf::Forest forest;
  std::vector<mg_edge> edges;
};

}  // namespace merganser::capi
