// Fuzz test of the C interface: thousands of calls with valid and invalid arguments; each returns a status, and errors a message.
#include "tests/graph_capi/random_calls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "tests/capi/ranks.hpp"

namespace {

using namespace merganser::test;

const std::set<int> kStatuses{MG_OK,    MG_VERIFICATION,  MG_USAGE,
                              MG_INPUT, MG_COMMUNICATION, MG_MEMORY};  // MG_INTERNAL would be a fault of ours

/// One rank's program of random calls.
class RandomCalls {
 public:
  RandomCalls(mg_transport* transport, std::uint64_t seed) : random_(seed) { transports_.all = {transport}; }

  void make(int calls) {
    const auto all = table();
    for (int i = 0; i < calls; ++i) {
      random_.choose_spoil();
      const auto& [name, call] = all[random_.below(all.size())];
      ASSERT_EQ(mg_run_threads(1, nullptr, nullptr), MG_USAGE);  // leaves a text that no call below can leave
      const std::string before = mg_error();
      const int status = call();
      ASSERT_EQ(kStatuses.count(status), 1U) << name << ": status " << status << ", " << mg_error();
      ASSERT_EQ(mg_error() == before, status == MG_OK) << name << ": " << mg_error();
      ASSERT_TRUE(status == MG_OK || std::string(mg_error()).size() > 8) << name;
      ++outcomes_[name][status == MG_OK ? 0 : 1];
    }
  }
  /// How often each function ended well, and how often not.
  const std::map<std::string, std::array<int, 2>>& outcomes() const { return outcomes_; }

 private:
  using Call = std::function<int()>;
  std::vector<std::pair<std::string, Call>> table();
  void add_basics(std::vector<std::pair<std::string, Call>>& t);
  void add_clusterer(std::vector<std::pair<std::string, Call>>& t);
  void add_finder(std::vector<std::pair<std::string, Call>>& t);
  void add_forests(std::vector<std::pair<std::string, Call>>& t);
  void add_announcers(std::vector<std::pair<std::string, Call>>& t);

  /// Keeps what a call that makes a handle gave.
  template <class T>
  int kept(Pool<T>& pool, const std::function<int(T**)>& make) {
    T* handle = nullptr;
    const int status = make(random_.or_null(&handle));
    EXPECT_EQ(status == MG_OK, handle != nullptr);
    if (handle != nullptr) pool.all.push_back(handle);
    return status;
  }
  mg_box* box() {
    box_ = {random_.size(sizeof box_), {0, 0, 0}, {1, 1, 1}, {1, 1, 0}, 0};
    for (double& e : box_.extent)
      if (random_.one_in(20)) e = random_.number();
    if (random_.one_in(10)) box_.periodic[0] = random_.integer<int32_t>(1);
    return random_.or_null(&box_);
  }
  mg_columns* columns() {
    columns_ = {};
    columns_.struct_size = random_.size(sizeof columns_);
    columns_.count = random_.count();
    if (random_.one_in(2)) columns_.count = std::min<std::size_t>(columns_.count, 6);
    columns_.x = random_.numbers(numbers_[0], 3 * kEntries);
    columns_.y = columns_.x != nullptr ? columns_.x + 1 : nullptr;
    columns_.z = random_.one_in(6) || columns_.x == nullptr ? nullptr : columns_.x + 2;
    columns_.position_stride = random_.one_in(8) ? random_.below(4) : 3;
    columns_.volume = random_.numbers(numbers_[1], kEntries);
    columns_.attributes = random_.one_in(10) ? random_.below(20) : 9;
    for (std::size_t a = 0; a < pointers_.size(); ++a)
      pointers_[a] = random_.one_in(80) ? nullptr : numbers_[2 + a].data();
    for (std::size_t a = 0; a < pointers_.size(); ++a)
      if (a < 9) random_.numbers(numbers_[2 + a], kEntries);
    for (const std::size_t diagonal : {4U, 7U})  // B11 and B22 of EPIC's ellipsoids, which are mostly some
      for (double& b : numbers_[2 + diagonal]) b += 2;
    for (std::size_t a = 0; a < pointers_.size(); ++a)
      if (pointers_[a] != nullptr) pointers_[a] = numbers_[2 + a].data();
    columns_.columns = random_.or_null(pointers_.data());
    columns_.ids = random_.ids(ids_, kEntries);
    return random_.or_null(&columns_);
  }

