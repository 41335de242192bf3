// Multi-node Boruvka: the record exchanges that are compared: pairwise blocking, chunked messages, chunked remote memory.
#include "src/mnd/exchange.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "merganser/base/error.hpp"

namespace merganser::mnd::detail {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);  // bytes of a word of a record

/// Returns the process graph in which this rank has arcs to and from all other ranks.
comm::Graph all_other_ranks(const comm::Transport& transport) {
  std::vector<int> others;
  for (int r = 0; r < transport.size(); ++r)
    if (r != transport.rank()) others.push_back(r);
  return comm::Graph::symmetric(std::move(others));
}

/// Record exchange of multi-node Boruvka in style `baseline`, as published: blocking, with one other rank after the other, lowest
/// first: the number of words, then all of them. Every pair of ranks exchanges numbers, whether they share edges or not.
class PairwiseExchange final : public RecordExchange {
 public:
  /// Opens the mailbox between all ranks. Collective.
  explicit PairwiseExchange(comm::Transport& transport) : mailbox_(transport.mailbox(all_other_ranks(transport))) {}

  void run(Letters& letters, const Use& use) override {
    const auto& others = mailbox_->graph().out;
    std::vector<std::uint8_t> active(others.size());
    for (std::size_t arc = 0; arc < others.size(); ++arc) {
      active[arc] = 1;
      Words words = std::move(letters[others[arc]]);
      mailbox_->post(arc, static_cast<std::uint64_t>(words.size()));
      mailbox_->step(active, active);
      const std::uint64_t coming = mailbox_->records<std::uint64_t>(arc)[0];
      if (coming > 0 || !words.empty()) {
        mailbox_->post_all<std::uint64_t>(arc, words);
        mailbox_->step(active, active);
      }
      if (coming > 0) {
        use(others[arc], mailbox_->records<std::uint64_t>(arc));
        ++chunks_;
      }
      active[arc] = 0;
    }
  }

 private:
  std::unique_ptr<comm::Mailbox> mailbox_;
};

/// Record exchange of multi-node Boruvka in style `tuned` by messages, with all partners at once: sizes by one wave of a mailbox,
/// then records by a Plan, which transfers the next chunks while one is processed.
class MessageExchange final : public RecordExchange {
 public:
  /// Opens the mailbox for sizes. Collective. @param chunk  records per chunk
  MessageExchange(comm::Transport& transport, std::size_t chunk)
      : transport_(transport), chunk_(chunk), mailbox_(transport.mailbox(all_other_ranks(transport))) {}

  void run(Letters& letters, const Use& use) override {
    comm::Graph graph;
    comm::Pattern pattern;
    const Words all = arrange(letters, graph, pattern);
    const std::size_t record = letters.record;
    const std::vector<int> from = graph.in;
    const auto plan = transport_.plan(std::move(graph), std::move(pattern), {record * kWord, chunk_});
    plan->pull(std::as_bytes(std::span(all)), [&](const comm::Plan::Chunk& chunk) {
      ++chunks_;
      use(from[chunk.arc], {reinterpret_cast<const std::uint64_t*>(chunk.data.data()), chunk.data.size() / kWord});
    });
  }

 private:
  /// Concatenates the send buffers for all partners, exchanges their numbers of records, and builds the graph and the pattern of
  /// the plan from them. Called by every rank. @return the concatenated words
  Words arrange(Letters& letters, comm::Graph& graph, comm::Pattern& pattern) {
    // Partners are symmetric: each partner posts a size too, and arcs in and out are the same.
    const auto& others = mailbox_->graph().out;
    std::vector<std::uint8_t> active(others.size());
    Words all;
    for (std::size_t arc = 0; arc < others.size(); ++arc) {
      if (letters.partner[static_cast<std::size_t>(others[arc])] == 0) continue;
      const Words words = std::move(letters[others[arc]]);
      active[arc] = 1;
      mailbox_->post(arc, static_cast<std::uint64_t>(words.size() / letters.record));
      pattern.out.emplace_back(words.size() / letters.record);
      std::iota(pattern.out.back().begin(), pattern.out.back().end(), all.size() / letters.record);
      all.insert(all.end(), words.begin(), words.end());
      graph.out.push_back(others[arc]);
    }
    mailbox_->step(active, active);
    for (std::size_t arc = 0; arc < others.size(); ++arc)
      if (active[arc] != 0) pattern.in.push_back(static_cast<std::size_t>(mailbox_->records<std::uint64_t>(arc)[0]));
    graph.in = graph.out;
    return all;
  }

