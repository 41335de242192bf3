#pragma once
/// All-gathers of equal parts for measurements, by the calls of each communication model: every rank receives the parts of all
/// ranks.
///
/// A gather is made once and repeated: start() passes the part of this rank, complete() returns all parts. A non-blocking gather
/// may proceed between the two. gathers() lists those of this build.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "merganser/base/pinned.hpp"
#include "merganser/comm/transport.hpp"

namespace merganser::kernels {

/// Kind of the library call by which an all-gather is made: a blocking, a non-blocking or a neighbourhood collective.
enum class GatherKind : std::uint8_t {
  blocking,      ///< one blocking collective, called by complete()
  non_blocking,  ///< a non-blocking collective, called by start() and completed by complete()
  neighborhood,  ///< a neighbourhood collective on the complete graph: every part is sent to every rank on its own arc
};
/// Returns the name of a kind of gather: "blocking", "non-blocking" or "neighborhood". @throws UsageError for another value
[[nodiscard]] std::string_view gather_name(GatherKind kind);

/// Description of an all-gather that can be measured: its kind and the communication model that makes it; gathers() lists them.
struct GatherInfo {
  GatherKind kind;               ///< blocking, non-blocking or neighbourhood collective
  std::string_view model;        ///< communication model, a name of comm::backends()
  std::string_view description;  ///< library calls of one all-gather, for tables
};
/// Returns the descriptions of the all-gathers of this build, by model in the order of comm::backends(), then by kind. Local.
[[nodiscard]] std::span<const GatherInfo> gathers();
/// Returns the error text if the communication model of a transport has no all-gather of a kind; an empty string if it has one.
/// Local.
[[nodiscard]] std::string missing_gather(const comm::Transport& transport, GatherKind kind);

/// All-gather of equal parts that is repeated. Every rank calls start() and complete() alternately, and those of several gathers of
/// one transport in the same order. A gather that was started must be completed before it is destroyed, except by an exception.
class Gather : Pinned {
 public:
  virtual ~Gather() = default;

  /// Returns the kind, communication model and library calls of this all-gather.
  [[nodiscard]] const GatherInfo& info() const noexcept { return info_; }
  /// Returns the number of bytes that each rank contributes to this all-gather.
  [[nodiscard]] std::size_t part_bytes() const noexcept { return part_bytes_; }

  /// Starts a gather with the part of this rank, which is copied. Called by every rank; does not wait for others. The counters of
  /// the transport count a collective call, and with `neighborhood` also a message of part_bytes() to every other rank.
  /// @throws UsageError if `mine` does not have part_bytes() bytes or the gather is started already
  void start(std::span<const std::byte> mine);
  /// Waits for the parts of all ranks. Called by every rank.
  /// @return all parts in the order of ranks, part_bytes() bytes each; valid until the next start()
  /// @throws UsageError if the gather is not started, CommError if the library fails or a wait exceeds MERGANSER_WAIT_LIMIT
  [[nodiscard]] std::span<const std::byte> complete();

 protected:
  /// Stores the transport, which must outlive the all-gather, and the number of bytes that each rank contributes. Local.
  Gather(comm::Transport& control, const GatherInfo& info, std::size_t part_bytes)
      : control_(control), info_(info), part_bytes_(part_bytes) {}
  /// Copies the part of this rank into the send buffer of the model, and issues the collective if it is non-blocking.
  virtual void do_start(std::span<const std::byte> mine) = 0;
  /// Completes the all-gather in the model's own calls; returns the parts of all ranks, in the order of ranks.
  [[nodiscard]] virtual std::span<const std::byte> do_complete() = 0;
  /// Returns true between start() and complete() of this all-gather.
  [[nodiscard]] bool started() const noexcept { return started_; }

  comm::Transport& control_;  ///< transport of the ranks that take part; its counters count the all-gathers

 private:
  const GatherInfo& info_;
  std::size_t part_bytes_;
  bool started_ = false;
};

/// Makes a gather in the model of `control`, on its ranks; `control` must outlive it. Collective. Memory: (ranks + 1) * part_bytes.
/// @param part_bytes  bytes of the part of each rank, equal on all ranks, at most 2^31 - 1
/// @throws UsageError if the model has no such gather or ranks differ in part_bytes, CommError if the library lacks memory (for a
/// symmetric heap with the size that is needed); the same on every rank
[[nodiscard]] std::unique_ptr<Gather> make_gather(comm::Transport& control, GatherKind kind, std::size_t part_bytes);

}  // namespace merganser::kernels
