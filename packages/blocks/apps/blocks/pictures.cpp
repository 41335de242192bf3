// Draws a plane of blocks as SVG: runs of equal cells as rectangles, blocks outlined in the colours of their owners.
#include "apps/blocks/pictures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "apps/frame/svg.hpp"
#include "apps/frame/table.hpp"

namespace merganser::app::demo {
namespace {

constexpr double kWidth = 900;  // width of the plane, in pixels
constexpr double kMargin = 20;
constexpr double kTop = 64;
constexpr double kLegend = 24;  // height of the legend of ranks

/// Formats a colour 0xRRGGBB as an SVG attribute: #rrggbb.
std::string hex(std::uint32_t rgb) {
  char text[8];
  std::snprintf(text, sizeof text, "#%06x", rgb & 0xFFFFFFU);
  return text;
}

std::string format_number(double x) { return general_text(x, 6); }

/// Returns an SVG rectangle of the picture of blocks, filled with a colour.
std::string rectangle(double x, double y, double w, double h, const std::string& fill) {
  return svg::element("rect", {{"x", format_number(x)},
                               {"y", format_number(y)},
                               {"width", format_number(w)},
                               {"height", format_number(h)},
                               {"fill", fill}}) +
         '\n';
}

/// Returns an SVG text element of the picture of blocks at height `y`, its words escaped.
std::string text_element(const char* y, const char* size, const std::string& what) {
  return svg::element("text", {{"x", format_number(kMargin)}, {"y", y}, {"font-size", size}}, svg::escape(what)) + '\n';
}

/// Draws the cells of the plane of blocks as SVG rectangles, one for each run of equal colours in a row; white ones are left out.
std::string draw_cells(const PictureOf& p) {
  const std::int64_t w = p.plane.width();
  const std::int64_t h = p.plane.height();
  std::string out;
  for (std::int64_t y = 0; y < h; ++y)
    for (std::int64_t x = 0, next = 0; x < w; x = next) {
      const std::uint32_t colour = p.colour(x + w * y);
      for (next = x + 1; next < w && p.colour(next + w * y) == colour;) ++next;
      if (colour == 0xFFFFFFU) continue;
      out += rectangle(static_cast<double>(x), static_cast<double>(h - 1 - y), static_cast<double>(next - x), 1,
                       hex(colour));
    }
  return out;
}

/// Draws the outlines of the blocks that exist as SVG rectangles, in the colours of the ranks that own them.
std::string draw_outlines(const PictureOf& p) {
  const auto edge = static_cast<double>(p.plane.edge);
  const auto h = static_cast<double>(p.plane.height());
  std::string out;
  for (std::int64_t b = 0; b < p.plane.grid.count(); ++b) {
    const int owner = p.owner(b);
    if (owner < 0) continue;
    const auto at = p.plane.grid.index(b);
    out += svg::element("rect", {{"x", format_number(at[0] * edge + 0.2)},
                                 {"y", format_number(h - (at[1] + 1) * edge + 0.2)},
                                 {"width", format_number(edge - 0.4)},
                                 {"height", format_number(edge - 0.4)},
                                 {"fill", "none"},
                                 {"stroke-width", "0.4"},
                                 {"stroke", hex(distinct_colour(owner, 0.4))}}) +
           '\n';
  }
  return out;
}

/// Draws the legend of ranks below the plane: the colour of each rank that owns blocks, of the first ones where there are many.
std::string draw_ranks(const PictureOf& p, double top) {
  constexpr std::size_t kMaxRanks = 12;
  std::set<int> owners;
  for (std::int64_t b = 0; b < p.plane.grid.count(); ++b)
    if (p.owner(b) >= 0) owners.insert(p.owner(b));
  std::string out;
  double x = kMargin;
  for (const int owner : owners) {
    if (out.empty() || x < kMargin + static_cast<double>(kMaxRanks) * 70)
      out += svg::element("rect", {{"x", format_number(x)},
                                   {"y", format_number(top)},
                                   {"width", "12"},
                                   {"height", "12"},
                                   {"fill", "none"},
                                   {"stroke-width", "3"},
                                   {"stroke", hex(distinct_colour(owner, 0.4))}}) +
             svg::element("text", {{"x", format_number(x + 20)}, {"y", format_number(top + 11)}, {"font-size", "12"}},
                          "rank " + std::to_string(owner)) +
             '\n';
    x += 70;
  }
  if (owners.size() > kMaxRanks)
    out += svg::element("text",
                        {{"x", format_number(kMargin + static_cast<double>(kMaxRanks) * 70)},
                         {"y", format_number(top + 11)},
                         {"font-size", "12"}},
                        "and " + std::to_string(owners.size() - kMaxRanks) + " more") +
           '\n';
  return out;
}

}  // namespace

std::uint32_t distinct_colour(std::int64_t number, double lightness) {
  // Multiples of the golden ratio, modulo 1, spread hues evenly for any number of colours.
  const double hue = std::fmod(static_cast<double>(number) * 0.6180339887498949, 1.0) * 6;
  const double chroma = 0.55 * (1 - std::fabs(2 * lightness - 1)) + 0.1;
  std::uint32_t out = 0;
  for (const double shift : {0.0, 4.0, 2.0}) {
    const double k = std::fmod(hue + shift, 6.0);
    const double part = std::clamp(std::min(k, 4 - k), 0.0, 1.0);
    const double c = lightness + chroma * (part - 0.5);
    out = out << 8 | static_cast<std::uint32_t>(std::lround(255 * std::clamp(c, 0.0, 1.0)));
  }
  return out;
}

std::string draw(const PictureOf& p) {
  const auto width = static_cast<double>(p.plane.width());
  const auto height = static_cast<double>(p.plane.height());
  const double scale = kWidth / width;
  const std::string place =
      "translate(" + format_number(kMargin) + ' ' + format_number(kTop) + ") scale(" + general_text(scale, 8) + ')';
  const std::string plane = '\n' + rectangle(0, 0, width, height, "#ffffff") + draw_cells(p) + draw_outlines(p);
  return svg::document(format_number(kWidth + 2 * kMargin), format_number(scale * height + kTop + kMargin + kLegend),
                       {{"font-family", "DejaVu Sans, Helvetica, Arial, sans-serif"}, {"fill", "#22303c"}},
                       svg::background() + text_element("28", "17", p.title) + text_element("48", "12", p.caption) +
                           svg::element("g", {{"transform", place}, {"shape-rendering", "crispEdges"}}, plane) + '\n' +
                           draw_ranks(p, kTop + scale * height + 16));
}

}  // namespace merganser::app::demo
