#pragma once
/// A transport that makes its objects from Links.
#include <memory>

#include "src/comm/detail/message_objects.hpp"
#include "src/comm/detail/transport_base.hpp"

namespace merganser::comm::detail {

class MessageTransport : public TransportBase {
 public:
  [[nodiscard]] std::unique_ptr<Mailbox> mailbox(Graph graph) override;
  [[nodiscard]] std::unique_ptr<Stream> stream(Graph graph, StreamOptions options) override;
  [[nodiscard]] std::unique_ptr<Plan> plan(Graph graph, Pattern pattern, PlanOptions options) override;
  [[nodiscard]] std::unique_ptr<SegmentBody> segment_body(Graph graph, std::size_t words, std::size_t word_bytes,
                                                          Epoch epoch) override;

 protected:
  /// Collective; the graph has been checked.
  virtual std::unique_ptr<Link> link(const Graph& graph) = 0;
  /// Collective; the graph has been checked.
  virtual std::unique_ptr<Mailbox> make_mailbox(Graph graph, Place place);
  /// Logical OR over all ranks; not counted.
  virtual bool any(bool mine);

  /// Of a new object of this kind ("Mailbox"), which it numbers.
  [[nodiscard]] Place place(const char* kind);

 private:
  std::uint64_t objects_ = 0;
};

/// Validates the arguments of this rank for a new object. Returns the error text, empty if they are valid. Sizes must fit into
/// 64 bits as bytes.
std::string plan_error(const Graph& graph, const Pattern& pattern, const PlanOptions& options);
std::string stream_error(const Graph& graph, const StreamOptions& options);
std::string segment_error(std::size_t words, std::size_t word_bytes, Epoch epoch);

}  // namespace merganser::comm::detail
