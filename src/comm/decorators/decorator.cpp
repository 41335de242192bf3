// Checks of Segment and Stream calls that decorators make when the program calls them, before the inner object does.
#include "src/comm/decorators/decorator.hpp"

#include "merganser/comm/collectives.hpp"
#include "src/comm/detail/message_objects.hpp"

namespace merganser::comm::detail {

// Gathers the sizes of a decorated Segment on all ranks, since its operations are validated before the inner Segment gets them.
WordLimits::WordLimits(Transport& transport, const Graph& graph, std::size_t words) : here_(transport.rank()) {
  const Uncounted quiet(transport);
  words_ = all_gather_value(transport, words);
  reachable_.resize(words_.size());
  for (const int rank : graph.out) reachable_[static_cast<std::size_t>(rank)] = 1;
  reachable_[static_cast<std::size_t>(here_)] = 1;
}

void WordLimits::check(int rank, std::size_t index, std::size_t count) const {
  const auto at = static_cast<std::size_t>(rank);
  if (rank < 0 || at >= words_.size() || reachable_[at] == 0) throw_no_neighbour(rank, here_);
  check_words(rank, index, count, words_[at]);
}

void SendRules::open(std::span<const std::size_t> counts_out) {
  sent_.resize(counts_out.size());
  for (std::size_t arc = 0; arc < sent_.size(); ++arc) sent_[arc].assign(counts_out[arc], 0);
  open_ = true;
}

// Check of a record sent on a decorated Stream: each slot of the announced count exactly once.
void SendRules::send(std::size_t arc, std::size_t slot) {
  const std::string what = "Stream::send: arc " + std::to_string(arc) + ", slot " + std::to_string(slot);
  if (!open_) throw CommError(what + ", but no round is open");
  if (arc >= sent_.size()) throw CommError(what + ", but there are " + std::to_string(sent_.size()) + " out-arcs");
  if (slot >= sent_[arc].size()) {
    throw CommError(what + ", but this round has " + std::to_string(sent_[arc].size()) + " records on this arc");
  }
  if (sent_[arc][slot] != 0) throw CommError(what + " has been sent in this round");
  sent_[arc][slot] = 1;
}

}  // namespace merganser::comm::detail
