#pragma once
/// Transports of the models rma and shmem, whose Mailbox, Stream, Segment and Plan use one-sided memory: message rings, slots and
/// windows.
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "src/comm/detail/memory.hpp"
#include "src/comm/detail/message_transport.hpp"

namespace merganser::comm::detail {

/// Returns the size in bytes of each message ring of a link with `in_arcs` in-arcs, 4 KiB to 256 KiB, so that all rings of a rank's
/// link stay within a budget of 4 MiB where the minimum allows.
[[nodiscard]] std::size_t ring_bytes_for(std::size_t in_arcs);
/// Size of each message ring of a one-sided Stream in bytes: small, since rings carry only the records beyond the slots.
inline constexpr std::size_t kStreamRingBytes = 16384;

/// Layout of the message rings in a rank's block of one-sided memory, from `offset` on: a head word per in-arc (put by the sender:
/// bytes sent so far), a credit word per out-arc (put by the receiver: bytes taken so far), then a ring per in-arc. Offsets in
/// bytes.
struct RingLayout {
  std::size_t offset = 0;      ///< offset of the first head word in the block
  std::size_t in_arcs = 0;     ///< number of in-arcs of this rank
  std::size_t out_arcs = 0;    ///< number of out-arcs of this rank
  std::size_t ring_bytes = 0;  ///< size of each message ring in bytes

  /// Returns the offset of the head word of an in-arc's message ring.
  [[nodiscard]] std::size_t head(std::size_t arc) const { return offset + 8 * arc; }
  /// Returns the offset of an out-arc's credit word; the arc's message ring is in the receiver's block.
  [[nodiscard]] std::size_t credit(std::size_t arc) const { return offset + 8 * (in_arcs + arc); }
  /// Returns the offset of an in-arc's message ring.
  [[nodiscard]] std::size_t ring(std::size_t arc) const { return offset + 8 * (in_arcs + out_arcs) + ring_bytes * arc; }
  /// Returns the offset behind the last message ring.
  [[nodiscard]] std::size_t end() const { return ring(in_arcs); }
};

/// Descriptor of one end of an arc with a message ring: offsets in the one-sided memory of the rank that sends the descriptor.
struct RingAddress {
  std::uint64_t head = 0;        ///< offset of the head word; set by the receiver of the arc's messages
  std::uint64_t ring = 0;        ///< offset of the message ring; set by the receiver of the arc's messages
  std::uint64_t ring_bytes = 0;  ///< size of the message ring; set by the receiver of the arc's messages
  std::uint64_t credit = 0;      ///< offset of the credit word; set by the sender of the arc's messages
};
/// Returns, per in-arc, the descriptor of its message ring and head word, for the sender of the arc in the handshake. Local.
[[nodiscard]] std::vector<Bytes> receiver_descriptors(const RingLayout& layout);
/// Returns, per out-arc, the descriptor of its credit word, for the receiver of the arc in the handshake. Local.
[[nodiscard]] std::vector<Bytes> sender_descriptors(const RingLayout& layout);
/// Makes a Link over one-sided memory with a message ring per arc in the receiver's block. Local.
/// @param remote  result of the handshake with sender_descriptors() and receiver_descriptors()
[[nodiscard]] std::unique_ptr<Link> ring_link(std::shared_ptr<Memory> memory, const Graph& graph,
                                              const RingLayout& layout, const RemoteDescriptors& remote);

/// Layout of the slots of a one-sided Stream in the blocks of its ranks; each arc has a word for the round, then its slots.
struct StreamSlots {
  std::size_t mine = 0;               ///< offset of the memory of in-arc 0 in this rank's block
  std::size_t per_arc = 0;            ///< number of record slots per arc, the same on every rank
  std::vector<std::uint64_t> theirs;  ///< per out-arc: offset of the arc's memory in the receiver's block

  /// Returns the size in bytes of a Stream arc's memory: the word of the round, then the slots.
  [[nodiscard]] std::size_t arc_bytes() const { return (1 + per_arc) * sizeof(std::uint64_t); }
  /// Returns the offset in bytes of a record's slot within the memory of its Stream arc.
  [[nodiscard]] static std::size_t slot_at(std::size_t slot) { return (1 + slot) * sizeof(std::uint64_t); }
};
/// Makes a Stream whose records are one-sided puts into slots of the receiver; records beyond the slots use the Link. Local.
[[nodiscard]] std::unique_ptr<Stream> memory_stream(Place place, Graph graph, std::unique_ptr<Link> link,
                                                    std::shared_ptr<Memory> memory, StreamSlots slots);

/// Parts of a Segment in one-sided memory, made by OneSided::segment_body(): its words, and the control words by which a sync waits
/// for neighbours.
struct SegmentParts {
  std::shared_ptr<Memory> words;          ///< window of the Segment's words
  std::shared_ptr<Memory> control;        ///< window with a control word per neighbour: number of phases it has ended
  std::vector<std::size_t> remote_words;  ///< per out-neighbour: number of its words
  std::vector<int> neighbours;            ///< ranks at the other ends of in- and out-arcs, without this rank, ascending
  std::vector<std::uint64_t>
      their_place;                ///< per neighbour: offset of this rank's control word in the neighbour's block
  std::function<bool(bool)> any;  ///< logical OR over all ranks, for sync_any(); collective
};
/// Makes a Segment whose puts and gets access the owner's memory by one-sided operations. Local.
[[nodiscard]] std::unique_ptr<SegmentBody> memory_segment(Place place, Graph graph, SegmentParts parts,
                                                          std::size_t words, std::size_t word_bytes);

/// Returns the size in bytes of the block of `rank` in the self test of one-sided memory, test_memory(): one word more on each rank
/// than on the rank before.
[[nodiscard]] std::size_t memory_test_bytes(int rank);
/// Tests one-sided memory by puts, gets and fetch_ors of known words between neighbouring ranks of a ring, in blocks of differing
/// sizes. Returns the fault found on this rank, empty if there is none. Collective.
[[nodiscard]] std::string test_memory(Memory& memory, int rank, int size, const std::function<void()>& barrier);

/// Base of the transports over one-sided memory (models rma and shmem). `Base` supplies the collectives, a derived class the
/// allocation of memory.
template <class Base>
class OneSided : public Base {
 public:
  using Base::Base;

