#pragma once
/// Square blocks of cells with one layer of ghosts, in a plane, and what their neighbours send them.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <merganser/blocks/block_exchange.hpp>

namespace merganser::simulations {

/// The plane that blocks of `edge` x `edge` cells make.
struct Plane {
  blocks::BlockGrid grid;
  int edge = 16;

  [[nodiscard]] std::int64_t width() const { return std::int64_t{grid.blocks[0]} * edge; }
  [[nodiscard]] std::int64_t height() const { return std::int64_t{grid.blocks[1]} * edge; }
  /// Number of a cell of a block: x + width * y.
  [[nodiscard]] std::int64_t cell(std::int64_t block, int x, int y) const {
    const auto at = grid.index(block);
    return std::int64_t{at[0]} * edge + x + width() * (std::int64_t{at[1]} * edge + y);
  }
};

/// Cells 0 .. edge - 1 along x and y, ghosts at -1 and edge.
template <class T>
class Field {
 public:
  Field() = default;
  Field(int edge, T value) : edge_(edge), cells_(static_cast<std::size_t>((edge + 2) * (edge + 2)), value) {}
  [[nodiscard]] int edge() const { return edge_; }
  T& at(int x, int y) { return cells_[static_cast<std::size_t>((y + 1) * (edge_ + 2) + x + 1)]; }
  const T& at(int x, int y) const { return cells_[static_cast<std::size_t>((y + 1) * (edge_ + 2) + x + 1)]; }

 private:
  int edge_ = 0;
  std::vector<T> cells_;
};

/// Cells of a side or corner: x from first[0] to last[0], y from first[1] to last[1].
struct Strip {
  int first[2];
  int last[2];
};
/// The cells of a block that its neighbour in direction d needs.
inline Strip inner_strip(int edge, const blocks::BlockIndex& d) {
  Strip s{};
  for (std::size_t a = 0; a < 2; ++a) {
    s.first[a] = d[a] > 0 ? edge - 1 : 0;
    s.last[a] = d[a] < 0 ? 0 : edge - 1;
  }
  return s;
}
/// The ghosts of a block towards direction d.
inline Strip ghost_strip(int edge, const blocks::BlockIndex& d) {
  Strip s{};
  for (std::size_t a = 0; a < 2; ++a) {
    s.first[a] = d[a] == 0 ? 0 : (d[a] < 0 ? -1 : edge);
    s.last[a] = d[a] == 0 ? edge - 1 : s.first[a];
  }
  return s;
}

/// The 8 directions of a plane.
inline const std::vector<blocks::BlockIndex>& sides() {
  static const std::vector<blocks::BlockIndex> all = [] {
    std::vector<blocks::BlockIndex> out;
    for (const auto& d : blocks::directions(1))
      if (d[2] == 0) out.push_back(d);
    return out;
  }();
  return all;
}

/// Fills the ghosts of every block from its neighbours, in one step of `exchange`; `flag(local, side)` travels along,
/// and `take(local, side, flag)` gets what the neighbour at that side sent. Ghosts where no block is stay as they are.
template <class T>
void exchange_halos(blocks::BlockExchange& exchange, std::vector<Field<T>>& fields,
                    const std::function<std::uint8_t(std::size_t, std::size_t)>& flag = {},
                    const std::function<void(std::size_t, std::size_t, std::uint8_t)>& take_flag = {}) {
  using blocks::append;
  using blocks::take;
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
        const std::size_t side = opposite(take<std::uint8_t>(package));
        const auto sent = take<std::uint8_t>(package);
        if (take_flag) take_flag(i, side, sent);
        each(ghost_strip(fields[i].edge(), sides().at(side)),
             [&](int x, int y) { fields[i].at(x, y) = take<T>(package); });
      }
    }
    for (const auto& d : sides()) {  // a block that is its own neighbour
      if (grid.neighbour(block, d) != block) continue;
      const Strip from = inner_strip(fields[i].edge(), {-d[0], -d[1], 0});
      const Strip to = ghost_strip(fields[i].edge(), d);
      each(from, [&](int x, int y) {
        fields[i].at(x - from.first[0] + to.first[0], y - from.first[1] + to.first[1]) = fields[i].at(x, y);
      });
    }
  }
}

/// Adds up to a digest of cells that does not depend on their order.
[[nodiscard]] std::uint64_t cell_hash(std::int64_t cell, std::uint64_t bits);
/// The sum of all ranks' digests as 16 hexadecimal digits. Collective.
[[nodiscard]] std::string digest_text(comm::Transport& transport, std::uint64_t mine);

}  // namespace merganser::simulations
