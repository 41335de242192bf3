/// The calls of MPI and OpenSHMEM that one iteration of each kernel makes, in their order. This program's own definitions of these
/// functions note the call and pass it on. Bytes alone cannot tell of a flush that is left out: in shared memory they arrive
/// without.
#include <gtest/gtest.h>
#include <mpi.h>

#if MERGANSER_TEST_SHMEM
#include <dlfcn.h>
#include <shmem.h>
#endif

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "tests/kernels/exchange_support.hpp"

namespace {

bool noting = false;
bool noting_syncs = false;  // a wait for a word synchronises its window any number of times
std::string noted;

void note(std::string_view name) {
  if (!noting) return;
  if (!noted.empty()) noted += ' ';
  noted += name;
}

}  // namespace

#define NOTED(name, parameters, arguments) \
  int MPI_##name parameters {              \
    note(#name);                           \
    return PMPI_##name arguments;          \
  }

extern "C" {

NOTED(Isend, (const void* a, int n, MPI_Datatype d, int to, int tag, MPI_Comm c, MPI_Request* r),
      (a, n, d, to, tag, c, r))
NOTED(Issend, (const void* a, int n, MPI_Datatype d, int to, int tag, MPI_Comm c, MPI_Request* r),
      (a, n, d, to, tag, c, r))
NOTED(Irecv, (void* a, int n, MPI_Datatype d, int from, int tag, MPI_Comm c, MPI_Request* r),
      (a, n, d, from, tag, c, r))
NOTED(Start, (MPI_Request * r), (r))
NOTED(Send_init, (const void* a, int n, MPI_Datatype d, int to, int tag, MPI_Comm c, MPI_Request* r),
      (a, n, d, to, tag, c, r))
NOTED(Recv_init, (void* a, int n, MPI_Datatype d, int from, int tag, MPI_Comm c, MPI_Request* r),
      (a, n, d, from, tag, c, r))
NOTED(Neighbor_alltoallv,
      (const void* a, const int* n, const int* at, MPI_Datatype d, void* b, const int* m, const int* to, MPI_Datatype e,
       MPI_Comm c),
      (a, n, at, d, b, m, to, e, c))
NOTED(Ineighbor_alltoallv,
      (const void* a, const int* n, const int* at, MPI_Datatype d, void* b, const int* m, const int* to, MPI_Datatype e,
       MPI_Comm c, MPI_Request* r),
      (a, n, at, d, b, m, to, e, c, r))
NOTED(Put, (const void* a, int n, MPI_Datatype d, int to, MPI_Aint at, int m, MPI_Datatype e, MPI_Win w),
      (a, n, d, to, at, m, e, w))
NOTED(Rput,
      (const void* a, int n, MPI_Datatype d, int to, MPI_Aint at, int m, MPI_Datatype e, MPI_Win w, MPI_Request* r),
      (a, n, d, to, at, m, e, w, r))
NOTED(Get, (void* a, int n, MPI_Datatype d, int from, MPI_Aint at, int m, MPI_Datatype e, MPI_Win w),
      (a, n, d, from, at, m, e, w))
NOTED(Waitall, (int n, MPI_Request* r, MPI_Status* s), (n, r, s))
NOTED(Win_flush_all, (MPI_Win w), (w))
NOTED(Win_flush_local_all, (MPI_Win w), (w))
NOTED(Win_fence, (int flags, MPI_Win w), (flags, w))
NOTED(Win_lock, (int kind, int rank, int flags, MPI_Win w), (kind, rank, flags, w))
NOTED(Win_unlock, (int rank, MPI_Win w), (rank, w))
NOTED(Win_post, (MPI_Group g, int flags, MPI_Win w), (g, flags, w))
NOTED(Win_start, (MPI_Group g, int flags, MPI_Win w), (g, flags, w))
NOTED(Win_complete, (MPI_Win w), (w))
NOTED(Win_wait, (MPI_Win w), (w))
NOTED(Barrier, (MPI_Comm c), (c))
NOTED(Allreduce, (const void* a, void* b, int n, MPI_Datatype d, MPI_Op o, MPI_Comm c), (a, b, n, d, o, c))

int MPI_Win_sync(MPI_Win w) {
  if (noting_syncs) note("Win_sync");
  return PMPI_Win_sync(w);
}

#if MERGANSER_TEST_SHMEM
// OpenSHMEM does not promise a second name of each function: the next definition is looked up.
#define NOTED_SHMEM(name, parameters, arguments)                                                          \
  void shmem_##name parameters {                                                                          \
    note(#name);                                                                                          \
    static const auto next = reinterpret_cast<decltype(&shmem_##name)>(dlsym(RTLD_NEXT, "shmem_" #name)); \
    next arguments;                                                                                       \
  }
NOTED_SHMEM(putmem, (void* to, const void* from, size_t n, int pe), (to, from, n, pe))
NOTED_SHMEM(putmem_nbi, (void* to, const void* from, size_t n, int pe), (to, from, n, pe))
NOTED_SHMEM(getmem_nbi, (void* to, const void* from, size_t n, int pe), (to, from, n, pe))
NOTED_SHMEM(uint64_p, (uint64_t * to, uint64_t value, int pe), (to, value, pe))
NOTED_SHMEM(quiet, (void), ())
NOTED_SHMEM(fence, (void), ())
NOTED_SHMEM(barrier_all, (void), ())
#endif

}  // extern "C"

namespace {

using namespace merganser::comm;
using namespace merganser::kernels;
using namespace merganser::test;

class ExchangeCallTest : public testing::TestWithParam<Setup> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ExchangeCallTest);
INSTANTIATE_TEST_SUITE_P(Models, ExchangeCallTest, testing::ValuesIn(one_model_setups()),
                         setup_name<testing::TestParamInfo<Setup>>);

/// Returns the calls that an action makes.
std::string calls_of(const std::function<void()>& action) {
  noted.clear();
  noting = true;
  action();
  noting = false;
  return noted;
}

/// Arcs of a rank, as many as have bytes too: none leads to the rank itself.
struct Arcs {
  std::size_t out, full_out, in, full_in;
};

std::string times(std::size_t n, std::string_view calls) {
  std::string all;
  for (std::size_t i = 0; i < n; ++i) all += (i == 0 ? "" : " ") + std::string(calls);
  return all;
}
/// Returns the calls one after another; empty ones are left out.
std::string in_order(std::initializer_list<std::string> parts) {
  std::string all;
  for (const auto& part : parts) {
    if (!all.empty() && !part.empty()) all += ' ';
    all += part;
  }
  return all;
}
std::string if_any(std::size_t arcs, const std::string& calls) { return arcs > 0 ? calls : ""; }

/// Calls of an iteration, as the description of the kernel has them.
using Calls = std::string (*)(const Arcs&);
const std::map<std::string_view, Calls> kCalls {
  {"p2p.isend-irecv",
   [](const Arcs& a) {
     return in_order({times(a.in, "Irecv"), times(a.out, "Isend")});
   }},
      {"p2p.issend-irecv",
       [](const Arcs& a) {
         return in_order({times(a.in, "Irecv"), times(a.out, "Issend")});
       }},
      {"p2p.persistent", [](const Arcs& a) { return times(a.in + a.out, "Start"); }},
      {"neighborhood.alltoallv", [](const Arcs&) { return std::string("Neighbor_alltoallv"); }},
      {"neighborhood.ialltoallv", [](const Arcs&) { return std::string("Ineighbor_alltoallv"); }},
      {"rma.put-flush",
       [](const Arcs& a) {
         return in_order({times(a.full_out, "Put"), "Win_flush_all"});
       }},
      {"rma.put-flush-local",
       [](const Arcs& a) {
         return in_order({times(a.full_out, "Put"), "Win_flush_local_all"});
       }},
      {"rma.rput-flush",
       [](const Arcs& a) {
         return in_order({times(a.full_out, "Rput"), "Waitall Win_flush_all"});
       }},
      {"rma.lock", [](const Arcs& a) { return times(a.full_out, "Win_lock Put Win_unlock"); }},
      {"rma.fence",
       [](const Arcs& a) {
         return in_order({"Win_fence", times(a.full_out, "Put"), "Win_fence"});
       }},
      {"rma.get",
       [](const Arcs& a) {
         return in_order({times(a.full_in, "Get"), "Win_flush_all"});
       }},
      {"rma.put-notify",
       [](const Arcs& a) {
         const std::string flush = if_any(a.out, "Win_flush_all");
         return in_order({times(a.full_out, "Put"), flush, times(a.out, "Put"), flush});
       }},
      {"rma.put-send",
       [](const Arcs& a) {
         return in_order(
             {times(a.in, "Irecv"), times(a.full_out, "Put"), if_any(a.out, "Win_flush_all"), times(a.out, "Isend")});
       }},
      {"rma.pscw",
       [](const Arcs& a) {
         return in_order({if_any(a.in, "Win_post"), if_any(a.out, "Win_start"), times(a.full_out, "Put"),
                          if_any(a.out, "Win_complete"), if_any(a.in, "Win_wait")});
       }},
#if MERGANSER_TEST_SHMEM
      {"shmem.put-quiet",
       [](const Arcs& a) {
         return in_order({times(a.full_out, "putmem_nbi"), "quiet"});
       }},
      {"shmem.put-barrier",
       [](const Arcs& a) {
         return in_order({times(a.full_out, "putmem_nbi"), "barrier_all"});
       }},
      {"shmem.get",
       [](const Arcs& a) {
         return in_order({times(a.full_in, "getmem_nbi"), "quiet"});
       }},
      {"shmem.put-signal", [](const Arcs& a) {
         return in_order({times(a.full_out, "putmem"), if_any(a.out, "fence"), times(a.out, "uint64_p")});
       }},
#endif
};

Arcs count_arcs(const ArcSizes& sizes) {
  const auto full = [](const std::vector<std::size_t>& bytes) {
    return bytes.size() - static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), 0U));
  };
  return {sizes.out.size(), full(sizes.out), sizes.in.size(), full(sizes.in)};
}

