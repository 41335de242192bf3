#pragma once
/// Base of the transports whose Mailbox, Stream, Plan and Segment are made from Links, that is from messages along arcs.
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
  /// Makes a Link along this rank's arcs of a process graph that has been checked. Collective.
  virtual std::unique_ptr<Link> link(const Graph& graph) = 0;
  /// Makes a Mailbox on a process graph that has been checked; a backend may override it to use its own operations. Collective.
  virtual std::unique_ptr<Mailbox> make_mailbox(Graph graph, Place place);
  /// Returns the logical OR of `mine` over all ranks of the transport, for Segment::sync_any(). Collective; not counted.
  virtual bool any(bool mine);

  /// Returns the context (rank, counters, name) of a new communication object of this kind ("Mailbox") and numbers the object.
  [[nodiscard]] Place make_place(const char* kind);

 private:
  std::uint64_t objects_ = 0;  // communication objects made so far, alike on every rank
};

/// Validates this rank's arguments of Transport::plan(): sizes >= 1 that fit in memory as bytes, and a pattern for each arc.
/// Returns the error text, empty if they are valid. Local.
std::string plan_error(const Graph& graph, const Pattern& pattern, const PlanOptions& options);
/// Validates this rank's options of Transport::stream(): slots that fit in memory. Returns the error text, empty if they are valid.
/// Local.
std::string stream_error(const Graph& graph, const StreamOptions& options);
/// Validates this rank's arguments of Transport::segment_body(): words of 4 or 8 bytes that fit in memory, a value of Epoch.
/// Returns the error text, empty if they are valid. Local.
std::string segment_error(std::size_t words, std::size_t word_bytes, Epoch epoch);

}  // namespace merganser::comm::detail
