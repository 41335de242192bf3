// Common part of all transports: end of life, errors that all ranks throw alike, and the handshake that makes objects.
#include "src/comm/detail/transport_base.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <unordered_set>

#include "merganser/base/random.hpp"
#include "src/comm/detail/link.hpp"

namespace merganser::comm::detail {
namespace {

std::mutex agreed_mutex;
std::string agreed_text;  // text of the last error that all ranks throw alike

// Flags of arc_error(): an out-arc to, an in-arc from the receiver of the flag.
enum : std::uint8_t { kSends = 1, kReceives = 2 };

/// Words that ranks sum up in the handshake on a process graph, to detect errors, and arcs that only one end lists, without a list
/// of all arcs. The sender of an arc adds a hash of the arc and the receiver subtracts the same hash, so the sum is zero if both
/// ends list every arc, and otherwise with probability 2^-128.
class HandshakeWords {
 public:
  /// Records in the handshake's words that this rank has an error in its arguments.
  void add_error() { words_[kErrors] = 1; }
  /// Records in the handshake's words that this rank has descriptors of arcs to exchange.
  void add_descriptors() { words_[kDescriptors] = 1; }
  /// Adds the hashes of this rank's arcs to the handshake's words: out-arcs with a plus sign, in-arcs with a minus sign.
  void add_arcs(const Graph& graph, int rank) {
    for (const int to : graph.out) add_arc(rank, to, 1);
    for (const int from : graph.in) add_arc(from, rank, ~std::uint64_t{0});  // times -1 modulo 2^64
  }
  [[nodiscard]] std::span<std::uint64_t> words() { return words_; }
  [[nodiscard]] bool has_errors() const { return words_[kErrors] != 0; }
  [[nodiscard]] bool has_unmatched_arcs() const { return words_[kArcs] != 0 || words_[kArcsAgain] != 0; }
  [[nodiscard]] bool has_descriptors() const { return words_[kDescriptors] != 0; }

 private:
  enum : std::size_t { kErrors, kDescriptors, kArcs, kArcsAgain, kWords };

  /// Adds `times` times two independent hashes of the arc between two ranks to the handshake's words, modulo 2^64.
  void add_arc(int from, int to, std::uint64_t times) {
    const std::uint64_t arc = static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to);
    words_[kArcs] += times * mix64(arc + 0x9E3779B97F4A7C15U);
    words_[kArcsAgain] += times * mix64(mix64(arc) + 0xD1B54A32D192ED03U);
  }

  std::array<std::uint64_t, kWords> words_{};
};

/// Returns this rank's message to a neighbour in the handshake on a process graph: the descriptor for the arc to the neighbour,
/// behind its length, then the descriptor for the arc from the neighbour.
Bytes message_to_neighbour(const Bytes& along, const Bytes& against) {
  const std::uint64_t length = along.size();
  Bytes bytes(sizeof length + along.size() + against.size());
  std::memcpy(bytes.data(), &length, sizeof length);
  std::copy(along.begin(), along.end(), bytes.begin() + sizeof length);
  std::copy(against.begin(), against.end(), bytes.begin() + static_cast<std::ptrdiff_t>(sizeof length + along.size()));
  return bytes;
}

/// Returns this rank's descriptor for an arc in the handshake; empty if there is no such arc or no descriptor.
Bytes descriptor_for(const std::vector<Bytes>& descriptors, std::size_t arc) {
  return arc == ArcIndex::kNone || descriptors.empty() ? Bytes() : descriptors[arc];
}

}  // namespace

// Validation of one rank's part of a process graph, before any communication: ranks in range, each once per side.
std::string graph_error(const Graph& graph, int size) {
  for (const auto* list : {&graph.out, &graph.in}) {
    std::unordered_set<int> seen;
    const std::string side = list == &graph.out ? "out" : "in";
    for (const int rank : *list) {
      if (rank < 0 || rank >= size) {
        return "graph: " + side + "-neighbour " + std::to_string(rank) + "; allowed: 0 to " + std::to_string(size - 1);
      }
      if (!seen.insert(rank).second) return "graph: " + side + "-neighbour " + std::to_string(rank) + " is there twice";
    }
  }
  return {};
}

