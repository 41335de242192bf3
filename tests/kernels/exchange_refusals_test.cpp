/// Specifications of exchanges that contradict themselves or those of other ranks: the same error on every rank.
#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "tests/kernels/exchange_support.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser::comm;
using namespace merganser::kernels;
using namespace merganser::test;
using merganser::UsageError;

class ExchangeRefusalTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, ExchangeRefusalTest, testing::ValuesIn(one_model_setups()),
                         setup_name<testing::TestParamInfo<Setup>>);

TEST_P(ExchangeRefusalTest, every_rank_refuses_what_does_not_fit) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto infos = usable_kernels(t);
    const std::string name(infos.front().name);
    const auto refused = [&](std::string_view kernel, const ExchangeSpec& spec) {
      return refusal<UsageError>([&] { (void)make_exchange(t, kernel, spec); });
    };
    const auto contains = [](const std::string& text, const std::string& part) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    const Graph graph = ring(t);
    contains(refused("p2p.telepathy", {graph, {1}, {1}, 1}), "known: threads.copy");
    for (const auto& info : merganser::kernels::kernels()) {
      const bool processes = t.capabilities().processes;
      if ((info.model != "threads") == processes) continue;
      contains(refused(info.name, {graph, {1}, {1}, 1}), processes ? "ranks are processes" : "ranks are threads");
    }
    contains(refused(name, {graph, {1, 2}, {1}, 1}), "sizes for 2 out-arcs; the graph has 1");
    contains(refused(name, {graph, {1}, {1}, 0}), "0 buffers; allowed: 1 to");
    contains(refused(name, {{{t.size()}, {}}, {1}, {}, 1}), "out-neighbour " + std::to_string(t.size()));
    contains(refused(name, {graph, {std::size_t{1} << 63}, {std::size_t{1} << 63}, 1}), "allowed: up to");
    contains(refused(name, {graph, {8}, {t.rank() == 0 ? 9U : 8U}, 1}), "sends 8 bytes, but 9 are expected here");
    contains(refused(name, {{graph.out, {}}, {8}, {}, 1}), "-neighbour here");
    if (t.size() > 1) {
      const std::string other(infos.back().name);
      contains(refused(t.rank() == 0 ? name : other, {graph, {8}, {8}, 1}), "rank 0 " + name);
    }
    for (const auto& info : infos) {
      if (info.model == "threads" || info.model == "shmem") continue;
      contains(refused(info.name, {graph, {std::size_t{1} << 31}, {std::size_t{1} << 31}, 1}),
               "2147483648 bytes on the out-arc of rank");
    }
    const auto exchange = make_exchange(t, name, {graph, {8}, {8}, 1});
    const auto local = [&](const std::function<void()>& use) { return refusal<UsageError>(use); };
    const std::size_t nine[] = {9};
    contains(local([&] { exchange->resize(nine, nine); }), "resize to 9 bytes");
    contains(local([&] { exchange->resize({}, {}); }), "resize of 0 out-arcs; there are 1");
    contains(local([&] { exchange->iterate(1); }), "buffer 1; allowed: 0 to 0");
    contains(local([&] { (void)exchange->source(1, 0); }), "out-arc 1; there are 1");
    contains(local([&] { (void)exchange->landing(0, 2); }), "buffer 2; allowed: 0 to 0");
    expect_round(t, *exchange, 0, 7);
  });
}

TEST_P(ExchangeRefusalTest, a_heap_too_small_is_refused_with_the_size_that_is_needed) {
  on_ranks(GetParam(), [](Transport& t) {
    constexpr std::size_t kTera = std::size_t{1} << 40;
    for (const auto& info : usable_kernels(t)) {
      if (info.model != "shmem" || is_over_transport(info)) continue;
      const ExchangeSpec spec{ring(t), {kTera}, {kTera}, 1};
      const auto text = refusal<merganser::CommError>([&] { (void)make_exchange(t, info.name, spec); });
      EXPECT_NE(text.find("no room for 1099511627"), std::string::npos) << text;
      EXPECT_NE(text.find(" to at least "), std::string::npos) << text;
    }
  });
}

}  // namespace
