#pragma once
/// Base of the transports whose objects are made from Links, that is from messages along arcs.
#include <memory>

#include "src/comm/detail/message_objects.hpp"
#include "src/comm/detail/transport_base.hpp"

namespace merganser::comm::detail {

/// Transport whose Mailbox, Stream, Plan and Segment are made from Links; a backend supplies link() and the
/// collectives.
class MessageTransport : public TransportBase {
 public:
  [[nodiscard]] std::unique_ptr<Mailbox> mailbox(Graph graph) override;
  [[nodiscard]] std::unique_ptr<Stream> stream(Graph graph, StreamOptions options) override;
  [[nodiscard]] std::unique_ptr<Plan> plan(Graph graph, Pattern pattern, PlanOptions options) override;
  [[nodiscard]] std::unique_ptr<SegmentBody> segment_body(Graph graph, std::size_t words, std::size_t word_bytes,
                                                          Epoch epoch) override;

 protected:
  /// Makes a Link along the arcs of a graph that has been checked. Collective.
  virtual std::unique_ptr<Link> link(const Graph& graph) = 0;
  /// Makes a Mailbox on a graph that has been checked; a backend may override it by calls of its own. Collective.
  virtual std::unique_ptr<Mailbox> make_mailbox(Graph graph, Place place);
  /// Returns the logical OR of `mine` over all ranks. Collective; not counted.
  virtual bool any(bool mine);

  /// Returns the context of a new object of this kind ("Mailbox") and numbers it.
  [[nodiscard]] Place make_place(const char* kind);

 private:
  std::uint64_t objects_ = 0;
};

/// Validates the arguments of this rank for a Plan: sizes >= 1 that fit in memory as bytes, and a pattern for each arc.
/// Returns the error text, empty if they are valid. Local.
std::string plan_error(const Graph& graph, const Pattern& pattern, const PlanOptions& options);
/// Validates the options of this rank for a Stream: slots that fit in memory. Returns the error text, empty if valid. Local.
std::string stream_error(const Graph& graph, const StreamOptions& options);
/// Validates the arguments of this rank for a Segment: words of 4 or 8 bytes that fit in memory, a value of Epoch. Returns the
/// error text, empty if they are valid. Local.
std::string segment_error(std::size_t words, std::size_t word_bytes, Epoch epoch);

}  // namespace merganser::comm::detail