TEST_P(ExchangeCallTest, an_iteration_makes_the_calls_of_its_description_in_their_order) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto sometimes = [](int from, int to) { return (from + to) % 2 == 0 ? std::size_t{0} : std::size_t{24}; };
    for (const Graph& graph : {star(t), funnel(t), Graph{}}) {
      const auto sizes = sizes_by_arc(t, graph, sometimes);
      const Arcs arcs = count_arcs(sizes);
      for (const auto& info : usable_kernels(t)) {
        const auto expected = kCalls.find(info.name);
        if (is_over_transport(info)) continue;  // what it calls is up to the library: tests/comm
        if (expected == kCalls.end()) {
          EXPECT_EQ(info.model, "shmem") << info.name << " is not in the table of this test";
          continue;
        }
        const auto exchange = make_exchange(t, info.name, {graph, sizes.out, sizes.in, 1});
        exchange->quiesce();
        for (int again = 0; again < 2; ++again) {
          EXPECT_EQ(calls_of([&] { exchange->iterate(0); }), expected->second(arcs)) << info.name;
        }
        exchange->quiesce();
      }
    }
  });
}

TEST_P(ExchangeCallTest, a_dropped_notification_is_one_call_less_of_one_iteration) {
  on_ranks(GetParam(), [](Transport& t) {
    const Graph graph = funnel(t);
    const auto sizes = equal_sizes(graph, 16);
    const std::map<std::string_view, std::string> without{
        {"p2p.isend-irecv", ""},
        {"p2p.issend-irecv", ""},
        {"p2p.persistent", ""},
        {"rma.put-send", "Put Win_flush_all"},
        {"rma.put-notify", "Put Win_flush_all Win_flush_all"},
        {"shmem.put-signal", "putmem fence"},
    };
    for (const auto& info : usable_kernels(t)) {
      if (!can_drop(info) || !kCalls.contains(info.name)) continue;
      const auto exchange = make_exchange(t, info.name, {graph, sizes.out, sizes.in, 1});
      exchange->quiesce();
      if (t.rank() == 0) {
        exchange->iterate(0);  // ends with the second notification of each arc
      } else {
        const std::string all = kCalls.at(info.name)(count_arcs(sizes));
        EXPECT_TRUE(exchange->drop_next(0));
        EXPECT_TRUE(exchange->drop_next(0)) << "twice is once";
        EXPECT_EQ(calls_of([&] { exchange->iterate(0); }), without.at(info.name)) << info.name;
        EXPECT_EQ(calls_of([&] { exchange->iterate(0); }), all) << info.name;
      }
      exchange->quiesce();
    }
  });
}

