/// Tests of the choice of the launcher, of secrets in records, and of the variables that records hold.
#include "apps/frame/launcher.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "apps/frame/environment.hpp"
#include "apps/frame/json.hpp"
#include "apps/frame/leftovers.hpp"
#include "apps/frame/secrets.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser::test;
using merganser::app::is_setting;
using merganser::app::launcher_family;
using merganser::app::mpi_family;
using merganser::app::srun_option;

constexpr const char* kOpenMpi = "Open MPI v4.1.4, package: Debian OpenMPI";
constexpr const char* kMpich = "MPICH Version:\t4.0.2";
constexpr const char* kCray = "MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)";

TEST(Launcher, is_known_by_what_it_says_of_itself) {
  EXPECT_EQ(launcher_family("/usr/bin/mpirun", "mpirun (Open MPI) 4.1.4"), "Open MPI");
  EXPECT_EQ(launcher_family("/usr/bin/mpirun", "mpirun (OpenRTE) 4.1.4"), "Open MPI");
  EXPECT_EQ(launcher_family("/opt/bin/prterun", "prterun (PRRTE) 3.0.2"), "Open MPI");
  EXPECT_EQ(launcher_family("/usr/bin/mpiexec.hydra", "HYDRA build details:"), "MPICH");
  EXPECT_EQ(launcher_family("/opt/mpiexec", "Intel(R) MPI Library for Linux* OS, Version 2021.9"), "Intel MPI");
  EXPECT_EQ(launcher_family("/usr/bin/srun", "slurm-wlm 22.05.8"), "Slurm");
  EXPECT_EQ(launcher_family("/opt/cray/pe/pals/1.2.12/bin/mpiexec", ""), "PALS");
  EXPECT_EQ(launcher_family("/usr/bin/aprun", "aprun (ALPS) 6.6.67"), "ALPS");
  EXPECT_EQ(launcher_family("/usr/bin/mpirun", "something else"), "unknown");
}

TEST(Launcher, status_of_a_process_may_be_read_while_it_ends) {
  std::atomic<pid_t> process{::getpid()};
  std::atomic<int> read{0};
  std::thread reader([&] {
    for (pid_t pid = process; pid > 0; pid = process) {
      const std::string status = merganser::app::read_process_status(pid);
      EXPECT_TRUE(status.empty() || status.starts_with(std::to_string(pid) + " ("));
      ++read;
    }
  });
  for (int i = 0; i < 500; ++i) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    process = child;
    for (const int before = read; read < before + 2;) std::this_thread::yield();
    EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  }
  process = 0;
  reader.join();
  EXPECT_EQ(merganser::app::read_process_status(-1), "");
}

TEST(Launcher, belongs_to_a_family_of_libraries) {
  EXPECT_EQ(mpi_family(kOpenMpi), "Open MPI");
  EXPECT_EQ(mpi_family(kMpich), "MPICH");
  EXPECT_EQ(mpi_family(kCray), "MPICH");
  EXPECT_EQ(mpi_family("Intel(R) MPI Library 2021.9 for Linux* OS"), "Intel MPI");
  EXPECT_EQ(mpi_family("none"), "unknown");
}

TEST(Launcher, srun_is_asked_for_the_plugin_that_the_library_needs) {
  const std::string debian =
      "MPI plugin types are...\n\tnone\n\tpmix\n\tcray_shasta\n\tpmi2\nspecific pmix plugin versions available: "
      "pmix_v4";
  EXPECT_EQ(srun_option(kOpenMpi, debian), "--mpi=pmix");
  EXPECT_EQ(srun_option(kMpich, debian), "--mpi=pmi2");
  EXPECT_EQ(srun_option(kCray, debian), "--mpi=cray_shasta");
  const std::string poor = "srun: MPI types are...\nsrun: none\nsrun: openmpi\n";
  EXPECT_EQ(srun_option(kOpenMpi, poor), "");
  EXPECT_EQ(srun_option(kMpich, poor), "");
}