  RandomArguments random_;
  Pool<mg_transport> transports_;
  Pool<mg_decomposition> blocks_;
  Pool<mg_schema> schemas_;
  Pool<mg_clusterer> clusterers_;
  Pool<mg_finder> finders_;
  Pool<mg_forest> forests_;
  Pool<mg_linkage> linkages_;
  Pool<mg_announcer> announcers_;
  std::map<std::string, std::array<int, 2>> outcomes_;
  std::size_t found_ = 0;
  mg_box box_{};
  mg_columns columns_{};
  std::array<std::vector<double>, 22> numbers_;
  std::array<double*, 20> pointers_{};
  std::vector<std::int64_t> ids_;
  std::vector<std::uint64_t> unsigned_ids_;
};

std::vector<std::pair<std::string, RandomCalls::Call>> RandomCalls::table() {
  std::vector<std::pair<std::string, Call>> t;
  add_basics(t);
  add_clusterer(t);
  add_finder(t);
  add_forests(t);
  add_announcers(t);
  return t;
}

void RandomCalls::add_basics(std::vector<std::pair<std::string, Call>>& t) {
  const auto transport = [this] { return random_.handle(transports_, schemas_); };
  const auto blocks = [this] { return random_.handle(blocks_, schemas_); };
  t.emplace_back("mg_transport_rank", [=, this] {
    int rank = 0;
    return mg_transport_rank(transport(), random_.or_null(&rank));
  });
  t.emplace_back("mg_transport_size", [=, this] {
    int size = 0;
    return mg_transport_size(transport(), random_.or_null(&size));
  });
  t.emplace_back("mg_transport_name", [=, this] {
    const char* name = nullptr;
    return mg_transport_name(transport(), random_.or_null(&name));
  });
  t.emplace_back("mg_decomposition_new", [this] {
    return kept<mg_decomposition>(blocks_, [this](mg_decomposition** to) {
      std::array<int64_t, 3> cells{4, 4, 4};
      if (random_.one_in(6)) cells[1] = random_.integer<int64_t>(4);
      constexpr std::array<const char*, 5> kShapes{"auto", "1d", "1x1x1", "nonsense", "2x2x2"};
      return mg_decomposition_new(box(), random_.or_null(cells.data()), random_.one_in(6) ? random_.integer() : 1,
                                  random_.or_null(kShapes[random_.below(random_.one_in(4) ? 5 : 3)]), to);
    });
  });
  t.emplace_back("mg_decomposition_block", [=, this] {
    double lower[3];
    double upper[3];
    return mg_decomposition_block(blocks(), random_.integer(1), random_.or_null(lower), random_.or_null(upper));
  });
  t.emplace_back("mg_decomposition_ranks", [=, this] {
    int ranks = 0;
    return mg_decomposition_ranks(blocks(), random_.or_null(&ranks));
  });
  t.emplace_back("mg_decomposition_owners", [=, this] {
    std::array<int32_t, kEntries> owners;
    return mg_decomposition_owners(blocks(), random_.numbers(numbers_[0], 3 * kEntries), random_.below(kEntries + 1),
                                   random_.or_null(owners.data()));
  });
  t.emplace_back("mg_decomposition_free",
                 [=, this] { return random_.one_in(3) ? mg_decomposition_free(blocks()) : MG_OK; });
}

void RandomCalls::add_clusterer(std::vector<std::pair<std::string, Call>>& t) {
  const auto schema = [this] { return random_.handle(schemas_, blocks_); };
  const auto clusterer = [this] { return random_.handle(clusterers_, forests_); };
  t.emplace_back("mg_schema_epic", [this] { return kept<mg_schema>(schemas_, mg_schema_epic); });
  t.emplace_back("mg_schema_new", [this] {
    return random_.one_in(4) ? kept<mg_schema>(schemas_, mg_schema_new) : kept<mg_schema>(schemas_, mg_schema_epic);
  });
  t.emplace_back("mg_schema_add", [=, this] {
    constexpr std::array<const char*, 4> kNames{"", "salt", "heat", "B"};
    return random_.one_in(3) ? mg_schema_add(schema(), random_.or_null(kNames[random_.below(4)]), random_.integer(5),
                                             random_.integer(5))
                             : mg_schema_columns(schema(), nullptr);
  });
  t.emplace_back("mg_schema_columns", [=, this] {
    size_t columns = 0;
    return mg_schema_columns(schema(), random_.or_null(&columns));
  });
  t.emplace_back("mg_schema_free", [=] { return mg_schema_free(schema()); });
  t.emplace_back("mg_clusterer_new", [=, this] {
    return kept<mg_clusterer>(clusterers_, [=, this](mg_clusterer** to) {
      mg_clusterer_options options{};
      options.struct_size = random_.size(sizeof options);
      options.min_volume_ratio = random_.one_in(4) ? random_.number() : 0;
      options.search = random_.one_in(8) ? random_.integer(1) : 0;
      return mg_clusterer_new(random_.handle(transports_, schemas_), random_.handle(blocks_, schemas_), schema(),
                              random_.or_null(&options), to);
    });
  });
  const auto put = [=, this] { return mg_clusterer_put(clusterer(), columns()); };
  t.emplace_back("mg_clusterer_put", put);
  t.emplace_back("mg_clusterer_put", put);
  t.emplace_back("mg_clusterer_distribute", [=] { return mg_clusterer_distribute(clusterer()); });
  t.emplace_back("mg_clusterer_step", [=, this] {
    mg_step_numbers numbers{};
    numbers.struct_size = random_.size(sizeof numbers);
    return mg_clusterer_step(clusterer(), random_.or_null(&numbers));
  });
  t.emplace_back("mg_clusterer_redistribute", [=, this] {
    int64_t sent = 0;
    return mg_clusterer_redistribute(clusterer(), random_.or_null(&sent));
  });
  t.emplace_back("mg_clusterer_get", [=, this] {
    size_t count = 0;
    mg_columns* to = columns();
    if (to != nullptr && to->count > kEntries) to->count = kEntries;
    return mg_clusterer_get(clusterer(), to, random_.or_null(&count));
  });
  t.emplace_back("mg_clusterer_digest", [=, this] {
    char digest[33];
    return mg_clusterer_digest(clusterer(), random_.or_null(digest));
  });
  t.emplace_back("mg_clusterer_free", [=, this] {
    return random_.one_in(3) ? mg_clusterer_free(clusterer()) : mg_clusterer_count(clusterer(), nullptr);
  });
}

void RandomCalls::add_finder(std::vector<std::pair<std::string, Call>>& t) {
  const auto finder = [this] { return random_.handle(finders_, schemas_); };
  t.emplace_back("mg_decomposition_from_cuts", [this] {
    return kept<mg_decomposition>(blocks_, [this](mg_decomposition** to) {
      const double at = random_.number();
      const std::array<const double*, 3> cuts{random_.one_in(2) ? &at : nullptr, nullptr, nullptr};
      const std::array<size_t, 3> counts{random_.one_in(6) ? 1U : 0U, 0, random_.one_in(9) ? random_.count() : 0};
      return mg_decomposition_from_cuts(box(), nullptr, random_.or_null(cuts.data()), random_.or_null(counts.data()),
                                        to);
    });
  });
  t.emplace_back("mg_decomposition_from_boxes", [this] {
    return kept<mg_decomposition>(blocks_, [this](mg_decomposition** to) {
      std::array<double, 6> lower{0, 0, 0, 0, 0, 0};
      std::array<double, 6> upper{1, 1, 1, 1, 1, 1};
      if (random_.one_in(4)) lower[random_.below(6)] = random_.number();
      if (random_.one_in(4)) upper[random_.below(6)] = random_.number();
      return mg_decomposition_from_boxes(box(), nullptr, random_.or_null(lower.data()), random_.or_null(upper.data()),
                                         random_.one_in(4) ? static_cast<int>(random_.below(3)) : 1, to);
    });
  });
  t.emplace_back("mg_finder_new", [=, this] {
    return kept<mg_finder>(finders_, [=, this](mg_finder** to) {
      mg_finder_options options{};
      options.struct_size = random_.size(sizeof options);
      options.prune = random_.one_in(4) ? random_.integer<int32_t>(1) : 0;
      return mg_finder_new(random_.handle(transports_, schemas_), random_.handle(blocks_, schemas_),
                           random_.or_null(&options), to);
    });
  });
  const auto find = [=, this] {
    std::array<uint8_t, kEntries> small;
    for (auto& s : small) s = static_cast<uint8_t>(random_.below(2));
    mg_points points{};
    points.struct_size = random_.size(sizeof points);
    points.count = random_.count();
    points.x = random_.numbers(numbers_[0], 3 * kEntries);
    points.y = points.x == nullptr ? nullptr : points.x + 1;
    points.z = points.x == nullptr || random_.one_in(4) ? nullptr : points.x + 2;
    points.stride = random_.one_in(9) ? random_.below(3) : 3;
    if (points.count > kEntries) points.stride = 3, points.count = std::max<size_t>(points.count, 1ULL << 40);
    const int status =
        mg_finder_find(finder(), random_.or_null(&points), random_.or_null(small.data()), random_.ids(ids_, kEntries));
    if (status == MG_OK) found_ = points.count;
    return status;
  };
  t.emplace_back("mg_finder_find", find);
  t.emplace_back("mg_finder_find", find);
  t.emplace_back("mg_finder_links", [=, this] {
    const mg_link* links = nullptr;
    size_t count = 0;
    return mg_finder_links(finder(), random_.or_null(&links), random_.or_null(&count));
  });
  t.emplace_back("mg_finder_receives", [=, this] {
    const mg_receive* receives = nullptr;
    size_t count = 0;
    return mg_finder_receives(finder(), random_.or_null(&receives), random_.or_null(&count));
  });
  t.emplace_back("mg_finder_sends", [=, this] {
    const uint32_t* positions = nullptr;
    size_t count = 0;
    return mg_finder_sends(finder(), random_.or_null(&positions), random_.or_null(&count));
  });
  t.emplace_back("mg_finder_places", [=, this] {
    std::array<int32_t, kEntries> ranks;
    std::array<double, kEntries> distances;
    return mg_finder_places(finder(), random_.or_null(ranks.data()), nullptr, nullptr,
                            random_.or_null(distances.data()));
  });
  t.emplace_back("mg_finder_lists", [=, this] {
    mg_star_lists lists{};
    lists.struct_size = random_.size(sizeof lists);
    return mg_finder_lists(finder(), random_.integer(1), random_.or_null(&lists));
  });
  t.emplace_back("mg_finder_migrate", [=, this] {
    numbers_[21].resize(kEntries);
    std::array<double, kEntries> received;
    return mg_finder_migrate(finder(), random_.or_null(numbers_[21].data()), random_.one_in(6) ? 0 : sizeof(double),
                             random_.or_null(received.data()), random_.below(sizeof received));
  });
  t.emplace_back("mg_finder_merge", [=, this] {
    size_t left = 0;
    mg_columns* all = columns();
    if (all != nullptr && random_.one_in(2)) all->count = found_;  // most likely that of the finder
    if (all != nullptr && all->count > kEntries) all->count = ~size_t{0};
    return mg_finder_merge(finder(), random_.handle(schemas_, blocks_), all, random_.or_null(&left));
  });
  t.emplace_back("mg_finder_free", [=, this] {
    return random_.one_in(3) ? mg_finder_free(finder()) : mg_finder_links(finder(), nullptr, nullptr);
  });
}

void RandomCalls::add_forests(std::vector<std::pair<std::string, Call>>& t) {
  const auto transport = [this] { return random_.handle(transports_, schemas_); };
  const auto forest = [this] { return random_.handle(forests_, linkages_); };
  const auto linkage = [this] { return random_.handle(linkages_, forests_); };
  // What both functions that take points are given.
  const auto with_points = [=, this](const auto& call) {
    mg_tree_options options{};
    options.struct_size = random_.size(sizeof options);
    options.box = random_.one_in(2) ? box() : nullptr;
    options.min_samples = random_.integer<int32_t>(3);
    options.metric = random_.one_in(3) ? random_.integer<int32_t>(4) : 0;
    options.degrees = random_.integer<int32_t>(2);
    const int axes = random_.one_in(6) ? 1 - std::max(-1, random_.integer(3)) : 2 + static_cast<int>(random_.below(2));
    return call(axes, random_.numbers(numbers_[0], 3 * kEntries), random_.ids(unsigned_ids_, kEntries), random_.count(),
                random_.or_null(&options));
  };
  t.emplace_back("mg_forest_of_points", [=, this] {
    return kept<mg_forest>(forests_, [=, this](mg_forest** to) {
      return with_points([&](auto... given) { return mg_forest_of_points(transport(), given..., to); });
    });
  });
  t.emplace_back("mg_linkage_sequential", [=, this] {
    return kept<mg_linkage>(linkages_, [=, this](mg_linkage** to) {
      int32_t exact = 0;
      return with_points([&](auto... given) {
        mg_forest* same = nullptr;  // of other points the function refuses all
        if (random_.one_in(2)) static_cast<void>(mg_forest_of_points(transport(), given..., &same));
        const int status = mg_linkage_sequential(same ? same : forest(), given..., random_.or_null(&exact), to);
        if (same) mg_forest_free(same);
        return status;
      });
    });
  });
  t.emplace_back("mg_forest_of_graph", [=, this] {
    return kept<mg_forest>(forests_, [=, this](mg_forest** to) {
      std::array<mg_edge, kEntries> edges{};
      for (mg_edge& e : edges)
        e = {random_.below(10), random_.one_in(80) ? ~0ULL : random_.below(10), random_.number()};
      mg_forest_options options{};
      options.struct_size = random_.size(sizeof options);
      options.maximum = random_.one_in(6) ? random_.integer(1) : 0;
      return mg_forest_of_graph(transport(), random_.one_in(4) ? random_.below(12) : 10, random_.or_null(edges.data()),
                                random_.count(), random_.or_null(&options), to);
    });
  });
  t.emplace_back("mg_forest_sums", [=, this] {
    mg_forest_totals totals{};
    totals.struct_size = random_.size(sizeof totals);
    return mg_forest_sums(forest(), random_.or_null(&totals));
  });
  t.emplace_back("mg_forest_edges", [=, this] {
    const mg_edge* edges = nullptr;
    size_t count = 0;
    return mg_forest_edges(forest(), random_.or_null(&edges), random_.or_null(&count));
  });
  t.emplace_back("mg_linkage_new", [=, this] {
    return kept<mg_linkage>(linkages_,
                            [=, this](mg_linkage** to) { return mg_linkage_new(forest(), random_.integer(1), to); });
  });
  t.emplace_back("mg_linkage_cut_height", [=, this] {
    std::array<uint32_t, kEntries> labels;
    return mg_linkage_cut_height(linkage(), random_.number(), random_.or_null(labels.data()),
                                 random_.one_in(4) ? random_.below(kEntries) : kEntries, nullptr);
  });
  t.emplace_back("mg_linkage_cut_count", [=, this] {
    std::array<uint32_t, kEntries> labels;
    return mg_linkage_cut_count(linkage(), random_.integer<uint64_t>(20), random_.integer(1),
                                random_.or_null(labels.data()), kEntries, nullptr);
  });
  t.emplace_back("mg_hdbscan", [=, this] {
    std::array<int32_t, kEntries> labels;
    std::array<double, kEntries> probabilities;
    mg_hdbscan_options options{};
    options.struct_size = random_.size(sizeof options);
    options.min_cluster_size = random_.integer<uint64_t>(5);
    options.epsilon = random_.one_in(4) ? random_.number() : 0;
    options.sequential = random_.integer<int32_t>(1);
    return mg_hdbscan(linkage(), random_.or_null(&options), random_.or_null(labels.data()),
                      random_.or_null(probabilities.data()), kEntries, nullptr);
  });
  t.emplace_back("mg_linkage_free", [=, this] {
    return random_.one_in(3) ? mg_linkage_free(linkage()) : mg_linkage_vertices(linkage(), nullptr);
  });
  t.emplace_back("mg_forest_free", [=, this] {
    return random_.one_in(3) ? mg_forest_free(forest()) : mg_forest_edges(forest(), nullptr, nullptr);
  });
}

void RandomCalls::add_announcers(std::vector<std::pair<std::string, Call>>& t) {
  const auto announcer = [this] { return random_.handle(announcers_, forests_); };
  t.emplace_back("mg_announcer_new", [this] {
    return kept<mg_announcer>(announcers_, [this](mg_announcer** to) {
      constexpr std::array<const char*, 5> kNetworks{"manhattan", "torus", "hypercube", "debruijn", "star"};
      mg_announcer_options options{};
      options.struct_size = random_.size(sizeof options);
      options.max_bytes = random_.below(100);
      return mg_announcer_new(random_.handle(transports_, schemas_), random_.or_null(kNetworks[random_.below(5)]),
                              random_.one_in(5) ? random_.integer() : 2, random_.or_null(&options), to);
    });
  });
  t.emplace_back("mg_announcer_announce", [=, this] {
    const std::array<char, 200> bytes{};
    return mg_announcer_announce(announcer(), random_.integer(9), random_.or_null(bytes.data()), random_.below(200),
                                 random_.integer(1));
  });
  t.emplace_back("mg_announcer_step", [=, this] {
    size_t count = 0;
    return mg_announcer_step(announcer(), random_.or_null(&count));
  });
  t.emplace_back("mg_announcer_received", [=, this] {
    const mg_announcement* list = nullptr;
    size_t count = 0;
    return mg_announcer_received(announcer(), random_.or_null(&list), random_.or_null(&count));
  });
  t.emplace_back("mg_announcer_free", [=, this] {
    return random_.one_in(3) ? mg_announcer_free(announcer()) : mg_announcer_time(announcer(), nullptr);
  });
}

TEST(RandomCalls, end_with_a_status_and_a_text_whatever_is_wrong_with_them) {
  std::map<std::string, std::array<int, 2>> all;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    ASSERT_OK(run_threads(1, [&](mg_transport* t) {
      RandomCalls calls(t, seed);
      calls.make(1000);
      for (const auto& [name, outcomes] : calls.outcomes())
        for (std::size_t i = 0; i < 2; ++i) all[name][i] += outcomes[i];
      return MG_OK;
    }));
  }
  for (const auto& [name, outcomes] : all) {
    EXPECT_GT(outcomes[0], 0) << name << " never ended well";
    EXPECT_GT(outcomes[1], 0) << name << " was never refused";
    RecordProperty(name, std::to_string(outcomes[0]) + " well, " + std::to_string(outcomes[1]) + " refused");
  }
}

}  // namespace
