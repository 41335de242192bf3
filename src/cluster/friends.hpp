#pragma once
/// Friends of friends over all ranks: groups of points connected by distances up to a linking length, and exact sums over
/// each group (friends_of_friends.hpp is the public form). The rule is that of policy_reference.hpp.
///
/// A *part* is what a rank sees of a group: its points that are connected on the rank, ghosts included, by edges that do
/// not cross a periodic face of the box. It is named by its vertex, the point of lowest id.
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "merganser/base/id_table.hpp"
#include "merganser/cluster/friends.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/geometry/point_view.hpp"
#include "merganser/links/links.hpp"
#include "merganser/parcels/columns.hpp"
#include "merganser/parcels/parcels.hpp"
#include "src/cluster/friends_local.hpp"
#include "src/cluster/policy_arithmetic.hpp"

namespace merganser::cluster {

/// Points of one rank among which friends are found. A view: valid as long as the caller's arrays.
struct FriendPoints {
  PointView points;               ///< positions; z is not null
  links::Ids ids;                 ///< ids, distinct over all ranks
  ConstColumn weight;             ///< weight or volume of each point; null: 1
  std::vector<ConstColumn> same;  ///< columns in which friends are equal
};

/// Name of a group as a part knows it: the lowest id found so far, the part that holds it, and by how many periods along
/// each axis this part is away from that one.
struct FriendLabel {
  std::int64_t id = 0;       ///< lowest id
  std::int32_t rank = 0;     ///< rank that holds the point of this id
  std::uint32_t vertex = 0;  ///< its position on that rank
  FriendPeriods k{0, 0, 0};  ///< periods to add to positions of this part
  std::uint32_t unused = 0;  ///< instead of padding, which would be sent
};

/// Part that has edges to other parts, of this rank across a periodic face or of other ranks.
struct FriendPart {
  FriendLabel label;         ///< name of its group
  Vec3 centre{};             ///< position of the point of lowest id of the group
  std::uint32_t vertex = 0;  ///< the part's point of lowest id
  bool winds = false;        ///< whether the group winds round the box; at its root, then everywhere
  bool is_dirty = true;      ///< whether the label has changed since it was last sent
};

/// Search of friends of friends over all ranks. Collective: every rank makes the same calls.
class FriendSearch {
 public:
  /// Keeps references to the transport and the decomposition. Local.
  FriendSearch(comm::Transport& transport, const Decomposition& decomposition)
      : transport_(transport), decomposition_(decomposition) {}

  /// Finds the groups of the points of all ranks. Collective. @param length  linking length in units of the box
  /// @throws UsageError on every rank for a length of half a periodic extent or more; InputError on every rank for a
  /// point that is outside of its rank's block, or two points of a rank with one id
  void find(const FriendPoints& input, double length, FriendNumbers& numbers);

  /// Returns the vertex of the part of point v of this rank. Local.
  [[nodiscard]] std::uint32_t part_of(std::uint32_t v) const { return part_[v]; }
  /// Returns the part of this vertex if it has edges to others, else null: then it is a whole group. Local.
  [[nodiscard]] const FriendPart* find_part(std::uint32_t vertex) const {
    if (parts_.empty()) return nullptr;
    const std::uint32_t at = table_.find(vertex);
    return at == IdTable::kNone ? nullptr : &parts_[at];
  }
  /// Returns the points that the last find() read. Local.
  [[nodiscard]] const FriendPoints& input() const { return input_; }
  /// Returns the domain. Local.
  [[nodiscard]] const Box& box() const { return decomposition_.grid().box; }
  /// Returns the transport. Local.
  [[nodiscard]] comm::Transport& transport() const { return transport_; }
  /// Returns the position of point v of this rank. Local.
  [[nodiscard]] Vec3 position(std::uint32_t v) const {
    const std::size_t at = v * input_.points.stride;
    return {input_.points.x[at], input_.points.y[at], input_.points.z[at]};
  }