/// Fixture with scripts that print the version of a launcher and start nothing.
class Pretended : public testing::Test {
 protected:
  std::string program(const std::string& name, const std::string& text) {
    const std::string path = folder_.file(name);
    std::ofstream(path) << "#!/bin/sh\n" << text << '\n';
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  void SetUp() override {
    if (process_models().empty()) GTEST_SKIP() << "this build has no model of processes";
    open_mpi_ = says(run({"--version"}).out, "Open MPI");
  }
  Folder folder_;
  bool open_mpi_ = false;
};

TEST_F(Pretended, one_of_another_library_is_refused_with_both_paths) {
  const std::string other =
      program("mpiexec", open_mpi_ ? "echo HYDRA build details:" : "echo 'mpirun (Open MPI) 5.0'");
  const Outcome o = run({"run", "-n", "2", "--launcher", other, "--", "doctor"});
  EXPECT_EQ(o.code, 4) << o.text();
  EXPECT_TRUE(says(o.err, other + " starts processes of")) << o.err;
  EXPECT_TRUE(says(o.err, "linked with")) << o.err;
  EXPECT_TRUE(says(o.err, ".so")) << "the path of the library: " << o.err;
  const Outcome variable = run({"run", "-n", "2", "--", "doctor"}, {{"MERGANSER_LAUNCHER", other}});
  EXPECT_EQ(variable.code, 4) << variable.text();
}

TEST_F(Pretended, the_option_names_the_launcher_and_goes_before_the_variable) {
  const std::string unknown = program("starter", "echo of my own");
  const Outcome o = run({"run", "-n", "2", "--dry-run", "--launcher", unknown, "--", "doctor"},
                        {{"MERGANSER_LAUNCHER", "no-such-launcher"}});
  EXPECT_EQ(o.code, 0) << o.text();
  EXPECT_TRUE(says(o.out, unknown + " -n 2 ")) << o.out;
  const Outcome missing = run({"run", "-n", "2", "--launcher", "/no/such", "--", "doctor"});
  EXPECT_EQ(missing.code, 4) << missing.text();
  EXPECT_TRUE(says(missing.err, "--launcher is /no/such")) << missing.err;
}

TEST_F(Pretended, within_a_job_of_slurm_srun_is_called_with_the_plugin_or_left) {
  program("srun",
          "case $1 in --version) echo slurm-wlm 22.05.8 ;; --mpi=list) printf 'MPI plugin types are...\\n\\tnone\\n"
          "\\tpmix\\n\\tpmi2\\n' >&2 ;; esac");
  const std::string before = std::getenv("PATH");
  ::setenv("PATH", (std::filesystem::path(folder_.file("srun")).parent_path().string() + ":" + before).c_str(), 1);
  const Arguments dry{"run", "-n", "2", "--dry-run", "--", "doctor"};
  const std::pair<std::string, std::string> job{"SLURM_JOB_ID", "1"}, nodes{"SLURM_JOB_NUM_NODES", "1"};
  const Outcome o = run(dry, {job, nodes});
  EXPECT_EQ(o.code, 0) << o.text();
  EXPECT_TRUE(says(o.out, open_mpi_ ? "srun -n 2 --mpi=pmix " : "srun -n 2 --mpi=pmi2 ")) << o.out;
  EXPECT_FALSE(says(o.out, "MERGANSER_WAIT_LIMIT")) << "on one machine there is no limit: " << o.out;
  const Outcome none = run({"run", "-n", "2", "--launcher", "srun", "--dry-run", "--", "doctor"},
                           {job, nodes, {"SLURM_MPI_TYPE", "none"}});
  EXPECT_EQ(none.code, 4) << none.text();
  EXPECT_TRUE(says(none.err, "SLURM_MPI_TYPE is none")) << none.err;
  const Outcome several = run(dry, {job, {"SLURM_JOB_NUM_NODES", "2"}});
  EXPECT_TRUE(says(several.out, "MERGANSER_WAIT_LIMIT=300")) << several.out;
  ::setenv("PATH", before.c_str(), 1);
}

TEST(Record, holds_the_variables_of_libraries_but_no_secrets) {
  const Folder folder;
  const std::string record = folder.file("r.json");
  const Outcome o = run({"bench", "random", "--cells", "4,4,4", "--steps", "1", "--json", record},
                        {{"UCX_TLS", "tcp,self"},
                         {"OMPI_MCA_btl", "self,tcp"},
                         {"SLURM_CPU_BIND", "cores"},
                         {"MPICH_VERSION_DISPLAY", "1"},
                         {"SLURM_JWT", "geheim"},
                         {"SLURM_JOB_COMMENT", "geheim"},
                         {"OMPI_MCA_x_password", "geheim"},
                         {"OMPI_MCA_btl_Cookie", "geheim"},
                         {"UCX_TCP_PASSWD", "geheim"},
                         {"MERGANSER_X", "geheim"},
                         {"UCX_NET_DEVICES", "http://me:geheim@host/"},
                         {"OMPI_MCA_orte_precondition_transports", "geheim"},
                         {"UNRELATED", "1"}});
  ASSERT_EQ(o.code, 0) << o.text();
  const auto provenance = merganser::app::read_json(record)["provenance"];
  const auto& variables = provenance["variables"];
  EXPECT_EQ(variables["UCX_TLS"], "tcp,self");
  EXPECT_EQ(variables["OMPI_MCA_btl"], "self,tcp");
  EXPECT_EQ(variables["SLURM_CPU_BIND"], "cores");
  EXPECT_EQ(variables["UCX_NET_DEVICES"], "http://***@host/");
  EXPECT_EQ(variables["MPICH_VERSION_DISPLAY"], "1");
  EXPECT_FALSE(variables.contains("UNRELATED"));
  EXPECT_FALSE(says(provenance.dump(), "geheim"));
  EXPECT_FALSE(provenance["binding"].get<std::string>().empty());
  EXPECT_FALSE(provenance["host"].get<std::string>().empty());
}

TEST(Record, tells_which_components_served_a_job_of_open_mpi) {
  if (process_models().empty() || !says(run({"--version"}).out, "Open MPI v4")) GTEST_SKIP() << "no Open MPI 4";
  const Folder folder;
  const std::string record = folder.file("r.json");
  const Outcome o = run({"run", "-n", "2", "--", "bench", "random", "--cells", "6,6,6", "--steps", "1", "--comm",
                         process_models().front(), "--json", record},
                        {{"OMPI_MCA_pml", "ob1"}, {"OMPI_MCA_btl", "self,tcp"}});
  ASSERT_EQ(o.code, 0) << o.text();
  const auto components = merganser::app::read_json(record)["provenance"]["components"];
  EXPECT_EQ(components["pml"].dump(), "[\"ob1\"]");
  EXPECT_EQ(components["btl"].dump(), "[\"self\",\"tcp\"]");
}

TEST(Record, a_job_that_bench_starts_itself_tells_what_its_ranks_saw) {
  if (process_models().empty() || !says(run({"--version"}).out, "Open MPI v4")) GTEST_SKIP() << "no Open MPI 4";
  const Folder folder;
  const std::string record = folder.file("r.json");
  for (const Arguments& bench :
       {Arguments{"topo", "bench", "--ranks", "2", "--graph", "chain", "--sizes", "8", "--time", "0.2", "--kernels",
                  "p2p.isend-irecv", "--quiet"},
        Arguments{"bench", "random", "--ranks", "2", "--cells", "6,6,6", "--steps", "1", "--comm", "p2p", "--quiet"}}) {
    if (!has_verb(bench)) continue;  // of a package that is not built
    const Outcome o = run(bench + Arguments{"--json", record}, {{"OMPI_MCA_pml", "ob1"}, {"OMPI_MCA_btl", "self,tcp"}});
    ASSERT_EQ(o.code, 0) << o.text();
    const auto provenance = merganser::app::read_json(record)["provenance"];
    EXPECT_EQ(provenance["components"]["btl"].dump(), "[\"self\",\"tcp\"]");
    EXPECT_EQ(provenance["variables"]["OMPI_MCA_btl"], "self,tcp");
    EXPECT_EQ(provenance["variables"]["OMPI_MCA_osc"], "sm,rdma,pt2pt");  // set by this program
  }
}

TEST(Secret, is_found_in_names_urls_options_and_by_its_form) {
  using merganser::app::is_secret_name;
  using merganser::app::without_secrets;
  using merganser::app::words_without_secrets;
  for (const char* name : {"OMPI_MCA_x_password", "my.Cookie", "--api-key", "HF_TOKEN", "mypassword2", "X-Auth"})
    EXPECT_TRUE(is_secret_name(name)) << name;
  for (const char* name : {"OMPI_MCA_btl", "keyboard", "passes", "I_MPI_PIN", "--max-ranks", "author"})
    EXPECT_FALSE(is_secret_name(name)) << name;
  EXPECT_EQ(without_secrets("cannot open s3://me:geh@im@host/a, https://geheim@x, and http://host/a@b"),
            "cannot open s3://***@host/a, https://***@x, and http://host/a@b");
  EXPECT_EQ(without_secrets("unknown option --password=geheim; known: --graph=a"),
            "unknown option --password=***; known: --graph=a");
  EXPECT_EQ(without_secrets("ghp_abcdefghijklmnopqrstuvwxyz0123 of eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.c2ln"),
            "*** of ***");
  EXPECT_EQ(without_secrets("volume: 3 m3, a=b, sk-1"), "volume: 3 m3, a=b, sk-1");
  EXPECT_EQ(words_without_secrets({"prog", "--Token", "geheim", "-H", "Authorization: Bearer geheim", "--key", "--n",
                                   "3", "PASSWORD=a b", "/data/key:1"}),
            (std::vector<std::string>{"prog", "--Token", "***", "-H", "Authorization:***", "--key", "--n", "3",
                                      "PASSWORD=***", "/data/key:1"}));
}

TEST(Secret, of_an_argument_is_neither_printed_nor_recorded) {
  const Folder folder;
  const std::string secret = "https://me:geheim@host/x";
  const Outcome bad = run({"cluster", secret, "--password=geheim"});
  EXPECT_NE(bad.code, 0);
  EXPECT_FALSE(says(bad, "geheim")) << bad.text();
  const Outcome o =
      run({"run", "--dry-run", "-n", "1", "--", "topo", "extract", "--", "prog", "--token", "geheim", secret});
  EXPECT_FALSE(says(o, "geheim")) << o.text();
}

TEST(Setting, is_what_chooses_how_libraries_talk_not_what_names_a_job) {
  for (const char* name : {"OMPI_MCA_osc", "OMPI_MCA_btl_tcp_if_include", "UCX_TLS", "MPICH_GPU_SUPPORT_ENABLED",
                           "SLURM_CPU_BIND_TYPE", "MERGANSER_COMM"})
    EXPECT_TRUE(is_setting(name)) << name;
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "SLURM_JOB_ID", "OMPI_MCA_btlx", "OMPI_MCA_pml_secret",
                           "OMPI_MCA_orte_jobid", "PATH", "PALS_RANKID"})
    EXPECT_FALSE(is_setting(name)) << name;
}

}  // namespace
