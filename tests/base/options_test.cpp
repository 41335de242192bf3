/// Option tables: parsing of every type, error messages, rules for the use of options, help, values as text; exit codes of errors.
#include "merganser/base/options.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "merganser/base/error.hpp"

namespace {

using namespace merganser;

enum class Colour { red, green };

struct Inner {
  double ratio = 40;
};
template <class V>
void describe(Inner& o, V&& option) {
  option.section("Inner");
  option("ratio", o.ratio, "a ratio", positive());
}

struct Sample {
  std::string file;
  std::vector<std::string> more;
  int steps = 1;
  std::int64_t big = 5;
  std::uint64_t seed = 1;
  bool loud = false;
  Colour colour = Colour::red;
  std::vector<int> ranks{1, 2};
  std::array<std::int64_t, 3> cells{1, 2, 3};
  AxisFlags periodic{true, true, false};
  std::string model = "any";
  Inner inner;
};
template <class V>
void describe(Sample& o, V&& option) {
  option.positional("FILE", o.file, "a file", Required{});
  option.positional("MORE", o.more, "more files");
  option("steps", o.steps, "how many", at_least(1), Letter{'s'});
  option("big", o.big, "a large number", between(-10, 1e18));
  option("seed", o.seed, "any number", Hidden{});
  option("loud", o.loud, "say more");
  option("colour", o.colour, "which", Choices<Colour>{{{"red", Colour::red}, {"green", Colour::green}}});
  option("ranks", o.ranks, "numbers", at_least(1));
  option("cells", o.cells, "three numbers");
  option("periodic", o.periodic, "axes");
  option("model", o.model, "a word", Words{{"any", "none"}});
  describe(o.inner, option);
}

Sample parsed(const std::vector<std::string>& arguments) {
  Sample s;
  OptionTable(s).parse(arguments);
  return s;
}

/// Parses arguments and returns the text of the UsageError; empty if there is none.
std::string parse_error(const std::vector<std::string>& arguments) {
  try {
    parsed(arguments);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

TEST(Options, keep_their_initial_values_unless_given) {
  const Sample s = parsed({"in"});
  EXPECT_EQ(s.file, "in");
  EXPECT_EQ(s.steps, 1);
  EXPECT_EQ(s.inner.ratio, 40);
}

TEST(Options, take_values_after_a_space_an_equals_sign_or_a_letter) {
  EXPECT_EQ(parsed({"in", "--steps", "7"}).steps, 7);
  EXPECT_EQ(parsed({"--steps=8", "in"}).steps, 8);
  EXPECT_EQ(parsed({"-s", "9", "in"}).steps, 9);
  EXPECT_EQ(parsed({"in", "--big=-3"}).big, -3);
  EXPECT_EQ(parsed({"in", "--big", "-3"}).big, -3);
}

TEST(Options, read_every_type) {
  const Sample s = parsed({"in", "a", "b", "--seed", "18446744073709551615", "--loud", "--colour", "green", "--ranks",
                           "3,4", "--cells", "4,5,6", "--periodic", "zx", "--model", "none", "--ratio", "0.5"});
  EXPECT_EQ(s.more, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(s.seed, ~0ULL);
  EXPECT_TRUE(s.loud);
  EXPECT_EQ(s.colour, Colour::green);
  EXPECT_EQ(s.ranks, (std::vector<int>{3, 4}));
  EXPECT_EQ(s.cells, (std::array<std::int64_t, 3>{4, 5, 6}));
  EXPECT_EQ(s.periodic, (AxisFlags{true, false, true}));
  EXPECT_EQ(s.model, "none");
  EXPECT_EQ(s.inner.ratio, 0.5);
  EXPECT_FALSE(parsed({"in", "--no-loud"}).loud);
  EXPECT_EQ(parsed({"in", "--periodic", "none"}).periodic, (AxisFlags{false, false, false}));
  EXPECT_EQ(parsed({"in", "--", "--steps"}).more, std::vector<std::string>{"--steps"});
}

TEST(Options, refuse_with_the_option_the_value_and_what_is_allowed) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{}, "FILE is missing: a file"},
      {{"in", "--step", "3"}, "unknown option --step; did you mean --steps?"},
      {{"in", "-x"}, "unknown option -x; known: --steps --big"},
      {{"in", "--per", "x"}, "did you mean --periodic?"},  // the only one that begins so
      {{"in", "--steps"}, "--steps needs a value: N"},
      {{"in", "--steps", "0"}, "--steps: \"0\"; allowed: at least 1"},
      {{"in", "--steps", "1.5"}, "allowed: an integer"},
      {{"in", "--steps", "4294967296"}, "an integer of 32 bits"},
      {{"in", "--steps", ""}, "allowed: an integer"},
      {{"in", "--big", "99999999999999999999"}, "an integer of 64 bits"},
      {{"in", "--seed", "-1"}, "an integer >= 0"},
      {{"in", "--ratio", "nan"}, "a finite number"},
      {{"in", "--ratio", "1e999"}, "a finite number"},
      {{"in", "--ratio", "0"}, "greater than 0"},
      {{"in", "--ratio", "1x"}, "--ratio: \"1x\""},
      {{"in", "--loud=yes"}, "--loud has the value \"yes\"; allowed: --loud or --no-loud"},
      {{"in", "--no-steps", "3"}, "unknown option --no-steps"},
      {{"in", "--colour", "blue"}, "--colour: \"blue\"; allowed: red|green"},
      {{"in", "--ranks", "1,,2"}, "an empty piece"},
      {{"in", "--ranks", "2,0"}, "allowed: at least 1"},
      {{"in", "--cells", "1,2"}, "three values"},
      {{"in", "--periodic", "xx"}, "letters of xyz"},
      {{"in", "--model", "some"}, "allowed: any|none"}};
  for (const auto& [arguments, text] : cases)
    EXPECT_NE(parse_error(arguments).find(text), std::string::npos) << text << " in: " << parse_error(arguments);
}

TEST(Options, are_given_once) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"--steps", "1", "--steps", "2"}, "--steps: \"1\" and \"2\" are given; allowed: the option once"},
      {{"-s", "1", "--steps=1"}, "--steps: \"1\" and \"1\" are given"},
      {{"--ranks", "1", "--ranks", "2"}, "allowed: the option once, with its values between commas"},
      {{"--loud", "--no-loud"}, "--loud and --no-loud are given; allowed: one of them"},
      {{"--loud", "--loud"}, "--loud is given twice; allowed: once"},
      {{"--model", "any", "--model", "none"}, "\"any\" and \"none\""}};
  for (auto [arguments, text] : cases) {
    arguments.insert(arguments.begin(), "in");
    EXPECT_NE(parse_error(arguments).find(text), std::string::npos) << text << " in: " << parse_error(arguments);
  }
}

