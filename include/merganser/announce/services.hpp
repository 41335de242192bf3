#pragma once
/// What ranks agree on without a collective: the end of a run.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "merganser/announce/announcement_network.hpp"
#include "merganser/base/pinned.hpp"

namespace merganser::announce {

inline constexpr Topic kStopTopic = kFirstServiceTopic;

/// What all ranks have agreed on.
struct Agreement {
  std::int64_t step = 0;       ///< AnnouncementNetwork::now() on every rank when it learns of it
  int origin = 0;              ///< who asked
  std::int64_t announced = 0;  ///< when: steps it had made
  std::string reason;
};

/// "Snapshot, then end, at the same step": whoever asks, and if several ask at once, every rank learns of one and the same
/// request in the same step, time_to_live() steps after it was made.
///
///     AgreedStop stop(network);
///     for (;;) {
///       work();
///       if (seen_enough()) stop.request("interface at the wall");
///       network.step();
///       if (stop.agreed()) break;       // here, and on every rank after the same step
///     }
///     write_snapshot();
class AgreedStop : Pinned {
 public:
  /// Takes part in the agreement. Local, but to be made on every rank before the first step. The network must outlive
  /// this and stay where it is.
  explicit AgreedStop(AnnouncementNetwork& network, Topic topic = kStopTopic);
  ~AgreedStop();

  /// Asks every rank to stop. Local. Asking again, or when it is agreed already, does nothing. @throws as announce()
  void request(std::string_view reason = {});
  /// Of the requests that came, the first in (step of asking, rank): the same on every rank. Once there it stays.
  [[nodiscard]] const std::optional<Agreement>& agreed() const noexcept { return agreed_; }

 private:
  AnnouncementNetwork& network_;
  Topic topic_;
  std::size_t subscription_;
  bool asked_ = false;
  std::optional<Agreement> agreed_;
};

}  // namespace merganser::announce
