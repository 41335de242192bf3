// Labels of cluster --labels: chains of merges over several steps, resolved by pointer jumping in a distributed directory.
#include "apps/cluster/labels.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "apps/frame/ranks.hpp"
#include "merganser/base/exact_sum.hpp"
#include "merganser/cluster/friends.hpp"
#include "merganser/comm/questions.hpp"

namespace merganser::app {
namespace {

/// One line of cluster --labels: an input parcel and the output parcel that holds it. Ordered by place.
struct Label {
  std::int64_t place;  ///< of the input parcel in its file, from 0
  std::int64_t id;     ///< of the output parcel

  friend auto operator<=>(const Label&, const Label&) = default;
};

/// Returns true if a merge stands before those of the source `id` in the order of the directory, for its binary search.
bool precedes(const StepReport::MergedPair& a, std::int64_t id) { return a.source < id; }

}  // namespace

void Labels::add(std::span<const StepReport::MergedPair> merged) {
  merged_.insert(merged_.end(), merged.begin(), merged.end());
}

/// Returns the rank to which a parcel's id hashes, and which stores the merge of that parcel in the distributed directory.
std::size_t Labels::directory_rank(std::int64_t id) const {
  return comm::hash_to_rank(static_cast<std::uint64_t>(id), static_cast<std::size_t>(transport_.size()));
}

/// Looks up the parcel that a parcel was merged into, in this rank's part of the directory; the parcel itself if it was not. Local.
std::int64_t Labels::find_holder(std::int64_t id) const {
  const auto at = std::lower_bound(merged_.begin(), merged_.end(), id, precedes);
  return at != merged_.end() && at->source == id ? at->centre : id;
}

/// Returns for each parcel id the id of the parcel that holds it, as stored on the id's directory rank. Collective.
Labels::Ids Labels::query_holders(const Ids& ids) {
  return comm::query_owners<std::int64_t>(
      transport_, ids, [this](std::int64_t id) { return directory_rank(id); },
      [this](std::int64_t id) { return find_holder(id); });
}

/// Resolves the merges of cluster --labels: sends them to the directory ranks of their sources, then follows centres that were
/// merged themselves in later steps, by pointer jumping: the distance doubles in each round. It ends because a parcel is merged
/// away at most once, so that the merges of all steps are a forest. Collective.
void Labels::resolve_merges() {
  merged_ = comm::send_to_owners<StepReport::MergedPair>(transport_, merged_, [this](const auto& m) {
              return directory_rank(m.source);
            }).flat();
  std::sort(merged_.begin(), merged_.end(), [](const auto& a, const auto& b) { return a.source < b.source; });
  for (bool again = true; again;) {
    Ids centres;
    for (const auto& merge : merged_) centres.push_back(merge.centre);
    const Ids further = query_holders(centres);
    std::int64_t moved = 0;
    for (std::size_t i = 0; i < further.size(); ++i)
      if (std::exchange(merged_[i].centre, further[i]) != further[i]) moved = 1;
    again = transport_.all_reduce(moved, comm::Op::max) != 0;
  }
}

// Text of cluster --labels on rank 0: chains of merges are resolved, then each input parcel's final holder is looked up.
std::string Labels::to_lines(std::span<const io::FilePlace> places) {
  resolve_merges();
  Ids ids;
  std::int64_t most = -1;
  for (const auto& p : places) {
    ids.push_back(p.id);
    most = std::max(most, p.place);
  }
  const Ids holders = query_holders(ids);
  // Lines go to ranks by blocks of consecutive places, so that the ranks' sorted parts, one after the other, are in the order of
  // the file.
  const std::int64_t share = transport_.all_reduce(most, comm::Op::max) / transport_.size() + 1;
  std::vector<Label> mine;
  for (std::size_t i = 0; i < places.size(); ++i) mine.push_back({places[i].place, holders[i]});
  mine = comm::send_to_owners<Label>(transport_, mine, [&](const Label& l) { return l.place / share; }).flat();
  std::sort(mine.begin(), mine.end());
  std::string lines;
  for (const auto& [place, id] : mine) lines += fmt::format("{} {}\n", place, id);
  std::string all;
  for (const auto page : comm::gather_to_first(transport_, lines)) all.append(page.begin(), page.end());
  return all;
}

StepReport label_friends(comm::Transport& transport, const Decomposition& decomposition, const MergePolicy& policy,
                         const Parcels& parcels) {
  FriendsOfFriends friends(transport, decomposition, friends_options(policy));
  const FriendLabels found = collective_try([&] { return friends.label(parcels); });
  StepReport report;
  ExactSum weight;
  for (std::size_t i = 0; i < parcels.size(); ++i) weight.add(parcels.site(i).volume);
  report.policy.weight_before = report.policy.weight_after = weight.value();
  report.before = report.after = report.small = static_cast<std::int64_t>(parcels.size());
  for (std::size_t i = 0; i < parcels.size(); ++i)
    if (found.group[i] != parcels.id(i)) report.lineage.push_back({parcels.id(i), found.group[i]});
  for (const FriendGroup& g : found.groups) {
    if (g.members > 1) ++report.clusters[static_cast<int>(g.members)];
    report.policy.winding += g.winds ? 1 : 0;
  }
  report.policy.rounds = found.numbers.rounds;
  report.counters = found.numbers.counters;
  return report;
}

}  // namespace merganser::app
