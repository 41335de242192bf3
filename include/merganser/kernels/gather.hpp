#pragma once
/// All-gathers of a fixed size in the very calls of each model, for measuring: the part of every rank to every rank.
///
/// A gather is made once and used again and again: start() hands over this rank's part, complete() returns all of them.
/// What lies between is where a non-blocking one may work. What a model has is in gathers().
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "merganser/base/pinned.hpp"
#include "merganser/comm/transport.hpp"

namespace merganser::kernels {

/// Which call gathers.
enum class GatherKind : std::uint8_t {
  blocking,      ///< one blocking call, made by complete()
  non_blocking,  ///< a call made by start(), waited for by complete()
  neighborhood,  ///< a neighbourhood collective on the complete graph: every part goes to every rank on its own arc
};
[[nodiscard]] std::string_view gather_name(GatherKind kind);  ///< "blocking", "non-blocking", "neighborhood"

/// What a gather of one model is, for tables.
struct GatherInfo {
  GatherKind kind;
  std::string_view model;        ///< a name of comm::backends()
  std::string_view description;  ///< the calls of one gather
};
/// The gathers of this build, by model in the order of backends(), then by kind.
[[nodiscard]] std::span<const GatherInfo> gathers();
/// Why the model of a transport has no gather of this kind; empty if it has. Local.
[[nodiscard]] std::string missing_gather(const comm::Transport& transport, GatherKind kind);

/// One all-gather, made again and again. Ranks call start() and complete() in turns, and gathers of one transport in
/// the same order on every rank. What was started must be completed before a gather is destroyed, unless an error is on
/// its way.
class Gather : Pinned {
 public:
  virtual ~Gather() = default;

  /// What gather it is.
  [[nodiscard]] const GatherInfo& info() const noexcept { return info_; }
  /// As given: bytes of every rank.
  [[nodiscard]] std::size_t part_bytes() const noexcept { return part_bytes_; }

  /// Hands over this rank's part, which is copied. Called by every rank. Counted in the transport: a collective call, with
  /// `neighborhood` also a message of part_bytes() to every other rank. @throws UsageError if `mine` is not part_bytes()
  /// long or what was started before is not completed
  void start(std::span<const std::byte> mine);
  /// Waits for the part of every rank. Called by every rank. Part r is bytes r * part_bytes() .. (r + 1) * part_bytes() - 1.
  /// Valid until the next start(). @throws UsageError if nothing was started
  [[nodiscard]] std::span<const std::byte> complete();

 protected:
  Gather(comm::Transport& control, const GatherInfo& info, std::size_t part_bytes)
      : control_(control), info_(info), part_bytes_(part_bytes) {}
  virtual void do_start(std::span<const std::byte> mine) = 0;
  [[nodiscard]] virtual std::span<const std::byte> do_complete() = 0;
  [[nodiscard]] bool started() const noexcept { return started_; }

  comm::Transport& control_;

 private:
  const GatherInfo& info_;
  std::size_t part_bytes_;
  bool started_ = false;
};

/// Makes a gather on the ranks of `control`, which must live as long. Collective. Memory: (ranks + 1) * part_bytes.
/// @param part_bytes  of every rank, the same on all, at most 2^31 - 1
/// @throws UsageError where the model has no such gather or ranks differ in part_bytes, CommError where the library lacks
/// memory (a symmetric heap too small: the message says so); alike on every rank
[[nodiscard]] std::unique_ptr<Gather> make_gather(comm::Transport& control, GatherKind kind, std::size_t part_bytes);

}  // namespace merganser::kernels
