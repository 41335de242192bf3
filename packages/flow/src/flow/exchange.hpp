#pragma once
/// Transposition of arrays that the ranks of a row or column hold in parts: from whole along one axis to whole along another.
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "merganser/comm/transport.hpp"

namespace merganser::flow {

/// View of an array of doubles with four axes, the last one contiguous, as the distributed Fourier transform transposes them.
struct Array4 {
  double* data;
  std::array<std::size_t, 4> count;   ///< lengths of the four axes
  std::array<std::size_t, 3> stride;  ///< strides of the first three axes, in doubles
};

/// Boundaries of the parts of an array axis that is divided among a row of ranks: rank r holds indices cuts[r] to cuts[r + 1] - 1.
using Cuts = std::vector<std::size_t>;

/// All-to-all exchange of parts of node fields among the ranks of a row (or column) of the decomposition; others take no part.
class RowExchange {
 public:
  /// Creates the mailbox for transpositions among the ranks of a row. Collective over all ranks of the transport. @param row
  /// ranks of the row, this one among them
  RowExchange(comm::Transport& transport, std::vector<int> row);
  /// Returns the number of ranks in the row of the decomposition.
  [[nodiscard]] std::size_t size() const noexcept { return row_.size(); }
  /// Returns the index of this rank in the row of the decomposition.
  [[nodiscard]] std::size_t index() const noexcept { return index_; }
  /// Transposes node fields among the ranks of the row: `from` is whole along the axis `give`, of which every rank sends the
  /// parts `give_cuts` of the others; `to` becomes whole along the axis `take`, of which every rank receives the parts
  /// `take_cuts` of the others. Called by every rank of the row.
  void run(const Array4& from, std::size_t give, const Cuts& give_cuts, const Array4& to, std::size_t take,
           const Cuts& take_cuts);

 private:
  std::vector<int> row_;
  std::size_t index_ = 0;
  std::unique_ptr<comm::Mailbox> mailbox_;
  std::vector<std::byte> own_;
};

/// Divides an array axis of length `total` among `parts` ranks; lengths are multiples of `unit`, which divides `total`, and
/// differ by at most one unit; the first ones are longer.
Cuts even_cuts(std::size_t total, std::size_t parts, std::size_t unit = 1);

}  // namespace merganser::flow
