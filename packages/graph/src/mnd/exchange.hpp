#pragma once
/// Multi-node Boruvka: sparse exchange of records between ranks, in the three implementations that are compared.
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "merganser/base/pinned.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/mnd/mnd.hpp"

namespace merganser::mnd::detail {

using Words = std::vector<std::uint64_t>;

/// Send buffers of one rank: for each other rank, records of `record` words each.
struct Letters {
  Letters(int ranks, std::size_t record_words)
      : record(record_words), to(static_cast<std::size_t>(ranks)), partner(static_cast<std::size_t>(ranks)) {}
  std::size_t record;                 ///< words of a record
  std::vector<Words> to;              ///< by receiving rank
  std::vector<std::uint8_t> partner;  ///< by rank: 1: messages either way are possible; symmetric between ranks

  /// Marks a rank as a partner; it must mark this one too.
  void add_partner(int rank) { partner[static_cast<std::size_t>(rank)] = 1; }
  /// Returns the send buffer for a rank.
  Words& operator[](int rank) { return to[static_cast<std::size_t>(rank)]; }
};

/// Interface of the exchanges.
class RecordExchange : Pinned {
 public:
  /// Receives whole records from one rank, in any order and in one or several chunks.
  using Use = std::function<void(int from, std::span<const std::uint64_t> records)>;

  virtual ~RecordExchange() = default;

  /// Sends the letters, and calls `use` with what is received. Called by every rank of the transport. Consumes the letters.
  virtual void run(Letters& letters, const Use& use) = 0;
  /// Returns the number of chunks received so far.
  [[nodiscard]] std::int64_t chunks() const noexcept { return chunks_; }

 protected:
  std::int64_t chunks_ = 0;
};

/// Creates the exchange of a style and carrier. Collective.
[[nodiscard]] std::unique_ptr<RecordExchange> make_record_exchange(comm::Transport& transport,
                                                                   const MndOptions& options);

}  // namespace merganser::mnd::detail
