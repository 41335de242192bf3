#pragma once
/// Which parcel of the output holds each parcel of the input, over any number of merge steps.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/io/parcel_file.hpp"

namespace merganser::app {

class Labels {
 public:
  explicit Labels(comm::Transport& transport) : transport_(transport) {}

  /// Notes the merges of a step, each on any one rank. Local.
  void add(std::span<const StepReport::MergedPair> merged);

  /// One line for each parcel of the input, in the order of the file: its place there, from 0, and the id of the parcel
  /// that holds it. On rank 0; empty on the others. Collective, once, after the last step.
  /// @param places  every parcel of the input on any one rank
  /// Cost: messages between all ranks, their number with the logarithm of the longest chain of merges.
  [[nodiscard]] std::string text(std::span<const io::FilePlace> places);

 private:
  using Ids = std::vector<std::int64_t>;
  void resolve_merges();
  [[nodiscard]] std::size_t directory_rank(std::int64_t id) const;
  [[nodiscard]] std::int64_t holder(std::int64_t id) const;
  [[nodiscard]] Ids holders_of(const Ids& ids);

  comm::Transport& transport_;
  std::vector<StepReport::MergedPair>
      merged_;  ///< after resolve_merges(): those whose source hashes to this rank, by source
};

}  // namespace merganser::app
