#pragma once
/// Far search: links between ranks that are no candidates of each other. Finds them by flooding, numbers them for the
/// pruning, and migrates parcels along them.
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "src/cluster/candidate_ranks.hpp"
#include "src/cluster/far_component.hpp"

namespace merganser::cluster {

/// Far link: a link whose source and target are on ranks that are no candidates of each other. Every rank of the
/// component stores the same far links in the same order.
struct FarLink {
  std::int32_t source_rank;       ///< rank of the source
  std::int32_t target_rank;       ///< rank of the target
  std::uint32_t source;           ///< vertex of the source on its rank
  std::uint32_t target;           ///< vertex of the target on its rank
  std::uint32_t source_position;  ///< position of the source in the container of its rank
  std::uint32_t target_position;  ///< position of the target in the container of its rank
  std::int64_t source_id;         ///< global id of the source
  std::int64_t target_id;         ///< global id of the target
  double distance2;               ///< squared distance of source and target
};

/// Far search of one merge step. Ordinary queries go to neighbours in the process graph only. Where parcels leave a hole so
/// large that a nearest parcel may lie beyond them, the ranks around it (FarComponent) flood their queries, then their
/// replies; so each stores every far link between them, and its route, a shortest path of the process graph. Labels and
/// parcels are forwarded along these routes.
///
/// Ranks without an open arc do nothing here. The others make, where no parcel has a far query, as many waves as the
/// farthest of their component is arcs away; else twice as many, and to migrate one for each arc of the longest route.
class FarSearch {
 public:
  /// Makes a far search without links for `rank`, this one. Local: the process graph of `mailbox` has been made before.
  /// @param exact  true if the search rule is Search::exact
  FarSearch(comm::Mailbox& mailbox, const Decomposition& decomposition, const CandidateRanks& candidates, int rank,
            bool exact);

  /// Returns true if there can be far links at all, with the exact search and ranks that are no candidates of each other: the
  /// same on every rank.
  [[nodiscard]] bool is_possible() const { return possible_; }
  /// Finds the far links of this rank's component and marks the links of this rank's parcels that are far. Called by
  /// every rank after DistributedSearch::exchange_replies(); communicates within the component only. `sorted` (sites in the
  /// order of cells) and `scratch` are filled if this rank has not sorted its parcels yet.
  void find(DistributedSearch& search, Site* sorted, RawBuffer& scratch);

  /// Removes the far links and routes of the step before. Local.
  void clear();
  /// Returns true if a far link has its source or target on this rank.
  [[nodiscard]] bool has_link_ends() const;
  /// Returns true if the route of some far link contains this rank.
  [[nodiscard]] bool has_links() const { return !out_.empty() || !in_.empty(); }
  /// Adds the far links of this rank to the lists of cross-rank links, with their slots, and the relays of far links
  /// that pass through this rank. Called after DistributedSearch::announce().
  void number_links(links::Links& links);
  /// Returns true if entry k of Links::out, the links from this rank to others, is a far link.
  [[nodiscard]] bool is_far_out(std::size_t k) const { return k < far_out_.size() && far_out_[k] != kNone; }
  /// Returns true if entry i of Links::in, the links from other ranks to this one, is a far link.
  [[nodiscard]] bool is_far_in(std::size_t i) const { return i < far_in_.size() && far_in_[i] != kNone; }

  /// Callbacks by which migrate() serialises a parcel that travels along a far link, and stores one that has arrived.
  struct Payload {
    std::size_t bytes;                                                           ///< bytes of one serialised parcel
    std::function<void(std::uint32_t vertex, std::vector<std::byte>& to)> pack;  ///< appends a parcel
    /// Stores the parcel that has arrived along the far link that is entry `in` of Links::in.
    std::function<void(std::size_t in, std::span<const std::byte>)> unpack;
  };
  /// Migrates the sources of kept far links to their targets, hop by hop: one wave for each hop of the longest route.
  /// Called by every rank on the route of a far link, where has_links().
  void migrate(const links::Stars& stars, const Payload& payload);

  /// Returns the component of this rank while merged parcels may have to be redistributed within it, else null: from a
  /// find() with far links until the next find() or release_component().
  [[nodiscard]] FarComponent* component();
  /// Ends the use of component() for the redistribution of merged parcels over holes.
  void release_component() { away_ = false; }

 private:
  static constexpr std::uint32_t kNone = links::kNone;
  /// Reply of a merge step's far search, flooded among the ranks around a hole: a parcel nearer than the nearest one known to the
  /// rank that sent the query.
  struct Reply {
    double distance2;
    std::int64_t id;
    std::uint32_t query;
    std::uint32_t vertex;
    std::int32_t rank;
    std::uint32_t position;
  };
  /// Passage of a far link's route over one arc of this rank, with the slot by which the pruning sends its label there.
  struct RouteArc {
    std::uint32_t arc;
    bool on;  // true if the route continues beyond the head of the arc
    std::uint32_t link;
    std::uint32_t slot;
  };
  void search_replies(DistributedSearch& search, Site* sorted, RawBuffer& scratch);
  bool update_best(const Reply& reply);
  void flood_replies();
  void store_links(DistributedSearch& search);
  void find_routes();
  void migrate_hop(std::size_t hop, std::size_t bytes, std::vector<std::vector<std::byte>>& load);
  void number_slots(std::vector<RouteArc>& passes, const std::vector<links::CrossLink>& ordinary);

  comm::Mailbox& mailbox_;
  const Decomposition& decomposition_;
  int rank_;
  bool possible_;
  FarComponent component_;
  bool away_ = false;
  std::vector<Reply> best_;   // best reply per query; rank -1: none
  std::vector<Reply> fresh_;  // replies to be forwarded in the next wave
  std::vector<FarLink> links_;
  std::vector<std::vector<int>> ways_;  // route of each link: ranks, both ends included
  std::vector<RouteArc> out_;
  std::vector<RouteArc> in_;
  std::vector<std::uint32_t> far_out_;  // per Links::out: far link, or kNone
  std::vector<std::uint32_t> far_in_;
};

}  // namespace merganser::cluster
