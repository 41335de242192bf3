/// Tests of the command linkage by running it.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "tests/apps/json.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"
#include "tests/support/folders.hpp"

namespace {

using namespace merganser::test;

/// Returns the numbers of an .npy file of 8-byte items.
template <class T>
std::vector<T> items(const std::string& file) {
  const std::size_t head = file.find('\n') + 1;
  EXPECT_EQ(head % 64, 0U);
  std::vector<T> all((file.size() - head) / sizeof(T));
  std::memcpy(all.data(), file.data() + head, all.size() * sizeof(T));
  return all;
}

/// Returns all digests of an output: forest, linkage, labels.
std::string digests(const Outcome& o) {
  std::istringstream words(o.out);
  std::string all;
  for (std::string word, last; words >> word; last = word) {
    if (last == "digest") all += word + " ";
  }
  return all;
}

TEST(Linkage, gives_one_result_for_any_number_of_ranks_and_model) {
  const Arguments models = process_models();
  std::size_t next = 0;  // one model for each: every launch takes its time
  for (const Arguments& what :
       {Arguments{"--gen", "rmat:8:4", "--weights", "uniform:3", "--height", "2"},
        Arguments{"--points", "lattice:2:12", "--clusters", "5"},
        Arguments{"--points", "clusters:2:500:4", "--method", "hdbscan", "--min-cluster-size", "9"}}) {
    const Arguments command = Arguments{"linkage"} + what;
    const Outcome one = run(command);
    ASSERT_EQ(one.code, 0) << one.text();
    ASSERT_EQ(digests(one).size(), 99U) << one.text();
    EXPECT_EQ(digests(run(command + Arguments{"--ranks", "3"})), digests(one));
    if (models.empty()) continue;
    const std::string& model = models[next++ % models.size()];
    const Outcome o = run_on(2, command + Arguments{"--comm", model});
    EXPECT_EQ(o.code, 0) << o.text();
    EXPECT_EQ(digests(o), digests(one)) << model;
  }
}

TEST(Linkage, labels_of_sparse_ids_have_the_ids) {
  const Folder folder;
  const std::string graph = folder.file("sparse.tsv");
  std::ofstream(graph) << "9000000000 5000000000 3\n7000000000 9000000000 1\n5000000000 7000000000 9\n";
  for (const char* ranks : {"1", "3"}) {
    const Outcome o = run({"linkage", graph, "--labels", folder.file("l.txt"), "--linkage", folder.file("z.txt"),
                           "--height", "2", "--ranks", ranks});
    ASSERT_EQ(o.code, 0) << o.text();
    EXPECT_EQ(read_bytes(folder.file("l.txt")), "5000000000 0\n7000000000 1\n9000000000 1\n");
    EXPECT_TRUE(says(o, folder.file("z.txt") + " has the numbers of vertices")) << o.text();
  }
}

TEST(Linkage, writes_merges_labels_and_a_record) {
  const Folder folder;
  const std::string graph = folder.file("g.tsv");
  std::ofstream(graph) << "0 1 5\n1 2 7\n0 2 6\n3 4 1\n";
  const auto command = [&](const std::string& kind) {
    return run({"linkage", graph, "--linkage", folder.file("z" + kind), "--labels", folder.file("l" + kind), "--height",
                "5", "--json", folder.file("r.json")});
  };
  const Outcome text = command(".txt");
  ASSERT_EQ(text.code, 0) << text.text();
  EXPECT_TRUE(says(text, "clusters: 3; sizes: 2 2 1")) << text.text();
  EXPECT_EQ(read_bytes(folder.file("z.txt")), "3 4 1 2\n0 1 5 2\n2 6 6 3\n");
  EXPECT_EQ(read_bytes(folder.file("l.txt")), "0\n0\n1\n2\n2\n");
  ASSERT_EQ(command(".npy").code, 0);
  const std::string merges = read_bytes(folder.file("z.npy"));
  EXPECT_TRUE(merges.starts_with(std::string("\x93NUMPY\x01\x00", 8)));
  EXPECT_NE(merges.find("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }"), std::string::npos);
  EXPECT_EQ(items<double>(merges), (std::vector<double>{3, 4, 1, 2, 0, 1, 5, 2, 2, 6, 6, 3}));
  EXPECT_EQ(items<std::int64_t>(read_bytes(folder.file("l.npy"))), (std::vector<std::int64_t>{0, 0, 1, 2, 2}));
  ASSERT_EQ(command(".NPY").code, 0);
  EXPECT_EQ(read_bytes(folder.file("l.NPY")), read_bytes(folder.file("l.npy")));
  const Json record = Json::parse(read_bytes(folder.file("r.json")));
  EXPECT_EQ(record["result"]["merges"], 3);
  EXPECT_EQ(record["result"]["forest"]["trees"], 2);
  EXPECT_EQ(record["result"]["clusters"]["count"], 3);
  EXPECT_EQ(record["result"]["clusters"]["largest"], Json::parse("[2, 2, 1]"));
  const Outcome joined = run({"linkage", graph, "--linkage", "-", "--join"});
  EXPECT_EQ(joined.out, "3 4 1 2\n0 1 5 2\n2 6 6 3\n5 7 inf 5\n") << joined.text();
}

TEST(Linkage, records_the_top_of_the_dendrogram_and_the_condensed_tree) {
  const Folder folder;
  const std::string graph = folder.file("g.tsv"), json = folder.file("r.json");
  std::ofstream(graph) << "0 1 5\n1 2 7\n0 2 6\n3 4 1\n";
  ASSERT_EQ(run({"linkage", graph, "--json", json}).code, 0);
  const Json top = read_json_file(json)["dendrogram"];
  EXPECT_EQ(top["parent"], Json::parse("[-1, -1, 0, 0, 3, 3, 1, 1]"));
  EXPECT_EQ(top["height"], Json::parse("[6, 1, 0, 5, 0, 0, 0, 0]"));
  EXPECT_EQ(top["size"], Json::parse("[3, 2, 1, 2, 1, 1, 1, 1]"));
  EXPECT_EQ(top["merges_left_out"], 0);
  ASSERT_EQ(run({"linkage", graph, "--join", "--json", json}).code, 0);
  EXPECT_TRUE(read_json_file(json)["dendrogram"]["height"][0].is_null());

  ASSERT_EQ(run({"linkage", "--points", "clusters:2:3000:5", "--method", "hdbscan", "--min-cluster-size", "9",
                 "--condensed", folder.file("c.txt"), "--json", json})
                .code,
            0);
  const Json record = read_json_file(json);
  const Json tree = record["condensed_tree"];
  EXPECT_EQ(tree["size"].size() + tree["clusters_left_out"].get<std::size_t>(),
            record["result"]["clusters"]["condensed"].get<std::size_t>());
  ASSERT_EQ(tree["parent"].size(), tree["size"].size());
  EXPECT_EQ(tree["size"][0], 3000);
  std::int64_t selected = 0;
  for (std::size_t i = 0; i < tree["size"].size(); ++i) {
    selected += tree["label"][i] >= 0;
    EXPECT_GE(tree["end"][i], tree["birth"][i]);
    if (i == 0) continue;
    EXPECT_LT(tree["parent"][i].get<std::size_t>(), i);
    EXPECT_GE(tree["end"][tree["parent"][i].get<std::size_t>()], tree["birth"][i]);
  }
  EXPECT_EQ(selected, record["result"]["clusters"]["count"]);
  EXPECT_LE(record["dendrogram"]["parent"].size(), 79U);  // 40 leaves
  EXPECT_GT(record["dendrogram"]["merges_left_out"], 2900);
}

TEST(Linkage, finds_dense_clusters_of_points_in_a_file) {
  const Folder folder;
  const std::string points = folder.file("p.txt");
  {
    std::ofstream out(points);
    out << "x1 x2\n";
    for (const int x : {0, 100}) {
      for (int i = 0; i < 6; ++i) out << x + i * i << ' ' << i << '\n';
    }
    out << "50 500\n";
  }
  const Outcome o = run({"linkage", "--points", points, "--method", "hdbscan", "--min-cluster-size", "4",
                         "--min-samples", "1", "--labels", folder.file("l.txt"), "--probabilities",
                         folder.file("p.npy"), "--condensed", folder.file("c.txt")});
  ASSERT_EQ(o.code, 0) << o.text();
  EXPECT_EQ(read_bytes(folder.file("l.txt")), "0\n0\n0\n0\n0\n0\n1\n1\n1\n1\n1\n1\n-1\n");
  const auto probabilities = items<double>(read_bytes(folder.file("p.npy")));
  ASSERT_EQ(probabilities.size(), 13U);
  EXPECT_EQ(probabilities.front(), 1);
  EXPECT_EQ(probabilities.back(), 0);
  EXPECT_TRUE(says(o, "clusters: 2, noise: 1 points; sizes: 6 6")) << o.text();
  EXPECT_TRUE(says(o, "p.txt: 13 points in 2 dimensions\ntext: 2 columns x1, x2; separated by blanks; heading\n"))
      << o.text();
  std::istringstream condensed(read_bytes(folder.file("c.txt")));
  int rows = 0;
  for (std::string line; std::getline(condensed, line);) ++rows;
  EXPECT_EQ(rows, 13 + 2);
}

TEST(Linkage, divides_distances_and_takes_clusters_by_birth_and_life) {
  const Folder folder;
  const std::string points = folder.file("p.txt"), labels = folder.file("l.txt"), merges = folder.file("z.txt");
  std::ofstream(points) << "0\n1\n2\n10\n11\n12\n";
  const auto clusters = [&](const Arguments& more) {
    const Outcome o = run(Arguments{"linkage", "--points", points, "--method", "hdbscan", "--min-cluster-size", "3",
                                    "--min-samples", "2", "--labels", labels, "--linkage", merges} +
                          more);
    EXPECT_EQ(o.code, 0) << o.text();
    return read_bytes(labels);
  };
  const std::string two = "0\n0\n0\n1\n1\n1\n", none = "-1\n-1\n-1\n-1\n-1\n-1\n";
  EXPECT_EQ(clusters({}), two);  // born at distance 8, until 1: from 0.125 to 1
  EXPECT_EQ(clusters({"--epsilon-max", "8"}), two);
  EXPECT_EQ(clusters({"--epsilon-max", "7.9"}), none);
  EXPECT_EQ(clusters({"--persistence", "0.875"}), two);
  EXPECT_EQ(clusters({"--persistence", "0.9", "--ranks", "2"}), none);
  EXPECT_EQ(clusters({"--epsilon-max", "2", "--alpha", "4", "--ties", "sequential", "--ranks", "3"}), two);
  std::istringstream rows(read_bytes(merges));
  std::string heights;
  for (std::string a, b, height, size; rows >> a >> b >> height >> size;) heights += height + " ";
  EXPECT_EQ(heights, "1 1 1 1 2 ");  // core distances 1; 8 / 4
  for (const Arguments& bad :
       {Arguments{"--persistence", "-1"}, Arguments{"--epsilon-max=-1"}, Arguments{"--alpha", "0"}})
    EXPECT_EQ(run(Arguments{"linkage", "--points", points, "--method", "hdbscan"} + bad).code, 2);
}

TEST(Linkage, cuts_tied_merges_together_or_apart) {
  const Arguments command{"linkage", "--gen", "path:4", "--weights", "unit", "--labels", "-", "--clusters", "3"};
  EXPECT_EQ(run(command).out, "0\n0\n0\n0\n");
  EXPECT_EQ(run(command + Arguments{"--break-ties"}).out, "0\n0\n1\n2\n");
}

TEST(Linkage, refuses_what_cannot_be_with_the_code_of_the_error) {
  const auto refuse = [](const Arguments& arguments, int code, const std::string& part) {
    const Outcome o = run(Arguments{"linkage"} + arguments);
    EXPECT_EQ(o.code, code) << o.text();
    EXPECT_TRUE(says(o, part)) << o.text();
  };
  const Arguments path{"--gen", "path:5"};
  refuse({}, 2, "no graph");
  refuse(path + Arguments{"--points", "line:5"}, 2, "--gen: \"path:5\" is not used with --points");
  refuse(path + Arguments{"--labels", "l.txt"}, 2, "--labels: \"l.txt\" is not used here; allowed only with --height");
  refuse(path + Arguments{"--condensed", "c.txt"}, 2,
         "--condensed: \"c.txt\" is not used here; allowed only with --method hdbscan");
  refuse(path + Arguments{"--min-cluster-size", "3"}, 2,
         "--min-cluster-size: \"3\" is not used here; allowed only with --method hdbscan");
  refuse(path + Arguments{"--height", "1", "--clusters", "2"}, 2, "--height: \"1\" is not used with --clusters");
  refuse(path + Arguments{"--method", "hdbscan", "--height", "1"}, 2,
         "--height: \"1\" is not used here; allowed only with --method single");
  const Arguments hdbscan = path + Arguments{"--method", "hdbscan"};
  refuse(hdbscan + Arguments{"--min-cluster-size", "1"}, 2, "--min-cluster-size: 1; allowed: from 2 to 2147483648");
  refuse(hdbscan + Arguments{"--max-cluster-size=-1"}, 2, "--max-cluster-size: -1; allowed: 0 and more");
  refuse(hdbscan + Arguments{"--epsilon=-1"}, 2, "--epsilon: -1; allowed: finite numbers from 0");
  refuse(path + Arguments{"--min-samples", "3"}, 2,
         "--min-samples: \"3\" is not used here; allowed only with --points");
  refuse(path + Arguments{"--break-ties"}, 2, "--break-ties is not used here; allowed only with --clusters");
  refuse(path + Arguments{"--clusters", "6", "--break-ties"}, 2, "allowed: 1 to 5");
  refuse({"--gen", "gnm:5:1", "--clusters", "2", "--ranks", "2"}, 2, "components; allowed: 3 to 32");
  refuse({"no_such_file.tsv"}, 3, "no_such_file.tsv");
  refuse({"--points", "uniform:2:3", "--min-samples", "4"}, 3, "allowed");
  refuse(path + Arguments{"--linkage", "/no/such/folder/z.npy"}, 3, "/no/such/folder/z.npy");
}

/// Clusters the sets of a file of tests/python/toys.py, each with one of its four choices of parameters. @return their number
int check_labels(const char* file) {
  std::ifstream in(source_folder() / "packages/graph/tests/data/hdbscan" / file);
  const Folder folder;
  const std::string points = folder.file("points.txt");
  int sets = 0;
  std::size_t count = 0;
  std::size_t dimension = 0;
  for (std::string name; in >> name >> count >> dimension; ++sets) {
    std::ofstream out(points);
    std::string x;
    for (std::size_t i = 0; i < count * dimension && in >> x; ++i) out << x << ((i + 1) % dimension == 0 ? '\n' : ' ');
    out.close();
    for (int i = 0; i < 4; ++i) {
      std::string least, samples, leaf, expected, sum;
      in >> least >> samples >> leaf >> expected >> sum;
      if (i != sets % 4) continue;  // every launch takes its time
      const std::string labels = folder.file("labels.txt");
      const Outcome o =
          run({"linkage", "--points", points, "--method", "hdbscan", "--ties", "sequential", "--min-cluster-size",
               least, "--min-samples", samples, "--selection", leaf == "1" ? "leaf" : "eom", "--labels", labels,
               "--ranks", std::to_string(1 + sets % 3)});
      EXPECT_EQ(o.code, 0) << o.text();
      EXPECT_TRUE(says(o, "order of equal weights: of all pairs of points")) << o.text();
      std::ifstream found(labels);
      std::string text;
      for (int label = 0; found >> label;) text += label < 0 ? '.' : static_cast<char>('a' + label);
      EXPECT_EQ(text, expected) << name;
    }
  }
  return sets;
}

TEST(Linkage, undoes_merges_of_one_height_one_by_one_as_scikit_learn_does) {
  EXPECT_EQ(check_labels("toys.txt"), 8);
  EXPECT_EQ(check_labels("ties.txt"), 12);  // many equal distances
}

}  // namespace
