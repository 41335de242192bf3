#include "src/links/cross_links.hpp"

#include <string>

#include "merganser/base/error.hpp"

namespace merganser::links {
namespace {

void count_slots(const std::vector<CrossLink>& list, std::size_t vertices, const char* direction,
                 std::vector<std::size_t>& count) {
  std::size_t last_arc = 0;
  for (const CrossLink& link : list) {
    if (link.arc >= count.size() || link.arc < last_arc || link.slot != count[link.arc] || link.vertex >= vertices) {
      throw InputError("cross-rank link " + std::string(direction) + ": arc " + std::to_string(link.arc) + ", slot " +
                       std::to_string(link.slot) + ", vertex " + std::to_string(link.vertex) +
                       "; allowed: arcs below " + std::to_string(count.size()) +
                       " in ascending order, slots 0, 1, ... on each arc, vertices below " + std::to_string(vertices));
    }
    last_arc = link.arc;
    ++count[link.arc];
  }
}

}  // namespace

void CrossLinks::find(const Links& links, std::size_t arcs) {
  count_out.assign(arcs, 0);
  count_in.assign(arcs, 0);
  count_slots(links.out, links.target.size(), "out", count_out);
  count_slots(links.in, links.target.size(), "in", count_in);
  first_in.assign(arcs, 0);
  for (std::size_t arc = 1; arc < arcs; ++arc) first_in[arc] = first_in[arc - 1] + count_in[arc - 1];

  dual_out.assign(links.out.size(), kNone);
  dual_in.assign(links.in.size(), kNone);
  for (std::uint32_t k = 0; k < links.out.size(); ++k) {
    if (links.target[links.out[k].vertex] != (kAway | k)) {
      throw InputError("cross-rank link " + std::to_string(k) + " leaves vertex " +
                       std::to_string(links.out[k].vertex) + ", whose target is another");
    }
  }
  for (std::uint32_t i = 0; i < links.in.size(); ++i) {
    const CrossLink& arriving = links.in[i];
    const std::uint32_t target = links.target[arriving.vertex];
    if (target == kNone || (target & kAway) == 0) continue;
    const std::uint32_t k = target & ~kAway;
    if (k >= links.out.size()) {
      throw InputError("vertex " + std::to_string(arriving.vertex) + " has cross-rank link " + std::to_string(k) +
                       " of " + std::to_string(links.out.size()));
    }
    if (links.out[k].arc != arriving.arc || links.out[k].far_vertex != arriving.far_vertex) continue;
    dual_in[i] = k;
    dual_out[k] = i;
  }
}

}  // namespace merganser::links
