// requires: nothing
// Common part of all exchange kernels: memory of the zones, sizes of the arcs, counters, and errors.
#include "src/kernels/families/support/exchange_base.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "merganser/base/error.hpp"

namespace merganser::kernels::detail {
namespace {

constexpr std::align_val_t kPage{4096};  // alignment of the zones of exchange kernels, in bytes

/// Checks that Exchange::resize() gives each arc of one side ("out" or "in") a size, and none above its capacity. @throws
/// UsageError
void check_resize(const KernelInfo& info, const char* side, const std::vector<int>& ranks,
                  const std::vector<std::size_t>& most, std::span<const std::size_t> bytes) {
  const std::string name(info.name);
  if (bytes.size() != most.size()) {
    throw UsageError(name + ": resize of " + std::to_string(bytes.size()) + " " + side + "-arcs; there are " +
                     std::to_string(most.size()));
  }
  for (std::size_t arc = 0; arc < most.size(); ++arc) {
    if (bytes[arc] <= most[arc]) continue;
    throw UsageError(name + ": resize to " + std::to_string(bytes[arc]) + " bytes on the " + side + "-arc of rank " +
                     std::to_string(ranks[arc]) + "; allowed: up to " + std::to_string(most[arc]) + ", as it was made");
  }
}

}  // namespace

// Allocates the memory of the zones of an exchange kernel: zeroed, and at least one cache line, so that it has an address.
Block::Block(std::size_t bytes)
    : data_(static_cast<std::byte*>(operator new(std::max<std::size_t>(bytes, kLine), kPage))) {
  std::memset(data_.get(), 0, std::max<std::size_t>(bytes, kLine));
}

void Block::Free::operator()(std::byte* data) const noexcept { operator delete(data, kPage); }

// Makes the base of an exchange kernel: zones that the kernel has not placed in a window or in symmetric memory get private memory.
ExchangeBase::ExchangeBase(comm::Transport& control, ExchangePlan plan, Places places)
    : control_(control),
      plan_(std::move(plan)),
      out_(plan_.spec.graph.out),
      in_(plan_.spec.graph.in),
      out_bytes_(plan_.spec.bytes_out),
      in_bytes_(plan_.spec.bytes_in),
      own_sources_(places.sources == nullptr ? plan_.source_bytes() : 0),
      own_landings_(places.landings == nullptr ? plan_.landing_bytes() : 0),
      places_(places),
      drop_(plan_.spec.graph.out.size()) {
  if (places_.sources == nullptr) places_.sources = own_sources_.data();
  if (places_.landings == nullptr) places_.landings = own_landings_.data();
}

// Sets new sizes of the arcs of an exchange kernel, within the zones that its plan has laid out.
void ExchangeBase::resize(std::span<const std::size_t> bytes_out, std::span<const std::size_t> bytes_in) {
  check_resize(info(), "out", out_, plan_.spec.bytes_out, bytes_out);
  check_resize(info(), "in", in_, plan_.spec.bytes_in, bytes_in);
  out_bytes_.assign(bytes_out.begin(), bytes_out.end());
  in_bytes_.assign(bytes_in.begin(), bytes_in.end());
  resized();
}

// Returns the source zone of an out-arc of an exchange kernel, in the set of one buffer.
std::span<std::byte> ExchangeBase::source(std::size_t arc, std::size_t buffer) {
  if (buffer >= plan_.spec.buffers) refuse_buffer(buffer);
  if (arc >= out_.size()) refuse_arc("out", arc, out_.size());
  return {out_at(arc, buffer), out_bytes_[arc]};
}

// Returns the landing zone of an in-arc of an exchange kernel, in the set of one buffer.
std::span<std::byte> ExchangeBase::landing(std::size_t arc, std::size_t buffer) {
  if (buffer >= plan_.spec.buffers) refuse_buffer(buffer);
  if (arc >= in_.size()) refuse_arc("in", arc, in_.size());
  return {in_at(arc, buffer), in_bytes_[arc]};
}

// Returns the operations that this rank makes in one iteration of an exchange kernel, from the kernel's model and its plan.
comm::Counters ExchangeBase::per_iteration() const {
  comm::Counters counters;
  const auto& ranks = info().pulls ? in_ : out_;
  const auto& sizes = info().pulls ? in_bytes_ : out_bytes_;
  const bool two_sided = info().model == "p2p" || info().model == "neighborhood";
  auto& operations = two_sided ? counters.messages : info().pulls ? counters.gets : counters.puts;
  for (std::size_t arc = 0; arc < ranks.size(); ++arc) {
    if (ranks[arc] == control_.rank() || sizes[arc] == 0) continue;
    ++operations;
    counters.bytes += static_cast<std::int64_t>(sizes[arc]);
  }
  count(counters);
  return counters;
}

// Returns the ranks that a watchdog names if an exchange kernel hangs: by default all that the kernel's kind of completion waits
// for.
std::vector<int> ExchangeBase::missing() const {
  if (!busy()) return {};
  if (info().completion == Completion::notified || info().pulls) return in_;
  if (info().completion != Completion::global) return out_;
  std::vector<int> others;
  for (int rank = 0; rank < control_.size(); ++rank) {
    if (rank != control_.rank()) others.push_back(rank);
  }
  return others;
}

// Injects a fault of a test: the next notification on an out-arc of this exchange kernel is omitted.
bool ExchangeBase::drop_next(std::size_t arc) {
  if (info().completion != Completion::notified) return false;
  if (arc >= out_.size()) refuse_arc("out", arc, out_.size());
  if (drop_[arc] == 0) ++drops_;
  drop_[arc] = 1;
  return true;
}

// Throws the UsageError for a buffer number that an exchange kernel does not have.
void ExchangeBase::refuse_buffer(std::size_t buffer) const {
  throw UsageError(std::string(info().name) + ": buffer " + std::to_string(buffer) + "; allowed: 0 to " +
                   std::to_string(plan_.spec.buffers - 1));
}

// Throws the UsageError for an arc number that an exchange kernel does not have.
void ExchangeBase::refuse_arc(const char* side, std::size_t arc, std::size_t arcs) const {
  throw UsageError(std::string(info().name) + ": " + side + "-arc " + std::to_string(arc) + "; there are " +
                   std::to_string(arcs));
}

// Counts the out-arcs of an exchange kernel that lead to other ranks.
std::int64_t ExchangeBase::far_out() const {
  return std::count_if(out_.begin(), out_.end(), [this](int rank) { return rank != control_.rank(); });
}

// Returns the error text of an exchange kernel's wait that exceeds its limit, with the ranks that are still missing.
std::string ExchangeBase::waiting_text() const {
  std::string text = "the exchange " + std::string(info().name) + ": still missing";
  for (const int rank : missing()) text += " rank " + std::to_string(rank);
  return text;
}

}  // namespace merganser::kernels::detail
