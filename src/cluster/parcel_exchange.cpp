// Exchange of parcels with their owners in rounds; arriving parcels take the places of those that were sent.
#include "src/cluster/parcel_exchange.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "merganser/comm/collectives.hpp"
#include "merganser/parcels/packed.hpp"

namespace merganser::cluster {

ParcelExchange::ParcelExchange(Parcels& parcels, std::vector<LeavingParcel> leaving, comm::Transport& transport,
                               std::size_t round_bytes)
    : parcels_(parcels),
      leaving_(std::move(leaving)),
      transport_(transport),
      size_before_(parcels.size()),
      at_once_(std::max<std::size_t>(1, round_bytes / parcels.parcel_bytes())),
      packed_(std::min(leaving_.size(), at_once_) * parcels.parcel_bytes()) {}

// Rounds of the exchange: as many on every rank as the one needs that sends most.
void ParcelExchange::run() {
  const std::size_t rounds = comm::count_rounds(transport_, leaving_.size(), at_once_);
  const std::span<const LeavingParcel> all(leaving_);
  for (std::size_t r = 0; r < rounds; ++r) exchange(all.subspan(sent_, std::min(all.size() - sent_, at_once_)));
  close_gaps();
}

void ParcelExchange::exchange(std::span<const LeavingParcel> some) {
  pack(some);
  sent_ += some.size();
  const std::size_t bytes = parcels_.parcel_bytes();
  std::vector<std::span<const std::byte>> to(static_cast<std::size_t>(transport_.size()));
  for (std::size_t r = 0; r < to.size(); ++r)
    to[r] = {packed_.data() + first_[r] * bytes, (first_[r + 1] - first_[r]) * bytes};
  for (const auto message : comm::all_to_all(transport_, to)) store(message);
}

void ParcelExchange::pack(std::span<const LeavingParcel> some) {
  const std::size_t bytes = parcels_.parcel_bytes();
  first_.assign(static_cast<std::size_t>(transport_.size()) + 1, 0);
  for (const LeavingParcel& p : some) ++first_[static_cast<std::size_t>(p.owner) + 1];
  for (std::size_t r = 1; r < first_.size(); ++r) first_[r] += first_[r - 1];
  next_ = first_;
  for (const LeavingParcel& p : some) {
    std::byte* const to = packed_.data() + next_[static_cast<std::size_t>(p.owner)]++ * bytes;
    std::memcpy(to, &parcels_.site(p.position), sizeof(Site));
    std::memcpy(to + sizeof(Site), parcels_.row(p.position), bytes - sizeof(Site));
  }
}

void ParcelExchange::store(std::span<const std::byte> message) {
  const std::size_t bytes = parcels_.parcel_bytes();
  for (; filled_ < sent_ && message.size() >= bytes; message = message.subspan(bytes)) {
    const std::size_t at = leaving_[filled_++].position;
    std::memcpy(&parcels_.site(at), message.data(), sizeof(Site));
    std::memcpy(parcels_.row(at), message.data() + sizeof(Site), bytes - sizeof(Site));
  }
  append_parcels(message, parcels_);
}

void ParcelExchange::move_parcel(std::size_t from, std::size_t to) {
  parcels_.site(to) = parcels_.site(from);
  std::memcpy(parcels_.row(to), parcels_.row(from), parcels_.schema().width() * sizeof(double));
}

void ParcelExchange::close_gaps() {
  // Parcels that came before places for them were free.
  for (std::size_t last = parcels_.size(); filled_ < leaving_.size() && last > size_before_; --last) {
    move_parcel(last - 1, leaving_[filled_++].position);
    parcels_.resize(last - 1);
  }
  if (filled_ == leaving_.size()) return;
  std::size_t to = leaving_[filled_].position;
  std::size_t gap = filled_;
  for (std::size_t from = to; from < parcels_.size(); ++from) {
    if (gap < leaving_.size() && leaving_[gap].position == from) {
      ++gap;
      continue;
    }
    move_parcel(from, to++);
  }
  parcels_.resize(to);
}

}  // namespace merganser::cluster
