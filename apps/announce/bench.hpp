#pragma once
/// The weak scaling experiment of [berghoff2018, section III]: constant work, a halo over six sides, and something global.
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

struct AnnounceExperiment {
  std::string network = "manhattan";
  int dimension = 5;
  std::int64_t size = 400;  ///< bytes of an announcement, or of a rank's part of the all-gather
  int every = 1;            ///< each rank announces in every so many steps
  int steps = 200;          ///< of each variant
  int block = 20;           ///< steps of one variant before the next has its turn
  double work_ms = 65;
  int edge = 100;  ///< cells along the edge of a block; a side carries edge^2 doubles
};

/// What is exchanged beside the halo in a step. Of the all-gathers, the non-blocking one is started before the work and
/// completed after the halo, the others are called after the halo.
enum class Exchanged : std::uint8_t { nothing, network, all_gather, non_blocking, neighborhood };
/// All of them, in order. Their names: "none", "network", "all-gather", "non-blocking", "neighborhood".
inline constexpr std::array kExchanged{Exchanged::nothing, Exchanged::network, Exchanged::all_gather,
                                       Exchanged::non_blocking, Exchanged::neighborhood};
[[nodiscard]] std::string_view exchanged_name(Exchanged e);
/// The all-gather of a variant, if it is one.
[[nodiscard]] std::optional<kernels::GatherKind> gather_of(Exchanged e);

/// What one rank counted, or what the formulas say it must have.
struct AnnounceCounts {
  std::int64_t messages = 0;  ///< of the network: one per arc and step
  std::int64_t bytes = 0;     ///< in them
  std::int64_t sent = 0;      ///< announcements on arcs
  std::int64_t delivered = 0;
  std::int64_t duplicates = 0;
  std::int64_t gather_calls = 0;     ///< all-gathers of any kind
  std::int64_t gathered = 0;         ///< bytes that they delivered, if they are those of the rank they should be of
  std::int64_t gather_messages = 0;  ///< to other ranks, where the call tells: on the arcs of the neighbourhood one
  std::int64_t gather_bytes = 0;     ///< in them
  std::int64_t halo_messages = 0;    ///< to other ranks
  std::int64_t halo_bytes = 0;
  std::int64_t collectives = 0;  ///< beside all-gathers
  friend bool operator==(const AnnounceCounts&, const AnnounceCounts&) = default;
};

/// One rank's part of the experiment.
class AnnounceBench {
 public:
  /// Collective. Makes what these variants need. @throws UsageError for options that contradict each other, and for a
  /// variant that the model does not have
  AnnounceBench(comm::Transport& transport, const AnnounceExperiment& experiment,
                const std::vector<Exchanged>& variants);
  ~AnnounceBench();

  /// All steps of all variants, in turns. Called by every rank.
  void run();
  /// Seconds of the steps of a variant on this rank, in order.
  [[nodiscard]] const std::vector<double>& seconds(Exchanged e) const;

  [[nodiscard]] AnnounceCounts counted() const;
  /// The same by the distances of the network and the numbers of steps alone.
  [[nodiscard]] AnnounceCounts expected() const;

  [[nodiscard]] const announce::Network& network() const;
  [[nodiscard]] int time_to_live() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace merganser::app
