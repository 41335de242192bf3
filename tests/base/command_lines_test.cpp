/// Grammar of command lines: a table of arguments with the options that they set or the error that they cause.
#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "merganser/base/options.hpp"

namespace {

using namespace merganser;

enum class Color { red, green };

/// Options of a usual command: one of each type.
struct Usual {
  std::string in;
  std::vector<std::string> files;
  double ratio = 40;
  int rounds = 7;
  std::int64_t big = 1;
  std::uint64_t seed = 3;
  bool fast = false;
  bool picture = true;
  std::string json;
  std::vector<int> counts{1, 2};
  std::string out = "x";
  Color color = Color::red;
};
template <class V>
void describe(Usual& o, V&& option) {
  option.positional("IN", o.in, "input", Required{});
  option.positional("FILE", o.files, "more");
  option("min-volume-ratio", o.ratio, "a ratio", positive());
  option("rounds", o.rounds, "how many", at_least(1));
  option("big", o.big, "a large number");
  option("seed", o.seed, "any number");
  option("fast", o.fast, "do it soon");
  option("picture", o.picture, "draw it");
  option("json", o.json, "a file", Letter{'j'});
  option("counts", o.counts, "numbers");
  option("output", o.out, "a file", Letter{'o'});
  option("color", o.color, "which", Choices<Color>{{{"red", Color::red}, {"green", Color::green}}});
}

/// Options of a command that starts another program, whose options it must not parse.
struct Starter {
  int ranks = 1;
  bool loud = false;
  std::vector<std::string> command;
};
template <class V>
void describe(Starter& o, V&& option) {
  option("ranks", o.ranks, "how many", at_least(1));
  option("verbose", o.loud, "say more");
  option.positional("COMMAND", o.command, "what to start", Rest{}, Required{});
}

/// Command line, with '|' between arguments, and the expected outcome: the options given, or "E " and the error without its list of
/// options.
struct Case {
  std::string line, outcome;
};

template <class T>
std::string parse_outcome(const std::string& line) {
  std::vector<std::string> arguments(1);
  for (const char c : line)
    if (c == '|') {
      arguments.emplace_back();
    } else {
      arguments.back() += c;
    }
  T options;
  OptionTable table(options);
  std::string out;
  try {
    table.parse(arguments);
    for (const auto& o : table.options())
      if (o.given) out += (out.empty() ? "" : " ") + o.name + '=' + value_text(o.value());
  } catch (const UsageError& e) {
    out = std::string("E ") + e.what();
    out.erase(std::min(out.find("; known: "), out.size()));
  }
  return out;
}

TEST(CommandLines, are_read_in_one_way) {
  const std::vector<Case> cases{
      {"a", "IN=a"},
      {"a|b", "IN=a FILE=b"},
      {"a|b|c", "IN=a FILE=b,c"},
      {"--", "E IN is missing: input"},
      {"--|a", "IN=a"},
      {"a|--|-b", "IN=a FILE=-b"},
      {"a|--|--json", "IN=a FILE=--json"},
      {"a|--|--|b", "IN=a FILE=--,b"},
      {"-", "IN=-"},
      {"a|-", "IN=a FILE=-"},
      {"", "IN="},
      {"a|", "IN=a FILE="},
      {"a|-5", "E unknown option -5"},
      {"-5", "E unknown option -5"},
      {"a|-x", "E unknown option -x"},
      {"a|--x", "E unknown option --x"},
      {"a|---x", "E unknown option ---x"},
      {"a|--roundz|3", "E unknown option --roundz; did you mean --rounds?"},
      {"a|--roundz=3", "E unknown option --roundz; did you mean --rounds?"},
      {"a|--round|3", "E unknown option --round; did you mean --rounds?"},
      {"a|--rounds|3", "IN=a rounds=3"},
      {"a|--rounds=3", "IN=a rounds=3"},
      {"a|--rounds", "E --rounds needs a value: N"},
      {"a|--rounds=", "E --rounds: \"\"; allowed: an integer"},
      {"a|--rounds|-3", "E --rounds: \"-3\"; allowed: at least 1"},
      {"a|--rounds=-3", "E --rounds: \"-3\"; allowed: at least 1"},
      {"a|--rounds|0", "E --rounds: \"0\"; allowed: at least 1"},
      {"a|--rounds|3|--rounds|4", "E --rounds: \"3\" and \"4\" are given; allowed: the option once"},
      {"a|--rounds|x|--rounds|4", "E --rounds: \"x\"; allowed: an integer"},
      {"a|--rounds|4|--rounds|x", "E --rounds: \"4\" and \"x\" are given; allowed: the option once"},
      {"a|--rounds|--fast", "E --rounds: \"--fast\"; allowed: an integer"},
      {"a|--rounds|99999999999", "E --rounds: \"99999999999\"; allowed: an integer of 32 bits"},
      {"a|--rounds|99999999999999999999999", "E --rounds: \"99999999999999999999999\"; allowed: an integer of 64 bits"},
      {"a|--big|-7", "IN=a big=-7"},
      {"a|--big=-7", "IN=a big=-7"},
      {"a|--big|-", "E --big: \"-\"; allowed: an integer"},
      {"a|--big|", "E --big: \"\"; allowed: an integer"},
      {"a|--seed|-1", "E --seed: \"-1\"; allowed: an integer >= 0"},
      {"a|--seed|18446744073709551615", "IN=a seed=18446744073709551615"},
      {"a|--seed|0x10", "E --seed: \"0x10\"; allowed: an integer >= 0"},
      {"a|--seed|1e3", "E --seed: \"1e3\"; allowed: an integer >= 0"},
      {"a|--fast", "IN=a fast=true"},
      {"a|--no-fast", "IN=a fast=false"},
      {"a|--fast=true", "E --fast has the value \"true\"; allowed: --fast or --no-fast"},
      {"a|--fast=false", "E --fast has the value \"false\"; allowed: --fast or --no-fast"},
      {"a|--fast=1", "E --fast has the value \"1\"; allowed: --fast or --no-fast"},
      {"a|--fast=", "E --fast has the value \"\"; allowed: --fast or --no-fast"},
      {"a|--no-fast=true", "E --fast has the value \"true\"; allowed: --fast or --no-fast"},
      {"a|--fast|true", "IN=a FILE=true fast=true"},
      {"a|--fast|--fast", "E --fast is given twice; allowed: once"},
      {"a|--fast|--no-fast", "E --fast and --no-fast are given; allowed: one of them"},
      {"a|--no-fast|--fast", "E --fast and --no-fast are given; allowed: one of them"},
      {"a|--no-fast|--no-fast", "E --no-fast is given twice; allowed: once"},
      {"a|--no-picture", "IN=a picture=false"},
      {"a|--picture", "IN=a picture=true"},
      {"a|--no-rounds", "E unknown option --no-rounds; did you mean --rounds?"},
      {"a|--no-rounds|3", "E unknown option --no-rounds; did you mean --rounds?"},
      {"a|--FAST", "E unknown option --FAST"},
      {"a|--fas", "E unknown option --fas; did you mean --fast?"},
      {"a|-j|f", "IN=a json=f"},
      {"a|-jf", "E unknown option -jf"},
      {"a|-j=f", "E unknown option -j=f"},
      {"a|-j", "E --json needs a value: TEXT"},
      {"a|-o|-", "IN=a output=-"},
      {"a|-o|--", "IN=a output=--"},
      {"a|-o|--|b", "IN=a FILE=b output=--"},
      {"a|--output|--json|x", "IN=a FILE=x output=--json"},
      {"a|--output=--json", "IN=a output=--json"},
      {"a|--output==x", "IN=a output==x"},
      {"a|--output=a=b", "IN=a output=a=b"},
      {"a|--json|", "IN=a json="},
      {"a|--json=", "IN=a json="},
      {"a|--json=|b", "IN=a FILE=b json="},
      {"a|--json|[a,b]", "IN=a json=[a,b]"},
      {"a|--json|'a'", "IN=a json='a'"},
      {"a|--json|\"a\"", "IN=a json=\"a\""},
      {"a|--json|{}", "IN=a json={}"},
      {"a|--json|%%", "IN=a json=%%"},
      {"[a,b]", "IN=[a,b]"},
      {"a|[b]", "IN=a FILE=[b]"},
      {"a|--counts|1,2,3", "IN=a counts=1,2,3"},
      {"a|--counts|1,,3", "E --counts: \"1,,3\" has an empty piece; allowed: values between single commas"},
      {"a|--counts|", "IN=a counts="},
      {"a|--counts|1|2", "IN=a FILE=2 counts=1"},
      {"a|--counts|-1,-2", "IN=a counts=-1,-2"},
      {"a|--counts|[1,2]", "E --counts: \"[1\"; allowed: an integer"},
      {"a|--color|red", "IN=a color=red"},
      {"a|--color|blue", "E --color: \"blue\"; allowed: red|green"},
      {"a|--color|RED", "E --color: \"RED\"; allowed: red|green"},
      {"a|--color|", "E --color: \"\"; allowed: red|green"},
      {"a|--min-volume-ratio|1e400", "E --min-volume-ratio: \"1e400\"; allowed: a finite number"},
      {"a|--min-volume-ratio|nan", "E --min-volume-ratio: \"nan\"; allowed: a finite number"},
      {"a|--min-volume-ratio|-1", "E --min-volume-ratio: \"-1\"; allowed: greater than 0"},
      {"a|--min-volume-ratio|.5", "IN=a min-volume-ratio=0.5"},
      {"a|--min-volume-ratio| 5", "E --min-volume-ratio: \" 5\"; allowed: a finite number"},
      {"a|--min_volume_ratio|5", "E unknown option --min_volume_ratio; did you mean --min-volume-ratio?"},
      {"a|--help", "E unknown option --help"},
      {"a|-h", "E unknown option -h"},
      {"a|--version", "E unknown option --version"},
      {"a|--config|f", "E unknown option --config"},
      {"a|b|--fast|c", "IN=a FILE=b,c fast=true"},
      {"--fast|a|--rounds|2|b", "IN=a FILE=b rounds=2 fast=true"},
      {"a|--big|5|c|--json|x|d", "IN=a FILE=c,d big=5 json=x"},
      {"a|-jo|x", "E unknown option -jo"},
      {"a|/fast", "IN=a FILE=/fast"},
      {"a|++", "IN=a FILE=++"},
      {"a|--roundz|3|--rounds|x", "E unknown option --roundz; did you mean --rounds?"},
      {"a|--rounds|x|--roundz|3", "E --rounds: \"x\"; allowed: an integer"},
      {"--rounds|x", "E --rounds: \"x\"; allowed: an integer"},
      {"--roundz", "E unknown option --roundz; did you mean --rounds?"},
      {"a|\xff", "IN=a FILE=\xff"},
      {"a|--\xff", "E unknown option --\xff"},
      {"a|-\xff", "E unknown option -\xff"},
      {"a|--json|\xff\n", "IN=a json=\xff\n"},
      {"a|--=x", "E unknown option --"},
      {"a|-=", "E unknown option -="},
      {"a|-j|-j", "IN=a json=-j"},
      {"a|--!fast", "E unknown option --!fast; did you mean --fast?"},
      {"a|-!", "E unknown option -!"},
  };
  for (const auto& c : cases) EXPECT_EQ(parse_outcome<Usual>(c.line), c.outcome) << c.line;
}

TEST(CommandLines, leave_the_options_of_another_program_alone) {
  const std::vector<Case> cases{
      {"a", "COMMAND=a"},
      {"a|-x", "COMMAND=a,-x"},
      {"a|--ranks|3", "COMMAND=a,--ranks,3"},
      {"--ranks|3|a|--ranks|4", "ranks=3 COMMAND=a,--ranks,4"},
      {"--ranks|3|--|a|--ranks|4", "ranks=3 COMMAND=a,--ranks,4"},
      {"--rank|3|a", "E unknown option --rank; did you mean --ranks?"},
      {"a|--|b", "COMMAND=a,--,b"},
      {"--|a|--|b", "COMMAND=a,--,b"},
      {"--|-a", "COMMAND=-a"},
      {"--verbose|a|-v", "verbose=true COMMAND=a,-v"},
      {"-a", "E unknown option -a"},
      {"-|b", "COMMAND=-,b"},
      {"a|--verbose", "COMMAND=a,--verbose"},
      {"--ranks|x|a", "E --ranks: \"x\"; allowed: an integer"},
      {"--ranks", "E --ranks needs a value: N"},
      {"--ranks=", "E --ranks: \"\"; allowed: an integer"},
      {"-5|a", "E unknown option -5"},
  };
  for (const auto& c : cases) EXPECT_EQ(parse_outcome<Starter>(c.line), c.outcome) << c.line;
}

}  // namespace
