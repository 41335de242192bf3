#include "src/mnd/exchange.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "merganser/base/error.hpp"

namespace merganser::mnd::detail {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

comm::Graph everybody_else(const comm::Transport& transport) {
  std::vector<int> others;
  for (int r = 0; r < transport.size(); ++r)
    if (r != transport.rank()) others.push_back(r);
  return comm::Graph::symmetric(std::move(others));
}

/// As published: one other rank after the other, lowest first, each pair waiting for each other: how many words, then
/// all of them. All pairs are gone through, whether they share something or not.
class Pairs final : public RecordExchange {
 public:
  explicit Pairs(comm::Transport& transport) : mailbox_(transport.mailbox(everybody_else(transport))) {}

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

/// All partners at once: sizes by one wave, then records by a Plan, whose next chunks move while one is used.
class Messages final : public RecordExchange {
 public:
  Messages(comm::Transport& transport, std::size_t chunk)
      : transport_(transport), chunk_(chunk), mailbox_(transport.mailbox(everybody_else(transport))) {}

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
  /// Puts all letters into one array and learns how much will come.
  Words arrange(Letters& letters, comm::Graph& graph, comm::Pattern& pattern) {
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

/// Memory that others read. A rank lays chunks out for its readers, puts sizes into slots of theirs, and they get the
/// chunks: chunk t moves while chunk t - 1 is used and chunk t + 1 is laid out, in two halves by the parity of t.
class Memory final : public RecordExchange {
 public:
  Memory(comm::Transport& transport, std::size_t chunk)
      : transport_(transport),
        chunk_(chunk),
        ranks_(static_cast<std::size_t>(transport.size())),
        room_(room(chunk, ranks_)),
        segment_(transport.segment<std::uint64_t>(everybody_else(transport), 2 * ranks_ * (1 + room_))) {
    std::fill_n(segment_.local().begin(), 2 * ranks_, kEmpty);
    for (auto& half : landed_) half.resize(ranks_);
    segment_.sync();  // no size comes before its slot is ready
  }

  void run(Letters& letters, const Use& use) override {
    const std::size_t step = std::min(chunk_, room_ / letters.record) * letters.record;
    std::size_t longest = 0;
    for (const auto& words : letters.to) longest = std::max(longest, words.size());
    const auto waves = static_cast<std::size_t>(
        transport_.all_reduce(static_cast<std::int64_t>((longest + step - 1) / step), comm::Op::max));
    if (waves == 0) return;
    parity_ ^= 1U;
    lay_out(letters, 0, step);
    tell_sizes(letters);
    segment_.sync();
    const auto coming = take_sizes(letters);
    for (std::size_t wave = 0; wave < waves; ++wave) {
      get(coming, wave, step);
      lay_out(letters, wave + 1, step);
      if (wave > 0) hand_over(coming, wave - 1, step, use);
      segment_.sync();
    }
    hand_over(coming, waves - 1, step, use);
    for (auto& words : letters.to) words = Words();
  }

 private:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};

  /// Words of a chunk: as wanted for the longest records, but no more than a bounded memory allows.
  static std::size_t room(std::size_t chunk, std::size_t ranks) {
    constexpr std::size_t kLongestRecord = 8;
    constexpr std::size_t kMaxWords = std::size_t{1} << 21U;
    return std::max(kLongestRecord, std::min(chunk * kLongestRecord, kMaxWords / (2 * ranks)));
  }
  [[nodiscard]] std::size_t slot(std::size_t from) const { return parity_ * ranks_ + from; }
  [[nodiscard]] std::size_t place(std::size_t wave, std::size_t reader) const {
    return 2 * ranks_ + (wave % 2 * ranks_ + reader) * room_;
  }
  static std::size_t part(std::size_t words, std::size_t wave, std::size_t step) {
    return words <= wave * step ? 0 : std::min(step, words - wave * step);
  }

  void lay_out(const Letters& letters, std::size_t wave, std::size_t step) {
    for (std::size_t r = 0; r < ranks_; ++r) {
      const auto& words = letters.to[r];
      const std::size_t count = part(words.size(), wave, step);
      if (count == 0) continue;
      std::copy_n(words.begin() + static_cast<std::ptrdiff_t>(wave * step), count,
                  segment_.local().begin() + static_cast<std::ptrdiff_t>(place(wave, r)));
    }
  }

  void tell_sizes(const Letters& letters) {
    const auto me = static_cast<std::size_t>(transport_.rank());
    for (std::size_t r = 0; r < ranks_; ++r)
      if (letters.partner[r] != 0) segment_.put(static_cast<int>(r), slot(me), letters.to[r].size());
  }

  /// A slot is written again two exchanges later at the earliest, so a fast rank cannot overtake the reader.
  std::vector<std::size_t> take_sizes(const Letters& letters) {
    std::vector<std::size_t> coming(ranks_);
    for (std::size_t r = 0; r < ranks_; ++r) {
      if (letters.partner[r] == 0) continue;
      const std::uint64_t size = std::exchange(segment_.local()[slot(r)], kEmpty);
      if (size == kEmpty) throw CommError("no size has come from rank " + std::to_string(r) + " in an exchange");
      coming[r] = static_cast<std::size_t>(size);
    }
    return coming;
  }

  void get(const std::vector<std::size_t>& coming, std::size_t wave, std::size_t step) {
    const auto me = static_cast<std::size_t>(transport_.rank());
    for (std::size_t r = 0; r < ranks_; ++r) {
      const std::size_t count = part(coming[r], wave, step);
      if (count == 0) continue;
      Words& to = landed_[wave % 2][r];
      to.resize(count);
      segment_.get(static_cast<int>(r), place(wave, me), count, to.data());
    }
  }

  void hand_over(const std::vector<std::size_t>& coming, std::size_t wave, std::size_t step, const Use& use) {
    for (std::size_t r = 0; r < ranks_; ++r) {
      if (part(coming[r], wave, step) == 0) continue;
      ++chunks_;
      use(static_cast<int>(r), landed_[wave % 2][r]);
    }
  }

  comm::Transport& transport_;
  std::size_t chunk_;
  std::size_t ranks_;
  std::size_t room_;
  std::size_t parity_ = 0;
  std::array<std::vector<Words>, 2> landed_;
  comm::Segment<std::uint64_t> segment_;
};

}  // namespace

std::unique_ptr<RecordExchange> make_record_exchange(comm::Transport& transport, const MndOptions& options) {
  const auto chunk = static_cast<std::size_t>(options.chunk);
  if (options.style == MndStyle::baseline) return std::make_unique<Pairs>(transport);
  const bool memory = options.carrier == MndCarrier::automatic ? transport.capabilities().one_sided
                                                               : options.carrier == MndCarrier::memory;
  if (memory) return std::make_unique<Memory>(transport, chunk);
  return std::make_unique<Messages>(transport, chunk);
}

}  // namespace merganser::mnd::detail
