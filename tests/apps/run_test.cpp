/// Tests of `merganser run`: the output of a job is whole or an error, and a job on one host listens on the loopback interface
/// only.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <thread>

#include "merganser/comm/loopback.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser::test;
using std::chrono::milliseconds;
using std::chrono::seconds;
namespace fs = std::filesystem;

/// Fixture with a launcher that runs a shell script and starts no ranks.
class RunOutput : public testing::Test {
 protected:
  [[nodiscard]] std::pair<std::string, std::string> launcher(const std::string& body) const {
    const std::string path = folder_.file("launcher");
    std::ofstream(path) << "#!/bin/sh\n[ \"$1\" = --version ] && echo some launcher && exit 0\n" + body;
    fs::permissions(path, fs::perms::owner_all);
    return {"MERGANSER_LAUNCHER", path};
  }
  /// Runs a job with standard output redirected as in a shell, by `where`.
  [[nodiscard]] Outcome to(const std::string& where, const std::string& body) const {
    return Program({"/bin/sh", "-c", "\"$0\" run -n 2 -- doctor " + where, command_path()}, {launcher(body)})
        .wait(seconds(60));
  }
  Folder folder_;
};

constexpr const char* kPrints = "i=0; while [ $i -lt 300 ]; do printf '%01000d' $i; i=$((i+1)); done\n";