TEST_P(ExchangeCallTest, requests_are_made_for_each_buffer_and_again_for_another_size) {
  on_ranks(GetParam(), [](Transport& t) {
    const Graph graph = star(t);
    const auto most = equal_sizes(graph, 100);
    const auto less = equal_sizes(graph, 10);
    std::unique_ptr<Exchange> exchange;
    const std::string once = in_order({times(graph.in.size(), "Recv_init"), times(graph.out.size(), "Send_init")});
    const std::string made = calls_of([&] {
      exchange = make_exchange(t, "p2p.persistent", {graph, most.out, most.in, 3});
    });
    EXPECT_NE(made.find(times(3, once)), std::string::npos) << made;
    EXPECT_EQ(made.find(times(4, once)), std::string::npos) << made;
    EXPECT_EQ(calls_of([&] { exchange->resize(less.out, less.in); }), times(3, once));
    EXPECT_EQ(calls_of([&] { exchange->iterate(2); }), times(graph.in.size() + graph.out.size(), "Start"));
    exchange->quiesce();
  });
}

// A local flush tells nothing of the targets, so the flush of these is left to quiesce().
TEST_P(ExchangeCallTest, quiescing_flushes_what_only_a_local_flush_has_ended) {
  on_ranks(GetParam(), [](Transport& t) {
    const Graph graph = ring(t);
    const auto sizes = equal_sizes(graph, 8);
    for (const auto& info : usable_kernels(t)) {
      if (info.model != "rma" || is_over_transport(info)) continue;
      const auto exchange = make_exchange(t, info.name, {graph, sizes.out, sizes.in, 1});
      exchange->iterate(0);
      const std::string calls = calls_of([&] { exchange->quiesce(); });
      EXPECT_EQ(calls.find("Win_flush_all") != std::string::npos, info.completion == Completion::local) << info.name;
    }
  });
}

