#pragma once
/// Announcements of one step, remembered while they live.
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "merganser/announce/announcement_network.hpp"

namespace merganser::announce {

/// An announcement on a shelf.
struct Stored {
  AnnouncementId id;
  std::size_t first;  ///< of its bytes
  std::size_t length;
  Topic topic;
  Delivery delivery;
};

/// What was announced after one and the same step: a set by id, and the bytes. Reused again and again; memory that a
/// burst took is given back when it has not been needed for a while.
class Shelf {
 public:
  /// @return its place, or nothing if it is there already
  std::optional<std::size_t> add(AnnouncementId id, Topic topic, Delivery delivery, std::span<const std::byte> bytes);
  void clear();
  [[nodiscard]] std::size_t size() const noexcept { return stored_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_.size(); }
  [[nodiscard]] const Stored& operator[](std::size_t place) const { return stored_[place]; }
  [[nodiscard]] std::span<const std::byte> bytes_of(const Stored& stored) const {
    return std::span(bytes_).subspan(stored.first, stored.length);
  }

 private:
  [[nodiscard]] std::size_t slot_of(const AnnouncementId& id) const;
  void grow();

  std::vector<Stored> stored_;
  std::vector<std::byte> bytes_;
  std::vector<std::size_t> table_;  // open addressing: place + 1, 0 for none; a power of two, at most half full
};

}  // namespace merganser::announce
