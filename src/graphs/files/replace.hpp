#pragma once
/// A file written by all ranks that appears whole or not at all.
#include <cstdint>
#include <string>

#include "merganser/comm/transport.hpp"

namespace merganser::graphs::detail {

class Replacement {
 public:
  /// Makes a file beside `path` that all ranks can write to. Collective. @throws InputError on every rank
  Replacement(std::string path, comm::Transport& transport);
  /// Removes the file unless it was kept.
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  /// @throws InputError on this rank
  void write(std::uint64_t at, const void* data, std::uint64_t bytes);
  /// Gives the file its name. Collective. @throws InputError on every rank
  void keep();

 private:
  [[noreturn]] void fail(int reason) const;
  std::string path_;
  std::string part_;
  comm::Transport& transport_;
  int handle_ = -1;
  bool made_ = false;
};

}  // namespace merganser::graphs::detail
