// Distributed Fourier transform of node fields: transform along x, transposition among the ranks of a row, transform along y, and
// back. Each rank of a row holds a part of the lanes of a column while lines are whole.
#include "src/flow/spectral.hpp"

namespace merganser::flow {
namespace {

/// Converts a number of grid cells to an unsigned size.
std::size_t to_size(std::int64_t n) { return static_cast<std::size_t>(n); }

/// Returns the row of ranks of the decomposition that differ from `rank` along `axis` only, itself included, ascending along it.
std::vector<int> ranks_in_row(const Decomposition& d, int rank, std::size_t axis) {
  std::array<int, 3> at = d.coordinates(rank);
  std::vector<int> row;
  for (at[axis] = 0; at[axis] < d.shape()[axis]; ++at[axis]) row.push_back(d.rank_at(at));
  return row;
}

/// Returns the boundaries of the ranks' blocks of cells along an axis of the decomposition.
Cuts cell_cuts(const Decomposition& d, int axis) {
  Cuts cuts;
  for (int part = 0; part <= d.shape()[static_cast<std::size_t>(axis)]; ++part)
    cuts.push_back(to_size(d.cut(axis, part)));
  return cuts;
}

/// Returns a view of four axes on `memory`, which grows if need be; earlier contents are not kept in place.
Array4 array(fft::Field& memory, const std::array<std::size_t, 4>& count, std::size_t row, std::size_t pad = 0) {
  const std::size_t plane = count[1] * count[2] * row + pad;
  if (memory.size() < count[0] * plane) memory.resize(count[0] * plane);
  return {memory.data(), count, {plane, count[2] * row, row}};
}

/// Returns the length of part `place` of a divided array axis.
std::size_t part_length(const Cuts& cuts, std::size_t place) { return cuts[place + 1] - cuts[place]; }

}  // namespace

// Exchanges and transforms of one rank, for lines along x and y that are each transformed whole.
Spectral::Spectral(comm::Transport& transport, const Decomposition& decomposition, const NodeLayout& layout,
                   const std::string& library)
    : cells_{to_size(layout.grid().cells[0]), to_size(layout.grid().cells[1]), to_size(layout.grid().cells[2])},
      own_{to_size(layout.cells(0)), to_size(layout.cells(1))},
      length_{layout.grid().box.extent[0], layout.grid().box.extent[1]},
      along_x_(transport, ranks_in_row(decomposition, transport.rank(), 0)),
      along_y_(transport, ranks_in_row(decomposition, transport.rank(), 1)),
      cuts_x_(cell_cuts(decomposition, 0)),
      cuts_y_(cell_cuts(decomposition, 1)),
      cuts_k_(even_cuts(cells_[0] / 2 + 1, along_y_.size())),
      cuts_l_(even_cuts(cells_[1], along_x_.size())),
      rows_x_(library, cells_[0]),
      rows_y_(library, cells_[1]),
      waves_y_(library, cells_[1]) {}

OwnWaves Spectral::waves() const {
  return {cuts_k_[along_y_.index()], part_length(cuts_k_, along_y_.index()), cuts_l_[along_x_.index()],
          part_length(cuts_l_, along_x_.index())};
}

/// Returns the lengths of a column of `fields` fields in the distributed transform, and its parts for the ranks of a row.
Spectral::Lanes Spectral::lanes(std::size_t fields, const RowExchange& row) const {
  const std::size_t room = fft::padded(fields * (cells_[2] + 1));
  return {room / fft::kLanes, room + fft::kLanes, even_cuts(room, row.size(), fft::kLanes)};
}

/// Returns a view on complex rows of Fourier coefficients, by waves k and l, of `room` doubles each. The planes of k are not a
/// multiple of a page apart, or a column of them would map to few sets of the cache.
Array4 Spectral::waves_along(fft::Field& memory, std::size_t k, std::size_t l, std::size_t room) const {
  return array(memory, {k, l, 2, room}, room, fft::kLanes);
}

/// Fourier transforms node fields along x, from nodes to waves. A rank that has x whole transforms line by line in a buffer that
/// stays in the cache; otherwise the ranks of a row exchange parts of columns for whole lines first.
void Spectral::forward_x(const Lanes& lanes, const Pack& pack) {
  const bool alone = along_x_.size() == 1;
  const std::size_t own_lanes = part_length(lanes.cuts, along_x_.index());
  const std::size_t room = alone ? lanes.room : own_lanes;
  const Array4 pencil = array(pencil_, {alone ? 1 : own_[1], cells_[0], 1, room}, room);
  const Array4 wide = waves_along(wide_, cells_[0] / 2 + 1, own_[1], room);
  if (!alone) {
    Array4 nodes = array(nodes_, {own_[1], own_[0], 1, lanes.room}, lanes.room);
    for (std::size_t j = 0; j < own_[1]; ++j)
      for (std::size_t i = 0; i < own_[0]; ++i)
        pack(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j),
             nodes.data + j * nodes.stride[0] + i * nodes.stride[1]);
    nodes.count[3] = lanes.cuts.back();
    along_x_.run(nodes, 3, lanes.cuts, pencil, 1, cuts_x_);
  }
  for (std::size_t j = 0; j < own_[1]; ++j) {
    double* const rows = pencil.data + (alone ? 0 : j * pencil.stride[0]);
    for (std::size_t i = 0; alone && i < own_[0]; ++i)
      pack(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j), rows + i * pencil.stride[1]);
    rows_x_.forward({rows, pencil.stride[1]}, {wide.data + j * wide.stride[1], wide.stride[0]}, wide.stride[2],
                    own_lanes / fft::kLanes);
  }
}

