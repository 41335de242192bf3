/// Table of the benchmark kernels of a build: order, names, completion classes, what can be found by name and by trying.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "merganser/base/error.hpp"
#include "merganser/comm/runtime.hpp"
#include "merganser/kernels/exchange.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser::kernels;

TEST(Kernels, are_listed_by_model_and_name) {
  std::string_view last_name;
  std::string_view last_model;
  for (const auto& info : kernels()) {
    EXPECT_EQ(info.name.substr(0, info.name.find('.')), info.model);
    EXPECT_FALSE(info.description.empty());
    if (info.model == last_model) {
      EXPECT_LT(last_name, info.name);
    }
    last_name = info.name;
    last_model = info.model;
    EXPECT_EQ(&kernel(info.name), &kernel(info.name));
  }
  EXPECT_EQ(kernels().front().model, "threads");
  EXPECT_EQ(completion_name(kernel("threads.copy").completion), "remote");
  EXPECT_EQ(completion_name(kernel("threads.copy-flag").completion), "notified");
  EXPECT_EQ(completion_name(kernel("threads.copy-barrier").completion), "global");
  EXPECT_EQ(completion_name(Completion::local), "local");
}

/// What a user of the library knows of each kernel, written down here again.
struct Known {
  Completion completion;
  bool pulls = false;
};
const std::map<std::string_view, Known> kKnown{
    {"threads.copy", {Completion::remote}},
    {"threads.copy-flag", {Completion::notified}},
    {"threads.copy-barrier", {Completion::global}},
    {"threads.mailbox", {Completion::notified}},
    {"threads.stream", {Completion::notified}},
    {"p2p.mailbox", {Completion::notified}},
    {"p2p.stream", {Completion::notified}},
    {"neighborhood.mailbox", {Completion::notified}},
    {"neighborhood.stream", {Completion::notified}},
    {"rma.mailbox", {Completion::notified}},
    {"rma.stream", {Completion::notified}},
    {"shmem.mailbox", {Completion::notified}},
    {"shmem.stream", {Completion::notified}},
    {"p2p.isend-irecv", {Completion::notified}},
    {"p2p.issend-irecv", {Completion::notified}},
    {"p2p.persistent", {Completion::notified}},
    {"neighborhood.alltoallv", {Completion::notified}},
    {"neighborhood.ialltoallv", {Completion::notified}},
    {"rma.put-flush", {Completion::remote}},
    {"rma.put-flush-local", {Completion::local}},
    {"rma.rput-flush", {Completion::remote}},
    {"rma.lock", {Completion::remote}},
    {"rma.fence", {Completion::global}},
    {"rma.get", {Completion::remote, true}},
    {"rma.put-notify", {Completion::notified}},
    {"rma.put-send", {Completion::notified}},
    {"rma.pscw", {Completion::notified}},
    {"shmem.put-quiet", {Completion::remote}},
    {"shmem.put-barrier", {Completion::global}},
    {"shmem.get", {Completion::remote, true}},
    {"shmem.put-signal", {Completion::notified}},
    {"shmem.put-signal-native", {Completion::notified}},
};

TEST(KernelTable, has_the_class_and_the_direction_of_every_kernel) {
  std::set<std::string_view> models;
  for (const auto& info : kernels()) {
    const auto known = kKnown.find(info.name);
    ASSERT_NE(known, kKnown.end()) << info.name << " is not in the table of this test";
    EXPECT_EQ(info.completion, known->second.completion) << info.name;
    EXPECT_EQ(info.pulls, known->second.pulls) << info.name;
    EXPECT_EQ(&kernel(info.name), &info);
    models.insert(info.model);
  }
  // A model of the build has all of its kernels.
  for (const auto& [name, known] : kKnown) {
    const bool in_build = models.contains(name.substr(0, name.find('.')));
    const auto all = kernels();
    EXPECT_EQ(std::any_of(all.begin(), all.end(), [&](const auto& info) { return info.name == name; }), in_build)
        << name;
  }
  for (const auto& backend : merganser::comm::backends()) EXPECT_TRUE(models.contains(backend.name)) << backend.name;
}

TEST(KernelTable, names_of_classes_are_those_of_the_enumeration) {
  EXPECT_EQ(completion_name(Completion::local), "local");
  EXPECT_EQ(completion_name(Completion::remote), "remote");
  EXPECT_EQ(completion_name(Completion::notified), "notified");
  EXPECT_EQ(completion_name(Completion::global), "global");
}

TEST(KernelTable, an_unknown_name_is_refused_with_all_that_are_known) {
  std::string known;
  for (const auto& info : kernels()) known += " " + std::string(info.name);
  for (const char* name : {"", "threads.cop", "threads.copy ", "Threads.copy", "p2p"}) {
    const auto text = merganser::test::refusal<merganser::UsageError>([&] { (void)kernel(name); });
    EXPECT_EQ(text.find("unknown exchange kernel '" + std::string(name) + "'; known:" + known), 0U) << text;
  }
}

TEST(KernelTable, probing_reports_of_the_kernels_asked_for_alone) {
  if (merganser::comm::launched()) GTEST_SKIP() << "ranks are processes here";
  merganser::comm::run({.backend = "threads", .ranks = 3}, [](merganser::comm::Transport& t) {
    const std::vector<std::string> own{"threads.copy-flag", "threads.copy"};
    EXPECT_TRUE(probe_kernels(t, own).empty());
    std::size_t of_processes = 0;
    for (const auto& info : kernels()) of_processes += info.model != "threads" ? 1 : 0;
    const auto all = probe_kernels(t);
    EXPECT_EQ(all.size(), of_processes);
    for (const auto& one : all) {
      EXPECT_NE(kernel(one.kernel).model, "threads");
      EXPECT_EQ(one.reason, "ranks are threads of one process here, this kernel needs processes");
      const auto again = probe_kernels(t, std::vector<std::string>{std::string(one.kernel), "threads.copy"});
      ASSERT_EQ(again.size(), 1U);
      EXPECT_EQ(again[0].kernel, one.kernel);
    }
  });
}

}  // namespace
