/// Misuse of Clusterer and distribute(): arguments that differ between ranks, and invalid parcels, are refused by all
/// ranks alike, which can go on.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <memory>

#include "merganser/base/error.hpp"
#include "merganser/cluster/cluster.hpp"
#include "src/cluster/owner_checks.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using comm::Transport;

Grid grid() { return {{{0, 0, 0}, {8, 8, 8}, {true, true, false}}, {8, 8, 8}}; }

/// One parcel in each of 20 cells along x and y, on rank 0, the volume of a cell.
Parcels parcels(const Transport& t, std::int64_t first_id = 0) {
  Parcels p;
  for (std::int64_t i = 0; t.rank() == 0 && i < 20; ++i) {
    std::vector<double> row(p.schema().width(), 0.0);
    row[0] = std::bit_cast<double>(first_id + i);
    row[5] = row[8] = 0.01;
    p.append({0.5 + static_cast<double>(i % 8), 0.5 + static_cast<double>(i / 8), 0.5, 1}, row.data());
  }
  return p;
}

bool is_last(const Transport& t) { return t.rank() == t.size() - 1; }

struct Misuse {
  const char* name;
  const char* message;  // part of it
  void (*body)(Transport&);
  bool alone = true;  // also on one rank
};

/// Makes a Clusterer whose options differ on the last rank.
template <class Change>
void cluster_with(Transport& t, const Change& change) {
  ClusterOptions options;
  options.min_volume_ratio = 20;
  Schema schema = Schema::epic();
  Grid g = grid();
  if (is_last(t)) change(options, schema, g);
  const Clusterer clusterer(t, Decomposition(g, t.size()), schema, options);
}

std::vector<Misuse> option_misuses() {
  return {
      {"ratio", "Clusterer: min-volume-ratio is 20 on rank 0 and min-volume-ratio is 40 on rank",
       [](Transport& t) { cluster_with(t, [](auto& o, auto&, auto&) { o.min_volume_ratio = 40; }); }, false},
      {"last_bit_of_the_ratio", "min-volume-ratio is 20 on rank 0 and min-volume-ratio is 20.000000000000004 on rank",
       [](Transport& t) {
         cluster_with(t, [](auto& o, auto&, auto&) { o.min_volume_ratio = std::nextafter(20., 30.); });
       },
       false},
      {"prune", "prune is 0 on rank 0 and prune is 1 on rank",
       [](Transport& t) { cluster_with(t, [](auto& o, auto&, auto&) { o.prune = Prune::iterative; }); }, false},
      {"search", "search is 0 on rank 0 and search is 1 on rank",
       [](Transport& t) { cluster_with(t, [](auto& o, auto&, auto&) { o.search = Search::cells8; }); }, false},
      {"sub_communicator", "sub-communicator of the iterative pruning is 0 on rank 0",
       [](Transport& t) { cluster_with(t, [](auto& o, auto&, auto&) { o.iterative.sub_communicator = true; }); },
       false},
      {"epoch", "epoch of the iterative pruning is 2 on rank 0",
       [](Transport& t) { cluster_with(t, [](auto& o, auto&, auto&) { o.iterative.epoch = comm::Epoch::lifetime; }); },
       false},
      {"schema", "the list of attributes is",
       [](Transport& t) { cluster_with(t, [](auto&, Schema& s, auto&) { s = Schema({{"heat"}}); }); }, false},
      {"rule_of_an_attribute", "the list of attributes is",
       [](Transport& t) {
         cluster_with(t, [](auto&, Schema& s, auto&) {
           auto attributes = s.attributes();
           attributes[1].rule = Rule::sum;
           s = Schema(attributes);
         });
       },
       false},
      {"cells", "the grid is",
       [](Transport& t) { cluster_with(t, [](auto&, auto&, Grid& g) {
                            g.cells = {8, 8, 16};
                          }); }, false},
      {"walls", "the grid is",
       [](Transport& t) { cluster_with(t, [](auto&, auto&, Grid& g) {
                            g.box.periodic = {true, false, false};
                          }); },
       false},
      {"decomposition", "the decomposition is",
       [](Transport& t) {
         const std::string n = std::to_string(t.size());
         const Decomposition d(grid(), t.size(), is_last(t) ? "1x1x" + n : n + "x1x1");
         const Clusterer clusterer(t, d, Schema::epic(), {});
       },
       false},
      {"parcels_for_some_ranks_only", "the argument `parcels` is null on rank 0 and the argument `parcels` is given",
       [](Transport& t) {
         const Parcels p = parcels(t);
         const Clusterer clusterer(t, Decomposition(grid(), t.size()), p.schema(), {}, is_last(t) ? &p : nullptr);
       },
       false},
      {"ratio_of_one_rank_below_0", "min-volume-ratio: -1",
       [](Transport& t) { cluster_with(t, [](auto& o, auto&, auto&) { o.min_volume_ratio = -1; }); }},
      {"ratio_of_one_rank_not_a_number", "min-volume-ratio: nan",
       [](Transport& t) {
         cluster_with(t, [](auto& o, auto&, auto&) { o.min_volume_ratio = std::numeric_limits<double>::quiet_NaN(); });
       }},
      {"search_that_is_none", "search: 7; allowed",
       [](Transport& t) { cluster_with(t, [](auto& o, auto&, auto&) { o.search = static_cast<Search>(7); }); }},
      {"prune_that_is_none", "prune: 9; allowed",
       [](Transport& t) { cluster_with(t, [](auto& o, auto&, auto&) { o.prune = static_cast<Prune>(9); }); }},
      {"epoch_that_is_none", "epoch: 5; allowed",
       [](Transport& t) {
         cluster_with(t, [](auto& o, auto&, auto&) { o.iterative.epoch = static_cast<comm::Epoch>(5); });
       }},
      {"rule_that_is_none", "attribute heat: rule 200; allowed",
       [](Transport&) {
         (void)Schema({{"heat", 1, static_cast<Rule>(200)}});
       }},
      {"decomposition_for_more_ranks", "ranks on a transport of",
       [](Transport& t) { const Clusterer c(t, Decomposition(grid(), t.size() + 1), Schema::epic(), {}); }},
      {"distribution_over_more_ranks", "ranks on a transport of",
       [](Transport& t) {
         Parcels p = parcels(t);
         distribute(p, Decomposition(grid(), t.size() + 1, "1d"), t);
       }},
      {"distribution_over_fewer_ranks", "ranks on a transport of",
       [](Transport& t) {
         Parcels p = parcels(t);
         distribute(p, Decomposition(grid(), t.size() - 1), t);
       },
       false},
      {"distribution_of_two_schemas", "distribute: the list of attributes is",
       [](Transport& t) {
         Parcels p(is_last(t) ? Schema({{"heat"}}) : Schema::epic());
         distribute(p, Decomposition(grid(), t.size()), t);
       },
       false},
  };
}

