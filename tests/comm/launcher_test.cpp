/// Tests of what the environment of a launcher tells, and of the settings that libraries need.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <map>
#include <set>

#include "merganser/base/error.hpp"
#include "merganser/comm/loopback.hpp"
#include "merganser/comm/runtime.hpp"
#include "src/comm/detail/models.hpp"
#include "src/comm/detail/process.hpp"
#include "tests/support/refusal.hpp"

extern char** environ;

namespace {

using namespace merganser;
using test::refusal;

using Variables = std::map<std::string, std::string>;

/// Environment without the variables of any launcher, and with those given; the former one comes back at the end.
class Environment {
 public:
  explicit Environment(const Variables& variables) {
    for (char** v = environ; *v != nullptr; ++v) before_.emplace_back(*v);
    for (const std::string& one : before_) {
      for (const char* prefix :
           {"PMI", "OMPI_", "MV2_", "PALS_", "FLUX_", "JSM_", "SLURM_", "MERGANSER_", "SMA_", "SHMEM_"})
        if (one.starts_with(prefix)) ::unsetenv(one.substr(0, one.find('=')).c_str());
    }
    for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    ::clearenv();
    for (const std::string& one : before_)
      ::setenv(one.substr(0, one.find('=')).c_str(), one.substr(one.find('=') + 1).c_str(), 1);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  std::vector<std::string> before_;
};

std::pair<int, int> world_of(const Variables& variables) {
  const Environment environment(variables);
  const comm::World world = comm::launcher_world();
  EXPECT_EQ(comm::launched(), world.size > 1);
  return {world.rank, world.size};
}

const std::vector<std::pair<std::string, std::string>> kPairs{{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                                              {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
                                                              {"PMI_RANK", "PMI_SIZE"},
                                                              {"PALS_RANKID", "PALS_SIZE"},
                                                              {"FLUX_TASK_RANK", "FLUX_JOB_SIZE"},
                                                              {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE"},
                                                              {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};

TEST(LauncherWorldTest, is_read_from_the_variables_of_each_launcher) {
  for (const auto& [rank, size] : kPairs) {
    EXPECT_EQ(world_of({{rank, "2"}, {size, "5"}}), std::pair(2, 5)) << rank;
    EXPECT_EQ(world_of({{rank, "0"}, {size, "1"}}), std::pair(0, 1)) << rank;
  }
  EXPECT_EQ(world_of({}), std::pair(0, 1));
}

TEST(LauncherWorldTest, a_pair_that_is_incomplete_or_makes_no_sense_is_passed_over) {
  for (const auto& [rank, size] : kPairs) {
    const std::vector<Variables> nonsense{{{rank, "2"}},
                                          {{size, "5"}},
                                          {{rank, "5"}, {size, "5"}},
                                          {{rank, "-1"}, {size, "5"}},
                                          {{rank, "0"}, {size, "0"}},
                                          {{rank, "1"}, {size, "5x"}},
                                          {{rank, " 1"}, {size, "5"}},
                                          {{rank, ""}, {size, "5"}},
                                          {{rank, "1"}, {size, "99999999999"}}};
    for (const Variables& variables : nonsense) {
      EXPECT_EQ(world_of(variables), std::pair(0, 1)) << rank;
      if (rank == kPairs.back().first) continue;
      Variables both = variables;
      both[kPairs.back().first] = "3";
      both[kPairs.back().second] = "4";
      EXPECT_EQ(world_of(both), std::pair(3, 4)) << rank << ": a remainder of one launcher must not hide another";
    }
  }
}

TEST(LauncherWorldTest, the_more_specific_launcher_comes_first) {
  for (std::size_t i = 0; i + 1 < kPairs.size(); ++i) {
    EXPECT_EQ(
        world_of(
            {{kPairs[i].first, "1"}, {kPairs[i].second, "2"}, {kPairs[i + 1].first, "6"}, {kPairs[i + 1].second, "7"}}),
        std::pair(1, 2))
        << kPairs[i].first;
  }
}

Variables settings(const std::string& mpi, const std::string& shmem) {
  Variables all;
  for (const auto& s : comm::launcher_settings(mpi, shmem)) {
    EXPECT_TRUE(all.emplace(s.name, s.value).second) << s.name << " is there twice";
    EXPECT_FALSE(s.why.empty()) << s.name;
  }
  for (const char* of_root : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"}) {
    if (geteuid() == 0 && all.contains("OMPI_MCA_mpi_yield_when_idle")) {
      EXPECT_EQ(all[of_root], "1");
    } else {
      EXPECT_FALSE(all.contains(of_root));
    }
    all.erase(of_root);
  }
  return all;
}

TEST(LauncherSettingsTest, are_those_of_the_libraries_that_are_there) {
  const Environment environment(Variables{});
  const Variables open_mpi{{"OMPI_MCA_opal_common_ucx_opal_mem_hooks", "0"},
                           {"OMPI_MCA_mpi_yield_when_idle", "1"},
                           {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                           {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"},
                           {"UCX_DEBUG_SIGNO", "0"}};
  EXPECT_EQ(settings("none", "none"), Variables());
  EXPECT_EQ(settings("MPICH Version:      4.2.0", "none"), Variables());
  EXPECT_EQ(settings("Open MPI v5.0.3", "none"), open_mpi);
  Variables four = open_mpi;
  four["OMPI_MCA_osc"] = "sm,rdma,pt2pt";
  four["OMPI_MCA_osc_rdma_priority"] = "50";
  EXPECT_EQ(settings("Open MPI v4.1.4, package", "none"), four);
  four["SHMEM_SYMMETRIC_HEAP_SIZE"] = "512M";
  EXPECT_EQ(settings("Open MPI v4.1.4", "http://www.open-mpi.org/"), four);
  EXPECT_EQ(
      settings("none", "Sandia OpenSHMEM"),
      (Variables{{"SHMEM_SYMMETRIC_SIZE", "512M"}, {"UCX_POSIX_FIFO_SIZE", "8192"}, {"UCX_SYSV_FIFO_SIZE", "8192"}}));
  EXPECT_EQ(settings("none", "another"), (Variables{{"SHMEM_SYMMETRIC_SIZE", "512M"}}));
}

TEST(LauncherSettingsTest, leave_the_heap_alone_where_its_older_name_is_set) {
  const Environment environment(Variables{{"SMA_SYMMETRIC_SIZE", "1G"}});
  EXPECT_EQ(settings("none", "another"), Variables());
  EXPECT_FALSE(settings("Open MPI v4", "open-mpi").contains("SHMEM_SYMMETRIC_HEAP_SIZE"));
}

TEST(LoopbackSettingsTest, name_the_interface_for_each_library) {
  const auto names = [](const std::string& mpi, const std::string& shmem) {
    std::set<std::string> all;
    for (const auto& s : comm::loopback_settings(mpi, shmem, "lo7")) {
      EXPECT_EQ(s.value, "lo7");
      EXPECT_FALSE(s.why.empty());
      all.insert(s.name);
    }
    return all;
  };
  using Names = std::set<std::string>;
  const Names open_mpi{"OMPI_MCA_oob_tcp_if_include", "OMPI_MCA_btl_tcp_if_include", "PRTE_MCA_prte_if_include",
                       "UCX_NET_DEVICES"};
  const Names mpich{"HYDRA_IFACE", "FI_TCP_IFACE", "FI_SOCKETS_IFACE", "UCX_NET_DEVICES"};
  EXPECT_EQ(names("Open MPI v4.1.4", "none"), open_mpi);
  EXPECT_EQ(names("none", "Open MPI's"), open_mpi);
  EXPECT_EQ(names("MPICH Version: 4.2", "none"), mpich);
  EXPECT_EQ(names("Intel(R) MPI Library 2021", "none"), mpich);
  EXPECT_EQ(names("none", "Sandia"), Names{"UCX_NET_DEVICES"});
  EXPECT_EQ(names("none", "none"), Names());
}

std::string value_of(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "(not set)";
}

TEST(WorkaroundsTest, are_set_unless_the_user_has_set_them_or_wants_none) {
  const auto wanted = comm::launcher_settings();
  if (wanted.empty()) GTEST_SKIP() << "the libraries of this build need no setting";
  const std::string name = wanted.front().name;
  {
    const Environment environment(Variables{{name, "of the user"}});
    comm::detail::apply_runtime_workarounds();
    for (const auto& s : wanted) {
      EXPECT_EQ(value_of(s.name.c_str()), s.name == name ? "of the user" : s.value) << s.name;
    }
  }
  {
    const Environment environment(Variables{{"MERGANSER_SETTINGS", "none"}});
    comm::detail::apply_runtime_workarounds();
    EXPECT_EQ(value_of(name.c_str()), "(not set)");
  }
  const Environment environment(Variables{{"MERGANSER_SETTINGS", "nonesuch"}});
  comm::detail::apply_runtime_workarounds();
  EXPECT_EQ(value_of(name.c_str()), wanted.front().value);
}

TEST(WorkaroundsTest, a_step_of_slurm_without_its_plug_in_is_refused) {
  const auto why = [](Variables variables) {
    variables["MERGANSER_SETTINGS"] = "none";
    const Environment environment(variables);
    return refusal<CommError>([] { comm::detail::apply_runtime_workarounds(); });
  };
  const Variables step{{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "3"}};
  EXPECT_EQ(why(step),
            "srun has started this as rank 1 of 3 without a plug-in for MPI, so every process would run for itself; "
            "allowed: srun --mpi=pmix (Open MPI), srun --mpi=pmi2 (MPICH), or merganser run within the allocation");
  for (const char* of_plug_in : {"PMIX_RANK", "PMI_FD", "OMPI_COMM_WORLD_NODE_RANK", "MV2_COMM_WORLD_LOCAL_RANK",
                                 "PALS_APID", "FLUX_URI", "JSM_JSRUN_CMD"}) {
    Variables with = step;
    with[of_plug_in] = "1";
    EXPECT_EQ(why(with), "nothing was thrown") << of_plug_in;
  }
  EXPECT_EQ(why({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}), "nothing was thrown");
  const std::string of_two = why({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}});
  EXPECT_TRUE(of_two.starts_with("srun has started this as rank 0 of 2 without a plug-in")) << of_two;
  EXPECT_EQ(why({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "3"}}), "nothing was thrown");
}

TEST(CheckWorldTest, both_rank_and_size_must_be_the_launcher_s) {
  const Environment environment(Variables{{"PMI_RANK", "1"}, {"PMI_SIZE", "3"}});
  EXPECT_EQ(refusal([] { comm::detail::check_world(1, 3, "MPI"); }), "nothing was thrown");
  const std::string what = refusal<CommError>([] { comm::detail::check_world(0, 1, "OpenSHMEM"); });
  EXPECT_TRUE(what.starts_with("the launcher says this is rank 1 of 3, but OpenSHMEM sees rank 0 of 1: ")) << what;
  EXPECT_NE(refusal([] { comm::detail::check_world(2, 3, "MPI"); }), "nothing was thrown");
  EXPECT_NE(refusal([] { comm::detail::check_world(1, 4, "MPI"); }), "nothing was thrown");
}

void handler(int) {}

TEST(KeptSignalsTest, actions_that_a_library_has_changed_come_back) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    std::signal(signal, handler);
    {
      const comm::detail::KeptSignals kept;
      std::signal(signal, SIG_IGN);
    }
    struct sigaction after {};
    ::sigaction(signal, &before, &after);
    EXPECT_EQ(after.sa_handler, handler) << signal;
  }
}

const comm::Backend kThreads{"threads", "", false};
const comm::Backend kProcesses{"p2p", "", true};

std::string ranks_refused(const comm::Backend& backend, int ranks, bool within, const Variables& variables) {
  const Environment environment(variables);
  comm::RunOptions options;
  options.ranks = ranks;
  options.within_process = within;
  return refusal<UsageError>([&] { comm::detail::check_ranks(options, backend); });
}

TEST(CheckRanksTest, numbers_that_the_launcher_has_not_started_are_refused) {
  const std::string fine = "nothing was thrown";
  const Variables three{{"PMI_RANK", "1"}, {"PMI_SIZE", "3"}};
  for (const int ranks : {0, 1}) EXPECT_EQ(ranks_refused(kProcesses, ranks, false, {}), fine);
  for (const int ranks : {0, 3}) EXPECT_EQ(ranks_refused(kProcesses, ranks, false, three), fine);
  for (const int ranks : {0, 1, 9}) {
    EXPECT_EQ(ranks_refused(kThreads, ranks, false, {}), fine);
    EXPECT_EQ(ranks_refused(kThreads, ranks, true, three), fine);
  }
  EXPECT_EQ(ranks_refused(kThreads, -2, false, {}), "ranks is -2; allowed: 0 (the default) and more");
  EXPECT_EQ(ranks_refused(kProcesses, 2, false, {}),
            "model 'p2p' is asked for 2 ranks, but no launcher started them; use: mpirun -n 2");
  EXPECT_EQ(ranks_refused(kProcesses, 2, false, three),
            "model 'p2p' is asked for 2 ranks, but the launcher started 3; use: mpirun -n 2");
  EXPECT_EQ(
      ranks_refused(kThreads, 3, false, three),
      "model 'threads' runs in one process, but a launcher started this one as one of 3 ranks; start it without a "
      "launcher or choose a model of processes");
  EXPECT_EQ(ranks_refused(kProcesses, 0, true, {}),
            "model 'p2p' needs processes, but ranks within this one are asked for; allowed: threads");
}

TEST(ResolveBackendTest, a_variable_stands_in_for_auto_alone) {
  const auto resolved = [](const std::string& name, const Variables& variables) {
    const Environment environment(variables);
    return comm::detail::resolve_backend_name(name);
  };
  EXPECT_EQ(resolved("auto", {}), "auto");
  EXPECT_EQ(resolved("auto", {{"MERGANSER_COMM", "rma"}}), "rma");
  EXPECT_EQ(resolved("auto", {{"MERGANSER_COMM", ""}}), "auto");
  EXPECT_EQ(resolved("p2p", {{"MERGANSER_COMM", "rma"}}), "p2p");
}

TEST(FindModelTest, knows_every_model_of_the_build_and_lists_them_for_others) {
  std::string known = "unknown communication model 'Threads'; known: auto";
  for (const auto& backend : comm::backends()) {
    EXPECT_EQ(comm::detail::find_model(backend.name).info.name, backend.name);
    EXPECT_NO_THROW(comm::check_backend(backend.name));
    known += " " + std::string(backend.name);
  }
  for (const auto missing : comm::missing_backends()) known += "; not in this build: " + std::string(missing);
  EXPECT_EQ(refusal<UsageError>([] { (void)comm::detail::find_model("Threads"); }), known);
  EXPECT_EQ(refusal<UsageError>([] { comm::check_backend("Threads"); }), known);
  EXPECT_NO_THROW(comm::check_backend("auto"));
  EXPECT_THROW((void)comm::detail::find_model("auto"), UsageError);
  for (const auto* model : comm::detail::process_models()) EXPECT_TRUE(model->info.processes);
}

}  // namespace
