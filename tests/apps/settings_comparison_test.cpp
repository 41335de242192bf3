/// Tests of the settings comparison of `doctor --measure`: its candidates, verdicts and tables.
#include "apps/doctor/settings_comparison.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "apps/frame/launcher.hpp"
#include "tests/apps/json.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser::test;
using merganser::app::Candidate;
using merganser::app::comparison_json;
using merganser::app::comparison_text;
using merganser::app::make_candidates;
using merganser::app::MeasuredSettings;
using merganser::app::parse_components;
using merganser::app::verdicts;

using Names = std::vector<std::string>;

Names texts(const std::vector<Candidate>& candidates) {
  Names out;
  for (const auto& c : candidates) out.push_back(c.text);
  return out;
}

bool holds(const Names& lines, const std::string& part) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const auto& line) { return line.find(part) != std::string::npos; });
}

TEST(SettingsComparison, reads_which_components_there_are) {
  const Names found = parse_components(
      "package:Open MPI\nmca:osc:sm:version:\"mca:2.1.0\"\nmca:osc:sm:version:\"api:3.0.0\"\n"
      "mca:pml:ob1:version:\"mca:2.1.0\"\nmca:short\noption:heterogeneous:no\n");
  EXPECT_EQ(found, (Names{"osc:sm", "pml:ob1"}));
}

TEST(SettingsComparison, compares_what_the_library_lets_one_choose) {
  const Names open_mpi =
      texts(make_candidates("Open MPI v5.0.1", {"osc:sm", "osc:rdma", "btl:sm", "btl:tcp", "pml:ob1"}));
  EXPECT_EQ(open_mpi.front(), "as merganser run sets it");
  for (const char* there : {"osc=sm", "osc=rdma", "pml=ob1 btl=self,sm", "pml=ob1 btl=self,tcp"})
    EXPECT_TRUE(holds(open_mpi, there)) << there;
  for (const char* not_there : {"osc=pt2pt", "osc=ucx", "pml=ucx", "vader"})
    EXPECT_FALSE(holds(open_mpi, not_there)) << not_there;
  EXPECT_EQ(open_mpi.back(), "both on one core, mpi_yield_when_idle=0");

  const Names mpich = texts(make_candidates("MPICH Version: 4.0.2, device ch4:ofi", {}));
  EXPECT_TRUE(holds(mpich, "FI_PROVIDER=tcp"));
  EXPECT_TRUE(holds(mpich, "MPIR_CVAR_NOLOCAL=1"));
  EXPECT_FALSE(holds(mpich, "UCX_TLS"));
  EXPECT_FALSE(holds(mpich, "osc="));
}