// List of a rank's neighbours in a process graph: the union of its out- and in-neighbours.
std::vector<int> list_neighbours(const Graph& graph, int rank) {
  std::vector<int> all = graph.out;
  all.insert(all.end(), graph.in.begin(), graph.in.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::erase(all, rank);
  return all;
}

void note_agreed_error(const std::string& text) {
  const std::scoped_lock lock(agreed_mutex);
  agreed_text = text;
}

bool was_agreed(const std::exception& error) {
  const std::scoped_lock lock(agreed_mutex);
  return !agreed_text.empty() && agreed_text == error.what();
}

TransportBase::~TransportBase() {
  end();
  if (const auto whole = whole_.lock()) std::erase(*whole, this);
}

void TransportBase::end() noexcept {
  liveness_->end();
  for (auto* part : *parts_) part->end();
}

// Collective end of a transport: sub-transports first, then the backend's collective resources.
void TransportBase::close() {
  if (ended()) return;
  for (auto* part : *parts_) part->close();
  release();
  end();
}

void TransportBase::adopt(TransportBase& part) {
  part.whole_ = parts_;
  part.choice_ = choice_;
  parts_->push_back(&part);
}

void TransportBase::agree_on(const std::string& error) {
  std::uint64_t errors = error.empty() ? 0 : 1;
  do_reduce({&errors, 1}, Op::sum);
  if (errors != 0) throw_first(error);
}

void TransportBase::add(std::span<std::int64_t> values) {
  std::vector<std::uint64_t> words(values.begin(), values.end());
  do_reduce(words, Op::sum);
  std::copy(words.begin(), words.end(), values.begin());
}

// All ranks throw the same text, which note_agreed_error() marks as safe for collective calls afterwards.
void TransportBase::throw_first(const std::string& error) {
  const auto all = do_all_gather(std::as_bytes(std::span(error)));
  const auto first = std::find_if(all.begin(), all.end(), [](const Bytes& theirs) { return !theirs.empty(); });
  const std::string text = "rank " + std::to_string(first - all.begin()) + ": " +
                           std::string(reinterpret_cast<const char*>(first->data()), first->size());
  note_agreed_error(text);
  throw CommError(text);
}

// Diagnosis of a handshake whose sums do not cancel: finds an arc that one end lists and the other does not.
std::string TransportBase::arc_error(const Graph& graph) {
  const auto ranks = static_cast<std::size_t>(size());
  const ArcIndex out_arc(graph.out);
  const ArcIndex in_arc(graph.in);
  std::vector<Bytes> flags(ranks);
  for (const int to : graph.out) append(flags[static_cast<std::size_t>(to)], kSends);
  for (const int from : graph.in) append(flags[static_cast<std::size_t>(from)], kReceives);
  const auto came = do_all_to_all(views(flags));
  for (std::size_t r = 0; r < ranks; ++r) {
    const auto says = [&](std::uint8_t flag) {
      return std::find(came[r].begin(), came[r].end(), std::byte{flag}) != came[r].end();
    };
    const std::string rank = "graph: rank " + std::to_string(r);
    const bool sends = says(kSends);
    if (sends != (in_arc(static_cast<int>(r)) != ArcIndex::kNone)) {
      return rank + (sends ? " has this rank as an out-neighbour, but is no in-neighbour here"
                           : " is not sending here, but is an in-neighbour here");
    }
    const bool receives = says(kReceives);
    if (receives != (out_arc(static_cast<int>(r)) != ArcIndex::kNone)) {
      return rank + (receives ? " has this rank as an in-neighbour, but is no out-neighbour here"
                              : " does not receive from here, but is an out-neighbour here");
    }
  }
  return {};
}

// Collective creation of an object on a process graph: one reduction validates the graph over all ranks, then
// neighbours exchange descriptors.
RemoteDescriptors TransportBase::handshake(const Graph& graph, const std::vector<Bytes>& to_out,
                                           const std::vector<Bytes>& to_in, const std::string& wrong) {
  const std::string error = wrong.empty() ? graph_error(graph, size()) : wrong;
  HandshakeWords tally;
  if (error.empty()) {
    tally.add_arcs(graph, rank());
  } else {
    tally.add_error();
  }
  if (!to_out.empty() || !to_in.empty()) tally.add_descriptors();
  // After the reduction every rank has the same words, so all take the same branches.
  do_reduce(tally.words(), Op::sum);
  if (tally.has_errors()) throw_first(error);
  if (tally.has_unmatched_arcs()) agree_on(arc_error(graph));

  RemoteDescriptors result{std::vector<Bytes>(graph.in.size()), std::vector<Bytes>(graph.out.size())};
  if (!tally.has_descriptors()) return result;
  const std::vector<int> others = list_neighbours(graph, rank());
  const ArcIndex out_arc(graph.out);
  const ArcIndex in_arc(graph.in);
  const auto message_to = [&](int other) {
    return message_to_neighbour(descriptor_for(to_out, out_arc(other)), descriptor_for(to_in, in_arc(other)));
  };
  std::vector<Bytes> messages;
  for (const int other : others) messages.push_back(message_to(other));
  const auto came = do_exchange(others, messages);
  const auto deliver = [&](int other, const Bytes& theirs) {
    // Their descriptor along their out-arc is for our in-arc, the rest for our out-arc.
    const auto along = static_cast<std::ptrdiff_t>(read<std::uint64_t>(theirs));
    const auto begin = theirs.begin() + sizeof(std::uint64_t);
    const std::size_t in = in_arc(other);
    const std::size_t out = out_arc(other);
    if (in != ArcIndex::kNone) result.from_in[in].assign(begin, begin + along);
    if (out != ArcIndex::kNone) result.from_out[out].assign(begin + along, theirs.end());
  };
  for (std::size_t i = 0; i < came.size(); ++i) deliver(others[i], came[i]);
  if (out_arc(rank()) != ArcIndex::kNone) deliver(rank(), message_to(rank()));
  return result;
}

}  // namespace merganser::comm::detail
