/// Tests that `--json -` of every verb prints one JSON value and nothing else. The verbs come from list-options, so that a new one
/// must be added here.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "apps/frame/json.hpp"
#include "merganser/io/parcel_file.hpp"
#include "tests/apps/json.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

/// Verbs without --json, and why they have none.
const std::map<std::string, std::string> kWithout{
    {"report", "writes one page, from records that others wrote"},
    {"figures", "writes pictures, from records that others wrote"},
    {"run", "starts another verb, whose own --json writes the record, on standard output too"}};

/// Short command lines of one verb.
using Lines = std::vector<Arguments>;

/// Returns short command lines of every verb with --json. Those of parcel files are left out in builds that cannot read them.
std::map<std::string, Lines> short_lines(const Folder& folder) {
  const auto file = [&](const char* name) { return folder.file(name); };
  std::map<std::string, Lines> out{
      {"doctor", {{}}},
      {"verify", {{"--samples", "1", "--ranks", "1,2", "--comm", "threads"}}},
      {"bench random",
       {{"--cells", "4,4,4", "--per-cell", "4", "--steps", "1", "--comm", "threads"},
        {"--cells", "4,4,4", "--per-cell", "4", "--steps", "1", "--comm", "threads", "--ranks", "1,2"}}},
      {"compare", {{file("b.json"), file("b.json")}}},
      {"announce bench", {{"--steps", "2", "--work-ms", "0", "--ranks", "2"}}},
      {"announce demo", {{"droplet", "--steps", "2"}, {"potts", "--steps", "2"}}},
      {"announce table2", {{"--machines", "1", "--budget", "14"}}},
      {"announce table3", {{"--machines", "1", "--budget", "16"}}},
      {"graph convert", {{"--gen", "path:9"}, {"--gen", "path:9", file("p.mgr")}}},
      {"linkage",
       {{"--gen", "path:9"},
        {"--points", "uniform:2:50", "--method", "hdbscan"},
        {"--gen", "path:9", "--clusters", "2", "--labels", file("l.txt")}}},
      {"msf", {{"--gen", "path:9"}, {"--points", "uniform:2:50"}, {"--gen", "path:9", "-o", file("f.txt")}}},
      {"topo gen", {{"ring", "--ranks", "4"}, {"ring", "--ranks", "4", "-o", file("ring.adj")}}},
      {"topo convert", {{file("r.adj"), file("s.bin")}}},
      {"topo extract", {{"--from", file("t.json")}, {"--from", file("t.json"), "-o", file("t.bin")}}},
      {"topo bench", {{"--graph", "chain", "--ranks", "2", "--sizes", "8", "--time", "0.1", "--models", "threads"}}},
      {"topo tail", {{"--kernels", "threads.copy-flag", "--sizes", "8", "--time", "0.2"}}},
      {"topo replay", {{file("r.adj"), "--models", "threads", "--sizes", "8", "--time", "0.1"}}},
      {"topo advise",
       {{file("r.adj"), "--sizes", "8", "--models", "threads", "--time", "0.1", "--launches", "1"},
        {"--evaluate", file("k.json")}}},
      {"topo table2", {{}}},
      {"bench growth", {{"--quick", "--only", "announcement", "--repeats", "1"}}},
      {"bench msf",
       {{"--only", "T4", "--gen", "path:9,path:10", "--ranks", "1", "--models", "threads", "--repeats", "1"}}}};
  if (!io::netcdf_available()) return out;
  const std::string in = file("in.nc");
  out.insert({{"gen random", {{"--cells", "4,4,4", "--per-cell", "8", "-o", file("g.nc")}}},
              {"cluster", {{in, "--ranks", "2"}, {in, "-o", file("o.nc")}}},
              {"convert", {{in, file("o.npz")}}},
              {"bench files", {{in, "--steps", "1"}}},
              {"flow", {{"taylor-green", "--cells", "8", "--until", "0.1"}}}});
  return out;
}

/// Makes the files that short_lines() reads.
void make_inputs(const Folder& folder) {
  // One record, compared with itself: of two, the second can be slower where other programs use the machine.
  const Outcome record = run({"bench", "random", "--cells", "4,4,4", "--per-cell", "4", "--steps", "2", "--comm",
                              "threads", "--json", folder.file("b.json")});
  EXPECT_EQ(record.code, 0) << record.text();
  if (io::netcdf_available()) {
    const Outcome o = run({"gen", "random", "--cells", "4,4,4", "--per-cell", "8", "-o", folder.file("in.nc")});
    EXPECT_EQ(o.code, 0) << o.text();
  }
  if (!has_package("topology")) return;
  std::ofstream(folder.file("t.json")) << R"({"schema":"merganser-traffic","schema_version":1,"ranks":2,"exchanges":1,)"
                                       << R"("source":"a test","operations":2,"bytes":16,)"
                                       << R"("columns":["from","to","move","operations","bytes","first_size_class",)"
                                       << R"("operations_by_size_class"],"rows":[[0,1,"message",1,8,3,1],)"
                                       << R"([1,0,"message",1,8,3,1]]})";
  EXPECT_EQ(run({"topo", "gen", "ring", "--ranks", "2", "-o", folder.file("r.adj")}).code, 0);
  EXPECT_EQ(run({"topo", "bench", "--graph", "chain,ring,complete,incast", "--ranks", "2", "--sizes", "8,64", "--time",
                 "0.4", "--models", "threads", "--kernels", "all", "--json", folder.file("k.json")})
                .code,
            0);
}

void expect_json_alone(const std::string& verb, const Arguments& arguments, const Outcome& o) {
  std::string line = verb;
  for (const std::string& a : arguments) line += ' ' + a;
  EXPECT_EQ(o.code, 0) << line << '\n' << o.text();
  ASSERT_FALSE(o.out.empty()) << line << '\n' << o.text();
  EXPECT_TRUE(o.out.starts_with('{') && o.out.ends_with("}\n")) << line << '\n' << o.out.substr(0, 400);
  EXPECT_TRUE(Json::parse(o.out, nullptr, false).is_object()) << line << '\n' << o.out.substr(0, 400);
}

TEST(JsonAlone, a_record_on_standard_output_is_alone_there_of_every_verb) {
  const Folder folder;
  make_inputs(folder);
  const std::map<std::string, Lines> lines = short_lines(folder);
  const Json tables = Json::parse(run({"list-options"}).out);
  std::size_t seen = 0;
  for (const auto& [verb, options] : tables.items()) {
    const auto has = [&, &options = options](const char* name) {
      return std::any_of(options.begin(), options.end(), [&](const Json& o) { return o["name"] == name; });
    };
    if (!has("json")) {
      EXPECT_TRUE(kWithout.contains(verb)) << verb << " has no --json: give it one, or say above why not";
      continue;
    }
    EXPECT_FALSE(kWithout.contains(verb)) << verb;
    if (!lines.contains(verb) && !io::netcdf_available()) continue;
    ASSERT_TRUE(lines.contains(verb)) << verb << " has no command line above";
    ++seen;
    for (const Arguments& arguments : lines.at(verb)) {
      std::istringstream words(verb);
      const Arguments command =
          Arguments{std::istream_iterator<std::string>(words), {}} + arguments + Arguments{"--json", "-"};
      expect_json_alone(verb, arguments, run(command));
      const bool names_ranks = std::find(arguments.begin(), arguments.end(), "--ranks") != arguments.end();
      if (has("decorators") && !names_ranks && !process_models().empty()) {
        expect_json_alone(verb + " on processes", arguments, run_on(2, command));
      }
    }
  }
  EXPECT_GE(seen, 6U);
}

}  // namespace
