// Check of Table 2 of [koutsouheras2024]: numbers of arcs of generated process graphs against published and expected ones.
#include "merganser/studies/neve_table2.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "merganser/graphs/detail/strip_graph.hpp"
#include "merganser/stats/distributions.hpp"

namespace merganser::studies {
namespace {

constexpr double kPercents[] = {0, 2, 5};  // cross edges in percent of the vertex edges, a column of the table each
constexpr std::int64_t kVertices = 4096;   // per process: the paper does not give it; it was found by comparison
constexpr double kMaxDeviations = 4;       // standard deviations up to which a number of arcs agrees
/// Expected number of missing edges below which a single missing one deviates by more than kMaxDeviations.
constexpr double kNoneMissing = 3.2e-5;
constexpr double kManyMissing = 10;  // expected missing edges from which the normal distribution is used

/// Row of the published Table 2 of process graphs: its numbers for one number of ranks.
struct Entry {
  int ranks;
  std::int64_t edges;                ///< vertex edges that the published program prints; the paper does not give them
  std::array<std::int64_t, 3> arcs;  ///< arcs of the process graph with 0, 2 and 5 % cross edges
};
constexpr Entry kTable[] = {
    {16, 280376, {30, 240, 240}},
    {32, 584315, {62, 992, 992}},
    {64, 1215638, {126, 4032, 4032}},
    {128, 2500524, {254, 16224, 16256}},
    {256, 5152481, {510, 62468, 65252}},
    {512, 10658712, {1022, 210340, 257340}},
    {1024, 21951350, {2046, 595060, 918492}},
};

/// Returns the deviation of a number of pairs of ranks without an edge from its Poisson distribution, as a normal quantile;
/// positive if there are too many.
double poisson_score(std::int64_t missing, double mean) {
  const auto k = static_cast<std::uint64_t>(missing);
  if (static_cast<double>(missing) > mean) return -normal_quantile(poisson_from(k, mean));
  return std::min(0.0, normal_quantile(poisson_up_to(k, mean)));
}

/// Returns the deviation of a process graph's number of arcs from its expectation, in standard deviations: by a normal distribution
/// where many edges are missing, by a Poisson distribution where few are, and all or nothing where none can be.
double score(std::int64_t arcs, int ranks, std::int64_t tries) {
  const graphs::ExpectedArcs expected = graphs::expected_arcs(ranks, tries);
  const std::int64_t complete = std::int64_t{ranks} * (ranks - 1);
  const double mean_missing = (static_cast<double>(complete) - expected.mean) / 2;
  if (tries == 0 || mean_missing < kNoneMissing)
    return arcs == std::llround(expected.mean) ? 0 : -std::numeric_limits<double>::infinity();
  if (mean_missing > kManyMissing) return (static_cast<double>(arcs) - expected.mean) / expected.deviation;
  return 0.0 - poisson_score((complete - arcs) / 2, mean_missing);
}

/// Makes one entry of the check of Table 2: published arcs, those of the published generator, those of the correct one, and their
/// deviations from the expected number. @param column  index into kPercents
Table2Cell compare(const Entry& entry, std::size_t column, const graphs::PublishedGraph& ours,
                   const graphs::detail::StripGraph& correct) {
  Table2Cell cell;
  cell.percent = static_cast<int>(kPercents[column]);
  cell.published = entry.arcs[column];
  cell.ours = ours.graph.arcs();
  cell.tries = ours.tries;
  cell.expected = graphs::expected_arcs(entry.ranks, ours.tries);
  const double complete = static_cast<double>(entry.ranks) * (entry.ranks - 1);
  cell.random = ours.tries > 0 && (complete - cell.expected.mean) / 2 >= kNoneMissing;
  cell.z = score(cell.ours, entry.ranks, ours.tries);
  cell.published_z = score(cell.published, entry.ranks, ours.tries);
  for (const auto& row : correct.rows) cell.correct += static_cast<std::int64_t>(row.size());
  cell.correct_z = score(cell.correct, entry.ranks, correct.cross_edges);
  cell.ok = std::max({std::abs(cell.z), std::abs(cell.published_z), std::abs(cell.correct_z)}) < kMaxDeviations;
  return cell;
}

}  // namespace

bool Table2Row::ok() const {
  return edges == known_edges && std::all_of(cells.begin(), cells.end(), [](const Table2Cell& c) { return c.ok; });
}

// Table 2 of [koutsouheras2024]: for each number of ranks one generation by the published and one by the correct generator, each
// with all shares of cross edges.
std::vector<Table2Row> check_table2(std::uint64_t seed, int most_ranks) {
  std::vector<Table2Row> rows;
  for (const Entry& entry : kTable) {
    if (entry.ranks > most_ranks) break;
    graphs::PublishedOptions published;
    published.ranks = entry.ranks;
    published.vertices = kVertices;
    published.seed = seed;
    graphs::ProcessGraphOptions own;
    own.ranks = entry.ranks;
    own.vertices = kVertices;
    own.seed = seed;
    const auto ours = graphs::generate_published(published, kPercents);
    const auto correct = graphs::detail::strip_graphs(own, kPercents);
    Table2Row row{entry.ranks, entry.edges, ours[0].edges, correct[0].vertex_edges, {}};
    for (std::size_t c = 0; c < ours.size(); ++c) row.cells.push_back(compare(entry, c, ours[c], correct[c]));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace merganser::studies
