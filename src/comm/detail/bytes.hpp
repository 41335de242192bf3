#pragma once
/// Serialisation of trivially copyable values into messages between ranks, mostly those of the set-up of communication objects.
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "merganser/base/error.hpp"

namespace merganser::comm::detail {

using Bytes = std::vector<std::byte>;
using BytesView = std::span<const std::byte>;

/// Returns a view of each message, as Transport::all_to_all() takes them.
[[nodiscard]] inline std::vector<BytesView> views(const std::vector<Bytes>& messages) {
  return {messages.begin(), messages.end()};
}

/// Appends the bytes of a trivially copyable value to a message between ranks.
template <class T>
void append(Bytes& to, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  const auto at = to.size();
  to.resize(at + sizeof(T));
  std::memcpy(to.data() + at, &value, sizeof(T));
}

/// Returns a message between ranks that holds the bytes of one trivially copyable value.
template <class T>
[[nodiscard]] Bytes to_bytes(const T& value) {
  Bytes bytes;
  append(bytes, value);
  return bytes;
}

/// Returns the value at offset `at` (in bytes) of a received message. @throws CommError if the message is too short
template <class T>
[[nodiscard]] T read(std::span<const std::byte> from, std::size_t at = 0) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (at + sizeof(T) > from.size()) {
    throw CommError("message of " + std::to_string(from.size()) +
                    " bytes is too short: " + std::to_string(at + sizeof(T)) + " expected");
  }
  T value;
  std::memcpy(&value, from.data() + at, sizeof(T));
  return value;
}

}  // namespace merganser::comm::detail
