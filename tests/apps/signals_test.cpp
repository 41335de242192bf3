/// Tests of programs and jobs that are stopped by signals: one line, exit code 128 + number, no process or shared memory left.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "apps/frame/job_report.hpp"
#include "merganser/comm/runtime.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser::test;
namespace comm = merganser::comm;
using std::chrono::milliseconds;
using std::chrono::seconds;
namespace fs = std::filesystem;

bool is_alive(pid_t pid) { return fs::exists("/proc/" + std::to_string(pid) + "/exe"); }  // a dead one has no program

pid_t parent_process(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  const std::string stat{std::istreambuf_iterator<char>(in), {}};
  return std::atoi(stat.c_str() + stat.rfind(')') + 4);
}

/// Returns the launcher, a child of the job. It need not be the parent of a rank: Hydra's ranks are children of its proxy.
pid_t find_launcher(pid_t rank, pid_t job) {
  pid_t at = rank;
  while (at > 1 && parent_process(at) != job) at = parent_process(at);
  return at;
}

/// Counts the ranks of a job that have reported that their MPI or OpenSHMEM has started, in the file of reports that `run` has open.
int count_working_ranks(pid_t run) {
  using merganser::app::RankReport;
  int n = 0;
  std::error_code gone;
  for (fs::directory_iterator at("/proc/" + std::to_string(run) + "/fd", gone), end; at != end; at.increment(gone)) {
    if (!fs::read_symlink(*at, gone).string().starts_with("/memfd:merganser-job-")) continue;
    std::ifstream in(at->path(), std::ios::binary);
    for (RankReport report{}; in.read(reinterpret_cast<char*>(&report), sizeof report);)
      n += report.kind == RankReport::Kind::working ? 1 : 0;
  }
  return n;
}

Arguments mapped_shared_memory(const std::vector<pid_t>& processes) {
  Arguments files;
  for (const pid_t pid : processes) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/maps");
    for (std::string line; std::getline(in, line);)
      if (const auto at = line.find(" /dev/shm/"); at != std::string::npos) files.push_back(line.substr(at + 1));
  }
  return files;
}

const Arguments kLong{"--steps", "1000000", "--work-ms", "1", "--size", "8"};  // it is stopped

/// Counts the lines of a text, without messages of libraries about a lost rank: "[host:pid] Read -1, expected 160000, errno = 3".
int own_lines(const std::string& text) {
  std::istringstream in(text);
  int n = 0;
  for (std::string line; std::getline(in, line);) n += line.starts_with('[') ? 0 : 1;
  return n;
}

struct Target {
  std::string who;  ///< "run", "launcher", "rank", or "group": run and all in its process group
  int signal;
  int code;
  std::string says;  ///< the only line on standard error; empty: none
};

