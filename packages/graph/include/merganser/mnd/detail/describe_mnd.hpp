#pragma once
/// Description of MndOptions (multi-node Boruvka) for the command line and for checks of ranges; not part of the interface.
#include "merganser/base/options.hpp"
#include "merganser/mnd/mnd.hpp"

namespace merganser::mnd {

/// Passes the name, member, meaning and range of each option of multi-node Boruvka to `option`.
void describe(MndOptions& o, auto&& option) {
  option("style", o.style, "how ranks talk: as published, or in overlapped chunks",
         Choices<MndStyle>{{{"baseline", MndStyle::baseline}, {"tuned", MndStyle::tuned}}});
  option("post", o.post, "who finishes: one rank, or leaders of groups",
         Choices<MndPost>{{{"single", MndPost::single}, {"leader", MndPost::leader}}});
  option("independent-threshold", o.independent_threshold,
         "a rank stops contracting after a round that adds fewer edges than this share of its vertices", between(0, 1));
  option("mst-threshold", o.mst_threshold,
         "finish when fewer components than this share of all vertices can still grow", between(0, 1));
  option("stall-threshold", o.stall_threshold,
         "finish too when a cycle adds fewer edges than this share of the components left", between(0, 1));
  option("ring-share", o.ring_share, "share of its components that a rank hands to the next one per cycle",
         between(0, 1));
  option("leader-group", o.leader_group, "ranks per leader", between(2, 1 << 20));
  option("chunk", o.chunk, "records per chunk of style tuned", between(1, 1 << 20));
  option(
      "carrier", o.carrier, "what carries the chunks of style tuned",
      Choices<MndCarrier>{
          {{"automatic", MndCarrier::automatic}, {"messages", MndCarrier::messages}, {"memory", MndCarrier::memory}}});
}

}  // namespace merganser::mnd