Names split_words(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

const Candidate kBase{"as merganser run sets it", {}};
const Candidate kNoPriority{"osc_rdma_priority not set", {{"OMPI_MCA_osc_rdma_priority", std::nullopt}}};

TEST(SettingsComparison, says_what_is_right_wrong_and_of_no_account) {
  const std::vector<double> pings{4e-7, 4e-7, 5e-7};
  const MeasuredSettings base{kBase, pings, {2e-8, 1e-8, 3e-8}, ""};
  EXPECT_EQ(verdicts({base, {kNoPriority, pings, {2e-7}, ""}}),
            Names{"OMPI_MCA_osc_rdma_priority is right: without it a put takes 10.0 times as long"});
  EXPECT_EQ(verdicts({base, {kNoPriority, pings, {2.1e-8}, ""}}),
            Names{"OMPI_MCA_osc_rdma_priority changes nothing here for a put"});
  EXPECT_EQ(verdicts({base, {kNoPriority, pings, {}, "no window"}}),
            Names{"OMPI_MCA_osc_rdma_priority is right: without it there is no put"});
  const Names wrong = verdicts({base, {kNoPriority, pings, {1e-8}, ""}});
  EXPECT_TRUE(holds(wrong, "OMPI_MCA_osc_rdma_priority is WRONG here: without it a put takes 0.50 of the time"));
  const Names faster = verdicts({base, {{"osc=ucx", {{"OMPI_MCA_osc", "ucx"}}}, {1e-7}, {1e-8}, ""}});
  EXPECT_TRUE(holds(faster, "osc=ucx is faster for puts here, 2.0 times"));
  EXPECT_TRUE(holds(faster, "osc=ucx is faster for messages here, 4.0 times"));
}

TEST(SettingsComparison, ranks_that_share_a_core_are_compared_with_such_ranks) {
  const Candidate oversubscribed{"both ranks on one core", {}, true};
  const Candidate busy{"no yield", {{"OMPI_MCA_mpi_yield_when_idle", "0"}}, true};
  const std::vector<MeasuredSettings> measured{
      {kBase, {4e-7}, {2e-8}, ""}, {oversubscribed, {1e-6}, {2e-8}, ""}, {busy, {1e-2}, {2e-8}, ""}};
  EXPECT_EQ(verdicts(measured),
            Names{"OMPI_MCA_mpi_yield_when_idle is right: without it a ping between ranks that share a "
                  "core takes 10000.0 times as long"});
}

TEST(SettingsComparison, tells_medians_factors_and_why_there_are_none) {
  const std::vector<MeasuredSettings> measured{
      {kBase, {4e-7, 4e-7, 5e-7}, {2e-8, 1e-8, 3e-8}, ""},
      {kNoPriority, {8e-7}, {2e-7}, ""},
      {{"osc=ucx", {{"OMPI_MCA_osc", "ucx"}}}, {2e-7}, {}, "no window"},
      {{"osc=sm", {{"OMPI_MCA_osc", "sm"}}}, {}, {}, "did not end within 20 s"}};
  const std::string text = comparison_text(measured, 3);
  const auto line_of = [&](const std::string& part) {
    const auto at = text.find(part);
    return at == std::string::npos ? "no line with " + part : text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_TRUE(says(text, "launches of each: 3")) << text;
  EXPECT_EQ(split_words(line_of("as merganser run sets it")),
            (Names{"as", "merganser", "run", "sets", "it", "20.0", "ns", "1.00", "400", "ns", "1.00"}));
  EXPECT_EQ(split_words(line_of("osc_rdma_priority not set")),
            (Names{"osc_rdma_priority", "not", "set", "200", "ns", "10.00", "800", "ns", "2.00"}));
  EXPECT_EQ(split_words(line_of("osc=ucx")), (Names{"osc=ucx", "-", "-", "200", "ns", "0.50"}));
  EXPECT_EQ(split_words(line_of("osc=sm")), (Names{"osc=sm", "-", "-", "-", "-"}));
  EXPECT_TRUE(says(text, "osc=ucx: no window")) << text;
  EXPECT_TRUE(says(text, "osc=sm: did not end within 20 s")) << text;
  EXPECT_TRUE(says(text, "OMPI_MCA_osc_rdma_priority is right")) << text;

  const auto json = comparison_json(measured, 3);
  EXPECT_EQ(json.at("rounds"), 3);
  const auto& candidates = json.at("candidates");
  ASSERT_EQ(candidates.size(), 4U);
  EXPECT_TRUE(candidates[0].at("variables").empty());
  EXPECT_EQ(candidates[0].at("ping_s").size(), 3U);
  EXPECT_TRUE(candidates[1].at("variables").at("OMPI_MCA_osc_rdma_priority").is_null());
  EXPECT_EQ(candidates[2].at("variables").at("OMPI_MCA_osc"), "ucx");
  EXPECT_EQ(candidates[2].at("failure"), "no window");
  EXPECT_EQ(json.at("verdicts").size(), verdicts(measured).size());
}

TEST(SettingsComparison, the_doctor_measures_every_candidate_or_says_why_not) {
  if (!merganser::app::find_launcher().problem.empty()) GTEST_SKIP() << "no launcher";
  if (merganser::comm::mpi_library() == "none") GTEST_SKIP() << "no MPI";
  const Folder folder;
  const std::string path = folder.file("doctor.json");
  const Outcome outcome = run({"doctor", "--measure", "--rounds", "1", "--json", path});
  if (outcome.code == 4 && says(outcome, "did not end within")) GTEST_SKIP() << "busy machine: " << outcome.err;
  ASSERT_EQ(outcome.code, 0) << outcome.text();
  EXPECT_TRUE(says(outcome.out, "settings measured")) << outcome.out;
  const auto measured = read_json_file(path).at("settings_measured");
  EXPECT_EQ(measured.at("rounds"), 1);
  ASSERT_GE(measured.at("candidates").size(), 2U);
  EXPECT_EQ(measured.at("candidates")[0].at("ping_s").size(), 1U);
  for (const auto& candidate : measured.at("candidates")) {
    EXPECT_TRUE(says(outcome.out, candidate.at("settings").get<std::string>())) << candidate;
    EXPECT_TRUE(!candidate.at("ping_s").empty() || candidate.at("failure") != "") << candidate;
    for (const double ping : candidate.at("ping_s")) EXPECT_GT(ping, 0) << candidate;
  }
}

TEST(SettingsComparison, a_core_that_is_not_there_is_refused) {
  const Outcome outcome = run({"pair", "--core", "100000", "--results", "/dev/null"});
  EXPECT_EQ(outcome.code, 2) << outcome.text();
  EXPECT_TRUE(says(outcome, "--core is 100000, which this process may not use")) << outcome.text();
}

TEST(SettingsComparison, a_pair_of_ranks_is_measured_with_what_is_exported_and_nothing_else) {
  if (!merganser::app::find_launcher().problem.empty()) GTEST_SKIP() << "no launcher";
  if (merganser::comm::mpi_library() == "none") GTEST_SKIP() << "no MPI";
  const Folder folder;
  const std::string path = folder.file("pair.cbor");
  const Outcome outcome = run_on(2, {"pair", "--seconds=0.02", "--results=" + path});
  ASSERT_EQ(outcome.code, 0) << outcome.text();
  const auto told = merganser::app::read_cbor(path);
  EXPECT_GT(told.at("ping_s").get<double>(), 0);
  EXPECT_GT(told.at("put_flush_s").get<double>(), 0);
  EXPECT_EQ(told.at("put_error").get<std::string>(), "");
}

}  // namespace