TEST_F(RunOutput, is_written_whole_or_an_error) {
  const std::string file = folder_.file("out");
  const Outcome good = to("> '" + file + "'", kPrints);
  EXPECT_EQ(good.code, 0) << good.text();
  const std::string all = read_bytes(file);
  ASSERT_EQ(all.size(), 300'000U);
  EXPECT_EQ(all.substr(299'997), "299");
  for (const auto& [where, why] :
       {std::pair{"> /dev/full", "No space left on device"}, {">&-", "Bad file descriptor"}}) {
    const Outcome o = to(where, kPrints);
    EXPECT_EQ(o.code, 3) << where << o.text();
    EXPECT_EQ(o.err, std::string("input: cannot write to standard output: ") + why + '\n');
    EXPECT_EQ(to(where, "exit 0\n").code, 0) << "nothing is printed: nothing is lost";
    EXPECT_EQ(to(where, std::string(kPrints) + "exit 1\n").code, 4) << "the job has failed by itself";
  }
}

TEST_F(RunOutput, ends_with_141_if_its_reader_has_gone_and_not_before_the_work_is_done) {
  const std::string done = folder_.file("done");
  const Outcome o = Program({"/bin/sh", "-c", "{ \"$0\" run -n 2 -- doctor; echo $? >&2; } | true", command_path()},
                            {launcher("sleep 0.2\n" + std::string(kPrints) + "echo > '" + done + "'\n")})
                        .wait(seconds(60));
  EXPECT_EQ(o.err.substr(o.err.size() < 4 ? 0 : o.err.size() - 4), "141\n") << o.err;
  EXPECT_TRUE(fs::exists(done));
}

TEST_F(RunOutput, that_nobody_reads_keeps_no_signal_from_ending_the_job) {
  const std::string fifo = folder_.file("fifo"), begun = folder_.file("begun");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  // A full pipe, filled here: how much of the job's output it would take depends on the sizes in which that comes.
  const int reader = ::open(fifo.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  const std::string page(4096, ' ');
  while (::write(reader, page.data(), page.size()) > 0) {
  }
  for (const bool launcher_ended : {true, false}) {
    fs::remove(begun);
    // Output that fits into the pipe between them lets the launcher end; more blocks it.
    const std::string prints =
        launcher_ended ? "printf '%010000d' 1\necho > '" + begun + "'\n" : "echo > '" + begun + "'\n" + kPrints;
    Program job({"/bin/sh", "-c", "exec \"$0\" run -n 2 -- doctor > '" + fifo + "'", command_path()},
                {launcher(prints)});
    ASSERT_TRUE(comes_true([&] { return fs::exists(begun); }));
    ::kill(job.pid(), SIGTERM);
    const Outcome o = job.wait(seconds(30));
    EXPECT_EQ(o.code, 143) << o.text();
  }
  ::close(reader);
}

TEST(RunJob, a_result_of_a_real_job_is_not_lost_in_silence) {
  MERGANSER_NEEDS_PACKAGE("graph");
  if (process_models().empty()) GTEST_SKIP() << "this build has no model of processes";
  const Outcome o =
      Program({"/bin/sh", "-c", "\"$0\" run -n 2 -- linkage --points uniform:2:100 --clusters 4 --labels - > /dev/full",
               command_path()})
          .wait(seconds(100));
  EXPECT_EQ(o.code, 3) << o.text();
  EXPECT_TRUE(says(o.err, "input: cannot write to standard output: No space left on device")) << o.text();
}

/// Returns a process and all its descendants.
std::set<pid_t> family(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream in(entry.path() / "stat");
    std::string stat;  // empty of a process that has ended since: a stream, unlike its iterators, does not throw
    std::getline(in, stat, '\0');
    const auto end = stat.rfind(')');
    char state = 0;
    pid_t parent = 0;
    if (end != std::string::npos && std::istringstream(stat.substr(end + 1)) >> state >> parent)
      children.emplace(parent, std::stoi(name));
  }
  std::set<pid_t> out{root};
  std::vector<pid_t> left{root};
  while (!left.empty()) {
    const auto [begin, end] = children.equal_range(left.back());
    left.pop_back();
    for (auto at = begin; at != end; ++at)
      if (out.insert(at->second).second) left.push_back(at->second);
  }
  return out;
}

/// Returns the addresses on which processes listen, in the notation of /proc/net.
std::set<std::string> listening(const std::set<pid_t>& processes) {
  std::set<std::string> sockets;
  for (const pid_t process : processes) {
    std::error_code error;
    for (fs::directory_iterator at("/proc/" + std::to_string(process) + "/fd", error), end; !error && at != end;
         at.increment(error))
      sockets.insert(fs::read_symlink(at->path(), error).string());
  }
  std::set<std::string> out;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream in(table);
    for (std::string line; std::getline(in, line);) {
      std::istringstream words(line);
      std::vector<std::string> w{std::istream_iterator<std::string>(words), {}};
      if (w.size() > 9 && w[3] == "0A" && sockets.contains("socket:[" + w[9] + ']'))
        out.insert(w[1].substr(0, w[1].find(':')));
    }
  }
  return out;
}

TEST(RunJob, nothing_of_a_job_on_one_host_listens_to_others) {
  MERGANSER_NEEDS_PACKAGE("graph");
  const std::string version = run({"--version"}).out;
  if (!says(version, "Open MPI")) GTEST_SKIP() << "no Open MPI";
  if (!says(run({"run", "--dry-run", "-n", "2", "--", "doctor"}).out, "libmerganser-loopback.so"))
    GTEST_SKIP() << "other hosts may take part, or this build has a sanitizer";
  std::set<std::string> seen;
  for (const auto& model : process_models()) {
    Program job({command_path(), "run", "-n", "2", "--", "linkage", "--points", "uniform:2:20000", "--clusters", "4",
                 "--comm", model});
    // Its descriptors are gone once it has ended, though it still waits to be reaped.
    while (fs::exists("/proc/" + std::to_string(job.pid()) + "/fd/0")) {
      seen.merge(listening(family(job.pid())));
      std::this_thread::sleep_for(milliseconds(20));
    }
    EXPECT_EQ(job.wait(seconds(100)).code, 0);
  }
  const std::set<std::string> loopback{"0100007F", "00000000000000000000000001000000"};
  EXPECT_FALSE(seen.empty());
  for (const auto& address : seen) EXPECT_TRUE(loopback.contains(address)) << address;
}

TEST(RunJob, what_the_user_says_of_interfaces_stays) {
  if (process_models().empty() || !says(run({"--version"}).out, "Open MPI")) GTEST_SKIP() << "no Open MPI";
  const Arguments dry{"run", "--dry-run", "-n", "2", "--", "doctor"};
  if (!says(run(dry).out, "OMPI_MCA_btl_tcp_if_include=")) GTEST_SKIP() << "no loopback interface";
  const Outcome o =
      run(dry, {{"OMPI_MCA_btl_tcp_if_exclude", "eth1"}, {"OMPI_MCA_oob_tcp_if_include", "eth0"}, {"UCX_TLS", "rc"}});
  for (const char* name : {"btl_tcp_if_include=", "oob_tcp_if_include=", "UCX_NET_DEVICES="})
    EXPECT_FALSE(says(o.out, name)) << o.out;
  EXPECT_FALSE(says(run(dry, {{"OMPI_MCA_hostfile", "hosts"}}).out, "if_include=")) << "other hosts take part";
  EXPECT_FALSE(says(run(dry, {{"SLURM_JOB_ID", "1"}}).out, "if_include=")) << "ranks may be on another machine";
}

TEST(RunJob, loopback_settings_are_those_of_the_library) {
  const auto names = [](const std::string& mpi, const std::string& shmem) {
    std::string out;
    for (const auto& s : merganser::comm::loopback_settings(mpi, shmem, "lo0")) out += s.name + '=' + s.value + ' ';
    return out;
  };
  EXPECT_EQ(names("none", "none"), "");
  EXPECT_TRUE(says(names("Open MPI v4.1.4", "none"), "OMPI_MCA_btl_tcp_if_include=lo0 "));
  EXPECT_TRUE(says(names("MPICH Version: 4.0", "none"), "HYDRA_IFACE=lo0 "));
  EXPECT_FALSE(says(names("MPICH Version: 4.0", "none"), "OMPI"));
}

}  // namespace
