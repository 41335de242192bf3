#pragma once
/// Segment over one-sided memory.
#include "src/comm/detail/memory.hpp"
#include "src/comm/detail/message_objects.hpp"

namespace merganser::comm::detail {

/// Operations go straight to the owner's block. A sync completes them and tells every neighbour, in either direction of
/// an arc, that this phase is over here; it ends when all have said so.
class MemorySegment final : public SegmentBody {
 public:
  struct Parts {
    std::shared_ptr<Memory> words;
    std::shared_ptr<Memory> control;         ///< a word per neighbour: phases it has ended
    std::vector<std::size_t> remote_words;   ///< per out-neighbour
    std::vector<int> neighbours;             ///< senders and receivers, without this rank
    std::vector<std::uint64_t> their_place;  ///< per neighbour: offset of this rank's word in its control block
    std::function<bool(bool)> any;           ///< logical OR over all ranks
  };
  MemorySegment(Place place, Graph graph, Parts parts, std::size_t words, std::size_t word_bytes);

  void check_usable() const override { place_.life->check("Segment"); }
  [[nodiscard]] std::byte* local() override {
    check_usable();
    return parts_.words->data();
  }
  void put(int rank, std::size_t index, const void* word) override;
  void get(int rank, std::size_t index, std::size_t count, void* to) override;
  void fetch_or(int rank, std::size_t index, const void* word, void* old) override;
  void sync() override;
  bool sync_any(bool mine) override;

 private:
  /// Counts by peer of an out-neighbour; null for this rank. @throws CommError for words that are not there
  PeerTraffic* check(int rank, std::size_t index, std::size_t count) const;
  [[nodiscard]] std::string missing();
  void end_phase();

  Place place_;
  Graph graph_;
  Parts parts_;
  std::vector<PeerTraffic*> peers_;  // per out-arc
  ArcOf out_arc_;
  std::size_t words_;
  std::size_t word_bytes_;
  std::uint64_t phase_ = 0;
};

}  // namespace merganser::comm::detail
