// Validation and index of the links that cross ranks (cross_links.hpp), before they are pruned or contracted.
#include "src/links/cross_links.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "merganser/base/error.hpp"

namespace merganser::links {
namespace {

/// Counts the cross-rank links of each arc in `count`, for one direction ("out" or "in"). @throws InputError unless arcs ascend,
/// slots of each arc are 0, 1, ... and vertices are below `vertices`
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

/// Adds the slots of relayed labels to the counts of each arc. On in-arcs links take the first slots and relays those above,
/// because the receiver distinguishes them by slot alone; on out-arcs relays may take any slot.
void count_relays(const Links& links, std::vector<std::size_t>& count_out, std::vector<std::size_t>& count_in) {
  const std::size_t arcs = count_in.size();
  const auto refuse = [&](const char* direction, std::uint32_t arc, std::uint32_t slot) {
    throw InputError(
        "cross-rank link or relay " + std::string(direction) + ": arc " + std::to_string(arc) + ", slot " +
        std::to_string(slot) + "; allowed: arcs below " + std::to_string(arcs) +
        " in ascending order, every slot 0, 1, ... of an arc once, relays above links on arcs that lead in");
  };
  std::size_t last_arc = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
  for (const Relay& r : links.relays) {
    if (r.arc_in >= arcs || r.arc_in < last_arc || r.slot_in != count_in[r.arc_in]) refuse("in", r.arc_in, r.slot_in);
    last_arc = r.arc_in;
    ++count_in[r.arc_in];
    out.emplace_back(r.arc_out, r.slot_out);
  }
  for (std::size_t k = 0; k < links.out.size(); ++k) {
    const CrossLink& link = links.out[k];
    const bool ascends =
        k == 0 || std::tie(links.out[k - 1].arc, links.out[k - 1].slot) < std::tie(link.arc, link.slot);
    if (!ascends || link.vertex >= links.target.size()) refuse("out", link.arc, link.slot);
    out.emplace_back(link.arc, link.slot);
  }
  // On out-arcs links and relays share the slots; sorted, they must be 0, 1, ... on every arc.
  std::sort(out.begin(), out.end());
  for (const auto& [arc, slot] : out)
    if (arc >= arcs || slot != count_out[arc]++) refuse("out", arc, slot);
}

}  // namespace

// Refuses links with relays in algorithms that communicate along arcs only: relayed labels exist in the single-pass pruning alone.
void require_no_relays(const Links& links) {
  if (links.relays.empty()) return;
  throw InputError(std::to_string(links.relays.size()) +
                   " labels to be relayed between ranks that share no arc; allowed: in prune_single_pass alone");
}

// Indexes and validates cross-rank links before pruning or contraction: both ends of an arc number its links alike, so a wrong
// numbering here would deliver labels to wrong links.
void CrossLinks::build(const Links& links, std::size_t arcs) {
  count_out.assign(arcs, 0);
  count_in.assign(arcs, 0);
  if (links.relays.empty()) count_slots(links.out, links.target.size(), "out", count_out);
  count_slots(links.in, links.target.size(), "in", count_in);
  links_in = count_in;
  if (!links.relays.empty()) count_relays(links, count_out, count_in);
  // `in` and `relays` are ordered by arc, so exclusive prefix sums of the counts give the first entry of each arc.
  first_in.assign(arcs, 0);
  first_relay.assign(arcs, 0);
  for (std::size_t arc = 1; arc < arcs; ++arc) {
    first_in[arc] = first_in[arc - 1] + links_in[arc - 1];
    first_relay[arc] = first_relay[arc - 1] + count_in[arc - 1] - links_in[arc - 1];
  }

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
    // Compares the id too: relayed links may arrive over one arc from equal vertex numbers of different ranks.
    const CrossLink& leaving = links.out[k];
    if (leaving.arc != arriving.arc || leaving.remote_vertex != arriving.remote_vertex ||
        leaving.remote_id != arriving.remote_id)
      continue;
    dual_in[i] = k;
    dual_out[k] = i;
  }
}

}  // namespace merganser::links
