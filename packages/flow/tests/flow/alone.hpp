#pragma once
/// A transport of one rank that needs no communication model, so that it can be created beside any other.
#include <memory>
#include <string_view>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/comm/transport.hpp"

namespace merganser::test {

class AloneMailbox final : public comm::Mailbox {
 public:
  AloneMailbox() : Mailbox(comm::Graph{}) {}
  void check_usable() const override {}

 protected:
  void step_all() override {}
  void step_some(std::span<const std::uint8_t>, std::span<const std::uint8_t>) override {}
};

/// A transport of one rank: mailboxes without arcs, and collectives of one rank.
class Alone final : public comm::Transport {
 public:
  [[nodiscard]] int rank() const noexcept override { return 0; }
  [[nodiscard]] int size() const noexcept override { return 1; }
  [[nodiscard]] std::string_view name() const noexcept override { return "alone"; }
  [[nodiscard]] std::string_view choice() const noexcept override { return ""; }
  [[nodiscard]] comm::Capabilities capabilities() const noexcept override { return {}; }
  [[nodiscard]] std::unique_ptr<comm::Mailbox> mailbox(comm::Graph graph) override {
    if (!graph.out.empty() || !graph.in.empty()) throw CommError("arcs of one rank alone; allowed: none");
    return std::make_unique<AloneMailbox>();
  }
  [[nodiscard]] std::unique_ptr<comm::Stream> stream(comm::Graph, comm::StreamOptions) override { refuse(); }
  [[nodiscard]] std::unique_ptr<comm::Plan> plan(comm::Graph, comm::Pattern, comm::PlanOptions) override { refuse(); }
  [[nodiscard]] std::unique_ptr<comm::SegmentBody> segment_body(comm::Graph, std::size_t, std::size_t,
                                                                comm::Epoch) override {
    refuse();
  }
  [[nodiscard]] std::unique_ptr<comm::Transport> subset(bool) override { refuse(); }

 protected:
  void do_barrier() override {}
  void do_reduce(std::span<std::uint64_t>, comm::Op) override {}
  [[nodiscard]] std::vector<std::vector<std::byte>> do_gather(std::span<const std::byte> mine) override {
    return {{mine.begin(), mine.end()}};
  }
  [[nodiscard]] std::vector<std::byte> do_broadcast(std::span<const std::byte> mine) override {
    return {mine.begin(), mine.end()};
  }
  [[nodiscard]] std::vector<std::vector<std::byte>> do_all_gather(std::span<const std::byte> mine) override {
    return {{mine.begin(), mine.end()}};
  }
  [[nodiscard]] std::vector<std::vector<std::byte>> do_all_to_all(
      std::span<const std::span<const std::byte>> to) override {
    return {{to[0].begin(), to[0].end()}};
  }

 private:
  [[noreturn]] static void refuse() { throw CommError("one rank alone has mailboxes and collectives only"); }
};

}  // namespace merganser::test
