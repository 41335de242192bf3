#pragma once
/// Benchmark of announcement networks against collectives: the weak scaling experiment of [berghoff2018, section III], in which a
/// step is constant work, a halo exchange over six sides and one global exchange.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/announce/announcement_network.hpp"
#include "merganser/kernels/gather.hpp"

namespace merganser::app {

/// Parameters of the weak scaling experiment of announce bench, equal on all ranks.
struct AnnounceExperiment {
  std::string network = "manhattan";  ///< kind of announcement network, as "manhattan"
  int dimension = 5;                  ///< dimension of manhattan and torus, degree of debruijn
  std::int64_t size = 400;            ///< bytes of an announcement, or of a rank's part of the all-gather
  int every = 1;                      ///< each rank announces in every so many steps
  int steps = 200;                    ///< number of timed steps of each variant of announce bench
  int block = 20;                     ///< steps of one variant before the next has its turn
  double work_ms = 65;                ///< artificial work of a step, in milliseconds
  int edge = 100;                     ///< cells along the edge of a block; a side carries edge^2 doubles
};

/// Variant of announce bench: global exchange of a step, beside the halo. The non-blocking all-gather is started before the work
/// and completed after the halo; the other all-gathers are called after the halo.
enum class Exchanged : std::uint8_t { nothing, network, all_gather, non_blocking, neighborhood };
/// All variants of announce bench, in the order of the enumeration. Their names: "none", "network", "all-gather", "non-blocking",
/// "neighborhood".
inline constexpr std::array kExchanged{Exchanged::nothing, Exchanged::network, Exchanged::all_gather,
                                       Exchanged::non_blocking, Exchanged::neighborhood};
/// Returns the name of a variant of announce bench, as --exchange takes it.
[[nodiscard]] std::string_view exchanged_name(Exchanged e);
/// Returns the kind of all-gather that a variant of announce bench makes; nothing for those that make none.
[[nodiscard]] std::optional<kernels::GatherKind> gather_kind(Exchanged e);

/// Numbers of messages, bytes and calls of announce bench on one rank, as counted or as computed by formulas.
struct AnnounceCounts {
  std::int64_t messages = 0;      ///< messages of the announcement network: one per arc and step
  std::int64_t bytes = 0;         ///< bytes of the messages of the announcement network
  std::int64_t sent = 0;          ///< announcements sent, counted once per arc
  std::int64_t delivered = 0;     ///< announcements delivered to this rank
  std::int64_t duplicates = 0;    ///< announcements received again, and discarded
  std::int64_t gather_calls = 0;  ///< all-gathers of any kind that this rank took part in
  std::int64_t gathered = 0;      ///< bytes that all-gathers delivered with the right value
  std::int64_t gather_messages =
      0;                          ///< messages to other ranks of neighbourhood all-gathers; other kinds are not counted
  std::int64_t gather_bytes = 0;  ///< bytes of messages of neighbourhood all-gathers
  std::int64_t halo_messages = 0;  ///< halo messages to other ranks
  std::int64_t halo_bytes = 0;     ///< bytes of halo messages to other ranks
  std::int64_t collectives = 0;    ///< collective calls beside all-gathers
  friend bool operator==(const AnnounceCounts&, const AnnounceCounts&) = default;
};

/// One rank's part of the weak scaling experiment: its announcement network, halo, gathers, times and counts.
class AnnounceBench {
 public:
  /// Creates the network, halo and gathers that the variants need. Collective.
  /// @throws UsageError for options that contradict each other, and for a variant that the model does not support
  AnnounceBench(comm::Transport& transport, const AnnounceExperiment& experiment,
                const std::vector<Exchanged>& variants);
  ~AnnounceBench();

  /// Executes all steps of all variants, which take turns in blocks of steps. Called by every rank; a barrier before each block.
  void run();
  /// Returns the times of the steps of a variant on this rank, in seconds, in the order of the steps.
  [[nodiscard]] const std::vector<double>& seconds(Exchanged e) const;

  /// Returns the messages, bytes and calls that this rank has counted so far.
  [[nodiscard]] AnnounceCounts counted() const;
  /// Computes the messages, bytes and calls that this rank must have counted so far, from the distances of the network and the
  /// numbers of steps alone. Local.
  [[nodiscard]] AnnounceCounts expected() const;

  /// Returns the announcement network of the experiment, made for any variant.
  [[nodiscard]] const announce::Network& network() const;
  /// Returns the time to live of announcements: steps after which every rank has received one.
  [[nodiscard]] int time_to_live() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace merganser::app