  comm::Transport& transport_;
  std::size_t chunk_;
  std::unique_ptr<comm::Mailbox> mailbox_;
};

/// Record exchange of multi-node Boruvka in style `tuned` by remote memory access. A rank packs chunks into its segment and puts
/// their sizes into slots of the receivers, which get the chunks: chunk t is transferred while chunk t - 1 is processed and chunk
/// t + 1 is packed, in two halves of the segment by the parity of t.
class RemoteMemoryExchange final : public RecordExchange {
 public:
  /// Allocates the segment on all ranks and clears its slots. Collective. @param chunk  records per chunk
  RemoteMemoryExchange(comm::Transport& transport, std::size_t chunk)
      : transport_(transport),
        chunk_(chunk),
        ranks_(static_cast<std::size_t>(transport.size())),
        room_(chunk_words(chunk, ranks_)),
        segment_(transport.segment<std::uint64_t>(all_other_ranks(transport), 2 * ranks_ * (1 + room_))) {
    std::fill_n(segment_.local().begin(), 2 * ranks_, kEmpty);
    for (auto& half : landed_) half.resize(ranks_);
    segment_.sync();  // no size is put before its slot is initialised
  }

  void run(Letters& letters, const Use& use) override {
    // All ranks make as many waves as the longest message of any rank has chunks, since sync() is collective.
    const std::size_t step = std::min(chunk_, room_ / letters.record) * letters.record;
    std::size_t longest = 0;
    for (const auto& words : letters.to) longest = std::max(longest, words.size());
    const auto waves = static_cast<std::size_t>(
        transport_.all_reduce(static_cast<std::int64_t>((longest + step - 1) / step), comm::Op::max));
    if (waves == 0) return;
    parity_ ^= 1U;
    pack(letters, 0, step);
    put_sizes(letters);
    segment_.sync();
    const auto coming = collect_sizes(letters);
    for (std::size_t wave = 0; wave < waves; ++wave) {
      get(coming, wave, step);
      pack(letters, wave + 1, step);
      if (wave > 0) deliver(coming, wave - 1, step, use);
      segment_.sync();
    }
    deliver(coming, waves - 1, step, use);
    for (auto& words : letters.to) words = Words();
  }

