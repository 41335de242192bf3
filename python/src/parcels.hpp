#pragma once
/// Container of parcels that Python owns, with exclusive access for one call at a time.
#include <memory>
#include <mutex>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/pinned.hpp"
#include "merganser/parcels/parcels.hpp"
#include "python/src/arrays.hpp"

namespace merganser::python {

/// Parcels of this process that Python owns as ParcelsFound, which one call at a time may access.
class ParcelsObject : Pinned {
 public:
  /// Takes ownership of the parcels of this process.
  explicit ParcelsObject(Parcels parcels) : parcels_(std::move(parcels)) {}

  /// Scoped exclusive access of one call to the parcels of this process; ends with the object.
  class Use {
   public:
    /// Takes the parcels and the lock of their container, which is held.
    Use(Parcels& parcels, std::unique_lock<std::mutex> lock) : parcels_(parcels), lock_(std::move(lock)) {}
    Parcels* operator->() const noexcept { return &parcels_; }
    Parcels& operator*() const noexcept { return parcels_; }

   private:
    Parcels& parcels_;
    std::unique_lock<std::mutex> lock_;
  };
  /// Acquires exclusive access to the parcels of this process. @throws UsageError, without waiting, while another call has it, an
  /// interrupted one that still runs included
  [[nodiscard]] Use use() {
    std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) throw UsageError("parcels: in use by another thread; allowed: one call at a time");
    return {parcels_, std::move(lock)};
  }

 private:
  Parcels parcels_;
  std::mutex mutex_;
};

}  // namespace merganser::python
