#pragma once
/// Two-sided messages along the arcs of a graph.
#include <mpi.h>

#include "src/comm/detail/bytes.hpp"
#include "src/comm/detail/link.hpp"

namespace merganser::comm::detail {

/// A message longer than the limit travels in pieces; a piece below the limit is the last one. MPI keeps the order of
/// messages between two ranks, so no round or piece needs a number.
class MpiLink final : public Link {
 public:
  MpiLink(MPI_Comm comm, int tag, const Graph& graph);
  ~MpiLink() override;

  void send(std::size_t arc, std::span<const std::byte> message) override;
  [[nodiscard]] bool sent() override;
  [[nodiscard]] std::optional<std::size_t> receive(std::vector<std::byte>& message) override;

 private:
  MPI_Comm comm_;
  int tag_;
  std::vector<int> out_;
  ArcOf in_;
  std::size_t limit_;
  std::vector<MPI_Request> requests_;
  std::vector<Bytes> partial_;  // per in-arc: pieces so far
};

}  // namespace merganser::comm::detail