class StoppedJobs : public testing::TestWithParam<std::string> {
 protected:
  /// Starts a job of two ranks, sends a signal to a part of it, right after the ranks have begun or while they work, and checks its
  /// end.
  void stop(const Target& target, bool at_work) const {
    Arguments command{command_path(), "run", "-n", "2", "--", "announce", "bench", "--comm", GetParam()};
    command.insert(command.end(), kLong.begin(), kLong.end());
    Program job(command);
    std::vector<pid_t> all;
    ASSERT_TRUE(comes_true([&] { return (all = job.ranks()).size() == 2; }));
    ASSERT_TRUE(!at_work || comes_true([&] { return count_working_ranks(job.pid()) == 2; }));
    ASSERT_TRUE(!at_work || comes_true([&] { return !mapped_shared_memory(all).empty(); }));
    if (at_work) std::this_thread::sleep_for(milliseconds(300));
    const Arguments segments = mapped_shared_memory(all);
    const pid_t launcher = find_launcher(all[0], job.pid());
    const pid_t hit = target.who == "rank" ? all[1] : target.who == "launcher" ? launcher : job.pid();
    all.push_back(launcher);
    ASSERT_GT(hit, 1) << "it has ended by itself, and 0 and 1 would be everybody";
    ASSERT_EQ(::kill(target.who == "group" ? -hit : hit, target.signal), 0);
    const Outcome o = job.wait(seconds(20));
    EXPECT_EQ(o.code, target.code) << o.text();
    EXPECT_EQ(o.err.find(target.says) != std::string::npos, true) << o.text();
    EXPECT_EQ(own_lines(o.err), target.says.empty() ? 0 : 1) << o.text();
    for (const pid_t pid : all) EXPECT_TRUE(comes_true([&] { return !is_alive(pid); })) << pid;
    for (const auto& path : segments) EXPECT_FALSE(fs::exists(path)) << path;
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StoppedJobs);

INSTANTIATE_TEST_SUITE_P(Models, StoppedJobs, testing::ValuesIn(one_model_per_library()),
                         [](const auto& i) { return i.param; });

TEST_P(StoppedJobs, end_with_the_number_of_the_signal_that_run_gets) {
  stop({"run", SIGTERM, 143, "interrupted: stopped by signal 15 (Terminated)"}, true);
  stop({"run", SIGINT, 130, "interrupted: stopped by signal 2 (Interrupt)"}, false);
}

TEST_P(StoppedJobs, end_once_when_the_whole_group_gets_the_signal) {
  stop({"group", SIGHUP, 129, "interrupted: stopped by signal 1 (Hangup)"}, true);
}

TEST_P(StoppedJobs, end_when_run_is_killed) { stop({"run", SIGKILL, 137, ""}, true); }

TEST_P(StoppedJobs, are_not_called_a_failed_verification_when_the_launcher_gets_the_signal) {
  stop({"launcher", SIGTERM, 143, "interrupted: the launcher stopped the ranks by signal 15 (Terminated)"}, true);
}

TEST_P(StoppedJobs, leave_nothing_when_the_launcher_is_killed) {
  stop({"launcher", SIGKILL, 137, "was ended by signal 9 (Killed), and the ranks with it"}, true);
}

TEST_P(StoppedJobs, name_the_rank_that_gets_the_signal) {
  stop({"rank", SIGINT, 130, "interrupted: rank 1 was stopped by signal 2 (Interrupt)"}, true);
  stop({"rank", SIGHUP, 129, "interrupted: rank 1 was stopped by signal 1 (Hangup)"}, true);
}

/// Fixture with a launcher that runs a shell script of the test.
class Launchers : public testing::Test {
 protected:
  [[nodiscard]] std::string launcher(const std::string& body) const {
    const std::string path = folder_.file("launcher");
    std::ofstream(path) << "#!/bin/sh\n[ \"$1\" = --version ] && echo some launcher && exit 0\n" + body;
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  [[nodiscard]] static Arguments doctor() { return {command_path(), "run", "-n", "2", "--", "doctor"}; }
  Folder folder_;
};

TEST_F(Launchers, that_do_not_listen_are_killed_with_what_they_started) {
  const std::string started = folder_.file("started");
  Program job(doctor(), {{"MERGANSER_LAUNCHER",
                          launcher("trap '' TERM\necho $$ > '" + started + "'\nsleep 1000 & wait\nsleep 1000\n")}});
  ASSERT_TRUE(comes_true([&] { return fs::exists(started) && fs::file_size(started) > 0; }));
  pid_t launcher = 0;
  std::ifstream(started) >> launcher;
  ::kill(job.pid(), SIGTERM);
  const Outcome o = job.wait(seconds(30));
  EXPECT_EQ(o.code, 143) << o.text();
  EXPECT_EQ(o.err, "interrupted: stopped by signal 15 (Terminated)\n");
  EXPECT_FALSE(is_alive(launcher));
}

TEST_F(Launchers, that_end_with_0_when_told_to_stop_have_been_stopped_all_the_same) {
  const std::string started = folder_.file("started");
  const std::string until_told = "trap 'exit 0' TERM\necho $$ > '" + started + "'\nwhile :; do sleep 0.05; done\n";
  const auto stopped = [&](const std::string& body) {
    fs::remove(started);
    Program job(doctor(), {{"MERGANSER_LAUNCHER", launcher(body)}});
    EXPECT_TRUE(comes_true([&] { return fs::exists(started) && fs::file_size(started) > 0; }));
    ::kill(job.pid(), SIGTERM);
    return job.wait(seconds(30));
  };
  const Outcome o = stopped(until_told);
  EXPECT_EQ(o.code, 143) << o.text();
  EXPECT_EQ(o.err, "interrupted: stopped by signal 15 (Terminated)\n");
  // All ranks have ended well before: there was nothing left to be stopped.
  const Outcome done =
      stopped("while [ \"$1\" != doctor ]; do last=$1; shift; done\n\"$last\" \"$@\" > /dev/null\n" + until_told);
  EXPECT_EQ(done.code, 0) << done.text();
}

TEST_F(Launchers, that_never_end_after_their_ranks_are_killed) {
  // A program that replaces the shell by `exec` does not reap its children.
  const Outcome killed =
      Program(doctor(), {{"MERGANSER_LAUNCHER", launcher("sh -c 'kill -9 $$' & exec sleep 1000\n")}}).wait(seconds(60));
  EXPECT_EQ(killed.code, 137) << killed.text();
  EXPECT_NE(killed.err.find("a rank was ended by signal 9 (Killed), but"), std::string::npos) << killed.text();
  const Outcome ended =
      Program(doctor(), {{"MERGANSER_LAUNCHER", launcher("sh -c 'exit 3' & exec sleep 1000\n")}}).wait(seconds(60));
  EXPECT_EQ(ended.code, 4) << ended.text();
  EXPECT_NE(ended.err.find("the ranks have ended, but"), std::string::npos) << ended.text();
  EXPECT_NE(ended.err.find("did not end within 10 s and was killed"), std::string::npos) << ended.text();
}

TEST_F(Launchers, that_end_with_1_before_a_rank_begins_are_no_failed_verification) {
  const Outcome o = Program(doctor(), {{"MERGANSER_LAUNCHER", launcher("exit 1\n")}}).wait(seconds(60));
  EXPECT_EQ(o.code, 4) << o.text();
  EXPECT_NE(o.err.find("ended with code 1, before a rank had begun"), std::string::npos) << o.text();
}

TEST_F(Launchers, that_end_with_1_after_ranks_are_asked_whether_they_were_stopped) {
  const std::string body =
      "while [ \"$1\" != doctor ]; do last=$1; shift; done\n\"$last\" \"$@\" > /dev/null\nexit 1\n";
  const Outcome o = Program(doctor(), {{"MERGANSER_LAUNCHER", launcher(body)}}).wait(seconds(60));
  EXPECT_EQ(o.code, 4) << o.text();
  EXPECT_NE(o.err.find("no rank says that it failed"), std::string::npos) << o.text();
}

TEST_F(Launchers, whose_ranks_cannot_start_their_library_end_with_code_4) {
  MERGANSER_NEEDS_PACKAGE("graph");
  if (process_models().empty() || comm::mpi_library().find("Open MPI") == std::string::npos)
    GTEST_SKIP() << "this build has no Open MPI to misconfigure";
  const Outcome o = Program({command_path(), "run", "-n", "2", "--", "msf", "--gen", "path:50", "--comm", "p2p"},
                            {{"OMPI_MCA_pml", "nonsense"}})
                        .wait(seconds(60));
  EXPECT_EQ(o.code, 4) << o.text();
  EXPECT_NE(o.err.find("before its MPI or OpenSHMEM had started"), std::string::npos) << o.text();
}

TEST_F(Launchers, that_may_run_elsewhere_pass_on_their_code) {
  const Outcome o =
      Program(doctor(), {{"MERGANSER_LAUNCHER", launcher("exit 1\n")}, {"PBS_JOBID", "7"}}).wait(seconds(60));
  EXPECT_EQ(o.code, 1) << o.text();
}

TEST_F(Launchers, that_cannot_be_run_are_named_with_the_reason) {
  const std::string path = folder_.file("no-interpreter");
  std::ofstream(path) << "#!/no/such/interpreter\n";
  fs::permissions(path, fs::perms::owner_all);
  const Outcome o = Program(doctor(), {{"MERGANSER_LAUNCHER", path}}).wait(seconds(60));
  EXPECT_EQ(o.code, 4) << o.text();
  EXPECT_NE(o.err.find("cannot run " + path + ": No such file or directory"), std::string::npos) << o.text();
  const Outcome folder = Program(doctor(), {{"MERGANSER_LAUNCHER", folder_.path().string()}}).wait(seconds(60));
  EXPECT_EQ(folder.code, 4) << folder.text();
  EXPECT_NE(folder.err.find("which is no program"), std::string::npos) << folder.text();
}

TEST_F(Launchers, are_no_text_for_a_shell) {
  const fs::path hostile = folder_.path() / "'; touch pwned; '";
  fs::create_directory(hostile);
  fs::copy_file(launcher("exit 0\n"), hostile / "mpirun");
  const std::string inside = "cd '" + folder_.path().string() + "' && exec \"$@\"";
  for (const std::pair<std::string, std::string>& variable :
       {std::pair<std::string, std::string>{"MERGANSER_LAUNCHER", (hostile / "mpirun").string()},
        {"PATH", hostile.string() + ":/usr/bin:/bin"}})
    for (const Arguments& verb : {Arguments{"doctor"}, Arguments{"run", "-n", "2", "--dry-run", "--", "doctor"}}) {
      Arguments command{"/bin/sh", "-c", inside, "sh", command_path()};
      command.insert(command.end(), verb.begin(), verb.end());
      const Outcome o = Program(command, {variable}).wait(seconds(60));
      EXPECT_EQ(o.code, 0) << o.text();
      EXPECT_NE(o.out.find("touch pwned"), std::string::npos) << o.out;  // it was found
      EXPECT_FALSE(fs::exists(folder_.path() / "pwned"));
    }
}

TEST_F(Launchers, that_talk_without_end_are_asked_for_one_line_only) {
  const std::string path = folder_.file("talker");
  std::ofstream(path) << "#!/bin/sh\nprintf 'first\\033[2J line\\n'\nexec yes\n";
  fs::permissions(path, fs::perms::owner_all);
  const Outcome o = Program({command_path(), "doctor"}, {{"MERGANSER_LAUNCHER", path}}).wait(seconds(60));
  EXPECT_EQ(o.code, 0) << o.text();
  EXPECT_NE(o.out.find("first\\x1b[2J line; fits"), std::string::npos) << o.out;
}

/// Returns a command with two threads that runs until it is stopped.
Arguments long_run() {
  Arguments command{command_path(), "announce", "bench", "--ranks", "2"};
  command.insert(command.end(), kLong.begin(), kLong.end());
  return command;
}

TEST(StoppedThreads, end_with_one_line_and_the_number_of_the_signal) {
  for (const auto& [signal, text] :
       {std::pair{SIGINT, "2 (Interrupt)"}, {SIGTERM, "15 (Terminated)"}, {SIGHUP, "1 (Hangup)"}}) {
    Program job(long_run());
    ASSERT_TRUE(comes_true([&] {
      return fs::exists("/proc/" + std::to_string(job.pid()) + "/task") &&
             std::distance(fs::directory_iterator("/proc/" + std::to_string(job.pid()) + "/task"), {}) > 1;
    }));
    ::kill(job.pid(), signal);
    const Outcome o = job.wait(seconds(20));
    EXPECT_EQ(o.code, 128 + signal) << o.text();
    EXPECT_EQ(o.err, std::string("interrupted: stopped by signal ") + text + "\n");
  }
}

TEST(StoppedThreads, leave_no_temporary_folder) {
  for (const Arguments& verb : {Arguments{"verify", "--samples", "100000", "--ranks", "2", "--comm", "threads"},
                                Arguments{"topo", "extract", "-n", "2", "--", "/bin/sleep", "1000"}}) {
    if (verb[0] == "topo" && (process_models().empty() || !has_package("topology"))) continue;
    const Folder folder;
    Arguments command{"/bin/sh", "-c", "cd \"$0\" && TMPDIR=\"$0\" exec \"$@\"", folder.path().string(),
                      command_path()};
    command.insert(command.end(), verb.begin(), verb.end());
    Program job(command);
    const auto temporary = [&] {
      const auto names = folder.list();
      return std::count_if(names.begin(), names.end(), [](const auto& n) { return n.find("merganser") < 2; });
    };
    ASSERT_TRUE(comes_true([&] { return temporary() == 1; })) << verb[0];
    std::this_thread::sleep_for(milliseconds(200));
    ::kill(job.pid(), SIGTERM);
    const Outcome o = job.wait(seconds(20));
    EXPECT_EQ(o.code, 143) << o.text();
    EXPECT_EQ(temporary(), 0) << verb[0];
  }
}

TEST(StoppedThreads, what_the_user_ignores_stays_ignored) {
  Arguments command{"/bin/sh", "-c", "trap '' HUP; exec \"$@\"", "sh"};
  const Arguments run = long_run();
  command.insert(command.end(), run.begin(), run.end());
  Program job(command);
  ASSERT_TRUE(comes_true([&] {
    return !job.ranks().empty() || fs::read_symlink("/proc/" + std::to_string(job.pid()) + "/exe") == command_path();
  }));
  std::this_thread::sleep_for(milliseconds(300));
  ::kill(job.pid(), SIGHUP);
  std::this_thread::sleep_for(milliseconds(100));
  ::kill(job.pid(), SIGTERM);
  EXPECT_EQ(job.wait(seconds(20)).code, 143);
}

TEST(JobReports, a_variable_of_somebody_else_is_no_address_to_write_to) {
  const Folder folder;
  const std::string path = folder.file("mine");
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  ASSERT_GE(file, 0);
  for (const std::string& value :
       {std::to_string(::getpid()) + ' ' + std::to_string(file) + " 7", std::string("x"), std::string(""),
        std::string("1 1 1 1"), std::string("-1 -1 7"), std::string("99999999999 1 1")}) {
    const Outcome o = run({"--version"}, {{"MERGANSER_JOB", value}});
    EXPECT_EQ(o.code, 0) << value << '\n' << o.text();
  }
  EXPECT_EQ(fs::file_size(path), 0U);
  ::close(file);
}

TEST(ClosedOutput, no_file_takes_the_place_of_standard_output) {
  MERGANSER_NEEDS_PACKAGE("topology");
  const Folder folder;
  const std::string out = folder.file("g.txt");
  const Outcome o =
      Program({"/bin/sh", "-c", "exec \"$@\" >&- 2>&-", "sh", command_path(), "topo", "gen", "ring", "-o", out})
          .wait(seconds(60));
  const Outcome good = run({"topo", "gen", "ring", "-o", folder.file("good.txt")});
  ASSERT_EQ(good.code, 0) << good.text();
  EXPECT_EQ(o.code, good.out.empty() ? 0 : 3);
  EXPECT_EQ(read_bytes(out), read_bytes(folder.file("good.txt")));
}

TEST(ClosedOutput, a_reader_who_has_gone_ends_nothing_before_its_time) {
  const Folder folder;
  const std::string out = folder.file("d.json");
  const Outcome o = Program({"/bin/sh", "-c", "{ sleep 0.2; \"$@\"; echo $? >&2; } | true", "sh", command_path(),
                             "doctor", "--json", out})
                        .wait(seconds(60));
  EXPECT_EQ(o.err, "141\n");
  EXPECT_TRUE(fs::exists(out));
}

}  // namespace