struct Modal {
  std::string file, made, out, mode = "fast";
  std::vector<std::string> models{"all"};
  int seed = 1, chunk = 2, depth = 3, sides = 4;
  bool verbose = false;
  std::optional<double> ratio;
  std::optional<AxisFlags> periodic;
};
template <class V>
void describe(Modal& o, V&& option) {
  option.positional("FILE", o.file, "input");
  option("make", o.made, "instead of FILE", NotWith{"FILE"});
  option("mode", o.mode, "how", Words{{"fast", "deep", "none"}});
  option("models", o.models, "some");
  option("seed", o.seed, "of what is made", UsedWith{"--make random*:2|noise"});
  option("chunk", o.chunk, "of fast", UsedWith{"--mode fast"}, NotWith{"--verbose"});
  option("depth", o.depth, "of deep", UsedWith{"--mode deep", "--models all|p2p"});
  option("sides", o.sides, "of both", UsedWith{"without --make", "--verbose"});
  option("verbose", o.verbose, "say more");
  option("ratio", o.ratio, "of the file", positive(), FromInput{"what FILE says, else 40"});
  option("periodic", o.periodic, "axes", FromInput{"what FILE says"});
  option("output", o.out, "result", Letter{'o'}, UsedWith{"FILE"},
         Instead{"-f", "allowed: FILE as an argument, or {command} --make {value}"});
}

