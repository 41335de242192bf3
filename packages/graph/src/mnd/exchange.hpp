#pragma once
/// How ranks hand records to each other: the three ways that are compared.
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

/// What one rank has for the others: records of `record` words each.
struct Letters {
  Letters(int ranks, std::size_t record_words)
      : record(record_words), to(static_cast<std::size_t>(ranks)), partner(static_cast<std::size_t>(ranks)) {}
  std::size_t record;
  std::vector<Words> to;              ///< by rank
  std::vector<std::uint8_t> partner;  ///< ranks that may send something here or get something from here: both know it

  void add_partner(int rank) { partner[static_cast<std::size_t>(rank)] = 1; }
  Words& operator[](int rank) { return to[static_cast<std::size_t>(rank)]; }
};

class RecordExchange : Pinned {
 public:
  /// Whole records from one rank, in any order.
  using Use = std::function<void(int from, std::span<const std::uint64_t> records)>;

  virtual ~RecordExchange() = default;

  /// Delivers letters and hands over what comes. Called by every rank of the transport; letters are spent.
  virtual void run(Letters& letters, const Use& use) = 0;
  /// Pieces handed over so far.
  [[nodiscard]] std::int64_t chunks() const noexcept { return chunks_; }

 protected:
  std::int64_t chunks_ = 0;
};

/// Collective.
[[nodiscard]] std::unique_ptr<RecordExchange> make_record_exchange(comm::Transport& transport,
                                                                   const MndOptions& options);

}  // namespace merganser::mnd::detail