/// Distributes parcels after something has happened to the seventh.
template <class Change>
void distribute_with(Transport& t, const Change& change) {
  Parcels p = parcels(t);
  if (p.size() > 0) change(p);
  distribute(p, Decomposition(grid(), t.size()), t);
}

/// A step after something has happened to parcels at their owner's.
template <class Change>
void step_with(Transport& t, const Change& change) {
  Parcels p = parcels(t);
  const Decomposition d(grid(), t.size());
  distribute(p, d, t);
  Clusterer clusterer(t, d, p.schema(), {});
  if (p.size() > 1) change(p);
  // A rank that is refused does not take part, so the others must not wait for it.
  (void)clusterer.step(p);
}

std::vector<Misuse> parcel_misuses() {
  return {
      {"negative_volume", "parcel id 6: volume is -1; allowed: 1e-120 to 1e+120",
       [](Transport& t) { distribute_with(t, [](Parcels& p) { p.site(6).volume = -1; }); }},
      {"no_volume", "parcel id 6: volume is 0;",
       [](Transport& t) { distribute_with(t, [](Parcels& p) { p.site(6).volume = 0; }); }},
      {"volume_without_a_reciprocal", "parcel id 6: volume is 1e-310; allowed: 1e-120",
       [](Transport& t) { distribute_with(t, [](Parcels& p) { p.site(6).volume = 1e-310; }); }},
      {"volume_not_a_number", "parcel id 6: volume is nan",
       [](Transport& t) {
         distribute_with(t, [](Parcels& p) { p.site(6).volume = std::numeric_limits<double>::quiet_NaN(); });
       }},
      {"infinite_volume", "parcel id 6: volume is inf",
       [](Transport& t) {
         distribute_with(t, [](Parcels& p) { p.site(6).volume = std::numeric_limits<double>::infinity(); });
       }},
      {"coordinate_not_a_number", "parcel id 6: coordinate y is nan",
       [](Transport& t) {
         distribute_with(t, [](Parcels& p) { p.site(6).y = std::numeric_limits<double>::quiet_NaN(); });
       }},
      {"one_id_twice_on_a_rank", "parcel id 11 is there twice",
       [](Transport& t) { distribute_with(t, [](Parcels& p) { p.set_id(6, 11); }); }},
      {"one_id_on_two_ranks", "parcel id 19 is there twice",
       [](Transport& t) {
         Parcels p = parcels(t);
         if (is_last(t))
           p.append({1, 1, 1, 1}, std::vector<double>(p.schema().width(), std::bit_cast<double>(19L)).data());
         distribute(p, Decomposition(grid(), t.size()), t);
       }},
  };
}