 private:
  /// Edge of a part to another one: of a neighbour, or of this rank across a periodic face.
  struct Edge {
    std::int32_t arc;       // arc to the rank of the other part; -1: this rank
    std::uint32_t other;    // vertex of the other part, on its rank
    std::uint32_t part;     // index in parts_
    FriendPeriods k;        // periods of the other part relative to this one
    FriendLabel label{};    // label of the other part, where it is on another rank and has been told
    bool is_known = false;  // whether it has been told
  };
  /// Request to the root of a part to join a group of lower id.
  struct Request {
    std::int32_t rank;     // rank of the root
    std::uint32_t vertex;  // its vertex
    FriendLabel label;     // the name that it gets
  };
  /// Name of a part over all ranks, in a question for its label or state.
  struct PartName {
    std::int32_t rank;
    std::uint32_t vertex;
  };
  /// State of a group, as its root knows it.
  struct State {
    Vec3 centre;
    std::int64_t winds;
  };

  void connect_neighbours(double length);
  void send_ghosts(double length, std::size_t same);
  void post_ghosts(double length);
  void find_local_by_groups(double length);
  void name_parts();
  void list_edges();
  void list_neighbour_edges(const std::vector<FriendEdge>& to_ghosts);
  std::uint32_t add_part(std::uint32_t vertex);
  void agree_on_labels(FriendNumbers& numbers);
  bool make_round();
  void exchange_labels();
  bool hook();
  bool shorten();
  void mark_winding();
  void ask_roots();
  [[nodiscard]] FriendPart& part_at(std::uint32_t vertex);
  [[nodiscard]] bool is_root(const FriendPart& part) const {
    return part.label.rank == transport_.rank() && part.label.vertex == part.vertex;
  }

  comm::Transport& transport_;
  const Decomposition& decomposition_;
  std::unique_ptr<comm::Mailbox> mailbox_;  // arcs to the ranks whose blocks are within reach_
  double reach_ = -1;                       // linking length for which the mailbox was made
  FriendPoints input_;
  std::uint32_t size_ = 0;                        // points of this rank
  std::vector<std::vector<std::uint32_t>> sent_;  // by arc: points sent as ghosts
  std::vector<FriendSpot> ghosts_;                // ghosts received, arc after arc
  std::vector<std::size_t> first_ghost_;          // by arc: the first of its ghosts; and the number of all
  std::vector<double> ghost_same_;                // columns `same` of the ghosts
  FriendWorkspace workspace_;
  FriendVector<std::uint32_t> part_;    // by point, then by ghost: vertex of its part; kNone: of other ranks alone
  std::vector<FriendEdge> face_edges_;  // edges across periodic faces
  std::vector<FriendPart> parts_;       // parts that have edges
  IdTable table_;                       // numbers of parts_ by vertex
  std::vector<Edge> edges_;             // by arc and vertex of the other part
};

/// Column of a group's sums: where its values are, and its merge rule.
struct FriendColumn {
  ConstColumn values;      ///< one number per point
  Rule rule = Rule::mean;  ///< rule by which it merges; ellipsoid and callback are not allowed
};

/// Sums over one whole group, as its root gets them.
struct FriendTotal {
  std::uint32_t vertex = 0;     ///< the root: position of the point of lowest id on this rank
  std::int64_t members = 0;     ///< number of points
  bool winds = false;           ///< whether the group winds round the box; it has then no centre
  double weight = 0;            ///< sum of the weights
  Vec3 centre{};                ///< mean position by weight, in the box
  Vec3 place{};                 ///< position of the member that the rule of placement chooses
  std::vector<double> columns;  ///< merged value of each column; of Rule::centre not set
};

/// Options of sum_groups().
struct FriendSumOptions {
  Placement place = Placement::centroid;  ///< rule that chooses FriendTotal::place; centroid and centre choose none
  DrawKey key;                            ///< of the draws of Placement::member
  bool winding = true;                    ///< whether groups that wind round the box are summed too
};

/// Sums exactly over every group of a search that has at least two points, and passes each total to `use` on the rank of
/// its root. Collective: each part sends one record to the root of its group. No rank holds a group.
/// @throws InputError on every rank for a term that is not finite
void sum_groups(const FriendSearch& search, const std::vector<FriendColumn>& columns, const FriendSumOptions& options,
                const std::function<void(const FriendTotal&)>& use);

}  // namespace merganser::cluster
