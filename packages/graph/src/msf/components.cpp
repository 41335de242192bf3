// Distributed disjoint-set forest of Boruvka's algorithm: look-ups of parent pointers at their owners, and pointer doubling.
#include "src/msf/components.hpp"

#include <algorithm>
#include <numeric>

#include "merganser/base/id_table.hpp"
#include "merganser/base/simulated.hpp"

namespace merganser::msf {

// Start of Boruvka's algorithm: every vertex is a component of its own.
Components::Components(graphs::Ranges ranges, Peers& peers)
    : ranges_(std::move(ranges)),
      peers_(peers),
      first_(ranges_.first[static_cast<std::size_t>(peers.transport().rank())]),
      parent_(static_cast<std::size_t>(ranges_.size(peers.transport().rank()))) {
  std::iota(parent_.begin(), parent_.end(), first_);
}

// Distributed look-up of parent pointers, one level up.
void Components::replace_by_parents(std::vector<std::uint64_t>& ids) {
  // Two steps: queries to the owners, then replies. Ids are grouped by owner and messages keep their order, so that the replies
  // of a rank are the parents of its slice of ids: no id needs to be sent back. This rank's own vertices go by no message.
  MeasuredWork asking;
  const int size = peers_.transport().size();
  const int me = peers_.transport().rank();
  const auto begin = slices_by_owner(ids, ranges_);
  const auto slice = [&](int r) {
    const std::size_t at = begin[static_cast<std::size_t>(r)];
    return std::span(ids).subspan(at, begin[static_cast<std::size_t>(r) + 1] - at);
  };
  for (int r = 0; r < size; ++r)
    if (r != me) peers_.post_all<std::uint64_t>(r, slice(r));
  for (std::uint64_t& id : slice(me)) id = parent_[static_cast<std::size_t>(id - first_)];
  asking.end();
  peers_.step();
  MeasuredWork answering;
  std::vector<std::uint64_t> replies;
  for (int r = 0; r < size; ++r) {
    if (r == me) continue;
    replies.clear();
    for (const std::uint64_t id : peers_.records<std::uint64_t>(r))
      replies.push_back(parent_[static_cast<std::size_t>(id - first_)]);
    peers_.post_all<std::uint64_t>(r, replies);
  }
  answering.end();
  peers_.step();
  const MeasuredWork taking;
  for (int r = 0; r < size; ++r) {
    if (r == me) continue;
    const auto answers = peers_.records<std::uint64_t>(r);
    std::copy(answers.begin(), answers.end(), slice(r).begin());
  }
}

// Look-up for ids in any order, which are grouped by owner first.
std::vector<std::uint64_t> Components::query_parents(std::span<const std::uint64_t> ids) {
  MeasuredWork asking;
  const auto order = order_by_owner(ids, ranges_);
  std::vector<std::uint64_t> asked(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) asked[i] = ids[order[i]];
  asking.end();
  replace_by_parents(asked);
  const MeasuredWork ordering;
  std::vector<std::uint64_t> pointers(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) pointers[order[i]] = asked[i];
  return pointers;
}

// End of a phase of contractions: every vertex points at its root, which names its component.
void Components::flatten() {
  // Pointer doubling: each round halves the distance to the roots, so that O(log depth) rounds suffice.
  for (bool again = !is_flat_; again;) {
    MeasuredWork asking;
    IdTable distant(parent_.size(), ranges_.first.back());  // distinct parents
    std::vector<std::uint32_t> number(parent_.size(), 0xffffffffU);
    for (std::size_t v = 0; v < parent_.size(); ++v)
      if (parent_[v] != first_ + v) number[v] = distant.insert(parent_[v]);  // each distinct parent is queried once
    asking.end();
    const auto answer = query_parents(distant.keys());
    MeasuredWork following;
    std::int64_t changed = 0;
    for (std::size_t v = 0; v < parent_.size(); ++v) {
      if (number[v] == 0xffffffffU || answer[number[v]] == parent_[v]) continue;
      parent_[v] = answer[number[v]];
      changed = 1;
    }
    following.end();
    again = peers_.transport().all_reduce(changed, comm::Op::max) > 0;
  }
  is_flat_ = true;
}

// One pass: ids are grouped by ascending owner, and owners have ascending ranges of ids.
std::vector<std::size_t> slices_by_owner(std::span<const std::uint64_t> ids, const graphs::Ranges& ranges) {
  std::vector<std::size_t> begin(ranges.first.size(), 0);
  for (std::size_t r = 1; r < begin.size(); ++r) {
    begin[r] = begin[r - 1];
    while (begin[r] < ids.size() && ids[begin[r]] < ranges.first[r]) ++begin[r];
  }
  return begin;
}

// Grouping of vertex ids by the ranks that own them, before queries of their parent pointers.
std::vector<std::uint32_t> order_by_owner(std::span<const std::uint64_t> keys, const graphs::Ranges& ranges) {
  // Counting sort by owner: linear, and stable.
  const std::size_t owners = ranges.first.size() - 1;
  std::vector<std::uint32_t> owner(keys.size());
  std::vector<std::uint32_t> at(owners + 1, 0);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    owner[i] = static_cast<std::uint32_t>(ranges.owner(keys[i]));
    ++at[owner[i] + 1];
  }
  std::partial_sum(at.begin(), at.end(), at.begin());
  std::vector<std::uint32_t> order(keys.size());
  for (std::uint32_t i = 0; i < keys.size(); ++i) order[at[owner[i]]++] = i;
  return order;
}

}  // namespace merganser::msf
