/// The tracing library on programs that print what they have moved: counts equal to the byte.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <tuple>

#include "merganser/base/error.hpp"
#include "merganser/comm/runtime.hpp"
#include "merganser/topology/traffic.hpp"
#include "tests/io/folder.hpp"
#include "tests/support/patience.hpp"

namespace {

using namespace merganser;
using namespace merganser::topology;
namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Counts by phase, from, to, move: operations, bytes.
using Truth = std::tuple<int, int, int, std::string, std::int64_t, std::int64_t>;

struct Outcome {
  int code = 0;
  std::string output;
  std::vector<Truth> truth;
  std::vector<TracePart> parts;

  [[nodiscard]] std::vector<Truth> traced() const {
    std::vector<Truth> all;
    for (const auto& part : parts)
      for (const auto& [level, phase] : part.phases)
        for (const auto& flow : phase.flows) {
          all.emplace_back(level, flow.from, flow.to, comm::move_name(flow.move), flow.operations, flow.bytes);
          std::int64_t counted = 0;
          for (const auto n : flow.sizes) counted += n;
          EXPECT_EQ(counted, flow.operations);
        }
    std::sort(all.begin(), all.end());
    return all;
  }
};

/// Runs a program under this build's launcher with the tracing library preloaded, and few other variables.
Outcome trace(int ranks, const std::string& program, const std::string& extra = "") {
  const merganser::test::Folder folder;
  const std::string parts = folder.file("parts");
  std::string settings;
  for (const auto& s : merganser::comm::launcher_settings()) settings += s.name + '=' + s.value + ' ';
  settings += "OMPI_MCA_osc=sm,pt2pt ";  // its third, rdma, crashes in MPI_Compare_and_swap (Open MPI 4.1.4)
  for (const char* name : {"MERGANSER_MUTANT", "MERGANSER_MUTANT_REACHED"})  // of ./x mutants
    if (!variable(name).empty()) settings += std::string(name) + '=' + variable(name) + ' ';
  const std::string line = "timeout " + std::to_string(60 * merganser::test::patience()) + " env -i PATH='" +
                           variable("PATH") + "' HOME='" + variable("HOME") + "' " + settings + extra + " " +
                           variable("MERGANSER_TEST_LAUNCHER") + " " + std::to_string(ranks) +
                           " env LD_PRELOAD=" + variable("MERGANSER_TEST_TRACE") + " MERGANSER_TRACE_FOLDER=" + parts +
                           ' ' + program + " 2>&1";
  Outcome outcome;
  std::FILE* pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start: " + line);
  std::array<char, 4096> piece{};
  while (std::fgets(piece.data(), piece.size(), pipe) != nullptr) outcome.output += piece.data();
  const int status = ::pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::istringstream lines(outcome.output);
  for (std::string text; std::getline(lines, text);) {
    std::istringstream words(text);
    std::string first;
    Truth t;
    if (words >> first >> std::get<0>(t) >> std::get<1>(t) >> std::get<2>(t) >> std::get<3>(t) >> std::get<4>(t) >>
            std::get<5>(t) &&
        first == "truth")
      outcome.truth.push_back(t);
  }
  std::sort(outcome.truth.begin(), outcome.truth.end());
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(parts, none))
    outcome.parts.push_back(parse_trace_part(merganser::test::read_bytes(entry.path()), entry.path().string()));
  return outcome;
}

class TraceTest : public testing::Test {
 protected:
  void SetUp() override {
    if (variable("MERGANSER_TEST_TRACE").empty() || variable("MERGANSER_TEST_LAUNCHER").empty())
      GTEST_SKIP() << "there is no tracing library in this build, or no launcher";
  }
  /// Returns the path of a program of this build, or skips the test.
  static std::string program(const char* name) { return variable(name); }
};

void expect_exact(const Outcome& outcome, int ranks) {
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_FALSE(outcome.truth.empty()) << outcome.output;
  EXPECT_EQ(outcome.traced(), outcome.truth);
  EXPECT_EQ(static_cast<int>(outcome.parts.size()), ranks);
  EXPECT_NO_THROW((void)join_trace_parts(outcome.parts, {}));
}