// Stores of a rank must be public before the others have come, and what was put here visible after: in shared memory bytes do not
// tell of either.
TEST_P(ExchangeCallTest, quiescing_synchronises_the_copies_of_a_window_before_and_after_all_have_come) {
  on_ranks(GetParam(), [](Transport& t) {
    const Graph graph = ring(t);
    const auto sizes = equal_sizes(graph, 8);
    for (const auto& info : usable_kernels(t)) {
      if (info.model != "rma" || is_over_transport(info)) continue;
      const auto exchange = make_exchange(t, info.name, {graph, sizes.out, sizes.in, 1});
      noting_syncs = true;
      const std::string all = calls_of([&] { t.barrier(); });
      const std::string calls = calls_of([&] { exchange->quiesce(); });
      noting_syncs = false;
      const bool by_epochs = info.name == "rma.fence" || info.name == "rma.lock" || info.name == "rma.pscw";
      const std::string sync = by_epochs ? "Win_lock Win_sync Win_unlock" : "Win_sync";  // only within an epoch
      const std::string flush = info.completion == Completion::local ? "Win_flush_all" : "";
      EXPECT_EQ(calls, in_order({flush, sync, all, sync})) << info.name;
    }
  });
}

/// Synchronised starts of all models of processes, each by calls of its own.
class StartCallTest : public testing::TestWithParam<Setup> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StartCallTest);
INSTANTIATE_TEST_SUITE_P(Models, StartCallTest, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

// A dissemination barrier of n ranks has as many steps as n - 1 has binary digits.
TEST_P(StartCallTest, a_start_makes_one_notification_for_each_doubling_of_the_ranks) {
  on_ranks(GetParam(), [](Transport& t) {
    std::size_t steps = 0;
    for (int above = t.size() - 1; above > 0; above /= 2) ++steps;
    const auto start = make_start(t);
    for (int again = 0; again < 3; ++again) {
      t.barrier();
      const std::string calls = calls_of([&] { start->wait(); });
      if (t.name() == "shmem") {
        EXPECT_EQ(calls, MERGANSER_TEST_SHMEM ? times(steps, "uint64_p") : calls);
      } else {
        EXPECT_EQ(calls, times(steps, "Irecv Isend"));
      }
    }
    t.barrier();
  });
}

}  // namespace
