#include "src/comm/detail/transport_base.hpp"

#include <mutex>
#include <unordered_set>

namespace merganser::comm::detail {
namespace {

std::mutex agreed_mutex;
std::string agreed_text;

enum : std::uint8_t { kSends = 1, kReceives = 2 };

// What one rank tells another at set-up: which arcs it believes there are, and the two texts that go with them.
Bytes card(bool sends, bool receives, const Bytes& along, const Bytes& against) {
  Bytes bytes;
  append(bytes, static_cast<std::uint8_t>((sends ? kSends : 0) | (receives ? kReceives : 0)));
  append(bytes, static_cast<std::uint64_t>(along.size()));
  bytes.insert(bytes.end(), along.begin(), along.end());
  bytes.insert(bytes.end(), against.begin(), against.end());
  return bytes;
}

}  // namespace

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
  life_->end();
  for (auto* part : *parts_) part->end();
}

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
  const auto mine = std::as_bytes(std::span(error));
  const auto all = do_all_gather(mine);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].empty()) continue;
    const std::string text = "rank " + std::to_string(rank) + ": " +
                             std::string(reinterpret_cast<const char*>(all[rank].data()), all[rank].size());
    note_agreed_error(text);
    throw CommError(text);
  }
}

Introduction TransportBase::introduce(const Graph& graph, const std::vector<Bytes>& to_out,
                                      const std::vector<Bytes>& to_in, const std::string& wrong) {
  agree_on(wrong.empty() ? graph_error(graph, size()) : wrong);
  const auto ranks = static_cast<std::size_t>(size());
  constexpr auto kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> out_arc(ranks, kNone);
  std::vector<std::size_t> in_arc(ranks, kNone);
  for (std::size_t i = 0; i < graph.out.size(); ++i) out_arc[static_cast<std::size_t>(graph.out[i])] = i;
  for (std::size_t i = 0; i < graph.in.size(); ++i) in_arc[static_cast<std::size_t>(graph.in[i])] = i;

  std::vector<Bytes> cards(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    const bool sends = out_arc[r] != kNone;
    const bool receives = in_arc[r] != kNone;
    if (!sends && !receives) continue;
    cards[r] = card(sends, receives, sends && !to_out.empty() ? to_out[out_arc[r]] : Bytes{},
                    receives && !to_in.empty() ? to_in[in_arc[r]] : Bytes{});
  }
  const auto came = do_all_to_all(views(cards));

  Introduction result{std::vector<Bytes>(graph.in.size()), std::vector<Bytes>(graph.out.size())};
  std::string error;
  for (std::size_t r = 0; r < ranks; ++r) {
    const auto flags = came[r].empty() ? std::uint8_t{0} : read<std::uint8_t>(came[r]);
    const bool sends = (flags & kSends) != 0;
    const bool receives = (flags & kReceives) != 0;
    if (error.empty() && sends != (in_arc[r] != kNone)) {
      error = "graph: rank " + std::to_string(r) +
              (sends ? " has this rank as an out-neighbour, but is no" : " is no") +
              std::string(sends ? " in-neighbour here" : "t sending here, but is an in-neighbour here");
    }
    if (error.empty() && receives != (out_arc[r] != kNone)) {
      error = "graph: rank " + std::to_string(r) +
              (receives ? " has this rank as an in-neighbour, but is no out-neighbour here"
                        : " does not receive from here, but is an out-neighbour here");
    }
    if (!error.empty() || came[r].empty()) continue;
    const auto along = static_cast<std::ptrdiff_t>(read<std::uint64_t>(came[r], 1));
    const auto begin = came[r].begin() + 1 + sizeof(std::uint64_t);
    if (sends) result.from_in[in_arc[r]].assign(begin, begin + along);
    if (receives) result.from_out[out_arc[r]].assign(begin + along, came[r].end());
  }
  agree_on(error);
  return result;
}

}  // namespace merganser::comm::detail
