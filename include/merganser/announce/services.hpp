#pragma once
/// Agreement of all ranks on the step after which a run ends, over an announcement network, without a collective.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "merganser/announce/announcement_network.hpp"
#include "merganser/base/pinned.hpp"

namespace merganser::announce {

/// Default topic of the announcements by which AgreedStop requests a stop.
inline constexpr Topic kStopTopic = kFirstServiceTopic;

/// Request to stop that all ranks have agreed on by AgreedStop; equal on all ranks.
struct Agreement {
  std::int64_t step = 0;       ///< step that delivered the request on every rank: AnnouncementNetwork::now() after it
  int origin = 0;              ///< rank that made the request
  std::int64_t announced = 0;  ///< number of steps that this rank had made before the request
  std::string reason;          ///< text that was passed to AgreedStop::request()
};

/// Agreement to stop after the same step on every rank, for a last snapshot and the like.
///
/// Any rank may request a stop. The request is delivered on every rank by the same step, time_to_live() steps after it was made; of
/// several requests all ranks select the same one.
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
  /// Subscribes to a topic of the network. Local, but every rank must make one before the first step, with the same topic. The
  /// network must outlive this object and must not be moved.
  explicit AgreedStop(AnnouncementNetwork& network, Topic topic = kStopTopic);
  ~AgreedStop();

  /// Announces a request to stop to all ranks. Local; any rank may call it between steps. A second request of this rank, and one
  /// after an agreement, does nothing. @throws UsageError if the reason exceeds the limits of the network, or after
  /// AnnouncementNetwork::close()
  void request(std::string_view reason = {});
  /// Returns the request that all ranks have agreed on: of those delivered, the first by (step of the request, rank). Nothing
  /// before; it does not change afterwards. The same on every rank after the same step. Local.
  [[nodiscard]] const std::optional<Agreement>& agreed() const noexcept { return agreed_; }

 private:
  AnnouncementNetwork& network_;
  Topic topic_;                      // topic of the announcements that request a stop
  std::size_t subscription_;         // number of this rank's subscription to them
  bool asked_ = false;               // this rank has announced a request
  std::optional<Agreement> agreed_;  // first request to stop that was delivered
};

}  // namespace merganser::announce
