// Arithmetic of the operation counts that every rank keeps by other rank.
#include "merganser/comm/traffic.hpp"

#include <algorithm>

namespace merganser::comm {

MoveCount& MoveCount::operator+=(const MoveCount& o) noexcept {
  operations += o.operations;
  bytes += o.bytes;
  for (std::size_t c = 0; c < kSizeClasses; ++c) sizes[c] += o.sizes[c];
  return *this;
}

MoveCount& MoveCount::operator-=(const MoveCount& o) noexcept {
  operations -= o.operations;
  bytes -= o.bytes;
  for (std::size_t c = 0; c < kSizeClasses; ++c) sizes[c] -= o.sizes[c];
  return *this;
}

bool PeerTraffic::empty() const noexcept {
  return std::all_of(moves.begin(), moves.end(), [](const MoveCount& move) { return move.operations == 0; });
}

// Lists the ranks with traffic, ascending, since the counts are in a hash table.
std::vector<TrafficCount::Peer> TrafficCount::peers() const {
  std::vector<Peer> all;
  for (const auto& [rank, traffic] : peers_) {
    if (!traffic.empty()) all.push_back({rank, traffic});
  }
  std::sort(all.begin(), all.end(), [](const Peer& a, const Peer& b) { return a.rank < b.rank; });
  return all;
}

// Returns the traffic of an interval: peers without operations before it are kept as they are.
TrafficCount TrafficCount::since(const TrafficCount& before) const {
  TrafficCount difference = *this;
  for (const auto& [rank, traffic] : before.peers_) {
    auto& now = difference.peers_[rank];
    for (std::size_t move = 0; move < kMoves; ++move) now.moves[move] -= traffic.moves[move];
  }
  return difference;
}

TrafficCount& TrafficCount::operator+=(const TrafficCount& o) {
  for (const auto& [rank, traffic] : o.peers_) {
    auto& mine = peers_[rank];
    for (std::size_t move = 0; move < kMoves; ++move) mine.moves[move] += traffic.moves[move];
  }
  return *this;
}

// Entries are reset, not erased: objects hold pointers to the counts of their peers.
void TrafficCount::restore(const TrafficCount& before) {
  for (auto& [rank, traffic] : peers_) {
    const auto found = before.peers_.find(rank);
    traffic = found == before.peers_.end() ? PeerTraffic{} : found->second;
  }
}

}  // namespace merganser::comm
