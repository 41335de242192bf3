/// The command announce demo: output, checks, exit codes.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/apps/json.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser::test;
Arguments demo(const Arguments& more) { return Arguments{"announce", "demo"} + more; }

TEST(AnnounceDemo, every_number_of_ranks_gives_the_digest_of_one) {
  for (const Arguments& what : {Arguments{"droplet", "--blocks", "6,4", "--radius", "11", "--steps", "40"},
                                Arguments{"potts", "--blocks", "4,2", "--steps", "8"}}) {
    Arguments checked = demo(what);
    checked.emplace_back("--check");
    const Outcome one = run(checked);
    ASSERT_EQ(one.code, 0) << one.text();
    ASSERT_EQ(one.digest().size(), 16U) << one.text();
    EXPECT_TRUE(says(one.out, "check: after every step")) << one.out;
    for (const char* ranks : {"2", "3", "7"}) {
      Arguments more = demo(what);
      more.insert(more.end(), {"--ranks", ranks});
      EXPECT_EQ(run(more).digest(), one.digest()) << ranks;
    }
    if (process_models().empty()) continue;
    const Outcome o = run_on(3, demo(what));
    EXPECT_EQ(o.code, 0) << o.text();
    EXPECT_EQ(o.digest(), one.digest()) << o.text();
  }
}

TEST(AnnounceDemo, check_finds_one_wrong_bit_and_ends_with_exit_code_1) {
  for (const char* what : {"droplet", "potts"}) {
    const Arguments words = demo({what, "--steps", "6", "--disturb", "4", "--ranks", "2"});
    EXPECT_EQ(run(words).code, 0);
    Arguments checked = words;
    checked.emplace_back("--check");
    const Outcome o = run(checked);
    EXPECT_EQ(o.code, 1) << o.text();
    EXPECT_TRUE(says(o.err, "verification: step 4: ")) << o.text();
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  }
}

TEST(AnnounceDemo, writes_what_it_did_and_a_picture) {
  const Folder folder;
  for (const char* what : {"droplet", "potts"}) {
    const std::string record = folder.file("r.json");
    const std::string picture = folder.file("p.svg");
    const Outcome o = run(demo({what, "--steps", "5", "--ranks", "2", "--json", record, "--picture", picture}));
    ASSERT_EQ(o.code, 0) << o.text();
    const Json r = Json::parse(read_bytes(record));
    EXPECT_EQ(r["counters"]["collectives"], 0);
    EXPECT_GT(r["counters"]["messages"], 0);
    EXPECT_EQ(r["result"]["digest"], o.digest());
    EXPECT_EQ(r["result"]["steps"], 5);
    const std::string text = read_bytes(picture);
    EXPECT_TRUE(text.starts_with("<svg ")) << text.substr(0, 80);
    EXPECT_TRUE(text.ends_with("</svg>\n"));
  }
}

TEST(AnnounceDemo, misuse_is_one_line_and_exit_code_2) {
  const std::vector<std::pair<Arguments, std::string>> cases{
      {{}, "WHAT is missing"},
      {{"soup"}, "droplet"},
      {{"droplet", "--pitch", "9"}, "--pitch: \"9\" is not used here; allowed only with WHAT potts"},
      {{"potts", "--radius", "9"}, "--radius: \"9\" is not used here; allowed only with WHAT droplet"},
      {{"potts", "--edge", "20"}, "--edge 20; allowed: even numbers from 2 * reach + 6 = 22"},
      {{"droplet", "--edge", "4", "--ranks", "9"}, "use longer edges or fewer ranks"},
      {{"droplet", "--blocks", "4"}, "--blocks: 1 numbers; allowed: two"},
      {{"droplet", "--steps", "0"}, "at least 1"},
      {{"droplet", "--owner", "me"}, "proposer|least-loaded"}};
  for (const auto& [arguments, text] : cases) {
    const Outcome o = run(demo(arguments));
    EXPECT_EQ(o.code, 2) << text << '\n' << o.text();
    EXPECT_TRUE(says(o.err, text)) << text << '\n' << o.text();
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  }
  EXPECT_EQ(run(demo({"--help"})).code, 0);
}

}  // namespace
