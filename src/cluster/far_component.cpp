// Component of ranks around large holes in the parcels: flooding of far queries and shortest routes between its members.
#include "src/cluster/far_component.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "merganser/base/error.hpp"

namespace merganser::cluster {
namespace {

// Format of an item, the description of a member rank that is flooded through the component. It begins with one word: the
// rank, shifted by two, and the bits kFull and kMore. With kMore follow the number of queries and the number of listed
// ranks, the queries, and the listed ranks. A full member lists the ranks over its open arcs; of a member that is not
// full all arcs are open, so any rank can compute the list and the item has none.
constexpr std::uint32_t kFull = 2;  ///< bit of an item's first word: the member's block is full
constexpr std::uint32_t kMore = 1;  ///< bit of an item's first word: counts, queries and listed ranks follow

/// Decoded head of an item, which describes a member rank of the component in a flooded message; read_head() fills it.
struct ItemHead {
  int rank;
  bool full;
  std::uint32_t queries;
  std::uint32_t listed;
  std::size_t bytes;  // length of the whole item in the message
};

/// Decodes the head of the first item (a member rank and its far queries) of a flooded message. @throws CommError if the message
/// ends within the item
ItemHead read_head(std::span<const std::byte> message) {
  std::array<std::uint32_t, 3> words{};
  std::memcpy(words.data(), message.data(), std::min(message.size(), sizeof words));
  ItemHead head{static_cast<int>(words[0] >> 2), (words[0] & kFull) != 0, 0, 0, sizeof(std::uint32_t)};
  if ((words[0] & kMore) != 0) {
    head.queries = words[1];
    head.listed = words[2];
    head.bytes = sizeof words + head.queries * sizeof(FarQuery) + head.listed * sizeof(std::int32_t);
  }
  if (message.size() < head.bytes)
    throw CommError("a message tells " + std::to_string(message.size()) + " of " + std::to_string(head.bytes) +
                    " bytes of what rank " + std::to_string(head.rank) + " looks for");
  return head;
}

/// Appends `bytes` bytes to a message that is flooded through the component.
void append_bytes(std::vector<std::byte>& to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const auto* const begin = static_cast<const std::byte*>(from);
  to.insert(to.end(), begin, begin + bytes);
}

/// Encodes the item by which this rank joins the flooding: its far queries and, if its block is full, the ranks over its open
/// arcs.
std::vector<std::byte> make_item(int rank, bool full, const std::vector<FarQuery>& queries,
                                 const std::vector<std::int32_t>& listed) {
  const bool more = !queries.empty() || !listed.empty();
  const std::array<std::uint32_t, 3> words{
      static_cast<std::uint32_t>(rank) << 2 | (full ? kFull : 0) | (more ? kMore : 0),
      static_cast<std::uint32_t>(queries.size()), static_cast<std::uint32_t>(listed.size())};
  std::vector<std::byte> item;
  append_bytes(item, words.data(), more ? sizeof words : sizeof words[0]);
  append_bytes(item, queries.data(), queries.size() * sizeof(FarQuery));
  append_bytes(item, listed.data(), listed.size() * sizeof(std::int32_t));
  return item;
}

/// Distance of a member rank that the breadth-first search over open arcs has not reached yet.
constexpr std::uint32_t kUnreached = std::numeric_limits<std::uint32_t>::max();

}  // namespace

// Component of ranks around large holes, empty until gather(); no arc is active.
FarComponent::FarComponent(comm::Mailbox& mailbox, std::function<std::vector<int>(int)> neighbours, int rank)
    : mailbox_(mailbox), neighbours_(std::move(neighbours)), rank_(rank), active_(mailbox.graph().out.size()) {}

// End of a component of ranks around holes: the members, queries and routes of the step before are dropped.
void FarComponent::clear() {
  members_.clear();
  known_.clear();
  named_.clear();
  joined_.clear();
  distances_.clear();
  queries_.clear();
  reach_.clear();
  waves_ = 0;
}

// Flooding of the far search: in each wave a rank forwards the items that arrived in the wave before.
void FarComponent::gather(bool full, const Arcs& open_neighbour, const std::vector<FarQuery>& mine) {
  clear();
  const auto& to = mailbox_.graph().out;
  std::vector<std::int32_t> listed;
  for (std::size_t arc = 0; arc < to.size(); ++arc)
    if (full && open_neighbour[arc]) listed.push_back(to[arc]);
  if (full && listed.empty()) return;
  reach_.resize(to.size());
  for (std::size_t arc = 0; arc < to.size(); ++arc)
    reach_[arc] = !full || open_neighbour[arc] ? std::numeric_limits<int>::max() : 0;

  std::vector<std::byte> fresh = make_item(rank_, full, mine, listed);
  add_member(fresh);
  const auto wave = [&] {
    ++waves_;
    std::vector<std::byte> next;
    for (std::size_t arc = 0; arc < to.size(); ++arc)
      if (is_active(arc, waves_)) append_bytes(mailbox_.outbox(arc), fresh.data(), fresh.size());
    step(waves_);
    for (std::size_t arc = 0; arc < to.size(); ++arc)
      if (is_active(arc, waves_)) receive_items(arc, next);
    fresh = std::move(next);
  };
  // A rank listed by a member is a member too, and its item is forwarded until it has arrived everywhere: the set is
  // empty only once the items of all members are here.
  while (!named_.empty()) wave();
  build_index();
  // Now every member has the whole graph, so each can compute the eccentricity of its neighbours: an arc stays active
  // for as many waves as the larger of its two ends' needs.
  const int own = waves_;
  bool again = false;
  for (std::size_t arc = 0; arc < to.size(); ++arc) {
    if (reach_[arc] == 0) continue;
    const Distances& d = distances(to[arc]);
    reach_[arc] = std::max(own, static_cast<int>(*std::max_element(d.begin(), d.end())));
    again = again || reach_[arc] > own;
  }
  if (again) wave();  // neighbours' eccentricities differ from this rank's by 1 at most
}

/// Stores the items (member ranks) of a flooded message that are new here and collects them in `fresh`, to be forwarded in the
/// next wave.
void FarComponent::receive_items(std::size_t arc, std::vector<std::byte>& fresh) {
  auto message = mailbox_.inbox(arc);
  while (!message.empty()) {
    const ItemHead head = read_head(message);
    if (!is_member(head.rank)) {
      add_member(message.first(head.bytes));
      append_bytes(fresh, message.data(), head.bytes);
    }
    message = message.subspan(head.bytes);
  }
}

/// Stores a flooded item: a member rank of the component, its open arcs and its far queries.
void FarComponent::add_member(std::span<const std::byte> item) {
  const ItemHead head = read_head(item);
  const std::byte* from =
      item.data() + item.size() - head.queries * sizeof(FarQuery) - head.listed * sizeof(std::int32_t);
  const std::size_t before = queries_.size();
  queries_.resize(before + head.queries);
  if (head.queries > 0) std::memcpy(&queries_[before], from, head.queries * sizeof(FarQuery));
  from += head.queries * sizeof(FarQuery);
  Member member{head.rank, head.full, {}};
  if (member.full) {
    member.joined.resize(head.listed);
    if (head.listed > 0) std::memcpy(member.joined.data(), from, head.listed * sizeof(std::int32_t));
  } else {
    member.joined = cached_neighbours(head.rank);
  }
  known_.insert(head.rank);
  named_.erase(head.rank);
  for (const int r : member.joined)
    if (!is_member(r)) named_.insert(r);
  members_.push_back(std::move(member));
}

/// Sorts members and far queries, so that they are in the same order on every member rank, and indexes the graph of open arcs.
void FarComponent::build_index() {
  std::sort(members_.begin(), members_.end(), [](const Member& a, const Member& b) { return a.rank < b.rank; });
  std::sort(queries_.begin(), queries_.end(), [](const FarQuery& a, const FarQuery& b) {
    return std::pair(a.rank, a.vertex) < std::pair(b.rank, b.vertex);
  });
  joined_.resize(members_.size());
  for (std::size_t i = 0; i < members_.size(); ++i)
    for (const int r : members_[i].joined) joined_[i].push_back(static_cast<std::uint32_t>(member_index(r)));
}

// One wave of the flooding, over the arcs of which both ends still take part.
void FarComponent::step(int wave) {
  for (std::size_t arc = 0; arc < active_.size(); ++arc) active_[arc] = is_active(arc, wave);
  mailbox_.step(active_, active_);
}

/// Returns the position of a member rank in members_, by binary search.
std::size_t FarComponent::member_index(int rank) const {
  const auto at =
      std::lower_bound(members_.begin(), members_.end(), rank, [](const Member& m, int r) { return m.rank < r; });
  return static_cast<std::size_t>(at - members_.begin());
}

/// Returns the neighbours (candidate ranks) of any rank in the process graph; computed once, since decompositions do not change.
const std::vector<int>& FarComponent::cached_neighbours(int rank) {
  const auto [at, is_new] = neighbour_cache_.try_emplace(rank);
  if (is_new) at->second = neighbours_(rank);
  return at->second;
}

/// Returns the number of open arcs from each member rank to the root, by breadth-first search; cached until the next gather().
const FarComponent::Distances& FarComponent::distances(int root) {
  const auto [at, is_new] = distances_.try_emplace(root);
  Distances& d = at->second;
  if (!is_new) return d;
  d.assign(members_.size(), kUnreached);
  std::vector<std::uint32_t> queue{static_cast<std::uint32_t>(member_index(root))};
  d[queue[0]] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (const std::uint32_t next : joined_[queue[i]])
      if (d[next] == kUnreached) {
        d[next] = d[queue[i]] + 1;
        queue.push_back(next);
      }
  return d;
}

/// Next rank of a route: returns the lowest among the neighbours of `rank` that are one arc nearer to the root of `to`.
/// It is the lowest, so that every member computes the same route.
int FarComponent::closer_neighbour(int rank, const Distances& to) const {
  const std::size_t here = member_index(rank);
  for (const std::uint32_t beside : joined_[here])
    if (to[beside] + 1 == to[here]) return members_[beside].rank;
  throw CommError("no way over open arcs from rank " + std::to_string(rank));
}

// Route of a far link, along which its labels and its parcel are forwarded.
std::vector<int> FarComponent::route(int from, int to) {
  // Always computed from the higher rank to the lower, so that both directions have the same route.
  const Distances& d = distances(std::min(from, to));
  std::vector<int> way{std::max(from, to)};
  while (way.back() != std::min(from, to)) way.push_back(closer_neighbour(way.back(), d));
  if (way.front() != from) std::reverse(way.begin(), way.end());
  return way;
}

int FarComponent::next_hop(int to) { return closer_neighbour(rank_, distances(to)); }

// Destination of a merged parcel whose owner is no candidate of this rank: from there one wave reaches the owner.
int FarComponent::nearest_candidate_of(int owner) {
  if (is_member(owner)) return owner;
  const Distances& d = distances(rank_);
  int best = -1;
  for (const int r : cached_neighbours(owner))
    if (is_member(r) && (best < 0 || d[member_index(r)] < d[member_index(best)])) best = r;
  return best;
}

std::size_t FarComponent::arc_to(int rank) const {
  const auto& to = mailbox_.graph().out;
  return static_cast<std::size_t>(std::lower_bound(to.begin(), to.end(), rank) - to.begin());
}

}  // namespace merganser::cluster
