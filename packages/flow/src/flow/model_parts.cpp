// Parts of the flow model: Runge-Kutta coefficients, exact sums over ranks, schemas of parcels, values that are not finite, and the
// default division of the grid among ranks.
#include "src/flow/model_parts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/flow/model.hpp"

namespace merganser::flow {
namespace {

// Coefficients of [carpenter1994] (order 4), and of Williamson's scheme of order 3.
constexpr std::array<RungeKuttaStage, 5> kFourth{
    {{0, 1432997174477.0 / 9575080441755.0},
     {-567301805773.0 / 1357537059087.0, 5161836677717.0 / 13612068292357.0},
     {-2404267990393.0 / 2016746695238.0, 1720146321549.0 / 2090206949498.0},
     {-3550918686646.0 / 2091501179385.0, 3134564353537.0 / 4481467310338.0},
     {-1275806237668.0 / 842570457699.0, 2277821191437.0 / 14882151754819.0}}};
constexpr std::array<RungeKuttaStage, 3> kThird{{{0, 1.0 / 3}, {-5.0 / 9, 15.0 / 16}, {-153.0 / 128, 8.0 / 15}}};

constexpr std::array<const char*, 5> kCarried{"the volume", "x vorticity", "y vorticity", "z vorticity", "buoyancy"};
constexpr std::array<const char*, 14> kFlow{"u",   "v",   "w",   "u_x", "u_y",  "u_z",   "v_x",
                                            "v_y", "v_z", "w_x", "w_y", "xi_t", "eta_t", "zeta_t"};

/// Returns true if the first kNames values of all nodes of a line are finite: x - x is 0 for finite x and not a number for all others.
template <std::size_t kValues, std::size_t kNames>
bool all_finite(const double* line, std::int64_t nodes) {
  std::array<double, kNames> sums{};  // one for each value, so that they are vectors and no addition waits for another
  for (std::int64_t k = 0; k < nodes; ++k)
    for (std::size_t i = 0; i < kNames; ++i) {
      const double x = line[static_cast<std::size_t>(k) * kValues + i];
      sums[i] += x - x;
    }
  return std::all_of(sums.begin(), sums.end(), [](double sum) { return sum == 0; });
}

/// Describes the first value of a node field that is not finite at one of this rank's own nodes, with name and position; empty if
/// there is none.
template <std::size_t kValues, std::size_t kNames>
std::string describe_not_finite(const Nodes<kValues>& nodes, const std::array<const char*, kNames>& names) {
  const NodeLayout& layout = nodes.layout();
  for (std::int64_t i = 0; i < layout.cells(0); ++i)
    for (std::int64_t j = 0; j < layout.cells(1); ++j) {
      if (all_finite<kValues, kNames>(nodes.at(i, j, 0), layout.cells(2) + 1)) continue;
      std::int64_t k = 0;
      while (all_finite<kValues, kNames>(nodes.at(i, j, k), 1)) ++k;
      const double* const values = nodes.at(i, j, k);
      std::size_t which = 0;
      while (std::isfinite(values[which])) ++which;
      const std::array<std::int64_t, 3> n{i, j, k};
      std::string text = std::string(names[which]) + " is " + number_text(values[which]) + " at the node";
      for (std::size_t a = 0; a < 3; ++a)
        text += std::string(a == 0 ? " " : ", ") + "xyz"[a] + " = " +
                number_text(layout.grid().box.lower[a] + static_cast<double>(layout.first(static_cast<int>(a)) + n[a]) *
                                                             layout.spacing(static_cast<int>(a)));
      return text;
    }
  return {};
}

/// Returns a copy of flow parcels with the attributes of another schema; attributes that the parcels lack become 0.
Parcels with_schema(const Parcels& parcels, const Schema& schema) {
  Parcels out(schema);
  out.resize(parcels.size());
  std::fill_n(out.rows(), out.size() * out.schema().width(), 0.0);
  std::copy_n(parcels.sites(), parcels.size(), out.sites());
  for (std::size_t i = 0; i < out.size(); ++i) out.set_id(i, parcels.id(i));
  for (const Attribute& attribute : parcels.schema().attributes()) {
    if (!out.schema().has(attribute.name)) continue;
    const std::size_t from = parcels.schema().offset(attribute.name);
    const std::size_t to = out.schema().offset(attribute.name);
    for (std::size_t i = 0; i < out.size(); ++i)
      std::copy_n(parcels.row(i) + from, attribute.components, out.row(i) + to);
  }
  return out;
}

}  // namespace

// Low-storage Runge-Kutta scheme of the flow's time step.
std::span<const RungeKuttaStage> stages(std::int64_t order) {
  if (order == 3) return kThird;
  return kFourth;
}

// Sums that have the same bits for any number of ranks.
std::vector<double> sum_over_ranks(const std::vector<ExactSum>& mine, comm::Transport& transport) {
  std::vector<std::int64_t> words;
  for (const ExactSum& sum : mine) {
    const auto part = sum.words();
    words.insert(words.end(), part.begin(), part.end());
  }
  std::vector<ExactSum> all(mine.size());
  for (const auto& part : comm::all_gather(transport, words))
    for (std::size_t c = 0; c < all.size(); ++c) all[c].add(ExactSum::from_words(part.data() + c * ExactSum::kWords));
  std::vector<double> out;
  for (const ExactSum& sum : all) out.push_back(sum.value());
  return out;
}

Parcels with_registers(Parcels parcels) {
  if (parcels.schema() == schema()) return parcels;
  return with_schema(parcels, schema());
}

Parcels without_registers(const Parcels& parcels) { return with_schema(parcels, Schema::epic()); }

// Decomposition of a flow: columns of cells stay whole in z, and x and y are cut so that blocks have short edges.
Decomposition decompose(const Grid& grid, int ranks, const std::string& shape) {
  if (shape != "auto") return {grid, ranks, shape};
  std::array<int, 2> best{};
  double least = 0;
  for (int a = 1; a <= ranks; ++a) {
    if (ranks % a != 0) continue;
    const int b = ranks / a;
    if (grid.cells[0] / a < (a == 1 ? 3 : 2) || grid.cells[1] / b < (b == 1 ? 3 : 2)) continue;
    const double surface =
        (a == 1 ? 0 : static_cast<double>(grid.cells[1]) / b) + (b == 1 ? 0 : static_cast<double>(grid.cells[0]) / a);
    if (best[0] != 0 && surface >= least) continue;  // the first of equals leaves x whole: fewer exchanges
    best = {a, b};
    least = surface;
  }
  if (best[0] == 0)
    throw InputError("a flow with " + std::to_string(grid.cells[0]) + " x " + std::to_string(grid.cells[1]) +
                     " cells in x and y on " + std::to_string(ranks) +
                     " ranks; allowed: ranks in a rectangle, with at least two cells on each along x and y");
  return {grid, ranks, std::to_string(best[0]) + "x" + std::to_string(best[1]) + "x1"};
}

std::string find_not_finite(const CarriedNodes& carried, const FlowNodes& flow) {
  std::string wrong = describe_not_finite(carried, kCarried);
  return wrong.empty() ? describe_not_finite(flow, kFlow) : wrong;
}

}  // namespace merganser::flow
