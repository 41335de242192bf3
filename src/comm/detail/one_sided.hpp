#pragma once
/// Transports whose objects live in one-sided memory.
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "src/comm/detail/memory.hpp"
#include "src/comm/detail/message_transport.hpp"

namespace merganser::comm::detail {

/// Ring size of an object with so many in-arcs: all rings of an object together stay within a budget.
[[nodiscard]] std::size_t ring_bytes_for(std::size_t in_arcs);
/// Rings of Streams carry what does not fit into the slots only.
inline constexpr std::size_t kStreamRingBytes = 16384;

/// Where the rings of a rank lie in its block, from `offset` on: a head word per in-arc (written by the sender: bytes
/// sent so far), a credit word per out-arc (written by the receiver: bytes taken so far), then the rings.
struct RingLayout {
  std::size_t offset = 0;
  std::size_t in_arcs = 0;
  std::size_t out_arcs = 0;
  std::size_t ring_bytes = 0;

  [[nodiscard]] std::size_t head(std::size_t arc) const { return offset + 8 * arc; }
  [[nodiscard]] std::size_t credit(std::size_t arc) const { return offset + 8 * (in_arcs + arc); }
  [[nodiscard]] std::size_t ring(std::size_t arc) const { return offset + 8 * (in_arcs + out_arcs) + ring_bytes * arc; }
  [[nodiscard]] std::size_t end() const { return ring(in_arcs); }
};

/// What the ends of an arc tell each other about the sender's and the receiver's block.
struct RingAddress {
  std::uint64_t head = 0;
  std::uint64_t ring = 0;
  std::uint64_t ring_bytes = 0;
  std::uint64_t credit = 0;
};
/// What this rank says against each in-arc, and along each out-arc.
[[nodiscard]] std::vector<Bytes> receiver_descriptors(const RingLayout& layout);
[[nodiscard]] std::vector<Bytes> sender_descriptors(const RingLayout& layout);
/// Messages through a ring of bytes per arc in the receiver's block. `remote` is what the handshake with
/// sender_descriptors() and receiver_descriptors() returned.
[[nodiscard]] std::unique_ptr<Link> ring_link(std::shared_ptr<Memory> memory, const Graph& graph,
                                              const RingLayout& layout, const RemoteDescriptors& remote);

/// Where the slots of a Stream lie.
struct StreamSlots {
  std::size_t mine = 0;  ///< offset of what belongs to in-arc 0 in this rank's block
  std::size_t per_arc = 0;
  std::vector<std::uint64_t> theirs;  ///< per out-arc: where that begins in the receiver's block

  /// The word of the round, then the slots.
  [[nodiscard]] std::size_t arc_bytes() const { return (1 + per_arc) * sizeof(std::uint64_t); }
  [[nodiscard]] static std::size_t slot_at(std::size_t slot) { return (1 + slot) * sizeof(std::uint64_t); }
};
[[nodiscard]] std::unique_ptr<Stream> memory_stream(Place place, Graph graph, std::unique_ptr<Link> link,
                                                    std::shared_ptr<Memory> memory, StreamSlots slots);

/// What a Segment is made of.
struct SegmentParts {
  std::shared_ptr<Memory> words;
  std::shared_ptr<Memory> control;         ///< a word per neighbour: phases it has ended
  std::vector<std::size_t> remote_words;   ///< per out-neighbour
  std::vector<int> neighbours;             ///< senders and receivers, without this rank
  std::vector<std::uint64_t> their_place;  ///< per neighbour: offset of this rank's word in its control block
  std::function<bool(bool)> any;           ///< logical OR over all ranks
};
[[nodiscard]] std::unique_ptr<SegmentBody> memory_segment(Place place, Graph graph, SegmentParts parts,
                                                          std::size_t words, std::size_t word_bytes);

/// Size of the block of fault_of(): one word more on each rank than on the one before.
[[nodiscard]] std::size_t memory_test_bytes(int rank);
/// Puts, gets and ORs known words in such blocks, and says what came out wrong here. Collective.
[[nodiscard]] std::string fault_of(Memory& memory, int rank, int size, const std::function<void()>& barrier);

/// `Base` brings the collectives; a subclass brings allocate().
template <class Base>
class OneSided : public Base {
 public:
  using Base::Base;

  [[nodiscard]] std::string memory_fault() override {
    const auto memory = new_memory(memory_test_bytes(this->rank()), Epoch::lifetime);
    return fault_of(*memory, this->rank(), this->size(), [this] { this->do_barrier(); });
  }

