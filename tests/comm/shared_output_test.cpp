/// Tests of the file that all ranks write, of ranks on hosts, and of questions to owners, over every model.
#include "merganser/comm/shared_output.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/comm/hosts.hpp"
#include "merganser/comm/netcdf_parallel.hpp"
#include "merganser/comm/questions.hpp"
#include "tests/io/folder.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/refusal.hpp"

namespace {
std::atomic<bool> disk_fails{false};
}

// In place of that of the C library, so that it can fail.
extern "C" int fsync(int file) {
  if (!disk_fails) return static_cast<int>(::syscall(SYS_fsync, file));
  errno = EIO;
  return -1;
}

namespace {

using namespace merganser;
using namespace merganser::test;
using comm::SharedOutput;
using comm::Transport;
namespace fs = std::filesystem;

class SharedOutputTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, SharedOutputTest, testing::ValuesIn(setups({""}, {"chaos:5"})),
                         setup_name<testing::TestParamInfo<Setup>>);

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST_P(SharedOutputTest, pieces_that_ranks_write_in_any_order_make_the_whole_file) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const std::string path = folder.path().string() + "/whole";
    Random random(3, 0, 0);  // the same on every rank
    std::string expected(10'000, '\0');
    for (char& c : expected) c = static_cast<char>(random.below(256));
    SharedOutput file(path, t, static_cast<std::int64_t>(expected.size()));
    file.hold_room();
    for (std::size_t at = 0; at < expected.size();) {
      const std::size_t piece = std::min<std::size_t>(1 + random.below(900), expected.size() - at);
      const auto owner = static_cast<int>(random.below(static_cast<std::uint64_t>(t.size())));
      if (owner == t.rank()) file.write(at, expected.data() + at, piece);
      at += piece;
    }
    t.barrier();
    EXPECT_FALSE(fs::exists(path)) << "the file must not appear before commit()";
    file.commit();
    EXPECT_EQ(content_of(path), expected);
    t.barrier();
    EXPECT_EQ(entries(folder.path()), 1U) << "nothing temporary may stay";
    t.barrier();  // nobody uses the folder any more
  });
}

TEST_P(SharedOutputTest, a_file_that_is_not_committed_leaves_the_former_one) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const std::string path = folder.path().string() + "/kept";
    if (t.rank() == 0) std::ofstream(path) << "before";
    t.barrier();
    {
      SharedOutput file(path, t);
      file.write(static_cast<std::uint64_t>(t.rank()), "x", 1);
      t.barrier();
    }
    t.barrier();
    EXPECT_EQ(content_of(path), "before");
    EXPECT_EQ(entries(folder.path()), 1U);
    t.barrier();  // nobody uses the folder any more
  });
}

TEST_P(SharedOutputTest, the_name_is_the_same_on_every_rank_and_can_be_opened_by_each) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    SharedOutput file(folder.path().string() + "/named", t, 0, OutputFile::Opened::by_name);
    for (const auto theirs : comm::all_gather(t, file.name()))
      EXPECT_EQ(std::string(theirs.begin(), theirs.end()), file.name());
    EXPECT_TRUE(fs::exists(file.name()));
    if (t.rank() == t.size() - 1) std::ofstream(file.name()) << "by a library";
    t.barrier();
    file.commit();
    EXPECT_EQ(content_of(folder.path().string() + "/named"), "by a library");
    t.barrier();  // nobody uses the folder any more
  });
}

TEST_P(SharedOutputTest, threads_write_through_one_descriptor) {
  on_ranks(GetParam(), [](Transport& t) {
    if (t.capabilities().processes) return;
    const Folder folder(t);
    const std::string path = folder.path().string() + "/one";
    SharedOutput file(path, t);
    const auto open_files = [&] {
      t.barrier();
      const std::size_t n = t.rank() == 0 ? entries("/proc/self/fd") : 0;
      t.barrier();
      return n;
    };
    const std::size_t before = open_files();
    file.write(static_cast<std::uint64_t>(t.rank()), "x", 1);
    // A thread that opened the file again would need the permissions of its mode, which the umask may withhold.
    EXPECT_EQ(open_files(), before);
    file.commit();
    EXPECT_EQ(content_of(path), std::string(static_cast<std::size_t>(t.size()), 'x'));
    t.barrier();  // nobody uses the folder any more
  });
}

TEST_P(SharedOutputTest, where_no_file_can_be_made_every_rank_is_told) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    const std::string missing = folder.path().string() + "/nowhere/file";
    const std::string what = refusal<InputError>([&] { SharedOutput file(missing, t); });
    EXPECT_NE(what.find(missing), std::string::npos) << what;
    const std::string large =
        refusal<InputError>([&] { SharedOutput file(folder.path().string() + "/large", t, INT64_MAX); });
    EXPECT_NE(large.find("large"), std::string::npos) << large;
    EXPECT_EQ(entries(folder.path()), 0U);
    t.barrier();  // nobody uses the folder any more
  });
}

