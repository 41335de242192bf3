#pragma once
/// Fields of the flow model: values at the nodes of a rank's block of cells, with their halo and its exchange.
///
/// A node is a corner of cells: node (i, j, k) is the lower corner of cell (i, j, k). All values of a node stand
/// together, since a parcel reads or writes every one of them at the eight nodes of a cell.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "merganser/base/aligned_memory.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/geometry/decomposition.hpp"

#include "merganser/base/language.hpp"

namespace merganser::flow {

/// Layout of the grid nodes that a rank stores for the flow fields: those of its cells, a halo of one below and two above in x
/// and y, and one level beyond each wall in z. Local indices count from the rank's first cell: i from -1 to cells[0] + 1, j from
/// -1 to cells[1] + 1, k from -1 to cells[2] + 1; 0 .. cells - 1 in x and y, and 0 .. cells[2] in z, are the rank's own nodes.
class NodeLayout {
 public:
  /// Computes the layout of nodes of one rank's block of cells. Local.
  /// @throws InputError unless the decomposition is by cells, z is whole, x and y are periodic, z has walls,
  /// and every block has at least two cells in x and y (three where it is the only one along an axis)
  NodeLayout(const Decomposition& decomposition, int rank);

  /// Returns the grid of the whole box, of which the layout describes one rank's nodes.
  [[nodiscard]] const Grid& grid() const noexcept { return grid_; }
  /// Returns the number of this rank's cells along an axis.
  [[nodiscard]] std::int64_t cells(int axis) const noexcept { return cells_[static_cast<std::size_t>(axis)]; }
  /// Returns the index of this rank's first cell along an axis, in the whole grid.
  [[nodiscard]] std::int64_t first(int axis) const noexcept { return first_[static_cast<std::size_t>(axis)]; }
  /// Returns the width of a cell along an axis, m.
  [[nodiscard]] double spacing(int axis) const noexcept { return spacing_[static_cast<std::size_t>(axis)]; }
  /// Returns the number of grid nodes stored on this rank, halo included.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Returns the distance, in stored nodes, from node (i, j, k) to (i + 1, j, k). To (i, j, k + 1) it is 1.
  [[nodiscard]] std::size_t stride_i() const noexcept { return stride_i_; }
  /// Returns the distance, in stored nodes, from node (i, j, k) to (i, j + 1, k).
  [[nodiscard]] std::size_t stride_j() const noexcept { return stride_j_; }
  /// Returns the position of grid node (i, j, k) among the nodes stored on this rank; local indices, not checked.
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

/// Field of the flow model on one rank: kValues doubles at every grid node that the rank stores, halo included.
template <std::size_t kValues>
class Nodes {
 public:
  static constexpr std::size_t kWidth = kValues;  ///< doubles per node of the field
  /// Creates a node field that is zero everywhere.
  explicit Nodes(const NodeLayout& layout) : layout_(layout), values_(layout.size() * kValues) {}
  /// Returns the layout of nodes that the field was created with.
  [[nodiscard]] const NodeLayout& layout() const noexcept { return layout_; }
  /// Returns the kValues field values of grid node (i, j, k); local indices, not checked.
  [[nodiscard]] double* at(std::int64_t i, std::int64_t j, std::int64_t k) noexcept {
    return values_.data() + layout_.index(i, j, k) * kValues;
  }
  /// Returns the kValues field values of grid node (i, j, k) for reading; local indices, not checked.
  [[nodiscard]] const double* at(std::int64_t i, std::int64_t j, std::int64_t k) const noexcept {
    return values_.data() + layout_.index(i, j, k) * kValues;
  }
  /// Returns the field values of all nodes stored on this rank, in the order of NodeLayout::index().
  [[nodiscard]] double* data() noexcept { return values_.data(); }
  /// Returns the field values of all nodes stored on this rank for reading, in the order of NodeLayout::index().
  [[nodiscard]] const double* data() const noexcept { return values_.data(); }

 private:
  NodeLayout layout_;
  std::vector<double, AlignedAllocator<double>> values_;
};

/// Indices of the values that flow parcels carry and that are gathered at a node: volume, vorticity, buoyancy.
struct CarriedFields {
  /// Indices into the values of a node of CarriedNodes.
  enum : std::size_t { volume, xi, eta, zeta, buoyancy, width = 8 };  ///< the last three are unused
};
/// Indices of the values that parcels read of the flow at a node: velocity, its gradient (w_z = -(u_x + v_y)) and the
/// tendency of vorticity.
struct FlowFields {
  /// Indices into the values of a node of FlowNodes; the last two of its 16 are unused.
  enum : std::size_t { u, v, w, u_x, u_y, u_z, v_x, v_y, v_z, w_x, w_y, xi_t, eta_t, zeta_t, width = 16 };
};
using CarriedNodes =
    Nodes<CarriedFields::width>;             ///< node field of volume, vorticity and buoyancy gathered from parcels
using FlowNodes = Nodes<FlowFields::width>;  ///< node field of velocity, gradient and tendency, read by parcels
using VectorNodes = Nodes<4>;                ///< node field of a displacement x, y, z, m; the fourth is unused
using ScalarNodes = Nodes<1>;                ///< node field of one number per node, such as the excess of volume

/// Halo exchange of the flow's node fields in x and y: copies the values of halo nodes, levels -1 to cells[2] + 1, from the ranks
/// that own them.
class HaloFill {
 public:
  /// Creates the mailbox for the halo exchange with the ranks whose blocks touch this rank's.
  /// Collective. @throws InputError as NodeLayout; UsageError if the decomposition is not for as many ranks
  HaloFill(comm::Transport& transport, const Decomposition& decomposition);
  /// Fills the halo of this rank's node values (`width` doubles per node, in the order of NodeLayout::index). Called by every rank;
  /// communicates with neighbours only, corners included. The width may differ from call to call, not between ranks.
  /// Cost: one wave, none on one rank. @throws CommError if a neighbour passed a smaller width
  void fill(double* values, std::size_t width);
  /// Fills the halo of a node field. Called by every rank; communicates with neighbours only. Cost: one wave, none on one rank.
  template <std::size_t kValues>
  void fill(Nodes<kValues>& nodes) {
    fill(nodes.data(), kValues);
  }

 private:
  /// Rectangle of own nodes that fill a part of the halo of a rank, this one or another; indices along x and y.
  struct Part {
    std::array<std::int64_t, 2> from;   ///< first node of the sending block, in its local indices
    std::array<std::int64_t, 2> to;     ///< first halo node of the receiving block, in its local indices
    std::array<std::int64_t, 2> sizes;  ///< number of nodes copied, along x and y
    int source;                         ///< arc that the part of this rank's halo arrives on, -1: this rank itself
    int target;                         ///< arc that this rank's nodes are sent on, -1: this rank itself
  };
  NodeLayout layout_;
  std::vector<Part> parts_;
  std::unique_ptr<comm::Mailbox> mailbox_;
  std::vector<std::size_t> read_;
};

}  // namespace merganser::flow
