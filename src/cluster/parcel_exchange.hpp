#pragma once
/// Exchange of parcels that lie on other ranks than their owners, in rounds that bound the memory for messages.
#include <cstddef>
#include <span>
#include <vector>

#include "merganser/base/aligned_memory.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::cluster {

/// Parcel of this rank's container that another rank owns.
struct LeavingParcel {
  std::size_t position;  ///< in the container
  int owner;             ///< rank that owns the parcel's position
};

/// Sender of a rank's leaving parcels to their owners. Parcels that arrive take the places of those that were sent; only parcels
/// behind places left over move, in their order.
class ParcelExchange {
 public:
  /// Allocates the memory of a round. Local. Container and transport must outlive this.
  /// @param leaving  parcels to send, by ascending position
  /// @param round_bytes  most that a rank sends in one round, or one parcel if that is more; the same on every rank
  ParcelExchange(Parcels& parcels, std::vector<LeavingParcel> leaving, comm::Transport& transport,
                 std::size_t round_bytes = kRoundBytes);

  /// Exchanges the leaving parcels of all ranks. Collective: one reduction, and an exchange per round; no exchange if no rank has any.
  void run();

 private:
  static constexpr std::size_t kRoundBytes = std::size_t{1} << 23;  ///< which caches beyond the second hold

  /// Sends some of the leaving parcels to their owners, and stores those that arrive. Collective.
  void exchange(std::span<const LeavingParcel> some);
  /// Copies leaving parcels to `packed_`, those of each owner together, of which `first_` tells the places.
  void pack(std::span<const LeavingParcel> some);
  /// Stores the parcels of a message in the places of parcels that were sent, and behind the last parcel when there are none left.
  void store(std::span<const std::byte> message);
  /// Copies a parcel of the container to another position in it.
  void move_parcel(std::size_t from, std::size_t to);
  /// Moves parcels to the places of sent parcels that no other one has taken: those that have arrived at the end first, then all
  /// that lie behind, in their order.
  void close_gaps();

  Parcels& parcels_;
  std::vector<LeavingParcel> leaving_;
  comm::Transport& transport_;
  std::size_t size_before_;         // number of parcels before the exchange
  std::size_t at_once_;             // parcels that a rank sends in one round
  std::size_t sent_ = 0;            // of `leaving_`
  std::size_t filled_ = 0;          // places of sent parcels that others have taken
  std::vector<std::size_t> first_;  // by owner: first of its parcels in `packed_`
  std::vector<std::size_t> next_;   // by owner: where its next parcel goes
  RawBuffer packed_;                // parcels of one round, site and row each
};

}  // namespace merganser::cluster
