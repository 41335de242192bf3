#pragma once
/// Arrays that ranks of a row hold in parts, turned from whole along one axis to whole along another.
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "merganser/comm/transport.hpp"

namespace merganser::flow {

/// An array of four axes, the last one contiguous.
struct Array4 {
  double* data;
  std::array<std::size_t, 4> count;
  std::array<std::size_t, 3> stride;  ///< of the first three axes
};

/// What rank r of a row has of an axis: from cuts[r] to cuts[r + 1].
using Cuts = std::vector<std::size_t>;

/// All to all among the ranks of a row. Talks to these alone.
class RowExchange {
 public:
  /// Collective over all ranks of the transport. @param row  its ranks, this one among them
  RowExchange(comm::Transport& transport, std::vector<int> row);
  /// Ranks of the row.
  [[nodiscard]] std::size_t size() const noexcept { return row_.size(); }
  /// Place of this rank in it.
  [[nodiscard]] std::size_t place() const noexcept { return place_; }
  /// Every rank gives away what others have of the axis `give`, which `from` holds whole, and takes what others have of the
  /// axis `take`, which `to` will hold whole. Called by every rank of the row.
  void run(const Array4& from, std::size_t give, const Cuts& give_cuts, const Array4& to, std::size_t take,
           const Cuts& take_cuts);

 private:
  std::vector<int> row_;
  std::size_t place_ = 0;
  std::unique_ptr<comm::Mailbox> mailbox_;
  std::vector<std::byte> own_;
};

/// `total` dealt to `parts`, the first ones get more; in multiples of `unit`, which divides it.
Cuts even_cuts(std::size_t total, std::size_t parts, std::size_t unit = 1);

}  // namespace merganser::flow
