// Multi-hop messages between blocks: flooding without duplicates, by the directions in which a message may travel on.
#include "merganser/blocks/multi_hop.hpp"

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "merganser/base/error.hpp"

namespace merganser::blocks {
namespace {

/// Header of a multi-hop message in a package between blocks; the payload follows.
struct HopHeader {
  std::int64_t origin;        ///< block that sent the message
  std::uint64_t number;       ///< index among the messages of that block
  std::int32_t offset[3];     ///< from the origin to the receiving block, in blocks
  std::int32_t direction[3];  ///< direction of the last hop
  std::int32_t reach;         ///< blocks along each axis that the message may travel
  std::int32_t hops;          ///< hops so far, this one included
  std::uint64_t bytes;        ///< length of the payload that follows
};

/// Returns true if direction `part` keeps some of the components of direction `whole` and drops the others, so that a message
/// travelling along `whole` is forwarded along it.
bool is_part_of(const BlockIndex& part, const BlockIndex& whole) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (part[axis] != 0 && part[axis] != whole[axis]) return false;
  return true;
}

}  // namespace

MultiHop::MultiHop(comm::Transport& transport, BlockGrid grid, BlockPlacement placement, Farthest farthest)
    : exchange_(transport, grid, std::move(placement), 1),
      farthest_(farthest),
      directions_(directions(1)),
      waiting_(exchange_.blocks().size()),
      delivered_(exchange_.blocks().size()),
      numbers_(exchange_.blocks().size()) {
  const std::int64_t placed = transport.all_reduce(static_cast<std::int64_t>(exchange_.blocks().size()), comm::Op::sum);
  if (placed != grid.count()) {
    throw InputError("multi-hop: " + std::to_string(placed) + " of " + std::to_string(grid.count()) +
                     " blocks have an owner; allowed: one for each");
  }
}

void MultiHop::send(std::size_t local, std::span<const std::byte> payload, int reach) {
  if (reach < 1) throw UsageError("multi-hop: reach " + std::to_string(reach) + "; allowed: at least 1");
  InTransit m{{exchange_.blocks().at(local), numbers_[local]++, {}, 0, {payload.begin(), payload.end()}}, {}, reach};
  waiting_[local].push_back(std::move(m));
}

bool MultiHop::is_idle() const noexcept {
  return std::all_of(waiting_.begin(), waiting_.end(), [](const auto& w) { return w.empty(); });
}

/// Returns true if a multi-hop message may travel on in a direction: neither beyond its reach, nor beyond the farthest block of a
/// periodic axis. There an even number of blocks leaves one block that both directions reach; one_way excludes the negative one.
bool MultiHop::can_forward(const InTransit& m, const BlockIndex& direction) const {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (direction[axis] == 0) continue;
    int most = m.reach;
    if (grid().periodic[axis]) {
      const int blocks = grid().blocks[axis];
      const bool back = direction[axis] < 0 && farthest_ == Farthest::one_way;
      most = std::min(most, back ? (blocks - 1) / 2 : blocks / 2);
    }
    if (std::abs(m.message.offset[axis]) >= most) return false;
  }
  return true;
}

/// Adds a multi-hop message to the packages of the neighbouring blocks that it is to be forwarded to.
void MultiHop::forward(std::size_t local, const InTransit& m) {
  const bool first = m.message.hops == 0;
  std::int64_t count = 0;
  for (const auto& d : directions_) {
    if ((!first && !is_part_of(d, m.direction)) || !can_forward(m, d)) continue;
    const std::int64_t to = grid().neighbour(exchange_.blocks()[local], d);
    if (to == BlockGrid::kNoBlock) continue;
    const auto& at = m.message.offset;
    auto& package = exchange_.package(local, exchange_.slot(local, to));
    append(package, HopHeader{m.message.origin,
                              m.message.number,
                              {at[0] + d[0], at[1] + d[1], at[2] + d[2]},
                              {d[0], d[1], d[2]},
                              m.reach,
                              m.message.hops + 1,
                              m.message.payload.size()});
    package.insert(package.end(), m.message.payload.begin(), m.message.payload.end());
    ++count;
  }
  (first ? counts_.sent : counts_.forwarded) += count;
}

/// Delivers the multi-hop messages that reached a block of this rank, and keeps those that travel on. Copies arrive in the same
/// step, so sorting by (origin, number) makes them adjacent.
void MultiHop::receive(std::size_t local) {
  std::vector<InTransit> got;
  for (std::size_t s = 0; s < exchange_.neighbours(local).size(); ++s) {
    auto package = exchange_.received(local, s);
    while (!package.empty()) {
      const auto h = extract<HopHeader>(package);
      if (package.size() < h.bytes) detail::throw_short_package(package.size(), h.bytes);
      const auto body = package.first(h.bytes);
      package = package.subspan(h.bytes);
      got.push_back({{h.origin, h.number, {h.offset[0], h.offset[1], h.offset[2]}, h.hops, {body.begin(), body.end()}},
                     {h.direction[0], h.direction[1], h.direction[2]},
                     h.reach});
    }
  }
  const auto order = [](const InTransit& m) { return std::tie(m.message.origin, m.message.number, m.message.offset); };
  std::sort(got.begin(), got.end(), [&](const auto& a, const auto& b) { return order(a) < order(b); });
  for (auto& m : got) {
    auto& here = delivered_[local];
    if (!here.empty() && here.back().origin == m.message.origin && here.back().number == m.message.number) {
      ++counts_.dropped;
      continue;
    }
    here.push_back(m.message);
    ++counts_.delivered;
    if (m.message.hops < m.reach) waiting_[local].push_back(std::move(m));
  }
}

// One hop of all multi-hop messages in transit between blocks.
void MultiHop::step() {
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    for (const auto& m : waiting_[i]) forward(i, m);
    waiting_[i].clear();
    delivered_[i].clear();
  }
  exchange_.step();
  for (std::size_t i = 0; i < waiting_.size(); ++i) receive(i);
}

}  // namespace merganser::blocks
