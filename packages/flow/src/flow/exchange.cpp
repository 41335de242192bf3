// Transpositions of the distributed Fourier transform: packs parts of node fields into messages among the ranks of a row or column.
#include "src/flow/exchange.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "merganser/base/error.hpp"

namespace merganser::flow {
namespace {

/// Returns the view of indices `first` to `last` - 1 of a four-axis array of node fields along one axis.
Array4 subarray(const Array4& a, std::size_t axis, std::size_t first, std::size_t last) {
  Array4 p = a;
  p.data += first * (axis < 3 ? a.stride[axis] : 1);
  p.count[axis] = last - first;
  return p;
}

/// Calls use(pointer) for every contiguous run of doubles along the last axis of a view, in the order of the other axes.
void for_runs(const Array4& a, auto&& use) {
  if (a.count[3] == 0) return;  // an empty part may have no memory
  for (std::size_t i = 0; i < a.count[0]; ++i)
    for (std::size_t j = 0; j < a.count[1]; ++j)
      for (std::size_t k = 0; k < a.count[2]; ++k) use(a.data + i * a.stride[0] + j * a.stride[1] + k * a.stride[2]);
}

/// Returns the bytes of one contiguous run of doubles along the last axis of a view.
std::size_t run_bytes(const Array4& a) { return a.count[3] * sizeof(double); }

/// Appends the part of a node field that another rank of the row needs to the message for it; sender and receiver visit the
/// runs in the same order, so no header is needed.
void pack(const Array4& part, std::vector<std::byte>& message) {
  std::size_t at = message.size();
  message.resize(at + part.count[0] * part.count[1] * part.count[2] * run_bytes(part));
  for_runs(part, [&](const double* run) {
    std::memcpy(message.data() + at, run, run_bytes(part));
    at += run_bytes(part);
  });
}

/// Copies a message of pack() into the part of a node field that a rank of the row has sent. @throws CommError for a message of
/// another length
void unpack(std::span<const std::byte> message, const Array4& part) {
  const std::size_t bytes = part.count[0] * part.count[1] * part.count[2] * run_bytes(part);
  if (message.size() != bytes)
    throw CommError("a part of a field of " + std::to_string(message.size()) +
                    " bytes; awaited: " + std::to_string(bytes));
  std::size_t at = 0;
  for_runs(part, [&](double* run) {
    std::memcpy(run, message.data() + at, run_bytes(part));
    at += run_bytes(part);
  });
}

}  // namespace

// Transposition among the ranks of a row, over a mailbox of that row alone.
RowExchange::RowExchange(comm::Transport& transport, std::vector<int> row) : row_(std::move(row)) {
  std::vector<int> others;
  for (std::size_t r = 0; r < row_.size(); ++r) {
    if (row_[r] == transport.rank())
      index_ = r;
    else
      others.push_back(row_[r]);
  }
  mailbox_ = transport.mailbox(comm::Graph::symmetric(std::move(others)));
}

// Step of a distributed Fourier transform: parts of lines become whole lines.
void RowExchange::run(const Array4& from, std::size_t give, const Cuts& give_cuts, const Array4& to, std::size_t take,
                      const Cuts& take_cuts) {
  const auto given = [&](std::size_t r) { return subarray(from, give, give_cuts[r], give_cuts[r + 1]); };
  const auto taken = [&](std::size_t r) { return subarray(to, take, take_cuts[r], take_cuts[r + 1]); };
  // Arcs follow the order of the row without this rank, for sending and for receiving.
  std::size_t arc = 0;
  for (std::size_t r = 0; r < row_.size(); ++r)
    if (r != index_) pack(given(r), mailbox_->outbox(arc++));
  own_.clear();
  pack(given(index_), own_);
  unpack(own_, taken(index_));
  if (row_.size() == 1) return;
  mailbox_->step();
  arc = 0;
  for (std::size_t r = 0; r < row_.size(); ++r)
    if (r != index_) unpack(mailbox_->inbox(arc++), taken(r));
}

// Division of waves among the ranks of a row.
Cuts even_cuts(std::size_t total, std::size_t parts, std::size_t unit) {
  Cuts cuts;
  const std::size_t units = total / unit;
  for (std::size_t r = 0; r <= parts; ++r) cuts.push_back((units / parts * r + std::min(r, units % parts)) * unit);
  return cuts;
}

}  // namespace merganser::flow
