// Labels of cluster --labels: chains of merges over several steps, resolved by pointer jumping in a distributed directory.
#include "apps/cluster/labels.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "apps/frame/paths.hpp"
#include "apps/frame/ranks.hpp"
#include "merganser/base/exact_sum.hpp"
#include "merganser/base/log.hpp"
#include "merganser/base/output_file.hpp"
#include "merganser/comm/collectives.hpp"
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

// Lines of cluster --labels: chains of merges are resolved, then each input parcel's final holder is looked up.
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
  return lines;
}

namespace {

/// Returns the columns of the parcels' velocity, of which groups have a mean; none if there are no such columns.
std::vector<std::string> velocity_columns(const Schema& schema) {
  const auto& all = schema.attributes();
  const auto find = [&](const char* name, int components) {
    return std::find_if(all.begin(), all.end(), [&](const Attribute& a) {
      return a.name == name && a.components == components && a.rule == Rule::mean;
    });
  };
  for (const char* name : {"velocity", "momentum"})
    if (const auto at = find(name, 3); at != all.end()) return at->component_names;
  for (const char* name : {"ux", "uy", "uz"})
    if (find(name, 1) == all.end()) return {};
  return {"ux", "uy", "uz"};
}

}  // namespace

void warn_of_winding(std::span<const FriendGroup> groups, int rank) {
  constexpr int kNamed = 10;
  int named = 0;
  for (const FriendGroup& g : groups)
    if (g.winds && ++named <= kNamed)
      log(Level::warning, rank,
          fmt::format("friends: the group of id {} winds round the box through a periodic face: it has no centre",
                      g.id));
}

LabelledFriends label_friends(comm::Transport& transport, const Decomposition& decomposition, const MergePolicy& policy,
                              const Parcels& parcels) {
  FriendsOptions options = friends_options(policy);
  options.velocity = velocity_columns(parcels.schema());
  options.least_members = 2;
  FriendsOfFriends friends(transport, decomposition, options);
  FriendLabels found = collective_try([&] { return friends.label(parcels); });
  LabelledFriends out;
  StepReport& report = out.report;
  ExactSum weight;
  for (std::size_t i = 0; i < parcels.size(); ++i) weight.add(parcels.site(i).volume);
  report.policy.weight_before = report.policy.weight_after = weight.value();
  report.before = report.after = report.small = static_cast<std::int64_t>(parcels.size());
  for (std::size_t i = 0; i < parcels.size(); ++i)
    if (found.group[i] != parcels.id(i)) report.lineage.push_back({parcels.id(i), found.group[i]});
  for (const FriendGroup& g : found.groups) {
    ++report.clusters[static_cast<int>(g.members)];
    report.policy.winding += g.winds ? 1 : 0;
  }
  report.policy.rounds = found.numbers.rounds;
  report.counters = found.numbers.counters;
  out.groups = std::move(found.groups);
  out.velocity = !options.velocity.empty();
  return out;
}

namespace {

/// Formats the groups of all ranks for `cluster --labels`: a line that says what the columns are, then one line for each group,
/// each behind "# ". Groups go to ranks by ranges of ids, so that the texts of the ranks, one after the other, are in the order of
/// ids, whatever ranks found the groups. Collective.
std::string group_lines(comm::Transport& transport, const LabelledFriends& found) {
  std::int64_t most = 0;
  for (const FriendGroup& g : found.groups) most = std::max(most, g.id);
  const std::int64_t share = transport.all_reduce(most, comm::Op::max) / transport.size() + 1;
  std::vector<FriendGroup> mine = comm::send_to_owners<FriendGroup>(transport, found.groups, [&](const FriendGroup& g) {
                                    return std::max<std::int64_t>(g.id, 0) / share;
                                  }).flat();
  std::sort(mine.begin(), mine.end(), [](const FriendGroup& a, const FriendGroup& b) { return a.id < b.id; });
  std::string lines;
  if (transport.rank() == 0)
    lines = fmt::format("# groups of 2 parcels and more: id members mass x y z{} winds\n",
                        found.velocity ? " velocity_x velocity_y velocity_z" : "");
  for (const FriendGroup& g : mine) {
    lines += fmt::format("# {} {} {} {} {} {}", g.id, g.members, g.mass, g.centre[0], g.centre[1], g.centre[2]);
    if (found.velocity) lines += fmt::format(" {} {} {}", g.velocity[0], g.velocity[1], g.velocity[2]);
    lines += g.winds ? " 1\n" : " 0\n";
  }
  return lines;
}

/// Writes texts of all ranks to a file of rank 0, or standard output ("-"): one text after the other, each in the order of ranks.
/// Rank 0 holds one block at a time. Collective. @param texts  of this rank, as many on every rank
/// @throws InputError on every rank if the file cannot be written; it is then as before
void write_in_order(comm::Transport& transport, const std::string& path, std::span<const std::string> texts) {
  constexpr std::size_t kBlock = std::size_t{1} << 20;
  const bool to_stdout = path == "-";  // through the same stream as reports, so that their order is kept
  std::optional<OutputFile> file;
  comm::agree(transport, [&] {
    if (transport.rank() == 0 && !to_stdout) file.emplace(path);
  });
  std::uint64_t at = 0;
  for (const std::string& text : texts)
    for (int rank = 0; rank < transport.size(); ++rank) {
      const auto bytes = rank == transport.rank() ? static_cast<std::int64_t>(text.size()) : std::int64_t{0};
      const auto all = static_cast<std::uint64_t>(transport.all_reduce(bytes, comm::Op::max));
      for (std::uint64_t done = 0; done < all; done += kBlock) {
        const std::string mine = bytes > 0 ? text.substr(done, kBlock) : std::string();
        const auto in = comm::gather_to_first(transport, mine);
        comm::agree(transport, [&] {
          if (transport.rank() != 0) return;
          const auto block = in[static_cast<std::size_t>(rank)];
          if (to_stdout) write_result_text(std::string(block.data(), block.size()));
          if (file) file->write(at + done, block.data(), block.size());
        });
      }
      at += all;
    }
  comm::agree(transport, [&] {
    if (file) file->commit();
  });
}

}  // namespace

void write_labels(comm::Transport& transport, const std::string& path, Labels& labels,
                  std::span<const io::FilePlace> places, const std::optional<LabelledFriends>& friends) {
  const std::string texts[] = {labels.to_lines(places), friends ? group_lines(transport, *friends) : std::string()};
  collective_try([&] { write_in_order(transport, path, texts); });
}

}  // namespace merganser::app
