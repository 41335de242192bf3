#include <mpi.h>

#include <utility>
#include <vector>

#include "src/comm/backends/mpi/library.hpp"
#include "src/comm/backends/mpi/simulated.hpp"

namespace merganser::comm::detail {
namespace {

class SimulatedNeighborhood final : public MessageMailbox {
 public:
  SimulatedNeighborhood(Place place, Graph graph, std::unique_ptr<Link> link, MPI_Comm comm, int tag)
      : MessageMailbox(std::move(place), std::move(graph), std::move(link)),
        comm_(comm),
        tag_(tag),
        all_(graph_.out.size(), 1),
        out_bytes_(graph_.out.size()),
        in_bytes_(graph_.in.size()) {}

 protected:
  void step_all() override {
    count_wave(all_);
    for (std::size_t arc = 0; arc < inbox_.size(); ++arc)
      if (arc != self_in_) expect(arc, &in_bytes_[arc], sizeof in_bytes_[arc]);
    for (std::size_t arc = 0; arc < outbox_.size(); ++arc) {
      out_bytes_[arc] = outbox_[arc].size();
      if (arc != self_out_) give(arc, &out_bytes_[arc], sizeof out_bytes_[arc]);
    }
    wait();
    for (std::size_t arc = 0; arc < inbox_.size(); ++arc) {
      if (arc == self_in_) continue;
      inbox_[arc].resize(in_bytes_[arc]);
      expect(arc, inbox_[arc].data(), in_bytes_[arc]);
    }
    for (std::size_t arc = 0; arc < outbox_.size(); ++arc)
      if (arc != self_out_) give(arc, outbox_[arc].data(), outbox_[arc].size());
    wait();
    if (self_out_ != ArcOf::kNone) deliver_self();
    empty_outboxes();
  }

 private:
  void expect(std::size_t arc, void* to, std::size_t bytes) {
    check(MPI_Irecv(to, static_cast<int>(bytes), MPI_BYTE, graph_.in[arc], tag_, comm_,
                    &requests_.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Irecv");
  }
  void give(std::size_t arc, const void* from, std::size_t bytes) {
    check(MPI_Isend(from, static_cast<int>(bytes), MPI_BYTE, graph_.out[arc], tag_, comm_,
                    &requests_.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Isend");
  }
  void wait() {
    for (auto& request : requests_) check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    requests_.clear();
  }

  MPI_Comm comm_;
  int tag_;
  std::vector<std::uint8_t> all_;
  std::vector<std::size_t> out_bytes_;
  std::vector<std::size_t> in_bytes_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

std::unique_ptr<Mailbox> simulated_neighborhood(Place place, Graph graph, std::unique_ptr<Link> link, MPI_Comm comm,
                                                int tag) {
  return std::make_unique<SimulatedNeighborhood>(std::move(place), std::move(graph), std::move(link), comm, tag);
}

}  // namespace merganser::comm::detail
