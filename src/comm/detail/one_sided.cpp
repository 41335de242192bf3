#include "src/comm/detail/one_sided.hpp"

namespace merganser::comm::detail {

std::size_t ring_bytes_for(std::size_t in_arcs) {
  constexpr std::size_t kBudget = std::size_t{4} << 20;
  constexpr std::size_t kLeast = 4096;
  constexpr std::size_t kMost = std::size_t{256} << 10;
  return std::clamp(kBudget / std::max<std::size_t>(in_arcs, 1) / 64 * 64, kLeast, kMost);
}

std::vector<Bytes> receiving_cards(const RingLayout& layout) {
  std::vector<Bytes> cards;
  for (std::size_t arc = 0; arc < layout.in_arcs; ++arc) cards.push_back(to_bytes(receiving_end(layout, arc)));
  return cards;
}

std::vector<Bytes> sending_cards(const RingLayout& layout) {
  std::vector<Bytes> cards;
  for (std::size_t arc = 0; arc < layout.out_arcs; ++arc) cards.push_back(to_bytes(sending_end(layout, arc)));
  return cards;
}

RingLink::Ends ring_ends(const Introduction& introduction) {
  RingLink::Ends ends;
  for (const auto& card : introduction.from_out) ends.out.push_back(read<RingAddress>(card));
  for (const auto& card : introduction.from_in) ends.in.push_back(read<RingAddress>(card));
  return ends;
}

std::vector<int> neighbours_of(const Graph& graph, int rank) {
  std::vector<int> all = graph.out;
  all.insert(all.end(), graph.in.begin(), graph.in.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::erase(all, rank);
  return all;
}

}  // namespace merganser::comm::detail
