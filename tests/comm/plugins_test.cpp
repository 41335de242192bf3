/// Tests of plug-ins for an MPI that the library was not built with. Each case is a process of its own, since a library that a
/// process has loaded stays loaded.
#include "merganser/comm/plugins.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "merganser/base/error.hpp"
#include "tests/comm/launched.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
namespace fs = std::filesystem;

/// Variables of the test: the program, the folder of plug-ins, one plug-in and its interface, its MPI, libraries that
/// say they are MPIs.
class PluginsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (variable("MERGANSER_TEST_PLUGIN").empty()) GTEST_SKIP() << "this build has no plug-ins";
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static Outcome probe(const std::string& where, const std::string& libraries) {
    const Outcome outcome = start(variable("MERGANSER_TEST_PLUGINS_PROBE") + " '" + where + "' " + libraries);
    EXPECT_FALSE(says(outcome, "wrong")) << outcome.output;
    EXPECT_TRUE(says(outcome, "before: threads; ")) << outcome.output;
    return outcome;
  }
  static void expect_refusal(const Outcome& outcome, const std::vector<std::string>& parts) {
    EXPECT_EQ(outcome.code, 2) << outcome.output;
    EXPECT_TRUE(says(outcome, "use_mpi: ")) << outcome.output;
    for (const std::string& part : parts) EXPECT_TRUE(says(outcome, part)) << part << " in\n" << outcome.output;
  }

  fs::path folder_ = fs::path(testing::TempDir()) / ("merganser_plugins_" + std::to_string(::getpid()));
  std::string plugin_ = variable("MERGANSER_TEST_PLUGIN");
  std::string mpi_ = variable("MERGANSER_TEST_LIBMPI");            // of the plug-in
  std::string mpich_ = variable("MERGANSER_TEST_FAKE_MPICH");      // says so, and has nothing of it
  std::string openmpi_ = variable("MERGANSER_TEST_FAKE_OPENMPI");  // the same
  std::string toy_ = variable("MERGANSER_TEST_FAKE_TOY");          // of no known interface
};

TEST(PluginsAloneTest, a_build_with_mpi_says_which_and_takes_nothing) {
  if (comm::mpi_library() == "none") GTEST_SKIP() << "this build has no MPI";
  const auto all = comm::loaded_mpi();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].version, comm::mpi_library());
  EXPECT_FALSE(all[0].abi.empty());
  const auto& mpi = comm::use_mpi("/nowhere");
  EXPECT_EQ(mpi.library.path, all[0].path);
  EXPECT_TRUE(mpi.plugin.empty() && mpi.compiled.empty());
}

TEST(PluginsAloneTest, a_process_without_mpi_is_told_what_it_lacks) {
  if (comm::mpi_library() != "none") GTEST_SKIP() << "this build has MPI";
  EXPECT_TRUE(comm::loaded_mpi().empty());
  try {
    (void)comm::use_mpi();
    FAIL() << "nothing was thrown";
  } catch (const UsageError& e) {
    EXPECT_NE(std::string(e.what()).find("no MPI library is loaded in this process; allowed: one"), std::string::npos);
  }
}

TEST_F(PluginsTest, a_process_without_mpi_gets_none) {
  expect_refusal(probe("", ""), {"no MPI library is loaded in this process"});
}

TEST_F(PluginsTest, the_models_of_the_loaded_mpi_come_once_and_for_all_threads) {
  if (mpi_.empty()) GTEST_SKIP() << "the library of this MPI is not installed";
  for (const std::string& where : {std::string(), fs::path(plugin_).parent_path().string(), plugin_}) {
    const Outcome outcome = probe(where, mpi_);
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    for (const std::string& part : {"interface " + variable("MERGANSER_TEST_ABI"), "plug-in " + plugin_,
                                    std::string("after: threads neighborhood p2p rma; "),
                                    std::string("open: MPI is not initialised"), std::string("; 1 missing\n")})
      EXPECT_TRUE(says(outcome, part)) << part << " in\n" << outcome.output;
  }
}

TEST_F(PluginsTest, two_mpis_in_a_process_are_refused_with_both_named) {
  expect_refusal(probe("", mpich_ + " " + openmpi_),
                 {"2 MPI libraries are loaded in this process", "MPICH Version:      9.9, " + mpich_,
                  "Open MPI v99.1, fake, " + openmpi_, "allowed: one"});
}

