#pragma once
/// Square blocks of cells with one layer of ghosts in a periodic plane, and their halo exchange; shared by the simulations.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <merganser/blocks/block_exchange.hpp>

namespace merganser::simulations {

/// A plane that is divided into blocks of `edge` x `edge` cells.
struct Plane {
  blocks::BlockGrid grid;
  int edge = 16;  ///< cells along the edge of a block

  /// Returns the number of cells of the plane of blocks along x.
  [[nodiscard]] std::int64_t width() const { return std::int64_t{grid.blocks[0]} * edge; }
  /// Returns the number of cells of the plane of blocks along y.
  [[nodiscard]] std::int64_t height() const { return std::int64_t{grid.blocks[1]} * edge; }
  /// Returns the number of cell (x, y) of a block in the plane: x + width * y, with the coordinates of the plane.
  [[nodiscard]] std::int64_t cell(std::int64_t block, int x, int y) const {
    const auto at = grid.index(block);
    return std::int64_t{at[0]} * edge + x + width() * (std::int64_t{at[1]} * edge + y);
  }
};

/// Values of the cells of one square block of a simulation: 0 .. edge - 1 along x and y, ghost cells at -1 and edge.
template <class T>
class Field {
 public:
  Field() = default;
  Field(int edge, T value) : edge_(edge), cells_(static_cast<std::size_t>((edge + 2) * (edge + 2)), value) {}
  /// Returns the number of cells along the edge of the block, without ghost cells.
  [[nodiscard]] int edge() const { return edge_; }
  /// Returns the value of cell or ghost cell (x, y) of the block; not checked.
  T& at(int x, int y) { return cells_[static_cast<std::size_t>((y + 1) * (edge_ + 2) + x + 1)]; }
  const T& at(int x, int y) const { return cells_[static_cast<std::size_t>((y + 1) * (edge_ + 2) + x + 1)]; }

 private:
  int edge_ = 0;
  std::vector<T> cells_;
};

/// Rectangle of cells at a side or corner of a block, for halo exchange: x from first[0] to last[0], y from first[1] to last[1].
struct Strip {
  int first[2];
  int last[2];
};
/// Returns the own cells of a block that are ghost cells of its neighbour in direction d.
inline Strip inner_strip(int edge, const blocks::BlockIndex& d) {
  Strip s{};
  for (std::size_t a = 0; a < 2; ++a) {
    s.first[a] = d[a] > 0 ? edge - 1 : 0;
    s.last[a] = d[a] < 0 ? 0 : edge - 1;
  }
  return s;
}
/// Returns the ghost cells of a block in direction d.
inline Strip ghost_strip(int edge, const blocks::BlockIndex& d) {
  Strip s{};
  for (std::size_t a = 0; a < 2; ++a) {
    s.first[a] = d[a] == 0 ? 0 : (d[a] < 0 ? -1 : edge);
    s.last[a] = d[a] == 0 ? edge - 1 : s.first[a];
  }
  return s;
}

/// Returns the directions to the 8 neighbours of a block in a plane; the opposite of side s is side 7 - s.
inline const std::vector<blocks::BlockIndex>& sides() {
  static const std::vector<blocks::BlockIndex> all = [] {
    std::vector<blocks::BlockIndex> out;
    for (const auto& d : blocks::directions(1))
      if (d[2] == 0) out.push_back(d);
    return out;
  }();
  return all;
}

/// Fills the ghost cells of every block of this rank from its neighbours, in one step of `exchange`; ghosts on sides without a
/// block stay as they are. Called by every rank.
/// @param flag       returns a flag to send with the cells of side `side` of block `local`; 0 if absent
/// @param take_flag  is called with the flag that the neighbour at side `side` of block `local` sent
template <class T>
void exchange_halos(blocks::BlockExchange& exchange, std::vector<Field<T>>& fields,
                    const std::function<std::uint8_t(std::size_t, std::size_t)>& flag = {},
                    const std::function<void(std::size_t, std::size_t, std::uint8_t)>& take_flag = {}) {
  using blocks::append;
  using blocks::extract;
  const auto& grid = exchange.grid();
  const auto each = [](const Strip& s, const auto& f) {
    for (int y = s.first[1]; y <= s.last[1]; ++y)
      for (int x = s.first[0]; x <= s.last[0]; ++x) f(x, y);
  };
  for (std::size_t i = 0; i < fields.size(); ++i)
    for (std::size_t side = 0; side < sides().size(); ++side) {
      const std::int64_t block = exchange.blocks()[i];
      const std::int64_t other = grid.neighbour(block, sides()[side]);
      const std::size_t slot = other < 0 || other == block ? blocks::BlockExchange::kNoSlot : exchange.slot(i, other);
      if (slot == blocks::BlockExchange::kNoSlot) continue;
      auto& package = exchange.package(i, slot);
      append(package, static_cast<std::uint8_t>(side));
      append(package, flag ? flag(i, side) : std::uint8_t{0});
      each(inner_strip(fields[i].edge(), sides()[side]), [&](int x, int y) { append(package, fields[i].at(x, y)); });
    }
  exchange.step();
  const auto opposite = [](std::size_t side) { return sides().size() - 1 - side; };
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::int64_t block = exchange.blocks()[i];
    for (std::size_t s = 0; s < exchange.neighbours(i).size(); ++s) {
      auto package = exchange.received(i, s);
      while (!package.empty()) {
        const std::size_t side = opposite(extract<std::uint8_t>(package));
        const auto sent = extract<std::uint8_t>(package);
        if (take_flag) take_flag(i, side, sent);
        each(ghost_strip(fields[i].edge(), sides().at(side)),
             [&](int x, int y) { fields[i].at(x, y) = extract<T>(package); });
      }
    }
    for (const auto& d : sides()) {  // a block that is its own neighbour, across a periodic axis of one block
      if (grid.neighbour(block, d) != block) continue;
      const Strip from = inner_strip(fields[i].edge(), {-d[0], -d[1], 0});
      const Strip to = ghost_strip(fields[i].edge(), d);
      each(from, [&](int x, int y) {
        fields[i].at(x - from.first[0] + to.first[0], y - from.first[1] + to.first[1]) = fields[i].at(x, y);
      });
    }
  }
}

/// Returns the hash of a cell's number and the bits of its value. The sum of the hashes of all cells is a digest that does not
/// depend on their order.
[[nodiscard]] std::uint64_t cell_hash(std::int64_t cell, std::uint64_t bits);
/// Returns the digest of all cells of a simulation, the sum of the ranks' digests, as 16 hexadecimal digits. Collective.
[[nodiscard]] std::string format_digest(comm::Transport& transport, std::uint64_t mine);

}  // namespace merganser::simulations
