#pragma once
/// Labels of `cluster --labels`: the parcel of the output that holds each parcel of the input, over any number of merge steps.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "merganser/cluster/cluster.hpp"
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

  /// Formats one line for each parcel of the input, in the order of the file: its place there, from 0, and the id of the parcel
  /// that holds it. The text is on rank 0, and empty on the others. Collective; called once, after the last step.
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

/// Labels groups of friends, and merges nothing: for cluster --labels without --output, of parcels with any attributes. Collective;
/// errors are thrown on every rank as CollectiveError.
/// @return report of groups by their number of members; its lineage has each parcel with that of the lowest id in its group
[[nodiscard]] StepReport label_friends(comm::Transport& transport, const Decomposition& decomposition,
                                       const MergePolicy& policy, const Parcels& parcels);

}  // namespace merganser::app
