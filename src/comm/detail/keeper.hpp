#pragma once
/// What every rank must free together.
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "merganser/base/pinned.hpp"

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
  /// Adds up numbers over all ranks, element by element. Collective.
  using Add = std::function<void(std::span<std::int64_t>)>;

  /// Collective. Called before a new thing is made.
  void sweep(const Add& add);
  /// The new thing; every rank keeps the same ones, in the order of their creation.
  template <class T>
  std::shared_ptr<T> keep(std::shared_ptr<T> thing) {
    kept_.push_back(thing);
    return thing;
  }
  /// Frees all. Collective; nobody may use a thing any more.
  void close();

 private:
  std::vector<std::shared_ptr<Shared>> kept_;
};

}  // namespace merganser::comm::detail
