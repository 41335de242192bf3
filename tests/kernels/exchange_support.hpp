#pragma once
/// What the tests of exchange kernels share: which kernels can run, contents of zones, rounds that are compared byte by byte.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/kernels/exchange.hpp"
#include "tests/comm/graphs.hpp"
#include "tests/support/ranks.hpp"

namespace merganser::test {

/// Returns the setups of one model: threads, or the first model of processes.
inline std::vector<Setup> one_model_setups() {
  auto all = setups();
  std::erase_if(all, [first = all.front().backend](const Setup& setup) { return setup.backend != first; });
  return all;
}

/// Returns the kernels that can run on the ranks of t (threads or processes), without the one that not every OpenSHMEM supports.
inline std::vector<kernels::KernelInfo> usable_kernels(comm::Transport& t) {
  std::vector<kernels::KernelInfo> infos;
  for (const auto& info : kernels::kernels()) {
    const bool processes = info.model != "threads";
    if (processes == t.capabilities().processes && info.name != "shmem.put-signal-native") infos.push_back(info);
  }
  return infos;
}

/// Returns whether a kernel communicates by an object of a Transport.
inline bool is_over_transport(const kernels::KernelInfo& info) {
  return info.name.ends_with(".mailbox") || info.name.ends_with(".stream");
}

/// Returns whether drop_next() is to work with a kernel: it notifies each target by a call of its own.
inline bool can_drop(const kernels::KernelInfo& info) {
  return !is_over_transport(info) && info.completion == kernels::Completion::notified && info.model != "neighborhood" &&
         info.name != "rma.pscw";
}

/// Sizes of the arcs of one rank, in bytes.
struct ArcSizes {
  std::vector<std::size_t> out;
  std::vector<std::size_t> in;
};
/// Returns the sizes that of(from, to) gives for each arc, so that both ends of an arc agree.
template <class Of>
ArcSizes sizes_by_arc(const comm::Transport& t, const comm::Graph& graph, const Of& of) {
  ArcSizes sizes;
  for (const int to : graph.out) sizes.out.push_back(of(t.rank(), to));
  for (const int from : graph.in) sizes.in.push_back(of(from, t.rank()));
  return sizes;
}
inline ArcSizes equal_sizes(const comm::Graph& graph, std::size_t bytes) {
  return {std::vector(graph.out.size(), bytes), std::vector(graph.in.size(), bytes)};
}

/// Returns the byte that stands at a place of an arc in a round. 251 is prime, so that shifted bytes differ.
inline std::byte test_byte(int from, int to, unsigned round, std::size_t at) {
  const auto salt = static_cast<std::size_t>(from) * 17U + static_cast<std::size_t>(to) * 59U + round * 101U;
  return static_cast<std::byte>((salt + at * 7U + (at >> 8)) % 251U);
}

inline void fill_zones(const comm::Transport& t, kernels::Exchange& exchange, std::size_t buffer, unsigned round) {
  const auto& out = exchange.graph().out;
  for (std::size_t arc = 0; arc < out.size(); ++arc) {
    const auto source = exchange.source(arc, buffer);
    for (std::size_t at = 0; at < source.size(); ++at) source[at] = test_byte(t.rank(), out[arc], round, at);
  }
}

/// Returns the number of bytes, in all landing zones, that differ from what the senders wrote.
inline std::size_t wrong_bytes(const comm::Transport& t, kernels::Exchange& exchange, std::size_t buffer,
                               unsigned round) {
  const auto& in = exchange.graph().in;
  std::size_t wrong = 0;
  for (std::size_t arc = 0; arc < in.size(); ++arc) {
    const auto landing = exchange.landing(arc, buffer);
    for (std::size_t at = 0; at < landing.size(); ++at) wrong += landing[at] != test_byte(in[arc], t.rank(), round, at);
  }
  return wrong;
}

inline void expect_round(comm::Transport& t, kernels::Exchange& exchange, std::size_t buffer, unsigned round) {
  fill_zones(t, exchange, buffer, round);
  exchange.quiesce();
  exchange.iterate(buffer);
  exchange.quiesce();
  EXPECT_EQ(wrong_bytes(t, exchange, buffer, round), 0U)
      << exchange.info().name << ", round " << round << ", buffer " << buffer;
}

/// Both directions between neighbours in a row of all ranks.
inline comm::Graph chain(const comm::Transport& t) {
  std::vector<int> neighbours;
  if (t.rank() > 0) neighbours.push_back(t.rank() - 1);
  if (t.rank() + 1 < t.size()) neighbours.push_back(t.rank() + 1);
  return comm::Graph::symmetric(neighbours);
}

/// Rank 0 sends to all others and receives from them; the others have no other arc.
inline comm::Graph star(const comm::Transport& t) {
  std::vector<int> neighbours;
  if (t.rank() > 0) neighbours.push_back(0);
  for (int r = t.size() - 1; t.rank() == 0 && r > 0; --r) neighbours.push_back(r);
  return comm::Graph::symmetric(neighbours);
}

/// Every rank sends to itself alone.
inline comm::Graph self_arcs(const comm::Transport& t) { return comm::Graph::symmetric({t.rank()}); }

}  // namespace merganser::test