  /// Runs the self test of one-sided memory. Returns the fault found on this rank, empty if there is none. Collective.
  [[nodiscard]] std::string memory_fault() override {
    const auto memory = new_memory(memory_test_bytes(this->rank()), Epoch::lifetime);
    return test_memory(*memory, this->rank(), this->size(), [this] { this->do_barrier(); });
  }

  /// Makes a Stream whose records are one-sided puts into slots at the receiver, with message rings for records beyond the slots.
  /// Collective.
  [[nodiscard]] std::unique_ptr<Stream> stream(Graph graph, StreamOptions options) override {
    ++this->counters_.collectives;
    this->agree_on(first_error(stream_error(graph, options), graph));
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
    return memory_stream(this->make_place("Stream"), std::move(graph), std::move(link), std::move(memory),
                         std::move(slots));
  }

  /// Makes a Segment in two windows of one-sided memory, for its words and for control words. Collective.
  [[nodiscard]] std::unique_ptr<SegmentBody> segment_body(Graph graph, std::size_t words, std::size_t word_bytes,
                                                          Epoch epoch) override {
    ++this->counters_.collectives;
    this->agree_on(first_error(segment_error(words, word_bytes, epoch), graph));
    SegmentParts parts;
    parts.neighbours = list_neighbours(graph, this->rank());
    parts.words = new_memory(words * word_bytes, epoch);
    parts.control = new_memory(parts.neighbours.size() * 8, Epoch::lifetime);
    // Descriptor for a neighbour: the number of words here, and the offset of its control word.
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
        if (at != ArcIndex::kNone) parts.their_place[at] = read<std::uint64_t>(descriptors[arc], 8);
      }
    };
    note(graph.out, remote.from_out);
    note(graph.in, remote.from_in);
    for (const Bytes& one : remote.from_out) {
      parts.remote_words.push_back(static_cast<std::size_t>(read<std::uint64_t>(one)));
    }
    parts.any = [this](bool mine) { return this->any(mine); };
    auto body = memory_segment(this->make_place("Segment"), std::move(graph), std::move(parts), words, word_bytes);
    this->do_barrier();  // with an epoch per phase, nobody puts before the first epoch is open on every rank
    return body;
  }

 protected:
  /// Frees all one-sided memory, then the resources of `Base`. Collective.
  void release() override {
    pool_.free_all();
    Base::release();
  }
  /// Frees the one-sided memory of objects that all ranks have destroyed. Collective.
  void free_unused_memory() {
    pool_.free_unused([this](std::span<std::int64_t> values) { this->add(values); });
  }
  /// Allocates one-sided memory with a zeroed block of at least `bytes` bytes on this rank; ranks may differ. Collective.
  /// @throws CommError on every rank if memory does not suffice
  virtual std::shared_ptr<Memory> allocate(std::size_t bytes, Epoch epoch) = 0;

  /// Makes a Link of message rings in one-sided memory. Collective.
  std::unique_ptr<Link> link(const Graph& graph) override {
    const RingLayout rings{0, graph.in.size(), graph.out.size(), ring_bytes_for(graph.in.size())};
    auto memory = new_memory(rings.end(), Epoch::lifetime);
    const auto remote = this->handshake(graph, sender_descriptors(rings), receiver_descriptors(rings));
    return ring_link(std::move(memory), graph, rings, remote);
  }

 private:
  /// Allocates one-sided memory after freeing that which no rank uses any more. Collective.
  std::shared_ptr<Memory> new_memory(std::size_t bytes, Epoch epoch) {
    free_unused_memory();
    return pool_.add(allocate(bytes, epoch));
  }

  /// Returns `error`, the text of an error in other arguments, or if that is empty the error in the process graph, which must be
  /// found before one-sided memory is sized by it. Local.
  std::string first_error(const std::string& error, const Graph& graph) const {
    return error.empty() ? graph_error(graph, this->size()) : error;
  }

  CollectivePool pool_;  // one-sided memory that is not freed yet
};

}  // namespace merganser::comm::detail
