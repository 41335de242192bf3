#pragma once
/// Values at the nodes of a rank's block of cells.
///
/// A node is a corner of cells: node (i, j, k) is the lower corner of cell (i, j, k). All values of a node stand
/// together, since a parcel reads or writes every one of them at the eight nodes of a cell.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/parcels/parcels.hpp"

#include "merganser/base/language.hpp"

namespace merganser::flow {

/// Which nodes a rank holds: those of its cells, a halo of one below and two above in x and y, and one level beyond each
/// wall in z. Local numbers count from the rank's first cell: i from -1 to cells[0] + 1, j alike, k from -1 to cells[2] + 1;
/// those of 0 .. cells - 1 in x and y, and of 0 .. cells[2] in z, are the rank's own.
class NodeLayout {
 public:
  /// Layout of a rank. @throws InputError unless the decomposition is by cells, z is whole, x and y are periodic, z has
  /// walls, and every block has at least two cells in x and y (three where it is the only one along an axis)
  NodeLayout(const Decomposition& decomposition, int rank);

  /// The grid of the whole box.
  [[nodiscard]] const Grid& grid() const noexcept { return grid_; }
  /// Cells of this rank along an axis.
  [[nodiscard]] std::int64_t cells(int axis) const noexcept { return cells_[static_cast<std::size_t>(axis)]; }
  /// First cell of this rank along an axis, in the numbers of the whole grid.
  [[nodiscard]] std::int64_t first(int axis) const noexcept { return first_[static_cast<std::size_t>(axis)]; }
  /// Width of a cell along an axis.
  [[nodiscard]] double spacing(int axis) const noexcept { return spacing_[static_cast<std::size_t>(axis)]; }
  /// Nodes held, halo included.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Nodes from one i to the next, from one j to the next; from one k to the next it is 1.
  [[nodiscard]] std::size_t stride_i() const noexcept { return stride_i_; }
  [[nodiscard]] std::size_t stride_j() const noexcept { return stride_j_; }  ///< see stride_i()
  /// Number of a node among those held. Not checked.
  [[nodiscard]] std::size_t index(std::int64_t i, std::int64_t j, std::int64_t k) const noexcept {
    return static_cast<std::size_t>(i + 1) * stride_i_ + static_cast<std::size_t>(j + 1) * stride_j_ +
           static_cast<std::size_t>(k + 1);
  }

 private:
  Grid grid_;
  std::array<std::int64_t, 3> cells_{};
  std::array<std::int64_t, 3> first_{};
  std::array<double, 3> spacing_{};
  std::size_t stride_i_ = 0;
  std::size_t stride_j_ = 0;
  std::size_t size_ = 0;
};

/// Memory for containers that begins at a cache line; from 8 MiB on, on huge pages where the system has them.
template <class T>
struct CacheLines {
  using value_type = T;  ///< of the allocator
  CacheLines() = default;
  /// All are alike.
  template <class U>
  CacheLines(const CacheLines<U>&) noexcept {}
  /// Memory for n of them.
  T* allocate(std::size_t n) {
    std::size_t bytes = n * sizeof(T);
    return static_cast<T*>(detail::take_memory(bytes));
  }
  /// Gives it back.
  void deallocate(T* p, std::size_t) noexcept { std::free(p); }
  friend bool operator==(const CacheLines&, const CacheLines&) = default;
};

/// kValues doubles at every node of a layout.
template <std::size_t kValues>
class Nodes {
 public:
  static constexpr std::size_t kWidth = kValues;  ///< doubles per node
  /// All zero.
  explicit Nodes(const NodeLayout& layout) : layout_(layout), values_(layout.size() * kValues) {}
  /// As given.
  [[nodiscard]] const NodeLayout& layout() const noexcept { return layout_; }
  /// The values of node (i, j, k), local numbers. Not checked.
  [[nodiscard]] double* at(std::int64_t i, std::int64_t j, std::int64_t k) noexcept {
    return values_.data() + layout_.index(i, j, k) * kValues;
  }
  [[nodiscard]] const double* at(std::int64_t i, std::int64_t j, std::int64_t k) const noexcept {
    return values_.data() + layout_.index(i, j, k) * kValues;
  }
  /// Those of all nodes, in the order of index().
  [[nodiscard]] double* data() noexcept { return values_.data(); }
  [[nodiscard]] const double* data() const noexcept { return values_.data(); }

 private:
  NodeLayout layout_;
  std::vector<double, CacheLines<double>> values_;
};

/// What parcels carry to the nodes.
struct CarriedFields {
  /// Places of the values of a node.
  enum : std::size_t { volume, xi, eta, zeta, buoyancy, width = 8 };  ///< places; the rest is unused
};
/// What parcels need of the flow: velocity, its gradient (w_z = -(u_x + v_y)) and the rate of change of vorticity.
struct FlowFields {
  /// Places of the values of a node.
  enum : std::size_t { u, v, w, u_x, u_y, u_z, v_x, v_y, v_z, w_x, w_y, xi_t, eta_t, zeta_t, width = 16 };  ///< places
};
using CarriedNodes = Nodes<CarriedFields::width>;  ///< carried to the nodes
using FlowNodes = Nodes<FlowFields::width>;        ///< needed at parcels
using VectorNodes = Nodes<4>;                      ///< x, y, z of a displacement; the fourth is unused
using ScalarNodes = Nodes<1>;                      ///< one number per node

/// Fills the halo in x and y from the ranks that own its nodes, all levels from -1 to cells[2] + 1.
class HaloFill {
 public:
  /// Collective. @throws InputError as NodeLayout; UsageError if the decomposition is not for as many ranks
  HaloFill(comm::Transport& transport, const Decomposition& decomposition);
  /// Fills the halo of `values` (`width` doubles per node, in the order of NodeLayout::index). Called by every rank; talks
  /// to neighbours only, corners included. The width may differ from call to call, not between ranks.
  /// Cost: one wave, none on one rank.
  void fill(double* values, std::size_t width);
  /// The same.
  template <std::size_t kValues>
  void fill(Nodes<kValues>& nodes) {
    fill(nodes.data(), kValues);
  }

 private:
  /// Own nodes that fill a part of the halo of a rank, this one or another: corner and number of nodes along x and y.
  struct Part {
    std::array<std::int64_t, 2> from;
    std::array<std::int64_t, 2> to;
    std::array<std::int64_t, 2> sizes;
    int source;  ///< arc that the part of this rank's halo comes from, -1: this rank
    int target;  ///< arc that this rank's nodes go to, -1: this rank
  };
  NodeLayout layout_;
  std::vector<Part> parts_;
  std::unique_ptr<comm::Mailbox> mailbox_;
  std::vector<std::size_t> read_;
};

}  // namespace merganser::flow