/// Fourier transforms fields along x, from waves to nodes: forward_x() in reverse order.
void Spectral::inverse_x(const Lanes& lanes, const Unpack& unpack) {
  const bool alone = along_x_.size() == 1;
  const std::size_t own_lanes = part_length(lanes.cuts, along_x_.index());
  const std::size_t room = alone ? lanes.room : own_lanes;
  const Array4 pencil = array(pencil_, {alone ? 1 : own_[1], cells_[0], 1, room}, room);
  const Array4 wide = waves_along(wide_, cells_[0] / 2 + 1, own_[1], room);
  for (std::size_t j = 0; j < own_[1]; ++j) {
    double* const rows = pencil.data + (alone ? 0 : j * pencil.stride[0]);
    rows_x_.inverse({wide.data + j * wide.stride[1], wide.stride[0]}, wide.stride[2], {rows, pencil.stride[1]},
                    own_lanes / fft::kLanes);
    for (std::size_t i = 0; alone && i < own_[0]; ++i)
      unpack(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j), rows + i * pencil.stride[1]);
  }
  if (alone) return;
  Array4 nodes = array(nodes_, {own_[1], own_[0], 1, lanes.room}, lanes.room);
  nodes.count[3] = lanes.cuts.back();
  along_x_.run(pencil, 1, cuts_x_, nodes, 3, lanes.cuts);
  for (std::size_t j = 0; j < own_[1]; ++j)
    for (std::size_t i = 0; i < own_[0]; ++i)
      unpack(static_cast<std::int64_t>(i), static_cast<std::int64_t>(j),
             nodes.data + j * nodes.stride[0] + i * nodes.stride[1]);
}

/// Fourier transforms along y, calls `solve` on each of this rank's columns of waves, and transforms back along y.
void Spectral::solve_columns(const Lanes& in, const Solve& solve, const Lanes& out) {
  const bool alone = along_x_.size() == 1;
  const OwnWaves own = waves();
  const std::size_t in_room = alone ? in.room : part_length(in.cuts, along_x_.index());
  const std::size_t out_room = alone ? out.room : part_length(out.cuts, along_x_.index());
  // Whole in y, with this rank's part of each column in z.
  fft::Field& before = along_y_.size() == 1 ? wide_ : first_;
  const Array4 tall = waves_along(before, own.count_k, cells_[1], in_room);
  if (along_y_.size() > 1)
    along_y_.run(waves_along(wide_, cells_[0] / 2 + 1, own_[1], in_room), 0, cuts_k_, tall, 1, cuts_y_);
  const auto transform = [&](const Array4& a, std::size_t k, bool forward) {
    const fft::OutRows rows{a.data + k * a.stride[0], a.stride[1]};
    const std::size_t groups = alone ? (forward ? in : out).groups : a.stride[2] / fft::kLanes;
    if (forward)
      waves_y_.forward(rows, a.stride[2], groups);
    else
      waves_y_.inverse(rows, a.stride[2], groups);
  };
  const auto solve_plane = [&](const Array4& from, const Array4& to, std::size_t k) {
    for (std::size_t l = 0; l < own.count_l; ++l) {
      const double* const re = from.data + k * from.stride[0] + l * from.stride[1];
      double* const solved = to.data + k * to.stride[0] + l * to.stride[1];
      solve(own.first_k + k, own.first_l + l, {re, re + from.stride[2]}, {solved, solved + to.stride[2]});
    }
  };
  const Array4 result = waves_along(second_, own.count_k, cells_[1], out_room);
  if (alone) {
    for (std::size_t k = 0; k < own.count_k; ++k) {
      transform(tall, k, true);
      solve_plane(tall, result, k);
      transform(result, k, false);
    }
  } else {
    for (std::size_t k = 0; k < own.count_k; ++k) transform(tall, k, true);
    Array4 from = waves_along(nodes_, own.count_k, own.count_l, in.room);
    Array4 to = waves_along(pencil_, own.count_k, own.count_l, out.room);
    from.count[3] = in.cuts.back();
    along_x_.run(tall, 1, cuts_l_, from, 3, in.cuts);
    for (std::size_t k = 0; k < own.count_k; ++k) solve_plane(from, to, k);
    to.count[3] = out.cuts.back();
    along_x_.run(to, 3, out.cuts, result, 1, cuts_l_);
    for (std::size_t k = 0; k < own.count_k; ++k) transform(result, k, false);
  }
  if (along_y_.size() == 1)
    std::swap(wide_, second_);
  else
    along_y_.run(result, 1, cuts_y_, waves_along(wide_, cells_[0] / 2 + 1, own_[1], out_room), 0, cuts_k_);
}

