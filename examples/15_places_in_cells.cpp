// What merging again and again does to places within cells: a uniform population is refilled by splitting to 2 T parcels a cell before
// each merge to T, by a k-d tree within cells (subcell.hpp) and by a merge policy, with centroids and with places of members.
// ./15_places_in_cells RANKS MERGES T FILE.svg [POLICY ...]; as in docs/merge-policies.md: ./15_places_in_cells 1 200 64 merge-places.svg
// Policies that are given are printed after the others, and not drawn.
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <vector>

#include <merganser/comm/transport.hpp>

#include "start.hpp"
#include "subcell.hpp"

namespace {

constexpr int kWaves = 6;
constexpr int kBins = 32;

// One panel per way: the density of places along a cell, in units of the uniform one.
void write_svg(const char* path, const std::vector<subcell::Outcome>& outcomes, int target, int merges) {
  std::FILE* f = std::fopen(path, "w");
  if (f == nullptr) throw merganser::InputError(std::string("cannot write ") + path);
  std::fprintf(
      f,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 330\" font-family=\"sans-serif\" "
      "font-size=\"11\">\n<rect width=\"640\" height=\"330\" fill=\"#fff\"/>\n"
      "<text x=\"320\" y=\"16\" text-anchor=\"middle\">Places within cells after %d merges from %d to %d parcels a "
      "cell: density over the uniform one</text>\n",
      merges, 2 * target, target);
  for (std::size_t w = 0; w < outcomes.size(); ++w) {
    const double left = w % 2 == 0 ? 40 : 350;
    const double bottom = w < 2 ? 150 : 295;
    std::fprintf(f, "<text x=\"%g\" y=\"%g\">%s</text>\n", left, bottom - 108, subcell::kWays[w].name);
    std::fprintf(f, "<path fill=\"none\" stroke=\"#aaa\" d=\"M%g %gh260M%g %gh260\"/>\n", left, bottom, left,
                 bottom - 50);
    std::fprintf(
        f, "<text x=\"%g\" y=\"%g\" text-anchor=\"end\">0</text><text x=\"%g\" y=\"%g\" text-anchor=\"end\">1</text>\n",
        left - 5, bottom + 4, left - 5, bottom - 46);
    std::fprintf(f, "<path fill=\"none\" stroke=\"#06c\" stroke-width=\"1.5\" d=\"M");
    for (int b = 0; b < kBins; ++b)
      std::fprintf(f, "%g %g ", left + 260 * (b + 0.5) / kBins,
                   bottom - 50 * std::min(outcomes[w].position[static_cast<std::size_t>(b)], 2.0));
    std::fprintf(f, "\"/>\n");
  }
  std::fprintf(f,
               "<text x=\"320\" y=\"318\" text-anchor=\"middle\">place along an axis, from face to face of a "
               "cell</text>\n</svg>\n");
  std::fclose(f);
}

}  // namespace

int main(int argc, char** argv) {
  const int merges = argc > 2 ? std::atoi(argv[2]) : 4;
  const int target = argc > 3 ? std::atoi(argv[3]) : 8;
  return start(argc, argv, [&](merganser::comm::Transport& transport) {
    if (transport.rank() != 0) return;  // each way runs on one rank
    std::vector<subcell::Outcome> outcomes;
    std::printf("structure factor after %d merges from %d to %d parcels a cell, k waves a cell, k = 1 to %d\n", merges,
                2 * target, target, kWaves);
    std::vector<subcell::Way> ways(std::begin(subcell::kWays), std::end(subcell::kWays));
    for (int i = 5; i < argc; ++i) ways.push_back({argv[i], argv[i], false});
    for (const subcell::Way& way : ways) {
      outcomes.push_back(subcell::run(way, target, merges, kWaves, kBins));
      std::printf("%-28s", way.name);
      for (const double s : outcomes.back().peaks) std::printf(" %8.2f", s);
      std::printf("\n");
    }
    outcomes.resize(std::size(subcell::kWays));
    if (argc > 4) write_svg(argv[4], outcomes, target, merges);
  });
}
