#include "message_transport.hpp"

#include <algorithm>

namespace merganser::comm::detail {
namespace {

struct PlanCard {
  std::uint64_t element_bytes;
  std::uint64_t chunk_elements;
  std::uint64_t count;
};

}  // namespace

std::string plan_error(const Graph& graph, const Pattern& pattern, const PlanOptions& options) {
  if (options.element_bytes == 0) return "Plan: element_bytes is 0; allowed: 1 and more";
  if (options.chunk_elements == 0) return "Plan: chunk_elements is 0; allowed: 1 and more";
  if (pattern.out.size() == graph.out.size() && pattern.in.size() == graph.in.size()) return {};
  return "Plan: pattern for " + std::to_string(pattern.out.size()) + " out- and " + std::to_string(pattern.in.size()) +
         " in-arcs; the graph has " + std::to_string(graph.out.size()) + " and " + std::to_string(graph.in.size());
}

std::unique_ptr<Mailbox> MessageTransport::make_mailbox(Graph graph, Place place) {
  auto link_of_graph = link(graph);
  return std::make_unique<MessageMailbox>(place, std::move(graph), std::move(link_of_graph));
}

bool MessageTransport::any(bool mine) {
  const std::byte flag{static_cast<unsigned char>(mine ? 1 : 0)};
  const auto all = do_all_gather({&flag, 1});
  return std::any_of(all.begin(), all.end(), [](const Bytes& one) { return one.at(0) != std::byte{0}; });
}

std::unique_ptr<Mailbox> MessageTransport::mailbox(Graph graph) {
  ++counters_.collectives;
  introduce(graph);
  return make_mailbox(std::move(graph), place());
}

std::unique_ptr<Stream> MessageTransport::stream(Graph graph, StreamOptions) {
  ++counters_.collectives;
  introduce(graph);
  auto link_of_graph = link(graph);
  return std::make_unique<MessageStream>(place(), std::move(graph), std::move(link_of_graph));
}

std::unique_ptr<Plan> MessageTransport::plan(Graph graph, Pattern pattern, PlanOptions options) {
  ++counters_.collectives;
  agree_on(plan_error(graph, pattern, options));
  std::vector<Bytes> cards;
  for (const auto& elements : pattern.out) {
    cards.push_back(to_bytes(PlanCard{options.element_bytes, options.chunk_elements, elements.size()}));
  }
  const auto introduction = introduce(graph, cards);
  std::string error;
  for (std::size_t arc = 0; arc < graph.in.size() && error.empty(); ++arc) {
    const auto card = read<PlanCard>(introduction.from_in[arc]);
    if (card.count == pattern.in[arc] && card.element_bytes == options.element_bytes &&
        card.chunk_elements == options.chunk_elements) {
      continue;
    }
    error = "Plan: rank " + std::to_string(graph.in[arc]) + " sends " + std::to_string(card.count) + " elements of " +
            std::to_string(card.element_bytes) + " bytes in chunks of " + std::to_string(card.chunk_elements) +
            "; here " + std::to_string(pattern.in[arc]) + " of " + std::to_string(options.element_bytes) +
            " bytes in chunks of " + std::to_string(options.chunk_elements) + " are expected";
  }
  agree_on(error);
  auto link_of_graph = link(graph);
  return std::make_unique<MessagePlan>(place(), std::move(graph), std::move(link_of_graph), std::move(pattern),
                                       options);
}

std::unique_ptr<SegmentBody> MessageTransport::segment_body(Graph graph, std::size_t words, std::size_t word_bytes,
                                                            Epoch) {
  ++counters_.collectives;
  const std::vector<Bytes> sizes(graph.in.size(), to_bytes(static_cast<std::uint64_t>(words)));
  const auto introduction = introduce(graph, {}, sizes);
  MessageSegment::Parts parts;
  for (const auto& size : introduction.from_out) {
    parts.remote_words.push_back(static_cast<std::size_t>(read<std::uint64_t>(size)));
  }
  parts.scratch = std::make_shared<Counters>();
  const Graph reversed{graph.in, graph.out};
  const Place quiet{rank(), parts.scratch.get(), nullptr};
  parts.forward = make_mailbox(std::move(graph), quiet);
  parts.backward = make_mailbox(reversed, quiet);
  parts.any = [this](bool mine) { return any(mine); };
  return std::make_unique<MessageSegment>(place(), std::move(parts), words, word_bytes);
}

}  // namespace merganser::comm::detail