// Spectral solve: nodes to waves in x, then in y, the callback on each column of waves, and back.
void Spectral::solve(std::size_t fields_in, const Pack& pack, const Solve& solve, std::size_t fields_out,
                     const Unpack& unpack) {
  const Lanes in = lanes(fields_in, along_x_);
  const Lanes out = lanes(fields_out, along_x_);
  forward_x(in, pack);
  solve_columns(in, solve, out);
  inverse_x(out, unpack);
}

// Spectral derivative along one axis, for the divergence of fluxes.
void Spectral::derivative(int axis, std::size_t fields, const Pack& pack, const Unpack& unpack) {
  const bool in_x = axis == 0;
  RowExchange& row = in_x ? along_x_ : along_y_;
  const Cuts& cuts = in_x ? cuts_x_ : cuts_y_;
  fft::RealRows& rows = in_x ? rows_x_ : rows_y_;
  const bool alone = row.size() == 1;
  const Lanes all = lanes(fields, row);
  const std::size_t along = own_[in_x ? 0 : 1];
  const std::size_t across = own_[in_x ? 1 : 0];
  const std::size_t own_lanes = part_length(all.cuts, row.index());
  const std::size_t room = alone ? all.room : own_lanes;
  // Lines of nodes across the axis one after the other, each with all of the axis.
  const Array4 pencil = array(pencil_, {alone ? 1 : across, in_x ? cells_[0] : cells_[1], 1, room}, room);
  Array4 nodes = array(nodes_, {alone ? 1 : across, along, 1, all.room}, all.room);
  const auto visit = [&](std::size_t line, double* values, std::size_t stride, const auto& use) {
    for (std::size_t a = 0; a < along; ++a)
      use(static_cast<std::int64_t>(in_x ? a : line), static_cast<std::int64_t>(in_x ? line : a), values + a * stride);
  };
  const double period = length_[in_x ? 0 : 1];
  if (alone) {
    for (std::size_t line = 0; line < across; ++line) {
      visit(line, pencil.data, pencil.stride[1], pack);
      rows.derivative({pencil.data, pencil.stride[1]}, {pencil.data, pencil.stride[1]}, period, all.groups);
      visit(line, pencil.data, pencil.stride[1], unpack);
    }
    return;
  }
  for (std::size_t line = 0; line < across; ++line)
    visit(line, nodes.data + line * nodes.stride[0], nodes.stride[1], pack);
  nodes.count[3] = all.cuts.back();
  row.run(nodes, 3, all.cuts, pencil, 1, cuts);
  for (std::size_t line = 0; line < across; ++line) {
    double* const begin = pencil.data + line * pencil.stride[0];
    rows.derivative({begin, pencil.stride[1]}, {begin, pencil.stride[1]}, period, own_lanes / fft::kLanes);
  }
  row.run(pencil, 1, cuts, nodes, 3, all.cuts);
  for (std::size_t line = 0; line < across; ++line)
    visit(line, nodes.data + line * nodes.stride[0], nodes.stride[1], unpack);
}

}  // namespace merganser::flow
