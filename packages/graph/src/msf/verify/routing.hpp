#pragma once
/// Distributed lookup of values by id at the owners of the ids, in rounds of bounded size, for the verification of forests.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/base/id_table.hpp"
#include "merganser/comm/questions.hpp"
#include "merganser/graphs/edges.hpp"

namespace merganser::msf::detail {

/// Largest number of records or queries that a rank sends in one round of the verification of a forest, which bounds the memory of
/// messages.
inline constexpr std::size_t kRound = std::size_t{1} << 16;

/// Distributed lookup of values that the owners of ids hold, for the verification of forests. Each distinct id is
/// queried once a round.
class DistributedLookup {
 public:
  /// Refers to the transport and the ranges of ids that the ranks own, which both must outlive the object.
  DistributedLookup(comm::Transport& transport, const graphs::Ranges& ranges)
      : transport_(transport), ranges_(ranges) {}

  /// Looks up the value that the owner of ids[i] holds for that id and stores it in answers[i]. Collective.
  /// @param mine  values that this rank holds, by id less the first of its range
  template <class Value>
  void query(std::span<const std::uint64_t> ids, std::span<const Value> mine, std::span<Value> answers) {
    if (transport_.size() == 1) {
      for (std::size_t i = 0; i < ids.size(); ++i) answers[i] = mine[ids[i]];
      return;
    }
    const std::size_t rounds = comm::count_rounds(transport_, ids.size(), kRound);
    for (std::size_t round = 0; round < rounds; ++round) {
      const std::size_t from = std::min(ids.size(), round * kRound);
      const std::size_t count = std::min(ids.size() - from, kRound);
      query_round(ids.subspan(from, count), mine, answers.subspan(from, count));
    }
  }

 private:
  /// Performs one round of the lookup, with at most kRound ids of this rank, each distinct one sent once to its owner. Collective.
  template <class Value>
  void query_round(std::span<const std::uint64_t> ids, std::span<const Value> mine, std::span<Value> answers) {
    const std::uint64_t first = ranges_.first[static_cast<std::size_t>(transport_.rank())];
    IdTable distinct(ids.size());
    numbers_.clear();
    for (const std::uint64_t id : ids) numbers_.push_back(distinct.insert(id));
    const auto told = comm::query_owners<std::uint64_t>(
        transport_, distinct.keys(), [this](std::uint64_t id) { return ranges_.owner(id); },
        [&](std::uint64_t id) { return mine[id - first]; });
    for (std::size_t i = 0; i < ids.size(); ++i) answers[i] = told[numbers_[i]];
  }

  comm::Transport& transport_;
  const graphs::Ranges& ranges_;
  std::vector<std::uint32_t> numbers_;  ///< by query of the round: position among the distinct ids
};

}  // namespace merganser::msf::detail