  [[nodiscard]] std::unique_ptr<Stream> stream(Graph graph, StreamOptions options) override {
    ++this->counters_.collectives;
    this->agree_on(first_of(stream_error(graph, options), graph));
    const RingLayout rings{0, graph.in.size(), graph.out.size(), kStreamRingBytes};
    StreamSlots slots{rings.end(), options.slots_per_arc, {}};
    auto memory = new_memory(slots.mine + graph.in.size() * slots.arc_bytes(), Epoch::lifetime);
    auto descriptors = receiver_descriptors(rings);
    for (std::size_t arc = 0; arc < descriptors.size(); ++arc) {
      append(descriptors[arc], static_cast<std::uint64_t>(slots.mine + arc * slots.arc_bytes()));
      append(descriptors[arc], static_cast<std::uint64_t>(slots.per_arc));
    }
    const auto remote = this->handshake(graph, sender_descriptors(rings), descriptors);
    std::string error;
    for (const Bytes& descriptor : remote.from_out) {
      slots.theirs.push_back(read<std::uint64_t>(descriptor, sizeof(RingAddress)));
      if (read<std::uint64_t>(descriptor, sizeof(RingAddress) + 8) != slots.per_arc) {
        error = "Stream: slots_per_arc must be the same on every rank";
      }
    }
    this->agree_on(error);
    auto link = ring_link(memory, graph, rings, remote);
    return memory_stream(this->place("Stream"), std::move(graph), std::move(link), std::move(memory), std::move(slots));
  }

  [[nodiscard]] std::unique_ptr<SegmentBody> segment_body(Graph graph, std::size_t words, std::size_t word_bytes,
                                                          Epoch epoch) override {
    ++this->counters_.collectives;
    this->agree_on(first_of(segment_error(words, word_bytes, epoch), graph));
    SegmentParts parts;
    parts.neighbours = neighbours_of(graph, this->rank());
    parts.words = new_memory(words * word_bytes, epoch);
    parts.control = new_memory(parts.neighbours.size() * 8, Epoch::lifetime);
    // What a neighbour must know: how many words there are here, and which control word is its own.
    const auto descriptor = [&](int neighbour) {
      Bytes bytes = to_bytes(static_cast<std::uint64_t>(words));
      append(bytes, static_cast<std::uint64_t>(8 * position(parts.neighbours, neighbour)));
      return bytes;
    };
    std::vector<Bytes> to_out;
    std::vector<Bytes> to_in;
    for (const int rank : graph.out) to_out.push_back(descriptor(rank));
    for (const int rank : graph.in) to_in.push_back(descriptor(rank));
    const auto remote = this->handshake(graph, to_out, to_in);
    parts.their_place.resize(parts.neighbours.size());
    const auto note = [&](const std::vector<int>& ranks, const std::vector<Bytes>& descriptors) {
      for (std::size_t arc = 0; arc < ranks.size(); ++arc) {
        const std::size_t at = position(parts.neighbours, ranks[arc]);
        if (at != ArcOf::kNone) parts.their_place[at] = read<std::uint64_t>(descriptors[arc], 8);
      }
    };
    note(graph.out, remote.from_out);
    note(graph.in, remote.from_in);
    for (const Bytes& one : remote.from_out) {
      parts.remote_words.push_back(static_cast<std::size_t>(read<std::uint64_t>(one)));
    }
    parts.any = [this](bool mine) { return this->any(mine); };
    auto body = memory_segment(this->place("Segment"), std::move(graph), std::move(parts), words, word_bytes);
    this->do_barrier();  // with an epoch per phase the first one is open on every rank now
    return body;
  }

 protected:
  void release() override {
    pool_.free_all();
    Base::release();
  }
  /// Frees the memory of objects that every rank has destroyed. Collective.
  void free_what_is_left() {
    pool_.free_unused([this](std::span<std::int64_t> values) { this->add(values); });
  }
  /// A block of at least so many bytes, zero. Collective; throws alike on every rank.
  virtual std::shared_ptr<Memory> allocate(std::size_t bytes, Epoch epoch) = 0;

  std::unique_ptr<Link> link(const Graph& graph) override {
    const RingLayout rings{0, graph.in.size(), graph.out.size(), ring_bytes_for(graph.in.size())};
    auto memory = new_memory(rings.end(), Epoch::lifetime);
    const auto remote = this->handshake(graph, sender_descriptors(rings), receiver_descriptors(rings));
    return ring_link(std::move(memory), graph, rings, remote);
  }

 private:
  std::shared_ptr<Memory> new_memory(std::size_t bytes, Epoch epoch) {
    free_what_is_left();
    return pool_.add(allocate(bytes, epoch));
  }

  /// Errors in the graph, too, are found before memory is made from it.
  std::string first_of(const std::string& error, const Graph& graph) const {
    return error.empty() ? graph_error(graph, this->size()) : error;
  }

  CollectivePool pool_;
};

}  // namespace merganser::comm::detail