std::string modal_error(const std::vector<std::string>& arguments) {
  Modal m;
  OptionTable table(m);
  table.set_command("tool");
  try {
    table.parse(arguments);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

TEST(Options, that_a_run_does_not_use_are_refused) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"in"}, ""},
      {{"in", "--make", "x"}, "--make: \"x\" is not used with FILE; allowed: without it"},
      {{"--seed", "3"}, "--seed: \"3\" is not used here; allowed only with --make random*:2|noise"},
      {{"--seed", "1"}, "--seed: \"1\" is not used here"},  // the default too
      {{"--seed", "3", "--make", "random:3"}, "--seed: \"3\" is not used here"},
      {{"--seed", "3", "--make", "random:3:2"}, ""},
      {{"--make", "noise", "--seed", "3"}, ""},
      {{"--chunk", "3"}, ""},
      {{"--chunk", "3", "--mode", "deep"}, "--chunk: \"3\" is not used here; allowed only with --mode fast"},
      {{"--chunk", "3", "--verbose"}, "--chunk: \"3\" is not used with --verbose"},
      {{"--chunk", "3", "--no-verbose"}, ""},
      {{"--depth", "3"}, ""},
      {{"--depth", "3", "--models", "rma,p2p"}, ""},
      {{"--depth", "3", "--models", "rma"}, "allowed only with --mode deep or with --models all|p2p"},
      {{"--sides", "3"}, ""},
      {{"--sides", "3", "--make", "x"}, "allowed only without --make or with --verbose"},
      {{"--sides", "3", "--make", "none"}, ""},
      {{"-o", "x"}, "--output: \"x\" is not used here"},
      {{"-o", "x", "in"}, ""},
      {{"--chunk", "nan", "--mode", "deep"}, "--chunk: \"nan\"; allowed: an integer"}};
  for (const auto& [arguments, text] : cases) {
    const std::string error = modal_error(arguments);
    EXPECT_EQ(error.empty(), text.empty()) << error;
    EXPECT_NE(error.find(text), std::string::npos) << text << " in: " << error;
  }
  Modal m;
  const std::string help = OptionTable(m).help();
  for (const char* part : {"of fast (only with --mode fast) (not with --verbose)", "[what FILE says, else 40]"})
    EXPECT_NE(help.find(part), std::string::npos) << help;
}

TEST(Options, that_the_input_gives_have_no_default) {
  Modal m;
  OptionTable table(m);
  table.parse(std::vector<std::string>{"in"});
  EXPECT_FALSE(m.ratio.has_value());
  for (const auto& o : table.options()) EXPECT_EQ(o.from_input, o.value() == OptionValue(std::monostate())) << o.name;
  OptionTable again(m);
  again.parse(std::vector<std::string>{"--ratio", "20", "--periodic", "xz"});
  EXPECT_EQ(m.ratio, 20);
  EXPECT_EQ(m.periodic, (AxisFlags{true, false, true}));
  EXPECT_EQ(modal_error({"--ratio", "-1"}), "--ratio: \"-1\"; allowed: greater than 0");
}

TEST(Options, advice_for_what_is_no_option_stands_alone) {
  EXPECT_EQ(modal_error({"-f", "in.nc"}), "unknown option -f; allowed: FILE as an argument, or tool --make in.nc");
  EXPECT_EQ(modal_error({"-f"}), "unknown option -f; allowed: FILE as an argument, or tool --make VALUE");
  EXPECT_EQ(modal_error({"--outptu", "x"}), "unknown option --outptu; did you mean --output?");
}

TEST(Options, a_refused_value_leaves_the_one_before) {
  Sample s;
  OptionTable table(s);
  EXPECT_THROW(table.parse(std::vector<std::string>{"in", "--steps", "0"}), UsageError);
  EXPECT_EQ(s.steps, 1);
}