TEST_F(PluginsTest, an_interface_without_a_plugin_is_refused_with_those_that_are_there) {
  fs::create_symlink(plugin_, folder_ / fs::path(plugin_).filename());
  const bool mpich = variable("MERGANSER_TEST_ABI") != "mpich";
  const Outcome outcome = probe(folder_, mpich ? mpich_ : openmpi_);
  expect_refusal(outcome, {std::string("no plug-in for the interface '") + (mpich ? "mpich" : "openmpi") + "' of ",
                           mpich ? mpich_ : openmpi_, "there: " + fs::path(plugin_).filename().string() + " ("});
  expect_refusal(probe(folder_ / "none", mpich_), {"in " + (folder_ / "none").string() + "; there: none"});
  expect_refusal(probe(folder_, toy_), {"no plug-in for the interface of Toy MPI 1, " + toy_});
}

TEST_F(PluginsTest, a_plugin_of_another_mpi_is_refused_with_both_named) {
  const bool mpich = variable("MERGANSER_TEST_ABI") != "mpich";
  const std::string other = mpich ? mpich_ : openmpi_;
  const std::string abi = mpich ? "mpich" : "openmpi";
  expect_refusal(probe(plugin_, other), {"the plug-in " + plugin_ + " is for the interface '", other, "allowed: "});
  const fs::path renamed = folder_ / ("libmerganser_" + abi + ".so");
  fs::create_symlink(plugin_, renamed);
  expect_refusal(probe(folder_, other), {"the plug-in " + renamed.string() + " is for the interface '", other});
}

TEST_F(PluginsTest, a_file_that_is_no_plugin_is_refused) {
  const fs::path file = folder_ / "libmerganser_mpich.so";
  std::ofstream(file) << "nothing";
  expect_refusal(probe(file, mpich_), {file.string() + " is no plug-in of merganser", mpich_});
  std::ofstream(file) << "merganser plug-in: abi=mpich; compiled=MPICH 9; merganser=0.0.1;";
  expect_refusal(probe(file, mpich_),
                 {file.string() + " for MPICH Version", "is of merganser 0.0.1, this library is "});
}

TEST_F(PluginsTest, a_library_that_lacks_what_the_plugin_calls_is_refused) {
  const std::string abi = variable("MERGANSER_TEST_ABI");
  if (abi == "mpi_abi") GTEST_SKIP() << "the libraries that lack calls have the other interfaces";
  const std::string fake = abi == "mpich" ? mpich_ : openmpi_;
  expect_refusal(probe(plugin_, fake), {"the plug-in " + plugin_ + " for ", fake + " cannot be opened: "});
}

/// Programs with an MPI of their own, as in open_test, over the plug-in.
class PluginRunsTest : public PluginsTest {
 protected:
  void SetUp() override {
    PluginsTest::SetUp();
    if (variable("MERGANSER_TEST_LAUNCHER").empty()) GTEST_SKIP() << "the launcher of this MPI is not installed";
  }
  static void expect_well(int ranks, const std::string& words) {
    // The build has no MPI and so no settings; launchers of others do not look at those of Open MPI.
    const std::string settings = for_mpirun(comm::launcher_settings("Open MPI", "none"), true);
    const Outcome outcome = start(launched(ranks) + words, settings + "PROBE_PLUGINS=");
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    for (const std::string part : {"this build has no MPI", "open: MPI is not initialised", "finalized with 0"})
      EXPECT_TRUE(says(outcome, part)) << part << " in\n" << outcome.output;
    EXPECT_TRUE(says(outcome, "plug-in " + variable("MERGANSER_TEST_PLUGIN"))) << outcome.output;
    EXPECT_FALSE(says(outcome, "wrong")) << words << ":\n" << outcome.output;
  }
};

TEST_F(PluginRunsTest, every_model_works_over_a_communicator_of_the_programs) {
  for (const int ranks : {1, 2, 4}) expect_well(ranks, "whole p2p neighborhood rma");
}

TEST_F(PluginRunsTest, what_open_promises_holds_over_a_plugin) {
  for (const std::string name : {"half", "together", "overlapping", "refusals", "wrong-alone", "unwind", "settings",
                                 "cartesian", "measured", "inside", "late"})
    expect_well(4, name + " p2p neighborhood rma");
}

}  // namespace
