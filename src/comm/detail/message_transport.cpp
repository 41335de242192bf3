// Collective creation of Mailbox, Stream, Plan and Segment over messages: each checks its arguments on every rank and exchanges
// descriptors of both ends of the arcs in a handshake.
#include "src/comm/detail/message_transport.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>

namespace merganser::comm::detail {
namespace {

/// Sender's properties of an arc of a Plan, which the receiver compares with its own in the handshake.
struct PlanDescriptor {
  std::uint64_t element_bytes;   // size of an element in bytes
  std::uint64_t chunk_elements;  // elements sent together
  std::uint64_t count;           // elements sent along the arc in one ghost exchange
};

/// Returns the error text for an argument of a Plan, Stream or Segment that is out of range, "Plan: chunk_elements is 0; allowed:
/// 1 to 5"; empty if it is in range.
std::string range_error(const char* what, std::size_t value, std::size_t least, std::size_t most) {
  if (value >= least && value <= most) return {};
  return std::string(what) + " is " + std::to_string(value) + "; allowed: " + std::to_string(least) + " to " +
         std::to_string(most);
}

constexpr std::size_t kMaxBytes = PTRDIFF_MAX;  // largest size of any object in memory

}  // namespace

// Validation of the arguments of Transport::plan() on this rank.
std::string plan_error(const Graph& graph, const Pattern& pattern, const PlanOptions& options) {
  std::string error = range_error("Plan: element_bytes", options.element_bytes, 1, kMaxBytes);
  if (!error.empty()) return error;
  const std::size_t most = kMaxBytes / options.element_bytes;
  error = range_error("Plan: chunk_elements", options.chunk_elements, 1, kMaxBytes);
  if (!error.empty()) return error;
  if (pattern.out.size() != graph.out.size() || pattern.in.size() != graph.in.size()) {
    return "Plan: pattern for " + std::to_string(pattern.out.size()) + " out- and " +
           std::to_string(pattern.in.size()) + " in-arcs; the graph has " + std::to_string(graph.out.size()) + " and " +
           std::to_string(graph.in.size());
  }
  for (const auto& elements : pattern.out) {
    for (const std::size_t element : elements) {
      error = range_error("Plan: index of an element", element, 0, most - 1);
      if (!error.empty()) return error;
    }
    error = range_error("Plan: number of elements along an arc", elements.size(), 0, most);
    if (!error.empty()) return error;
  }
  return {};
}

// Validation of the arguments of Transport::stream() on this rank.
std::string stream_error(const Graph& graph, const StreamOptions& options) {
  constexpr std::size_t kReserved = std::size_t{1} << 32;  // for rings and the words of rounds
  const std::size_t arcs = std::max<std::size_t>(1, graph.in.size());
  return range_error("Stream: slots_per_arc", options.slots_per_arc, 0,
                     (kMaxBytes - kReserved) / sizeof(std::uint64_t) / arcs);
}

// Validation of the arguments of Transport::segment_body() on this rank.
std::string segment_error(std::size_t words, std::size_t word_bytes, Epoch epoch) {
  if (word_bytes != 4 && word_bytes != 8) {
    return "Segment: words of " + std::to_string(word_bytes) + " bytes; allowed: 4 and 8";
  }
  if (epoch > Epoch::per_operation) {
    return "Segment: epoch is " + std::to_string(static_cast<int>(epoch)) + "; allowed: a value of comm::Epoch";
  }
  return range_error("Segment: number of words", words, 0, kMaxBytes / word_bytes);
}

Place MessageTransport::make_place(const char* kind) {
  return {rank(), &counters_, &traffic_, liveness(), std::string(kind) + " " + std::to_string(++objects_)};
}

std::unique_ptr<Mailbox> MessageTransport::make_mailbox(Graph graph, Place place) {
  auto link_of_graph = link(graph);
  return std::make_unique<MessageMailbox>(std::move(place), std::move(graph), std::move(link_of_graph));
}

// Logical OR of a Segment's sync_any() over all ranks.
bool MessageTransport::any(bool mine) {
  std::uint64_t any = mine ? 1 : 0;
  do_reduce({&any, 1}, Op::max);
  return any != 0;
}

// Collective creation of a Mailbox over messages.
std::unique_ptr<Mailbox> MessageTransport::mailbox(Graph graph) {
  ++counters_.collectives;
  handshake(graph);
  return make_mailbox(std::move(graph), make_place("Mailbox"));
}

// Collective creation of a Stream over messages.
std::unique_ptr<Stream> MessageTransport::stream(Graph graph, StreamOptions options) {
  ++counters_.collectives;
  handshake(graph, {}, {}, stream_error(graph, options));
  auto link_of_graph = link(graph);
  return std::make_unique<MessageStream>(make_place("Stream"), std::move(graph), std::move(link_of_graph));
}

// Collective creation of a Plan over messages; the handshake compares the numbers of elements at both ends of each arc.
std::unique_ptr<Plan> MessageTransport::plan(Graph graph, Pattern pattern, PlanOptions options) {
  ++counters_.collectives;
  std::vector<Bytes> descriptors;
  for (const auto& elements : pattern.out) {
    descriptors.push_back(to_bytes(PlanDescriptor{options.element_bytes, options.chunk_elements, elements.size()}));
  }
  const auto remote = handshake(graph, descriptors, {}, plan_error(graph, pattern, options));
  std::string error;
  for (std::size_t arc = 0; arc < graph.in.size() && error.empty(); ++arc) {
    const auto descriptor = read<PlanDescriptor>(remote.from_in[arc]);
    if (descriptor.count == pattern.in[arc] && descriptor.element_bytes == options.element_bytes &&
        descriptor.chunk_elements == options.chunk_elements) {
      continue;
    }
    error = "Plan: rank " + std::to_string(graph.in[arc]) + " sends " + std::to_string(descriptor.count) +
            " elements of " + std::to_string(descriptor.element_bytes) + " bytes in chunks of " +
            std::to_string(descriptor.chunk_elements) + "; here " + std::to_string(pattern.in[arc]) + " of " +
            std::to_string(options.element_bytes) + " bytes in chunks of " + std::to_string(options.chunk_elements) +
            " are expected";
  }
  agree_on(error);
  auto link_of_graph = link(graph);
  return message_plan(make_place("Plan"), std::move(graph), std::move(link_of_graph), std::move(pattern), options);
}

// Collective creation of a Segment over messages: two mailboxes, for logs of operations and for replies.
std::unique_ptr<SegmentBody> MessageTransport::segment_body(Graph graph, std::size_t words, std::size_t word_bytes,
                                                            Epoch epoch) {
  ++counters_.collectives;
  // An allocation that fails on one rank becomes an error of all ranks in the handshake.
  std::string error = segment_error(words, word_bytes, epoch);
  Bytes memory;
  try {
    if (error.empty()) memory.resize(words * word_bytes);
  } catch (const std::exception&) {
    error = "Segment: no memory for " + std::to_string(words * word_bytes) + " bytes";
  }
  const std::vector<Bytes> sizes(graph.in.size(), to_bytes(static_cast<std::uint64_t>(words)));
  const auto remote = handshake(graph, {}, sizes, error);
  SegmentLogs parts;
  for (const auto& size : remote.from_out) {
    parts.remote_words.push_back(static_cast<std::size_t>(read<std::uint64_t>(size)));
  }
  parts.scratch = std::make_shared<Counters>();
  const Graph reversed{graph.in, graph.out};  // replies travel against the arcs
  Place here = make_place("Segment");
  const Place quiet{rank(), parts.scratch.get(), nullptr, liveness(), here.name + " (logs)"};
  parts.forward = make_mailbox(std::move(graph), quiet);
  parts.backward = make_mailbox(reversed, quiet);
  parts.any = [this](bool mine) { return any(mine); };
  return message_segment(std::move(here), std::move(parts), words, word_bytes, std::move(memory));
}

}  // namespace merganser::comm::detail
