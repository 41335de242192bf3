#pragma once
/// Records between all ranks.
#include <cstring>
#include <span>
#include <vector>

#include "merganser/comm/transport.hpp"

namespace merganser::msf::euclidean {

template <class T>
[[nodiscard]] std::vector<T> records_of(std::vector<std::byte>&& bytes) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> records(bytes.size() / sizeof(T));
  if (!records.empty()) std::memcpy(static_cast<void*>(records.data()), bytes.data(), records.size() * sizeof(T));
  bytes = {};
  return records;
}

/// Every rank's records, by rank. Collective.
template <class T>
[[nodiscard]] std::vector<std::vector<T>> gather_each(comm::Transport& transport, const std::vector<T>& mine) {
  std::vector<std::vector<T>> all;
  for (auto& bytes : transport.all_gather(std::as_bytes(std::span(mine))))
    all.push_back(records_of<T>(std::move(bytes)));
  return all;
}

template <class T>
[[nodiscard]] std::vector<T> flat(std::vector<std::vector<T>>&& parts) {
  std::size_t count = 0;
  for (const auto& part : parts) count += part.size();
  std::vector<T> all;
  all.reserve(count);
  for (auto& part : parts) {
    all.insert(all.end(), part.begin(), part.end());
    part = {};
  }
  return all;
}

/// The same, one after the other.
template <class T>
[[nodiscard]] std::vector<T> gather_all(comm::Transport& transport, const std::vector<T>& mine) {
  return flat(gather_each(transport, mine));
}

/// to[r] goes to rank r and is emptied; what came, by rank. Collective.
template <class T>
[[nodiscard]] std::vector<std::vector<T>> exchange(comm::Transport& transport, std::vector<std::vector<T>>& to) {
  std::vector<std::vector<std::byte>> out(to.size());
  for (std::size_t r = 0; r < to.size(); ++r) {
    const auto bytes = std::as_bytes(std::span(to[r]));
    out[r].assign(bytes.begin(), bytes.end());
    to[r] = {};
  }
  std::vector<std::vector<T>> in;
  auto came = transport.all_to_all(out);
  out = {};
  for (auto& bytes : came) in.push_back(records_of<T>(std::move(bytes)));
  return in;
}

}  // namespace merganser::msf::euclidean
