#pragma once
/// Connected component of ranks around large holes in the parcels: flooding of queries and shortest routes within it.
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/geometry/box.hpp"
#include "src/cluster/distributed_search.hpp"

namespace merganser::cluster {

/// Connected component of the process graph to which this rank belongs if only OPEN ARCS count, arcs with an end whose
/// block is not full (Cover). Both ends of an arc agree on whether it is open. Every rank of a component makes the same
/// calls in the same order.
///
/// Flooding: in each wave a rank forwards the items that arrived in the wave before. It has those of all members after
/// as many waves as the farthest rank of its component is arcs away, detects that locally (every rank that a member
/// lists has sent its own item), and can then compute the same number for each neighbour. So both ends of an arc let it
/// take part in as many waves as either needs.
class FarComponent {
 public:
  /// Makes the empty component of `rank`, this one; gather() finds its members. Local.
  /// @param neighbours  function that returns the neighbours of any rank in the process graph, ascending; local
  FarComponent(comm::Mailbox& mailbox, std::function<std::vector<int>(int)> neighbours, int rank);

  /// Finds the component of ranks around holes and floods the far queries of its members. Called by every rank; no wave where
  /// this rank has no open arc.
  /// @param full  true if the block of this rank is full
  /// @param open_neighbour  per arc: 1 if the block of the neighbour at its other end is not full
  /// @param mine  far queries of this rank
  void gather(bool full, const Arcs& open_neighbour, const std::vector<FarQuery>& mine);
  /// Removes the members and queries of the component: this rank has no open arc until the next gather().
  void clear();

  /// Returns true if this rank has an open arc, and so other members in its component.
  [[nodiscard]] bool has_open_arc() const { return members_.size() > 1; }
  /// Returns the far queries of all members of the component, ordered by (rank, vertex): the same list on each member.
  [[nodiscard]] const std::vector<FarQuery>& queries() const { return queries_; }

  /// Returns the number of waves of the flooding: those after which an item that a member held before the first wave has
  /// reached every other member.
  [[nodiscard]] int waves() const { return waves_; }
  /// Returns true if an arc of this rank takes part in wave `wave` of the flooding, 1 to waves(). Both ends of the arc return
  /// the same.
  [[nodiscard]] bool is_active(std::size_t arc, int wave) const { return !reach_.empty() && reach_[arc] >= wave; }
  /// Exchanges the posted messages of the flooding over the arcs of this rank that are active in wave `wave`.
  void step(int wave);

  /// Returns a shortest path over open arcs from member `from` to member `to`, both included: the same on every member,
  /// and the reverse of route(to, from).
  [[nodiscard]] std::vector<int> route(int from, int to);
  /// Returns the neighbour to which a message for member `to` is forwarded next, along some shortest path; `to` is not
  /// this rank.
  [[nodiscard]] int next_hop(int to);
  /// Returns `owner` if that rank is a member, else the member nearest to this rank that has `owner` as a candidate; -1
  /// if no member has.
  [[nodiscard]] int nearest_candidate_of(int owner);
  /// Returns the number of this rank's arc to a neighbour in the process graph of candidate ranks, by binary search.
  [[nodiscard]] std::size_t arc_to(int rank) const;

 private:
  /// Member rank of the component around holes, with the neighbours over its open arcs.
  struct Member {
    int rank;
    bool full;
    std::vector<int> joined;  // ranks over open arcs, ascending
  };
  using Distances = std::vector<std::uint32_t>;

  void add_member(std::span<const std::byte> item);
  void receive_items(std::size_t arc, std::vector<std::byte>& fresh);
  void build_index();
  [[nodiscard]] std::size_t member_index(int rank) const;
  [[nodiscard]] bool is_member(int rank) const { return known_.contains(rank); }
  [[nodiscard]] const std::vector<int>& cached_neighbours(int rank);
  [[nodiscard]] const Distances& distances(int root);
  [[nodiscard]] int closer_neighbour(int rank, const Distances& to) const;

  comm::Mailbox& mailbox_;
  std::function<std::vector<int>(int)> neighbours_;
  std::unordered_map<int, std::vector<int>> neighbour_cache_;
  int rank_;
  std::vector<Member> members_;                     // by rank once all are known
  std::unordered_set<int> known_;                   // ranks of members_
  std::unordered_set<int> named_;                   // ranks listed by a member whose own item has not arrived
  std::vector<std::vector<std::uint32_t>> joined_;  // per member: positions of the ranks over open arcs
  std::unordered_map<int, Distances> distances_;
  std::vector<FarQuery> queries_;
  std::vector<int> reach_;  // per arc: number of waves in which it takes part
  int waves_ = 0;
  Arcs active_;
};

}  // namespace merganser::cluster
