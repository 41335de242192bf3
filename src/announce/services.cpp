// Agreement of all ranks to stop after the same step, by announcements that every rank receives in the same order.
#include "merganser/announce/services.hpp"

namespace merganser::announce {

// Subscribes to requests to stop; the first one that is delivered becomes the agreement.
AgreedStop::AgreedStop(AnnouncementNetwork& network, Topic topic) : network_(network), topic_(topic) {
  subscription_ = network.subscribe(topic, [this](const Announcement& a) {
    // Announcements of a step are delivered in the order of (announced, origin, counter), so the first one is the same on every
    // rank.
    if (agreed_) return;
    agreed_ = Agreement{network_.now(), a.id.origin, a.announced,
                        std::string(reinterpret_cast<const char*>(a.bytes.data()), a.bytes.size())};
  });
}

AgreedStop::~AgreedStop() { network_.unsubscribe(subscription_); }

// Announces a request to stop, at most once per rank.
void AgreedStop::request(std::string_view reason) {
  if (asked_ || agreed_) return;
  network_.announce(topic_, std::as_bytes(std::span<const char>(reason.data(), reason.size())), Delivery::same_step);
  asked_ = true;
}

}  // namespace merganser::announce
