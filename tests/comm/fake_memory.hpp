#pragma once
/// One-sided memory of several ranks in one thread that does no more than its contract promises: what is put arrives
/// late and, but for order(), in any order, and sources are read at the last moment.
#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "merganser/base/random.hpp"
#include "src/comm/detail/bytes.hpp"
#include "src/comm/detail/memory.hpp"

namespace merganser::test {

/// Blocks of all ranks and the puts that are on their way.
class FakeBlocks {
 public:
  FakeBlocks(std::vector<std::size_t> bytes, std::uint64_t seed) : random_(seed, 0x6d656d6f7279ULL, 0) {
    for (const std::size_t n : bytes) blocks_.emplace_back(n / 8 + 1);
  }

  [[nodiscard]] std::byte* data(int rank) { return reinterpret_cast<std::byte*>(blocks_.at(at(rank)).data()); }
  [[nodiscard]] std::uint64_t& word(int rank, std::size_t offset) { return blocks_.at(at(rank)).at(offset / 8); }

  struct Put {
    int from;
    int to;
    std::size_t offset;
    std::uint64_t epoch;           // number of order() calls of the sender before it
    const void* source = nullptr;  // in the caller's memory, until it is read
    comm::detail::Bytes bytes;
  };
  void add(Put put) { puts_.push_back(std::move(put)); }
  /// Reads the sources of a rank, which may then be changed.
  void read_sources(int from) {
    for (Put& put : puts_) {
      if (put.from != from || put.source == nullptr) continue;
      std::memcpy(put.bytes.data(), put.source, put.bytes.size());
      put.source = nullptr;
    }
  }
  /// Lets some puts arrive, those between two calls of order() in any order; with `all`, all of rank `from`.
  void deliver(int from = -1, bool all = false) {
    for (;;) {
      std::vector<std::size_t> ready;
      for (std::size_t i = 0; i < puts_.size(); ++i)
        if (puts_[i].source == nullptr && (!all || puts_[i].from == from) && is_first(puts_[i])) ready.push_back(i);
      if (ready.empty() || (!all && random_.below(3) == 0)) return;
      const std::size_t one = ready[random_.below(ready.size())];
      const Put put = std::move(puts_[one]);
      puts_.erase(puts_.begin() + static_cast<std::ptrdiff_t>(one));
      if (!put.bytes.empty()) std::memcpy(data(put.to) + put.offset, put.bytes.data(), put.bytes.size());
    }
  }
  [[nodiscard]] bool is_idle() const { return puts_.empty(); }

 private:
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }
  /// No put of the same two ranks is of an earlier epoch.
  [[nodiscard]] bool is_first(const Put& put) const {
    return std::none_of(puts_.begin(), puts_.end(), [&](const Put& other) {
      return other.from == put.from && other.to == put.to && other.epoch < put.epoch;
    });
  }

  Random random_;
  std::vector<std::vector<std::uint64_t>> blocks_;
  std::vector<Put> puts_;
};

/// Memory of one rank over FakeBlocks. `calls` notes those calls that order or complete, when somebody asks for it.
class FakeMemory final : public comm::detail::Memory {
 public:
  FakeMemory(std::shared_ptr<FakeBlocks> blocks, int rank, std::vector<std::string>* calls = nullptr,
             std::string name = {})
      : blocks_(std::move(blocks)), rank_(rank), calls_(calls), name_(std::move(name)) {}

  [[nodiscard]] std::byte* data() noexcept override { return blocks_->data(rank_); }
  void put(int rank, std::size_t offset, const void* from, std::size_t bytes) override {
    blocks_->add({rank_, rank, offset, epoch_, from, comm::detail::Bytes(bytes)});
  }
  void put_word(int rank, std::size_t offset, std::uint64_t word, std::size_t bytes) override {
    note("put_word " + std::to_string(rank) + " " + std::to_string(offset) + " " + std::to_string(word));
    FakeBlocks::Put put{rank_, rank, offset, epoch_, nullptr, comm::detail::Bytes(bytes)};
    std::memcpy(put.bytes.data(), &word, bytes);
    blocks_->add(std::move(put));
  }
  void get(int rank, std::size_t offset, void* to, std::size_t bytes) override {
    note("get " + std::to_string(rank) + " " + std::to_string(offset) + " " + std::to_string(bytes));
    gets_.push_back({rank, offset, to, bytes});
  }
  void fetch_or(int rank, std::size_t offset, std::uint64_t operand, void* old, std::size_t bytes) override {
    note("fetch_or " + std::to_string(rank) + " " + std::to_string(offset) + " " + std::to_string(operand));
    std::uint64_t word = 0;
    std::memcpy(&word, blocks_->data(rank) + offset, bytes);
    std::memcpy(old, &word, bytes);
    word |= operand;
    std::memcpy(blocks_->data(rank) + offset, &word, bytes);
  }
  void order() override {
    note("order");
    blocks_->read_sources(rank_);
    ++epoch_;
  }
  void commit() override {
    note("commit");
    blocks_->read_sources(rank_);
  }
  void complete() override {
    note("complete");
    blocks_->read_sources(rank_);
    blocks_->deliver(rank_, true);
    for (const auto& get : gets_) std::memcpy(get.to, blocks_->data(get.rank) + get.offset, get.bytes);
    gets_.clear();
  }
  void progress() override {
    note("progress");
    blocks_->deliver();
    if (polled_) polled_();
  }
  void begin_phase() override { note("begin_phase"); }
  void end_phase() override { note("end_phase"); }
  void free() override {}

  /// Sets what happens whenever this rank makes progress.
  void on_progress(std::function<void()> what) { polled_ = std::move(what); }

 private:
  struct Get {
    int rank;
    std::size_t offset;
    void* to;
    std::size_t bytes;
  };
  void note(const std::string& call) {
    if (calls_ != nullptr) calls_->push_back(name_ + call);
  }

  std::shared_ptr<FakeBlocks> blocks_;
  int rank_;
  std::uint64_t epoch_ = 0;
  std::vector<Get> gets_;
  std::vector<std::string>* calls_;
  std::string name_;
  std::function<void()> polled_;
};

}  // namespace merganser::test
