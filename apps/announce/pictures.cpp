#include "apps/announce/pictures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace merganser::app::demo {
namespace {

constexpr double kWidth = 900;  // of the plane, in pixels
constexpr double kMargin = 20;
constexpr double kTop = 64;

std::string hex(std::uint32_t rgb) {
  char text[8];
  std::snprintf(text, sizeof text, "#%06x", rgb & 0xFFFFFFU);
  return text;
}

std::string rectangle(double x, double y, double w, double h, const std::string& style) {
  char text[160];
  std::snprintf(text, sizeof text, "<rect x=\"%.6g\" y=\"%.6g\" width=\"%.6g\" height=\"%.6g\" ", x, y, w, h);
  return text + style + "/>\n";
}

std::string words(double y, int size, const std::string& what) {
  char text[120];
  std::snprintf(text, sizeof text, "<text x=\"%g\" y=\"%g\" font-size=\"%d\">", kMargin, y, size);
  return text + what + "</text>\n";
}

std::string cells(const PictureOf& p) {
  const std::int64_t w = p.plane.width();
  const std::int64_t h = p.plane.height();
  std::string out;
  for (std::int64_t y = 0; y < h; ++y)
    for (std::int64_t x = 0, next = 0; x < w; x = next) {
      const std::uint32_t colour = p.colour(x + w * y);
      for (next = x + 1; next < w && p.colour(next + w * y) == colour;) ++next;
      if (colour == 0xFFFFFFU) continue;
      out += rectangle(static_cast<double>(x), static_cast<double>(h - 1 - y), static_cast<double>(next - x), 1,
                       "fill=\"" + hex(colour) + "\"");
    }
  return out;
}

std::string outlines(const PictureOf& p) {
  const auto edge = static_cast<double>(p.plane.edge);
  const auto h = static_cast<double>(p.plane.height());
  std::string out;
  for (std::int64_t b = 0; b < p.plane.grid.count(); ++b) {
    const int owner = p.owner(b);
    if (owner < 0) continue;
    const auto at = p.plane.grid.index(b);
    out += rectangle(at[0] * edge + 0.2, h - (at[1] + 1) * edge + 0.2, edge - 0.4, edge - 0.4,
                     "fill=\"none\" stroke-width=\"0.4\" stroke=\"" + hex(colour_of(owner, 0.4)) + "\"");
  }
  return out;
}

}  // namespace

std::uint32_t colour_of(std::int64_t number, double lightness) {
  // Steps of the golden angle keep hues apart.
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
  const double scale = kWidth / static_cast<double>(p.plane.width());
  const double height = scale * static_cast<double>(p.plane.height());
  char head[320];
  std::snprintf(head, sizeof head,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" "
                "font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\" fill=\"#22303c\">\n",
                kWidth + 2 * kMargin, height + kTop + kMargin);
  char group[120];
  std::snprintf(group, sizeof group, "<g transform=\"translate(%g %g) scale(%.8g)\" shape-rendering=\"crispEdges\">\n",
                kMargin, kTop, scale);
  return std::string(head) + "<rect width=\"100%\" height=\"100%\" fill=\"#f7f9fa\"/>\n" + words(28, 17, p.title) +
         words(48, 12, p.caption) + group +
         rectangle(0, 0, static_cast<double>(p.plane.width()), static_cast<double>(p.plane.height()),
                   "fill=\"#ffffff\"") +
         cells(p) + outlines(p) + "</g>\n</svg>\n";
}

}  // namespace merganser::app::demo