class MpiTraceTest : public TraceTest, public testing::WithParamInterface<const char*> {};
INSTANTIATE_TEST_SUITE_P(Cases, MpiTraceTest,
                         testing::Values("messages", "communicators", "one-sided", "neighbourhoods", "threads",
                                         "phases"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(MpiTraceTest, counts_what_the_program_moves_to_the_byte) {
  const std::string mpi = program("MERGANSER_TEST_TRACE_MPI");
  if (mpi.empty()) GTEST_SKIP() << "there is no MPI in this build";
  expect_exact(trace(3, mpi + " " + GetParam()), 3);
}

TEST_F(TraceTest, phases_know_how_often_they_began) {
  const std::string mpi = program("MERGANSER_TEST_TRACE_MPI");
  if (mpi.empty()) GTEST_SKIP() << "there is no MPI in this build";
  const Outcome outcome = trace(2, mpi + " phases");
  ASSERT_EQ(outcome.parts.size(), 2U) << outcome.output;
  for (const auto& part : outcome.parts) {
    EXPECT_NE(part.program.find("test_trace_mpi"), std::string::npos) << part.program;
    ASSERT_EQ(part.phases.size(), 3U);
    EXPECT_EQ(part.phases.at(0).entered, 1);
    EXPECT_EQ(part.phases.at(1).entered, 4);
    EXPECT_EQ(part.phases.at(2).entered, 4);
    EXPECT_EQ(part.self_operations, 4);
    EXPECT_EQ(part.self_bytes, 4 * 5 * static_cast<std::int64_t>(sizeof(int)));
    EXPECT_EQ(part.outside_operations, 0);
    EXPECT_EQ(part.outside_bytes, 0);
    EXPECT_FALSE(part.collectives.empty());
  }
  const comm::TrafficMatrix persistent = join_trace_parts(outcome.parts, 2);
  EXPECT_EQ(persistent.exchange_count(), 4);
  EXPECT_EQ(topology::process_graph_of(persistent).bytes(0, 1), 5 * 320 + 41 + 42 + 43);  // per exchange
}

TEST_F(TraceTest, every_collective_call_is_counted_once_by_its_name) {
  const std::string mpi = program("MERGANSER_TEST_TRACE_MPI");
  if (mpi.empty()) GTEST_SKIP() << "there is no MPI in this build";
  const Outcome outcome = trace(3, mpi + " collectives");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  ASSERT_EQ(outcome.parts.size(), 3U) << outcome.output;
  for (const auto& part : outcome.parts) {
    EXPECT_EQ(part.collectives.size(), 2U * 17);
    for (const auto& [name, calls] : part.collectives) EXPECT_EQ(calls, 1) << name;
  }
}

TEST_F(TraceTest, an_abort_and_an_exit_code_leave_their_parts) {
  const std::string mpi = program("MERGANSER_TEST_TRACE_MPI");
  if (mpi.empty()) GTEST_SKIP() << "there is no MPI in this build";
  const Outcome aborted = trace(2, mpi + " abort");
  EXPECT_NE(aborted.code, 0);
  ASSERT_GE(aborted.parts.size(), 1U) << aborted.output;
  const bool one_aborted = std::any_of(aborted.parts.begin(), aborted.parts.end(),
                                       [](const TracePart& part) { return part.ended == "abort" && part.rank == 0; });
  EXPECT_TRUE(one_aborted);
  const Outcome coded = trace(2, mpi + " code");
  EXPECT_NE(coded.code, 0);
  EXPECT_EQ(coded.parts.size(), 2U) << coded.output;
}

TEST_F(TraceTest, operations_of_openshmem_are_counted_to_the_byte) {
  const std::string shmem = program("MERGANSER_TEST_TRACE_SHMEM");
  if (shmem.empty()) GTEST_SKIP() << "there is no OpenSHMEM in this build";
  expect_exact(trace(3, shmem), 3);
  for (const char* way : {" no-finalize", " init-thread", " start-pes"}) expect_exact(trace(2, shmem + way), 2);
  const Outcome ended = trace(1, shmem + " exit");
  EXPECT_EQ(ended.code, 3) << ended.output;
  ASSERT_EQ(ended.parts.size(), 1U) << ended.output;
  EXPECT_EQ(ended.parts[0].ended, "abort");
}

TEST_F(TraceTest, every_name_of_an_operation_of_openshmem_is_counted_to_the_byte) {
  const std::string shmem = program("MERGANSER_TEST_TRACE_SHMEM");
  if (shmem.empty()) GTEST_SKIP() << "there is no OpenSHMEM in this build";
  const Outcome outcome = trace(2, shmem + " every-name");
  expect_exact(outcome, 2);
  std::int64_t operations = 0;
  for (const auto& flow : outcome.truth) operations += std::get<4>(flow);
  EXPECT_EQ(operations, 2 * 826);
}

TEST_F(TraceTest, both_fortran_bindings_are_counted_once) {
  const std::string fortran = program("MERGANSER_TEST_TRACE_FORTRAN");
  if (fortran.empty() || !fs::exists(fortran)) GTEST_SKIP() << "there is no Fortran compiler of MPI";
  expect_exact(trace(3, fortran), 3);
}

TEST_F(TraceTest, programs_without_mpi_run_as_ever_and_write_nothing) {
  const Outcome outcome = trace(2, "sh -c 'echo hello'");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("hello"), std::string::npos) << outcome.output;
  EXPECT_TRUE(outcome.parts.empty());
}

}  // namespace
