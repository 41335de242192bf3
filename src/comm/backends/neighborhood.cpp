// requires: MPI
#include <algorithm>

#include "merganser/base/pinned.hpp"
#include "src/comm/backends/mpi/library.hpp"
#include "src/comm/backends/mpi/simulated.hpp"
#include "src/comm/backends/mpi/transport.hpp"
#include "src/comm/detail/limits.hpp"
#include "src/comm/detail/registry.hpp"

/// The model neighborhood: a wave over the whole graph is one pair of MPI's neighbourhood collectives, for sizes and messages.
/// Waves over some arcs, Streams and Plans use two-sided messages, since a collective would need every neighbour.
namespace merganser::comm::detail {
namespace {

/// Returns the process graph of the MPI communicator for neighbourhood collectives: `graph`, and, for MPI libraries that need
/// equal in- and out-degrees, a reverse arc for each arc without one. The arcs of `graph` come first, in their order; the others
/// carry empty messages.
Graph library_graph(const Graph& graph) {
  if (!unequal_degrees_fail()) return graph;
  Graph both = graph;
  const auto add = [](std::vector<int>& to, const std::vector<int>& from) {
    for (const int rank : from)
      if (std::find(to.begin(), to.end(), rank) == to.end()) to.push_back(rank);
  };
  add(both.out, graph.in);
  add(both.in, graph.out);
  return both;
}

/// Arguments of one side of MPI_Ineighbor_alltoallw: absolute addresses, so that nothing is packed, and a datatype of its own
/// for a message that is longer than a count of type int allows.
class AlltoallwArguments : Pinned {
 public:
  explicit AlltoallwArguments(std::size_t arcs) : counts_(arcs + 1), places_(arcs + 1), types_(arcs + 1, MPI_BYTE) {}
  ~AlltoallwArguments() { free(); }

  /// Sets the message buffer of an arc for MPI_Ineighbor_alltoallw; one longer than max_piece_bytes gets a datatype of its own.
  void set(std::size_t arc, const std::byte* data, std::size_t bytes) {
    check(MPI_Get_address(data, &places_[arc]), "MPI_Get_address");
    counts_[arc] = static_cast<int>(bytes);
    if (bytes <= max_piece_bytes) return;
    types_[arc] = wide_type(bytes);
    wide_.push_back(arc);
    counts_[arc] = 1;
  }
  /// Frees the MPI datatypes that set() has made for long messages.
  void free() noexcept {
    for (const std::size_t arc : wide_) MPI_Type_free(&types_[arc]);  // sets what it frees to null
    for (const std::size_t arc : wide_) types_[arc] = MPI_BYTE;
    wide_.clear();
  }
  [[nodiscard]] const int* counts() const { return counts_.data(); }
  [[nodiscard]] const MPI_Aint* places() const { return places_.data(); }
  [[nodiscard]] const MPI_Datatype* types() const { return types_.data(); }

 private:
  /// Makes an MPI datatype of `bytes` contiguous bytes, more than an int counts: whole pieces of max_piece_bytes and a rest.
  static MPI_Datatype wide_type(std::size_t bytes) {
    const auto piece = static_cast<int>(max_piece_bytes);
    const auto pieces = static_cast<int>(bytes / max_piece_bytes);
    const auto rest = static_cast<int>(bytes % max_piece_bytes);
    MPI_Datatype whole = MPI_DATATYPE_NULL;
    check(MPI_Type_vector(pieces, piece, piece, MPI_BYTE, &whole), "MPI_Type_vector");
    const int lengths[] = {1, rest};
    const MPI_Aint offsets[] = {0, static_cast<MPI_Aint>(bytes - static_cast<std::size_t>(rest))};
    const MPI_Datatype types[] = {whole, MPI_BYTE};
    MPI_Datatype wide = MPI_DATATYPE_NULL;
    check(MPI_Type_create_struct(2, lengths, offsets, types, &wide), "MPI_Type_create_struct");
    check(MPI_Type_free(&whole), "MPI_Type_free");
    check(MPI_Type_commit(&wide), "MPI_Type_commit");
    return wide;
  }

  std::vector<int> counts_;          // per arc: number of elements; one element more, so that no list is empty
  std::vector<MPI_Aint> places_;     // per arc: absolute address of the message
  std::vector<MPI_Datatype> types_;  // per arc: MPI_BYTE, or the datatype of a long message
  std::vector<std::size_t> wide_;    // arcs with a datatype of their own
};

/// Mailbox of the model neighborhood: steps along all arcs are neighbourhood collectives, others two-sided messages.
class NeighborhoodMailbox final : public MessageMailbox {
 public:
  NeighborhoodMailbox(Place place, Graph graph, std::unique_ptr<Link> link, std::shared_ptr<const Communicator> comm)
      : MessageMailbox(std::move(place), std::move(graph), std::move(link)),
        comm_(std::move(comm)),
        library_graph_(library_graph(graph_)),
        out_bytes_(library_graph_.out.size() + 1),
        in_bytes_(library_graph_.in.size() + 1),
        out_(library_graph_.out.size()),
        in_(library_graph_.in.size()) {}

