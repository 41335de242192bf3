// requires: MPI
// Link of the models over MPI: messages along the arcs of a process graph by MPI's two-sided calls.
#include "src/comm/backends/mpi/library.hpp"
#include "src/comm/backends/mpi/transport.hpp"
#include "src/comm/detail/limits.hpp"
#include "src/comm/detail/scoped_yield.hpp"

namespace merganser::comm::detail {
namespace {

/// Link of MPI's two-sided messages: non-blocking sends, matched probes. A message of max_piece_bytes or more is sent in pieces;
/// a piece below that limit (perhaps empty) is the last one. MPI's messages between two ranks with one tag do not overtake each
/// other, so steps and pieces need no number.
class MpiLink final : public Link {
 public:
  MpiLink(MPI_Comm comm, int tag, const Graph& graph)
      : comm_(comm), tag_(tag), out_(graph.out), in_(graph.in), limit_(max_piece_bytes), partial_(graph.in.size()) {}
  /// Cancels and frees the sends that are incomplete, while MPI runs.
  ~MpiLink() override {
    if (!mpi_running()) return;
    // Sends are incomplete only after an error; their buffers are about to be freed.
    for (auto& request : requests_) {
      if (request == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&request);
      MPI_Request_free(&request);
    }
  }

  /// Starts non-blocking MPI sends of a message along out-arc `arc`, piece by piece.
  void send(std::size_t arc, std::span<const std::byte> message) override {
    for (std::size_t at = 0;; at += limit_) {
      const auto length = static_cast<int>(std::min(limit_, message.size() - at));
      check(MPI_Isend(message.data() + at, length, MPI_BYTE, out_[arc], tag_, comm_,
                      &requests_.emplace_back(MPI_REQUEST_NULL)),
            "MPI_Isend");
      if (static_cast<std::size_t>(length) < limit_) return;
    }
  }

  /// Returns true if all MPI sends of this link are complete, by one MPI_Testall.
  [[nodiscard]] bool sent() override {
    if (requests_.empty()) return true;
    int done = 0;
    check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
    if (done != 0) requests_.clear();
    return done != 0;
  }

  /// Receives the pieces of MPI messages that have arrived, in any order of arcs, until a message is complete; returns its in-arc.
  [[nodiscard]] std::optional<std::size_t> receive(std::vector<std::byte>& message) override {
    for (;;) {
      int found = 0;
      MPI_Message handle = MPI_MESSAGE_NULL;
      MPI_Status status;
      check(MPI_Improbe(MPI_ANY_SOURCE, tag_, comm_, &found, &handle, &status), "MPI_Improbe");
      if (found == 0) return std::nullopt;
      int length = 0;
      check(MPI_Get_count(&status, MPI_BYTE, &length), "MPI_Get_count");
      const auto bytes = static_cast<std::size_t>(length);
      const std::size_t arc = in_(status.MPI_SOURCE);
      auto& partial = partial_[arc];
      if (partial.empty() && bytes < limit_) {
        message.resize(bytes);
        // A long message (rendezvous protocol) needs progress of its sender.
        const ScopedYield yield(ScopedYield::Call::brief);
        check(MPI_Mrecv(message.data(), length, MPI_BYTE, &handle, &status), "MPI_Mrecv");
        return arc;
      }
      const std::size_t at = partial.size();
      partial.resize(at + bytes);
      const ScopedYield yield(ScopedYield::Call::brief);
      check(MPI_Mrecv(partial.data() + at, length, MPI_BYTE, &handle, &status), "MPI_Mrecv");
      if (bytes == limit_) continue;
      message.swap(partial);
      partial.clear();
      return arc;
    }
  }

 private:
  MPI_Comm comm_;
  int tag_;                            // tag that no other link of the communicator uses
  std::vector<int> out_;               // per out-arc: receiving rank
  ArcIndex in_;                        // from sending rank to in-arc
  std::size_t limit_;                  // length of all pieces of a message but the last in bytes
  std::vector<MPI_Request> requests_;  // sends that are not known to be complete
  std::vector<Bytes> partial_;         // per in-arc: pieces received of a message that is not complete
};

}  // namespace

std::unique_ptr<Link> mpi_link(MPI_Comm comm, int tag, const Graph& graph) {
  return std::make_unique<MpiLink>(comm, tag, graph);
}

}  // namespace merganser::comm::detail
