#pragma once
/// Labels of `cluster --labels`: the parcel of the output that holds each parcel of the input, over any number of merge steps.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "merganser/cluster/cluster.hpp"
#include "merganser/cluster/friends.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/io/parcel_file.hpp"

namespace merganser::app {

/// Distributed directory of the merges of a run, by which each input parcel is traced to its output parcel.
class Labels {
 public:
  /// Starts an empty directory of the merges of parcels, part of which every rank holds.
  explicit Labels(comm::Transport& transport) : transport_(transport) {}

  /// Records merges of parcels in a step; each merge is passed on exactly one rank, whichever it is. Local.
  void add(std::span<const StepReport::MergedPair> merged);

  /// Formats one line for each parcel of the input: its place in the file, from 0, and the id of the parcel that holds it. The
  /// texts of the ranks, one after the other, are in the order of the file. Collective; called once, after the last step.
  /// @param places  place and id of parcels of the input; each parcel is passed on exactly one rank
  /// Cost: rounds of messages between all ranks, logarithmic in the longest chain of merges.
  [[nodiscard]] std::string to_lines(std::span<const io::FilePlace> places);

 private:
  using Ids = std::vector<std::int64_t>;
  void resolve_merges();
  [[nodiscard]] std::size_t directory_rank(std::int64_t id) const;
  [[nodiscard]] std::int64_t find_holder(std::int64_t id) const;
  [[nodiscard]] Ids query_holders(const Ids& ids);

  comm::Transport& transport_;
  std::vector<StepReport::MergedPair>
      merged_;  ///< merges recorded here; after resolve_merges(): those whose source hashes to this rank, by source
};

/// Groups of friends of `cluster --labels`, of this rank.
struct LabelledFriends {
  StepReport
      report;  ///< groups by their number of members; its lineage has each parcel with that of the lowest id in its group
  std::vector<FriendGroup> groups;  ///< groups of 2 parcels and more whose root is on this rank
  bool velocity = false;            ///< whether their velocity is that of columns of the parcels
};

/// Labels groups of friends, and merges nothing: for cluster --labels, of parcels with any attributes. Collective; errors are
/// thrown on every rank as CollectiveError. The velocity of groups is the mean by volume of
/// an attribute `velocity` or `momentum`, else of `ux`, `uy`, `uz`, if it has three components that merge by their mean.
[[nodiscard]] LabelledFriends label_friends(comm::Transport& transport, const Decomposition& decomposition,
                                            const MergePolicy& policy, const Parcels& parcels);

/// Names groups that wind round the box in the log, the first ten of a rank. Local.
void warn_of_winding(std::span<const FriendGroup> groups, int rank);

/// Writes the file of `cluster --labels`: lines of parcels in the order of the input, then groups of friends, if there are any, in
/// the order of their ids, each behind "# ". No rank holds all of it. Collective; errors are thrown on every rank as
/// CollectiveError, and the file is then as before. @param places  as for Labels::to_lines()
void write_labels(comm::Transport& transport, const std::string& path, Labels& labels,
                  std::span<const io::FilePlace> places, const std::optional<LabelledFriends>& friends);

}  // namespace merganser::app