TEST_P(SharedOutputTest, a_rank_that_cannot_open_the_file_is_refused_by_itself) {
  on_ranks(GetParam(), [](Transport& t) {
    const Folder folder(t);
    auto file = std::make_unique<SharedOutput>(folder.path().string() + "/gone", t, 0, OutputFile::Opened::by_name);
    t.barrier();
    if (t.rank() == 0) fs::remove(file->name());
    t.barrier();
    if (t.rank() != 0) {
      const std::string what = refusal<InputError>([&] { file->write(0, "x", 1); });
      EXPECT_TRUE(what.starts_with("cannot write " + folder.path().string() + "/gone: No such file or directory"))
          << what;
    }
    EXPECT_THROW(file->commit(), InputError);
    file.reset();
    t.barrier();  // nobody uses the folder any more
  });
}

TEST_P(SharedOutputTest, what_a_disk_could_not_take_gets_no_name_and_every_rank_is_told) {
  on_ranks(GetParam(), [](Transport& t) {
    if (t.size() == 1) return;  // the ranks but the first synchronise what they have opened by name
    const Folder folder(t);
    const std::string path = folder.path().string() + "/lost";
    SharedOutput file(path, t, 0, OutputFile::Opened::by_name);
    file.write(static_cast<std::uint64_t>(t.rank()), "x", 1);
    t.barrier();
    disk_fails = true;
    const std::string what = refusal<InputError>([&] { file.commit(); });
    EXPECT_NE(what.find("cannot write " + path + ": " + std::strerror(EIO)), std::string::npos) << what;
    EXPECT_FALSE(fs::exists(path));
    t.barrier();
    disk_fails = false;
    t.barrier();  // nobody uses the folder any more
  });
}

TEST_P(SharedOutputTest, ranks_of_this_machine_are_on_one_host) {
  on_ranks(GetParam(), [](Transport& t) {
    const comm::HostRanks host = comm::count_host_ranks(t);
    EXPECT_EQ(host.ranks, t.size());
    EXPECT_TRUE(host.first);
  });
}

TEST_P(SharedOutputTest, netcdf_in_parallel_is_the_same_on_every_rank_and_never_over_threads) {
  on_ranks(GetParam(), [](Transport& t) {
    const bool parallel = comm::netcdf_is_parallel(t);
    EXPECT_EQ(t.all_reduce(parallel ? 1 : 0, comm::Op::sum), parallel ? t.size() : 0);
    if (t.name() == "threads" && t.size() > 1) {
      EXPECT_FALSE(parallel);
    }
  });
}

struct Question {
  std::int64_t key;
  std::int32_t from;
};
struct Answer {
  std::int64_t twice;
  std::int32_t from;
  std::int32_t by;
  friend bool operator==(const Answer&, const Answer&) = default;
};

TEST_P(SharedOutputTest, answers_come_in_the_order_of_the_questions_from_the_ranks_that_own_them) {
  on_ranks(GetParam(), [](Transport& t) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      Random random(seed, static_cast<std::uint64_t>(t.rank()), 9);
      std::vector<Question> questions;
      for (std::uint64_t n = seed == 3 ? 0 : random.below(60); n > 0; --n)
        questions.push_back({static_cast<std::int64_t>(random.below(1000)) - 500, t.rank()});
      const auto owner = [&](const Question& q) { return ((q.key % t.size()) + t.size()) % t.size(); };
      std::int64_t answered = 0;
      const auto answer = [&](const Question& q) {
        EXPECT_EQ(owner(q), t.rank());
        ++answered;
        return Answer{2 * q.key, q.from, t.rank()};
      };
      const auto before = t.counters().collectives;
      const auto answers = comm::query_owners(t, std::span<const Question>(questions), owner, answer);
      EXPECT_EQ(t.counters().collectives - before, 2);
      ASSERT_EQ(answers.size(), questions.size());
      for (std::size_t i = 0; i < answers.size(); ++i)
        ASSERT_EQ(answers[i], (Answer{2 * questions[i].key, t.rank(), static_cast<int>(owner(questions[i]))}));
      EXPECT_EQ(t.all_reduce(answered, comm::Op::sum),
                t.all_reduce(static_cast<std::int64_t>(questions.size()), comm::Op::sum));
    }
  });
}

TEST(HashToRankTest, spreads_consecutive_and_strided_ids_over_all_ranks) {
  for (const std::size_t ranks : {1U, 2U, 3U, 7U, 64U, 1000U}) {
    for (const std::uint64_t stride :
         {std::uint64_t{1}, std::uint64_t{64}, std::uint64_t{1} << 32, std::uint64_t{1} << 33}) {
      std::vector<std::size_t> count(ranks);
      const std::size_t each = 200;
      for (std::uint64_t id = 0; id < each * ranks; ++id) {
        const std::size_t rank = comm::hash_to_rank(id * stride, ranks);
        ASSERT_LT(rank, ranks);
        ++count[rank];
      }
      if (stride > std::uint64_t{1} << 31) continue;  // high bits alone: only the range is promised
      const auto [least, most] = std::minmax_element(count.begin(), count.end());
      EXPECT_GT(*least, each / 3) << ranks << " ranks, stride " << stride;
      EXPECT_LT(*most, 3 * each) << ranks << " ranks, stride " << stride;
    }
  }
  EXPECT_EQ(comm::hash_to_rank(1, 1000), 0x9e3779b9U % 1000) << "files written before depend on it";
}

}  // namespace