 private:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};  // slot into which no size has been put

  /// Returns the capacity of a chunk in the segment in words: `chunk` of the longest records, limited so that the chunks of all
  /// ranks stay within 16 MiB, and at least one record.
  static std::size_t chunk_words(std::size_t chunk, std::size_t ranks) {
    constexpr std::size_t kLongestRecord = 8;
    constexpr std::size_t kMaxWords = std::size_t{1} << 21U;
    return std::max(kLongestRecord, std::min(chunk * kLongestRecord, kMaxWords / (2 * ranks)));
  }
  /// Returns the offset in this rank's segment, in words, of the slot into which rank `from` puts the size of its message.
  [[nodiscard]] std::size_t slot(std::size_t from) const { return parity_ * ranks_ + from; }
  /// Returns the offset in the sender's segment, in words, of the chunk of a wave that rank `reader` gets.
  [[nodiscard]] std::size_t chunk_offset(std::size_t wave, std::size_t reader) const {
    return 2 * ranks_ + (wave % 2 * ranks_ + reader) * room_;
  }
  /// Returns the length in words of the chunk of a wave, of a message of `words` words cut into chunks of `step`.
  static std::size_t chunk_length(std::size_t words, std::size_t wave, std::size_t step) {
    return words <= wave * step ? 0 : std::min(step, words - wave * step);
  }

  /// Copies the chunks that other ranks get in a wave from the send buffers into this rank's segment. Local.
  void pack(const Letters& letters, std::size_t wave, std::size_t step) {
    for (std::size_t r = 0; r < ranks_; ++r) {
      const auto& words = letters.to[r];
      const std::size_t count = chunk_length(words.size(), wave, step);
      if (count == 0) continue;
      std::copy_n(words.begin() + static_cast<std::ptrdiff_t>(wave * step), count,
                  segment_.local().begin() + static_cast<std::ptrdiff_t>(chunk_offset(wave, r)));
    }
  }

  /// Puts the number of words of this rank's message for each partner into this rank's slot of the partner's segment.
  void put_sizes(const Letters& letters) {
    const auto me = static_cast<std::size_t>(transport_.rank());
    for (std::size_t r = 0; r < ranks_; ++r)
      if (letters.partner[r] != 0) segment_.put(static_cast<int>(r), slot(me), letters.to[r].size());
  }

  /// Reads and clears the slots of this rank's segment. @return by rank: words of the message to come. A slot is written again two
  /// exchanges later at the earliest (parity_), so that a fast rank cannot overwrite a size that was not read yet.
  /// @throws CommError for a partner that has put no size
  std::vector<std::size_t> collect_sizes(const Letters& letters) {
    std::vector<std::size_t> coming(ranks_);
    for (std::size_t r = 0; r < ranks_; ++r) {
      if (letters.partner[r] == 0) continue;
      const std::uint64_t size = std::exchange(segment_.local()[slot(r)], kEmpty);
      if (size == kEmpty) throw CommError("no size has come from rank " + std::to_string(r) + " in an exchange");
      coming[r] = static_cast<std::size_t>(size);
    }
    return coming;
  }

  /// Starts to get the chunks of a wave from the segments of their senders; the gets are complete after the next sync().
  void get(const std::vector<std::size_t>& coming, std::size_t wave, std::size_t step) {
    const auto me = static_cast<std::size_t>(transport_.rank());
    for (std::size_t r = 0; r < ranks_; ++r) {
      const std::size_t count = chunk_length(coming[r], wave, step);
      if (count == 0) continue;
      Words& to = landed_[wave % 2][r];
      to.resize(count);
      segment_.get(static_cast<int>(r), chunk_offset(wave, me), count, to.data());
    }
  }

  /// Passes the chunks of records that this rank got in a wave to `use`, by ascending sender.
  void deliver(const std::vector<std::size_t>& coming, std::size_t wave, std::size_t step, const Use& use) {
    for (std::size_t r = 0; r < ranks_; ++r) {
      if (chunk_length(coming[r], wave, step) == 0) continue;
      ++chunks_;
      use(static_cast<int>(r), landed_[wave % 2][r]);
    }
  }

  comm::Transport& transport_;
  std::size_t chunk_;
  std::size_t ranks_;                         ///< number of ranks
  std::size_t room_;                          ///< capacity of a chunk in the segment, in words
  std::size_t parity_ = 0;                    ///< parity of the number of exchanges: the set of slots in use
  std::array<std::vector<Words>, 2> landed_;  ///< received chunks, by parity of the wave and rank
  comm::Segment<std::uint64_t> segment_;      ///< slots of both parities, then chunks of both halves
};

}  // namespace

std::unique_ptr<RecordExchange> make_record_exchange(comm::Transport& transport, const MndOptions& options) {
  const auto chunk = static_cast<std::size_t>(options.chunk);
  if (options.style == MndStyle::baseline) return std::make_unique<PairwiseExchange>(transport);
  const bool memory = options.carrier == MndCarrier::automatic ? transport.capabilities().one_sided
                                                               : options.carrier == MndCarrier::memory;
  if (memory) return std::make_unique<RemoteMemoryExchange>(transport, chunk);
  return std::make_unique<MessageExchange>(transport, chunk);
}

}  // namespace merganser::mnd::detail
