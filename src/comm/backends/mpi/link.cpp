// requires: MPI
#include "src/comm/backends/mpi/link.hpp"

#include "src/comm/backends/mpi/library.hpp"
#include "src/comm/detail/courtesy.hpp"
#include "src/comm/detail/limits.hpp"

namespace merganser::comm::detail {

MpiLink::MpiLink(MPI_Comm comm, int tag, const Graph& graph)
    : comm_(comm), tag_(tag), out_(graph.out), in_(graph.in), limit_(max_piece_bytes), partial_(graph.in.size()) {}

MpiLink::~MpiLink() {
  if (!mpi_running()) return;
  // Only an error leaves sends behind: their memory is about to go.
  for (auto& request : requests_) {
    if (request == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&request);
    MPI_Request_free(&request);
  }
}

void MpiLink::send(std::size_t arc, std::span<const std::byte> message) {
  for (std::size_t at = 0;; at += limit_) {
    const auto length = static_cast<int>(std::min(limit_, message.size() - at));
    check(MPI_Isend(message.data() + at, length, MPI_BYTE, out_[arc], tag_, comm_,
                    &requests_.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Isend");
    if (static_cast<std::size_t>(length) < limit_) return;
  }
}

bool MpiLink::sent() {
  if (requests_.empty()) return true;
  int done = 0;
  check(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE), "MPI_Testall");
  if (done != 0) requests_.clear();
  return done != 0;
}

std::optional<std::size_t> MpiLink::receive(std::vector<std::byte>& message) {
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
      const Courtesy courtesy(Courtesy::Call::brief);  // a long message comes when its sender is at it
      check(MPI_Mrecv(message.data(), length, MPI_BYTE, &handle, &status), "MPI_Mrecv");
      return arc;
    }
    const std::size_t at = partial.size();
    partial.resize(at + bytes);
    const Courtesy courtesy(Courtesy::Call::brief);
    check(MPI_Mrecv(partial.data() + at, length, MPI_BYTE, &handle, &status), "MPI_Mrecv");
    if (bytes == limit_) continue;
    message.swap(partial);
    partial.clear();
    return arc;
  }
}

}  // namespace merganser::comm::detail