class MisuseTest : public testing::TestWithParam<Setup> {
 protected:
  static void expect_refusals(const std::vector<Misuse>& misuses) {
    for (const Misuse& misuse : misuses) {
      if (GetParam().ranks == 1 && !misuse.alone) continue;
      SCOPED_TRACE(misuse.name);
      on_ranks(GetParam(), [&](Transport& t) {
        std::string message = "nothing was thrown";
        try {
          misuse.body(t);
        } catch (const Error& e) {
          message = e.what();
        }
        EXPECT_NE(message.find(misuse.message), std::string::npos) << misuse.name << ": " << message;
        t.barrier();
      });
    }
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(MisuseTest);
INSTANTIATE_TEST_SUITE_P(Models, MisuseTest, testing::ValuesIn(setups({""}, {"checked"})),
                         setup_name<testing::TestParamInfo<Setup>>);

TEST_P(MisuseTest, of_options_is_refused_on_every_rank_alike) { expect_refusals(option_misuses()); }

TEST_P(MisuseTest, of_parcels_is_refused_on_every_rank_alike_before_one_is_moved) { expect_refusals(parcel_misuses()); }

TEST_P(MisuseTest, ids_that_are_distinct_in_any_order_are_not_refused) {
  on_ranks(GetParam(), [](Transport& t) {
    Parcels p;
    const std::vector<double> row(p.schema().width(), 0.0);
    for (std::int64_t i = 30; i > 0; --i) {
      p.append({1, 1, 1, 1}, row.data());
      p.set_id(p.size() - 1, i * t.size() + t.rank());
    }
    distribute(p, Decomposition(grid(), t.size()), t);
    EXPECT_EQ(t.all_reduce(static_cast<std::int64_t>(p.size()), comm::Op::sum), 30 * t.size());
  });
}

/// Returns the error that one rank throws in a step, which ends the waits of the others.
std::string step_error(const char* decorators, void (*change)(Parcels&)) {
  comm::RunOptions options;
  options.backend = "threads";
  options.ranks = 2;
  options.decorators = decorators;
  try {
    comm::run(options, [&](Transport& t) { step_with(t, change); });
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

// Parcels are looked at in lots of 64; of a lot in which one may be wrong, one by one.
TEST(StepMisuseTest, the_first_wrong_parcel_is_named_wherever_it_is) {
  const Grid flat{{{-1, 0, 2}, {2, 3, 2}, {true, true, false}}, {8, 1, 1}};
  const Decomposition halves(flat, 2);
  const std::vector<Site> wrong{
      {0.5, 1, 3, 1}, {1e-300, 1, 3, 1}, {-0.5, std::nan(""), 3, 1}, {-0.5, 1, 4.5, 1}, {-0.5, 1, 3, 0}};
  for (const std::size_t n : {1U, 63U, 64U, 65U, 128U, 129U, 200U})
    for (std::size_t bad = 0; bad < n; ++bad)
      for (const Site& site : wrong) {
        Parcels p;
        const std::vector<double> row(p.schema().width(), 0.0);
        for (std::size_t i = 0; i < n; ++i) {
          p.append({-0.5, 1, 3, 1}, row.data());
          p.set_id(i, static_cast<std::int64_t>(i));
        }
        cluster::check_parcels(p, halves, 0);
        p.site(bad) = site;
        if (bad + 1 < n) p.site(n - 1).volume = -1;
        const std::string text = refusal<InputError>([&] { cluster::check_parcels(p, halves, 0); });
        const std::string wanted = "parcel id " + std::to_string(bad) + (site.volume == 0 ? ": " : " at ");
        ASSERT_EQ(text.substr(0, wanted.size()), wanted) << n;
      }
}

TEST(StepMisuseTest, volumes_that_are_none_are_refused_in_every_step) {
  if (comm::launched()) GTEST_SKIP() << "a rank fails alone";
  EXPECT_NE(step_error("", [](Parcels& p) { p.site(1).volume = -2; }).find("volume is -2"), std::string::npos);
  EXPECT_NE(step_error("", [](Parcels& p) { p.site(1).volume = 1e-310; }).find("volume is 1e-310"), std::string::npos);
  EXPECT_NE(step_error("", [](Parcels& p) { p.site(0).volume = std::numeric_limits<double>::quiet_NaN(); })
                .find("volume is nan; allowed"),
            std::string::npos);
}

TEST(StepMisuseTest, one_id_twice_and_parcels_that_are_not_at_home_are_found_where_it_is_checked) {
  if (comm::launched()) GTEST_SKIP() << "a rank fails alone";
  EXPECT_NE(step_error("checked", [](Parcels& p) { p.set_id(1, p.id(0)); }).find("is there twice"), std::string::npos);
  EXPECT_NE(step_error("checked", [](Parcels& p) { p.site(1).z = 9; }).find("not inside the box"), std::string::npos);
}

TEST(StepMisuseTest, a_clusterer_kept_beyond_its_run_refuses_a_step) {
  std::unique_ptr<Clusterer> kept;
  Parcels p;
  comm::RunOptions options;
  options.backend = comm::launched() ? "p2p" : "threads";
  comm::run(options, [&](Transport& t) {
    kept = std::make_unique<Clusterer>(t, Decomposition(grid(), t.size()), p.schema(), ClusterOptions{});
  });
  EXPECT_THROW((void)kept->step(p), CommError);
  EXPECT_THROW((void)kept->redistribute(p), CommError);
}

}  // namespace
