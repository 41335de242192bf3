// Link of simulated ranks over SMPI's messages, with one receive that is always posted instead of probes.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <vector>

#include "src/comm/backends/mpi/library.hpp"
#include "src/comm/backends/mpi/simulated.hpp"
#include "src/comm/detail/bytes.hpp"
#include "src/comm/simulated/network.hpp"
#include "src/comm/simulated/wire.hpp"

namespace merganser::comm::detail {
namespace {

/// Size of the pieces of simulated messages in bytes; a piece below it is the last one of its message. A receive buffer of this
/// size takes memory only for the pages that were written.
constexpr std::size_t kPiece = std::size_t{64} << 10;
/// First bytes of a simulated rank's receive buffer until a message arrives.
constexpr std::array<unsigned char, 16> kNothing{0x8e, 0x1f, 0xd3, 0x62, 0xb9, 0x47, 0x05, 0xea,
                                                 0x71, 0xcc, 0x38, 0x9d, 0x24, 0xf6, 0x5b, 0xa0};

/// Link of a simulated rank over two-sided messages of SMPI, with one receive that is always posted instead of probes.
class SimulatedLink final : public Link {
 public:
  SimulatedLink(MPI_Comm comm, int tag, const Graph& graph)
      : comm_(comm),
        tag_(tag),
        out_(graph.out),
        in_(graph.in),
        buffer_(std::unique_ptr<std::byte[]>(new std::byte[kPiece])),
        partial_(graph.in.size()) {
    if (!graph.in.empty()) post();
  }

  ~SimulatedLink() override {
    if (receive_ != MPI_REQUEST_NULL) drop(receive_);
    for (auto& request : sends_) drop(request);
  }

  /// Starts SMPI's non-blocking sends of a message along out-arc `arc`, piece by piece.
  void send(std::size_t arc, std::span<const std::byte> message) override {
    for (std::size_t at = 0;; at += kPiece) {
      const auto length = static_cast<int>(std::min(kPiece, message.size() - at));
      check(MPI_Isend(message.data() + at, length, MPI_BYTE, out_[arc], tag_, comm_,
                      &sends_.emplace_back(MPI_REQUEST_NULL)),
            "MPI_Isend");
      if (static_cast<std::size_t>(length) < kPiece) return;
    }
  }

  /// Returns true if all SMPI sends of this link are complete; tests each, and forgets the complete ones.
  [[nodiscard]] bool sent() override {
    std::erase_if(sends_, [](MPI_Request& request) {
      int done = 0;
      check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      return done != 0;
    });
    return sends_.empty();
  }

  /// Takes the pieces of SMPI messages that have arrived until a message is complete; returns its in-arc.
  [[nodiscard]] std::optional<std::size_t> receive(std::vector<std::byte>& message) override {
    while (has_arrived()) {
      int length = 0;
      check(MPI_Get_count(&status_, MPI_BYTE, &length), "MPI_Get_count");
      const std::size_t arc = in_(status_.MPI_SOURCE);
      auto& whole = partial_[arc];
      whole.insert(whole.end(), buffer_.get(), buffer_.get() + length);
      post();
      if (static_cast<std::size_t>(length) == kPiece) continue;
      message.swap(whole);
      whole.clear();
      return arc;
    }
    return std::nullopt;
  }

  /// Blocks this simulated rank until a message has arrived or a send is complete.
  void idle(Waiter&) override {
    if (came_) return;
    if (sends_.empty()) {
      check(MPI_Wait(&receive_, &status_), "MPI_Wait");
      came_ = true;
      return;
    }
    waited_for_ = sends_;
    waited_for_.push_back(receive_);
    int index = 0;
    MPI_Status status;
    check(MPI_Waitany(static_cast<int>(waited_for_.size()), waited_for_.data(), &index, &status), "MPI_Waitany");
    if (static_cast<std::size_t>(index) < sends_.size()) {
      sends_.erase(sends_.begin() + index);
      return;
    }
    receive_ = MPI_REQUEST_NULL;
    status_ = status;
    came_ = true;
  }

 private:
  /// Posts SMPI's receive of the next piece of a message, from any rank.
  void post() {
    came_ = false;
    std::memcpy(buffer_.get(), kNothing.data(), kNothing.size());
    check(MPI_Irecv(buffer_.get(), static_cast<int>(kPiece), MPI_BYTE, MPI_ANY_SOURCE, tag_, comm_, &receive_),
          "MPI_Irecv");
  }

  /// Returns true if the posted receive is complete, without MPI_Test: SimGrid 3.32 keeps every request that a test completed in
  /// a list of the rank, and searches all of it for every message, quadratic time. A message that arrives later changes the first
  /// bytes of the buffer, and MPI_Wait then returns at once; idle() detects one that arrived before, or is empty.
  bool has_arrived() {
    if (came_ || receive_ == MPI_REQUEST_NULL) return came_;
    if (std::memcmp(buffer_.get(), kNothing.data(), kNothing.size()) == 0) return false;
    check(MPI_Wait(&receive_, &status_), "MPI_Wait");
    came_ = true;
    return true;
  }

  /// Cancels and frees a send or receive request of SMPI.
  static void drop(MPI_Request& request) {
    MPI_Cancel(&request);
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }

  MPI_Comm comm_;
  int tag_;                                 // tag that no other link of the simulation uses
  std::vector<int> out_;                    // per out-arc: receiving rank
  ArcIndex in_;                             // from sending rank to in-arc
  std::unique_ptr<std::byte[]> buffer_;     // kPiece bytes, of the posted receive
  MPI_Request receive_ = MPI_REQUEST_NULL;  // null: there are no in-arcs, or it is complete
  bool came_ = false;                       // the receive is complete, and its message not taken
  MPI_Status status_{};                     // of the complete receive
  std::vector<MPI_Request> sends_;          // sends that are not known to be complete
  std::vector<MPI_Request> waited_for_;     // sends and the receive, in idle()
  std::vector<Bytes> partial_;              // per in-arc: pieces received of a message that is not complete
};

}  // namespace

std::unique_ptr<Link> simulated_link(MPI_Comm comm, int tag, const Graph& graph) {
  if (messages_are_timers()) return timed_link(comm, tag, graph);
  return std::make_unique<SimulatedLink>(comm, tag, graph);
}

}  // namespace merganser::comm::detail
