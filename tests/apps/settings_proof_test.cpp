/// Which settings of a launcher are proven, and what is said of them.
#include "apps/doctor/settings_proof.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "apps/frame/launcher.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser::test;
using merganser::app::Candidate;
using merganser::app::candidates_for;
using merganser::app::components_of;
using merganser::app::Proven;
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

TEST(SettingsProof, reads_which_components_there_are) {
  const Names found = components_of(
      "package:Open MPI\nmca:osc:sm:version:\"mca:2.1.0\"\nmca:osc:sm:version:\"api:3.0.0\"\n"
      "mca:pml:ob1:version:\"mca:2.1.0\"\nmca:short\noption:heterogeneous:no\n");
  EXPECT_EQ(found, (Names{"osc:sm", "pml:ob1"}));
}

TEST(SettingsProof, compares_what_the_library_lets_one_choose) {
  const Names open_mpi =
      texts(candidates_for("Open MPI v5.0.1", {"osc:sm", "osc:rdma", "btl:sm", "btl:tcp", "pml:ob1"}));
  EXPECT_EQ(open_mpi.front(), "as merganser run sets it");
  for (const char* there : {"osc=sm", "osc=rdma", "pml=ob1 btl=self,sm", "pml=ob1 btl=self,tcp"})
    EXPECT_TRUE(holds(open_mpi, there)) << there;
  for (const char* not_there : {"osc=pt2pt", "osc=ucx", "pml=ucx", "vader"})
    EXPECT_FALSE(holds(open_mpi, not_there)) << not_there;
  EXPECT_EQ(open_mpi.back(), "both on one core, mpi_yield_when_idle=0");

  const Names mpich = texts(candidates_for("MPICH Version: 4.0.2, device ch4:ofi", {}));
  EXPECT_TRUE(holds(mpich, "FI_PROVIDER=tcp"));
  EXPECT_TRUE(holds(mpich, "MPIR_CVAR_NOLOCAL=1"));
  EXPECT_FALSE(holds(mpich, "UCX_TLS"));
  EXPECT_FALSE(holds(mpich, "osc="));
}

const Candidate kBase{"as merganser run sets it", {}};
const Candidate kNoPriority{"osc_rdma_priority not set", {{"OMPI_MCA_osc_rdma_priority", std::nullopt}}};

TEST(SettingsProof, says_what_is_right_wrong_and_of_no_account) {
  const std::vector<double> pings{4e-7, 4e-7, 5e-7};
  const Proven base{kBase, pings, {2e-8, 1e-8, 3e-8}, ""};
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

TEST(SettingsProof, crowded_ranks_are_compared_with_crowded_ranks) {
  const Candidate crowded{"both ranks on one core", {}, true};
  const Candidate busy{"no yield", {{"OMPI_MCA_mpi_yield_when_idle", "0"}}, true};
  const std::vector<Proven> proven{
      {kBase, {4e-7}, {2e-8}, ""}, {crowded, {1e-6}, {2e-8}, ""}, {busy, {1e-2}, {2e-8}, ""}};
  EXPECT_EQ(verdicts(proven),
            Names{"OMPI_MCA_mpi_yield_when_idle is right: without it a ping between ranks that share a "
                  "core takes 10000.0 times as long"});
}

TEST(SettingsProof, a_pair_of_ranks_is_measured_with_what_is_exported_and_nothing_else) {
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
