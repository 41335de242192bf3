#pragma once
/// The objects of the checked decorator.
#include <memory>
#include <unordered_map>
#include <vector>

#include "src/comm/decorators/decorator.hpp"
#include "src/comm/detail/message_objects.hpp"

namespace merganser::comm::detail {

/// Mailbox waves taken part in with each rank, over all mailboxes of a transport.
using WaveLog = std::vector<std::int64_t>;

/// Every message carries its number on the arc and the kind of its wave.
class CheckedMailbox final : public Mailbox {
 public:
  CheckedMailbox(std::unique_ptr<Mailbox> inner, Place place, std::shared_ptr<WaveLog> waves);
  void check_usable() const override { inner_->check_usable(); }

 protected:
  void step_all() override;
  void step_some(std::span<const std::uint8_t> active_out, std::span<const std::uint8_t> active_in) override;

 private:
  enum class Kind : std::uint64_t { full, partial };
  struct Header {  // as long as the alignment of records, so that these stay aligned
    std::uint64_t number;
    Kind kind;
  };
  void step(Kind kind, std::span<const std::uint8_t> active_out, std::span<const std::uint8_t> active_in);
  /// Hands the outboxes to the inner mailbox. @return their sizes
  std::vector<std::size_t> pass_on(Kind kind, std::span<const std::uint8_t> active_out);
  void bring_back(Kind kind, std::size_t arc);

  std::unique_ptr<Mailbox> inner_;
  Place place_;
  std::shared_ptr<WaveLog> waves_;
  std::vector<std::uint64_t> sent_;
  std::vector<std::uint64_t> taken_;
};

/// Every slot is sent once, both ends of an arc count alike, and a wave lies between two rounds.
class CheckedStream final : public Stream {
 public:
  CheckedStream(std::unique_ptr<Stream> inner, std::unique_ptr<Stream> counts, Place place,
                std::shared_ptr<WaveLog> waves);

  void open(std::span<const std::size_t> counts_out, std::span<const std::size_t> counts_in) override;
  void send(std::size_t arc, std::size_t slot, std::uint32_t value) override;
  std::size_t take(const Take& callback) override;
  void wait() override;
  void finish() override;
  void check_usable() const override { inner_->check_usable(); }

 private:
  void check_waves(std::span<const std::size_t> counts, const std::vector<int>& ranks, std::vector<std::int64_t>& seen);
  std::size_t take_counts();
  [[nodiscard]] std::string missing() const;

  struct Record {
    std::size_t arc;
    std::size_t slot;
    std::uint32_t value;
  };
  std::unique_ptr<Stream> inner_;
  std::unique_ptr<Stream> counts_;
  Place place_;
  std::shared_ptr<WaveLog> waves_;
  std::vector<std::int64_t> waves_out_;  // per arc: waves with that rank when the arc last carried a round
  std::vector<std::int64_t> waves_in_;
  std::vector<std::size_t> expected_;  // per in-arc
  std::vector<std::size_t> came_;      // per in-arc: of them
  std::vector<Record> early_;          // came while wait() looked for counts
  SendRules rules_;
};

/// At sync the owner of a word hears of every operation on it: two different values put in one phase, a put and a
/// fetch_or, or a put and a local write are conflicts. What a get asks for is handed over at sync, not before.
class CheckedSegment final : public SegmentBody {
 public:
  struct Parts {
    std::unique_ptr<SegmentBody> body;
    std::unique_ptr<WordLimits> limits;
    std::unique_ptr<Mailbox> logs;
  };
  CheckedSegment(Place place, Parts parts, std::size_t words, std::size_t word_bytes);

  void check_usable() const override { parts_.body->check_usable(); }
  [[nodiscard]] std::byte* local() override { return parts_.body->local(); }
  void put(int rank, std::size_t index, const void* word) override;
  void get(int rank, std::size_t index, std::size_t count, void* to) override;
  void fetch_or(int rank, std::size_t index, const void* word, void* old) override;
  void sync() override;
  bool sync_any(bool mine) override;

 private:
  struct Entry {
    std::uint64_t index;
    std::uint64_t word;
    std::uint64_t is_or;
  };
  struct Known {
    Entry entry;
    int from;
  };
  struct Wanted {
    Bytes bytes;
    void* to;
  };
  using Words = std::unordered_map<std::uint64_t, Known>;

  void log(int rank, Entry entry);
  void* later(void* to, std::size_t bytes);
  void note(Words& words, const Entry& entry, int from) const;
  void check_local_writes(const Words& words) const;
  void exchange_logs();
  void hand_over();
  void begin_phase();
  [[nodiscard]] std::string name(std::uint64_t index) const;

  Place place_;
  Parts parts_;
  std::size_t words_;
  std::size_t word_bytes_;
  ArcOf out_arc_;
  std::vector<Entry> own_;
  Bytes before_;  // the words when the phase began
  std::vector<std::unique_ptr<Wanted>> wanted_;
};

}  // namespace merganser::comm::detail
