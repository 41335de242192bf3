#include "src/cluster/far_component.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "merganser/base/error.hpp"

namespace merganser::cluster {
namespace {

/// What a member tells: this, its questions, and if it is full the ranks over its open arcs (if not: all its neighbours).
struct ItemHead {
  std::int32_t rank;
  std::uint32_t full;
  std::uint32_t questions;
  std::uint32_t listed;
};

std::size_t item_bytes(const ItemHead& head) {
  return sizeof head + head.questions * sizeof(FarQuestion) + head.listed * sizeof(std::int32_t);
}

void append(std::vector<std::byte>& to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const auto* const begin = static_cast<const std::byte*>(from);
  to.insert(to.end(), begin, begin + bytes);
}

constexpr std::uint32_t kUnreached = std::numeric_limits<std::uint32_t>::max();

}  // namespace

FarComponent::FarComponent(comm::Mailbox& mailbox, std::function<std::vector<int>(int)> neighbours, int rank)
    : mailbox_(mailbox), neighbours_(std::move(neighbours)), rank_(rank), active_(mailbox.graph().out.size()) {}

void FarComponent::clear() {
  members_.clear();
  known_.clear();
  named_.clear();
  joined_.clear();
  distances_.clear();
  questions_.clear();
  reach_.clear();
  waves_ = 0;
}

void FarComponent::gather(bool full, const Arcs& open_neighbour, const std::vector<FarQuestion>& mine) {
  clear();
  const auto& to = mailbox_.graph().out;
  std::vector<std::int32_t> listed;
  for (std::size_t arc = 0; arc < to.size(); ++arc)
    if (full && open_neighbour[arc]) listed.push_back(to[arc]);
  if (full && listed.empty()) return;
  reach_.resize(to.size());
  for (std::size_t arc = 0; arc < to.size(); ++arc)
    reach_[arc] = !full || open_neighbour[arc] ? std::numeric_limits<int>::max() : 0;

  const ItemHead head{rank_, full ? 1U : 0U, static_cast<std::uint32_t>(mine.size()),
                      static_cast<std::uint32_t>(listed.size())};
  std::vector<std::byte> fresh;
  append(fresh, &head, sizeof head);
  append(fresh, mine.data(), mine.size() * sizeof(FarQuestion));
  append(fresh, listed.data(), listed.size() * sizeof(std::int32_t));
  learn(fresh);
  const auto wave = [&] {
    ++waves_;
    std::vector<std::byte> next;
    for (std::size_t arc = 0; arc < to.size(); ++arc)
      if (active(arc, waves_)) append(mailbox_.outbox(arc), fresh.data(), fresh.size());
    step(waves_);
    for (std::size_t arc = 0; arc < to.size(); ++arc)
      if (active(arc, waves_)) take(arc, next);
    fresh = std::move(next);
  };
  while (!named_.empty()) wave();
  index();
  const int own = waves_;
  bool again = false;
  for (std::size_t arc = 0; arc < to.size(); ++arc) {
    if (reach_[arc] == 0) continue;
    const Distances& d = distances(to[arc]);
    reach_[arc] = std::max(own, static_cast<int>(*std::max_element(d.begin(), d.end())));
    again = again || reach_[arc] > own;
  }
  if (again) wave();  // for neighbours that are one arc farther from some rank
}

/// Takes up the new items of a message.
void FarComponent::take(std::size_t arc, std::vector<std::byte>& fresh) {
  auto message = mailbox_.inbox(arc);
  while (!message.empty()) {
    ItemHead head{};
    if (message.size() >= sizeof head) std::memcpy(&head, message.data(), sizeof head);
    const std::size_t bytes = item_bytes(head);
    if (message.size() < bytes)
      throw CommError("rank " + std::to_string(mailbox_.graph().in[arc]) + " passed on " +
                      std::to_string(message.size()) + " bytes of an item of " + std::to_string(bytes));
    if (!is_member(head.rank)) {
      learn(message.first(bytes));
      append(fresh, message.data(), bytes);
    }
    message = message.subspan(bytes);
  }
}

void FarComponent::learn(std::span<const std::byte> item) {
  ItemHead head{};
  std::memcpy(&head, item.data(), sizeof head);
  Member member{head.rank, head.full != 0, {}};
  item = item.subspan(sizeof head);
  const std::size_t before = questions_.size();
  questions_.resize(before + head.questions);
  if (head.questions > 0) std::memcpy(&questions_[before], item.data(), head.questions * sizeof(FarQuestion));
  item = item.subspan(head.questions * sizeof(FarQuestion));
  if (member.full) {
    member.joined.resize(head.listed);
    std::memcpy(member.joined.data(), item.data(), head.listed * sizeof(std::int32_t));
  } else {
    member.joined = neighbours_of(head.rank);
  }
  known_.insert(head.rank);
  named_.erase(head.rank);
  for (const int r : member.joined)
    if (!is_member(r)) named_.insert(r);
  members_.push_back(std::move(member));
}

void FarComponent::index() {
  std::sort(members_.begin(), members_.end(), [](const Member& a, const Member& b) { return a.rank < b.rank; });
  std::sort(questions_.begin(), questions_.end(), [](const FarQuestion& a, const FarQuestion& b) {
    return std::pair(a.rank, a.vertex) < std::pair(b.rank, b.vertex);
  });
  joined_.resize(members_.size());
  for (std::size_t i = 0; i < members_.size(); ++i)
    for (const int r : members_[i].joined) joined_[i].push_back(static_cast<std::uint32_t>(position(r)));
}

void FarComponent::step(int wave) {
  for (std::size_t arc = 0; arc < active_.size(); ++arc) active_[arc] = active(arc, wave);
  mailbox_.step(active_, active_);
}

std::size_t FarComponent::position(int rank) const {
  const auto at =
      std::lower_bound(members_.begin(), members_.end(), rank, [](const Member& m, int r) { return m.rank < r; });
  return static_cast<std::size_t>(at - members_.begin());
}

const std::vector<int>& FarComponent::neighbours_of(int rank) {
  const auto [at, is_new] = neighbour_cache_.try_emplace(rank);
  if (is_new) at->second = neighbours_(rank);
  return at->second;
}

/// Arcs from each member to the root.
const FarComponent::Distances& FarComponent::distances(int root) {
  const auto [at, is_new] = distances_.try_emplace(root);
  Distances& d = at->second;
  if (!is_new) return d;
  d.assign(members_.size(), kUnreached);
  std::vector<std::uint32_t> queue{static_cast<std::uint32_t>(position(root))};
  d[queue[0]] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (const std::uint32_t next : joined_[queue[i]])
      if (d[next] == kUnreached) {
        d[next] = d[queue[i]] + 1;
        queue.push_back(next);
      }
  return d;
}

/// The lowest rank beside `rank` that is one arc nearer.
int FarComponent::nearer(int rank, const Distances& to) const {
  const std::size_t here = position(rank);
  for (const std::uint32_t beside : joined_[here])
    if (to[beside] + 1 == to[here]) return members_[beside].rank;
  throw CommError("no way over open arcs from rank " + std::to_string(rank));
}

std::vector<int> FarComponent::route(int from, int to) {
  const Distances& d = distances(std::min(from, to));
  std::vector<int> way{std::max(from, to)};
  while (way.back() != std::min(from, to)) way.push_back(nearer(way.back(), d));
  if (way.front() != from) std::reverse(way.begin(), way.end());
  return way;
}

int FarComponent::next(int to) { return nearer(rank_, distances(to)); }

int FarComponent::reaching(int owner) {
  if (is_member(owner)) return owner;
  const Distances& d = distances(rank_);
  int best = -1;
  for (const int r : neighbours_of(owner))
    if (is_member(r) && (best < 0 || d[position(r)] < d[position(best)])) best = r;
  return best;
}

std::size_t FarComponent::arc_to(int rank) const {
  const auto& to = mailbox_.graph().out;
  return static_cast<std::size_t>(std::lower_bound(to.begin(), to.end(), rank) - to.begin());
}

}  // namespace merganser::cluster
