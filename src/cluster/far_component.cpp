#include "src/cluster/far_component.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "merganser/base/error.hpp"

namespace merganser::cluster {
namespace {

/// What a member tells: one word, its rank and two bits. With kMore come the numbers of its questions and of ranks, then
/// its questions, then, if it is full, the ranks over its open arcs; if it is not, these are all its neighbours.
constexpr std::uint32_t kFull = 2;
constexpr std::uint32_t kMore = 1;

struct ItemHead {
  int rank;
  bool full;
  std::uint32_t questions;
  std::uint32_t listed;
  std::size_t bytes;  // of all of it
};

/// @throws CommError if the message ends within the item
ItemHead read_head(std::span<const std::byte> message) {
  std::array<std::uint32_t, 3> words{};
  std::memcpy(words.data(), message.data(), std::min(message.size(), sizeof words));
  ItemHead head{static_cast<int>(words[0] >> 2), (words[0] & kFull) != 0, 0, 0, sizeof(std::uint32_t)};
  if ((words[0] & kMore) != 0) {
    head.questions = words[1];
    head.listed = words[2];
    head.bytes = sizeof words + head.questions * sizeof(FarQuestion) + head.listed * sizeof(std::int32_t);
  }
  if (message.size() < head.bytes)
    throw CommError("a message tells " + std::to_string(message.size()) + " of " + std::to_string(head.bytes) +
                    " bytes of what rank " + std::to_string(head.rank) + " looks for");
  return head;
}

void append(std::vector<std::byte>& to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const auto* const begin = static_cast<const std::byte*>(from);
  to.insert(to.end(), begin, begin + bytes);
}

std::vector<std::byte> make_item(int rank, bool full, const std::vector<FarQuestion>& questions,
                                 const std::vector<std::int32_t>& listed) {
  const bool more = !questions.empty() || !listed.empty();
  const std::array<std::uint32_t, 3> words{
      static_cast<std::uint32_t>(rank) << 2 | (full ? kFull : 0) | (more ? kMore : 0),
      static_cast<std::uint32_t>(questions.size()), static_cast<std::uint32_t>(listed.size())};
  std::vector<std::byte> item;
  append(item, words.data(), more ? sizeof words : sizeof words[0]);
  append(item, questions.data(), questions.size() * sizeof(FarQuestion));
  append(item, listed.data(), listed.size() * sizeof(std::int32_t));
  return item;
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

  std::vector<std::byte> fresh = make_item(rank_, full, mine, listed);
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
    const ItemHead head = read_head(message);
    if (!is_member(head.rank)) {
      learn(message.first(head.bytes));
      append(fresh, message.data(), head.bytes);
    }
    message = message.subspan(head.bytes);
  }
}

void FarComponent::learn(std::span<const std::byte> item) {
  const ItemHead head = read_head(item);
  const std::byte* from =
      item.data() + item.size() - head.questions * sizeof(FarQuestion) - head.listed * sizeof(std::int32_t);
  const std::size_t before = questions_.size();
  questions_.resize(before + head.questions);
  if (head.questions > 0) std::memcpy(&questions_[before], from, head.questions * sizeof(FarQuestion));
  from += head.questions * sizeof(FarQuestion);
  Member member{head.rank, head.full, {}};
  if (member.full) {
    member.joined.resize(head.listed);
    if (head.listed > 0) std::memcpy(member.joined.data(), from, head.listed * sizeof(std::int32_t));
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