 protected:
  /// Makes a wave over all arcs by two neighbourhood collectives of MPI: the lengths of the messages, then the messages.
  void step_all() override {
    const Waiter::Describe describe = [this] {
      std::string text =
          place_.to_string() + ", full step " + std::to_string(full_steps_) + ": not every neighbour of ranks";
      for (const int rank : graph_.in) text += " " + std::to_string(rank);
      return text + " has come (MPI does not tell which)";
    };
    ++full_steps_;
    count_wave();
    // An arc of this rank to itself carries no byte in the collectives: its message is moved at the end, without a copy.
    for (std::size_t arc = 0; arc < outbox_.size(); ++arc) {
      out_bytes_[arc] = arc == self_out_ ? 0 : static_cast<std::int64_t>(outbox_[arc].size());
      out_.set(arc, outbox_[arc].data(), static_cast<std::size_t>(out_bytes_[arc]));
    }
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ineighbor_alltoall(out_bytes_.data(), 1, MPI_INT64_T, in_bytes_.data(), 1, MPI_INT64_T, *comm_, &request),
          "MPI_Ineighbor_alltoall");
    complete({&request, 1}, "MPI_Ineighbor_alltoall", describe);
    for (std::size_t arc = 0; arc < inbox_.size(); ++arc) {
      inbox_[arc].resize(static_cast<std::size_t>(in_bytes_[arc]));
      in_.set(arc, inbox_[arc].data(), inbox_[arc].size());
    }
    check(MPI_Ineighbor_alltoallw(MPI_BOTTOM, out_.counts(), out_.places(), out_.types(), MPI_BOTTOM, in_.counts(),
                                  in_.places(), in_.types(), *comm_, &request),
          "MPI_Ineighbor_alltoallw");
    complete({&request, 1}, "MPI_Ineighbor_alltoallw", describe);
    out_.free();
    in_.free();
    if (self_out_ != ArcIndex::kNone) deliver_self();
    empty_outboxes();
  }

 private:
  std::shared_ptr<const Communicator> comm_;  // with library_graph_ as its topology
  Graph library_graph_;
  std::uint64_t full_steps_ = 0;         // steps along all arcs so far
  std::vector<std::int64_t> out_bytes_;  // per out-arc of library_graph_: length of the message
  std::vector<std::int64_t> in_bytes_;   // per in-arc of library_graph_: length of the message
  AlltoallwArguments out_;
  AlltoallwArguments in_;
};

/// Transport of the model neighborhood (MPI neighbourhood collectives) as one rank holds it.
class Neighborhood final : public MpiTransport {
 public:
  using MpiTransport::MpiTransport;
  [[nodiscard]] std::string_view name() const noexcept override { return "neighborhood"; }
  [[nodiscard]] Capabilities capabilities() const noexcept override {
    return {.one_sided = false, .subset_waves = false, .sub_transports = true, .processes = true};
  }

 protected:
  [[nodiscard]] std::unique_ptr<MpiTransport> make(MPI_Comm parent) const override {
    return std::make_unique<Neighborhood>(parent);
  }
  /// Makes a Mailbox with a distributed graph communicator of its own for its neighbourhood collectives. Collective.
  std::unique_ptr<Mailbox> make_mailbox(Graph graph, Place place) override {
    auto some_arcs = link(graph);
    if constexpr (kSimulated)
      return simulated_neighborhood(std::move(place), std::move(graph), std::move(some_arcs), comm(), next_tag());
    std::erase_if(graphs_, [](const auto& known) { return known.expired(); });
    auto all_arcs = std::make_shared<Communicator>(graph_communicator(comm(), library_graph(graph)));
    graphs_.push_back(all_arcs);
    return std::make_unique<NeighborhoodMailbox>(std::move(place), std::move(graph), std::move(some_arcs),
                                                 std::move(all_arcs));
  }
  /// Frees the graph communicators of mailboxes that still live, then the transport's communicator. Collective.
  void release() override {
    for (const auto& known : graphs_) {
      if (const auto graph = known.lock()) graph->free();
    }
    MpiTransport::release();
  }

 private:
  // Graph communicators of mailboxes, which may outlive the transport; freed in release().
  std::vector<std::weak_ptr<Communicator>> graphs_;
};

}  // namespace

extern const BackendEntry neighborhood_backend;
const BackendEntry neighborhood_backend{
    {"neighborhood", "MPI neighbourhood collectives on a distributed graph; partial waves two-sided", true},
    start_over_world<Neighborhood>,
    open_over<Neighborhood>};

}  // namespace merganser::comm::detail
