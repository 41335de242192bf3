#pragma once
/// Multi-node Boruvka: sparse exchange of records (names, owners, edges of components) between ranks, in the three implementations
/// that are compared: pairwise blocking, chunked messages, chunked remote memory access.
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "merganser/base/pinned.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/mnd/mnd.hpp"

namespace merganser::mnd::detail {

/// Records of a message of multi-node Boruvka, as 64-bit words.
using Words = std::vector<std::uint64_t>;

/// Send buffers of one rank for a RecordExchange of multi-node Boruvka: for each other rank, records of `record` words each.
struct Letters {
  Letters(int ranks, std::size_t record_words)
      : record(record_words), to(static_cast<std::size_t>(ranks)), partner(static_cast<std::size_t>(ranks)) {}
  std::size_t record;                 ///< 64-bit words of a record
  std::vector<Words> to;              ///< by receiving rank: the records to send
  std::vector<std::uint8_t> partner;  ///< by rank: 1 where messages either way are possible; symmetric between ranks

  /// Marks a rank as a partner, with which records may be exchanged either way; that rank must mark this one too.
  void add_partner(int rank) { partner[static_cast<std::size_t>(rank)] = 1; }
  /// Returns the buffer of the records that will be sent to a rank.
  Words& operator[](int rank) { return to[static_cast<std::size_t>(rank)]; }
};

/// Interface of the record exchanges of multi-node Boruvka, one per style of communication and carrier.
class RecordExchange : Pinned {
 public:
  /// Callback for received records: gets whole records of rank `from`, ranks in any order, one or several chunks of each.
  using Use = std::function<void(int from, std::span<const std::uint64_t> records)>;

  virtual ~RecordExchange() = default;

  /// Sends the records in this rank's send buffers, and calls `use` with those received. Called by every rank of the transport.
  /// Empties the buffers.
  virtual void run(Letters& letters, const Use& use) = 0;
  /// Returns the number of chunks of records that this rank has received so far.
  [[nodiscard]] std::int64_t chunks() const noexcept { return chunks_; }

 protected:
  std::int64_t chunks_ = 0;
};

/// Creates the record exchange for the style of communication and the carrier that the options of mnd() name. Collective.
[[nodiscard]] std::unique_ptr<RecordExchange> make_record_exchange(comm::Transport& transport,
                                                                   const MndOptions& options);

}  // namespace merganser::mnd::detail