TEST(Options, help_lists_all_but_the_hidden_with_their_initial_values) {
  Sample s;
  const OptionTable table(s);
  const std::string help = table.help();
  for (const char* part : {"FILE", "-s, --steps N", "[1]", "--colour red|green", "[red]", "Inner:", "--ratio X", "[40]",
                           "--periodic AXES", "[xy]"})
    EXPECT_NE(help.find(part), std::string::npos) << part << " in:\n" << help;
  EXPECT_EQ(help.find("--seed"), std::string::npos);
  EXPECT_EQ(table.synopsis(), " FILE [MORE...] [options]");
}

struct Listed {
  std::string animal;
  std::vector<std::string> models;
  std::vector<std::string> stages;
  std::string model = "any";
  Colour colour = Colour::red;
  int steps = 1;
};
template <class V>
void describe(Listed& o, V&& option) {
  option.positional("ANIMAL", o.animal, "checked elsewhere", Proposes{{"duck", "goose"}});
  option("models", o.models, "checked elsewhere", Kind{"LIST"}, Proposes{{"all", "p2p"}});
  option("stages", o.stages, "checked here", Words{{"search", "merge"}}, Kind{"LIST"});
  option("model", o.model, "a word", Words{{"any", "none"}});
  option("colour", o.colour, "which", Choices<Colour>{{{"red", Colour::red}, {"green", Colour::green}}});
  option("steps", o.steps, "a number");
}

TEST(Options, tell_the_words_that_shells_propose) {
  Listed listed;
  OptionTable table(listed);
  std::vector<std::vector<std::string>> words;
  for (const Option& o : table.options()) words.push_back(o.words);
  const std::vector<std::vector<std::string>> expected{{"duck", "goose"}, {"all", "p2p"},   {"search", "merge"},
                                                       {"any", "none"},   {"red", "green"}, {}};
  EXPECT_EQ(words, expected);
  EXPECT_EQ(table.options()[1].kind, "LIST");
  table.parse(std::vector<std::string>{"swan", "--models", "all,rma"});  // known words bind nobody
  EXPECT_EQ(listed.animal, "swan");
  EXPECT_EQ(listed.models, (std::vector<std::string>{"all", "rma"}));
}

TEST(Options, tell_which_were_given) {
  Sample s;
  OptionTable table(s);
  table.parse(std::vector<std::string>{"in", "--steps=1"});
  EXPECT_TRUE(table.is_given("steps"));
  EXPECT_FALSE(table.is_given("ratio"));
}

TEST(Options, the_closest_word_is_found_if_it_is_close) {
  const std::vector<std::string> known{"cluster", "verify", "bench"};
  EXPECT_EQ(closest("clutser", known), "cluster");
  EXPECT_EQ(closest("banch", known), "bench");
  EXPECT_EQ(closest("telescope", known), "");
}

RC_GTEST_PROP(Options, every_number_is_read_back_from_its_text, (double x)) {
  RC_PRE(std::isfinite(x) && x > 0);
  RC_ASSERT(parsed({"in", "--ratio", number_text(x)}).inner.ratio == x);
}

RC_GTEST_PROP(Options, values_as_text_give_the_same_options_again, (int steps, bool loud, std::vector<int> ranks)) {
  RC_PRE(steps >= 1 && !ranks.empty());
  Sample s;
  s.steps = steps;
  s.loud = loud;
  for (auto& r : ranks) r = 1 + std::abs(r % 1000);
  s.ranks = ranks;
  std::vector<std::string> arguments{"in"};
  const OptionTable table(s);
  for (const auto& o : table.options()) {
    if (o.positional) continue;
    const std::string text = value_text(o.value());
    arguments.push_back(o.flag ? (text == "true" ? "--" : "--no-") + o.name : "--" + o.name + '=' + text);
  }
  const Sample again = parsed(arguments);
  RC_ASSERT(again.steps == s.steps);
  RC_ASSERT(again.loud == s.loud);
  RC_ASSERT(again.ranks == s.ranks);
  RC_ASSERT(again.cells == s.cells);
}

TEST(Errors, carry_the_exit_codes_of_the_program) {
  EXPECT_EQ(VerificationError("").exit_code(), 1);
  EXPECT_EQ(UsageError("").exit_code(), 2);
  EXPECT_EQ(InputError("").exit_code(), 3);
  EXPECT_EQ(CommError("").exit_code(), 4);
}

}  // namespace
