#pragma once
/// What every rank must free together.
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "merganser/base/pinned.hpp"
#include "src/comm/detail/bytes.hpp"

namespace merganser::comm::detail {

class Shared : Pinned {
 public:
  virtual ~Shared() = default;
  /// Frees it on every rank. Collective.
  virtual void free() = 0;
};

/// Frees the things that every rank has let go of. So the destructors of objects need not be collective and may run
/// in any order.
class Keeper {
 public:
  using AllGather = std::function<std::vector<Bytes>(std::span<const std::byte>)>;

  /// Collective. Called before a new thing is made.
  void sweep(const AllGather& all_gather);
  /// The new thing, numbered in order of creation.
  template <class T>
  std::shared_ptr<T> keep(std::shared_ptr<T> thing) {
    kept_.push_back({next_++, thing});
    return thing;
  }
  /// Frees all. Collective; nobody may use a thing any more.
  void close();

 private:
  struct Kept {
    std::uint64_t number;
    std::shared_ptr<Shared> thing;
  };
  std::vector<Kept> kept_;
  std::uint64_t next_ = 0;
};

}  // namespace merganser::comm::detail
