// Pictures of the flow command: a plane of buoyancy as an embedded PNG, and charts over time.
#include "apps/flow/flow_pictures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "apps/flow/files.hpp"
#include "apps/frame/picture.hpp"
#include "apps/frame/png.hpp"
#include "apps/frame/record.hpp"
#include "apps/frame/svg.hpp"
#include "apps/frame/table.hpp"

namespace merganser::app {
namespace {

constexpr double kSide = 440;
constexpr double kMargin = 64;
constexpr double kNegligible = 1e-12;  // relative difference that rounding makes
constexpr const char* kFlowStyle = R"(<style>
text { font-family: "DejaVu Sans", Helvetica, Arial, sans-serif; fill: #22303c; font-size: 12.5px; }
.title { font-size: 16px; font-weight: bold; }
.axis { fill: none; stroke: #51606d; stroke-width: 1; }
.grid { stroke: #e3e8ec; stroke-width: 1; }
.caption { text-anchor: start; }
.end { text-anchor: end; }
.middle { text-anchor: middle; }
</style>
)";

/// Formats a coordinate or length of an SVG picture, with one digit after the point.
std::string format_length(double x) { return fixed_text(x, 1); }

/// Returns an SVG text element of a style class of the flow pictures, with its words escaped.
std::string text_element(double x, double y, const char* style, const std::string& words) {
  return svg::element("text", {{"class", style}, {"x", format_length(x)}, {"y", format_length(y)}},
                      svg::escape(words)) +
         '\n';
}

/// Returns the colour of a value -1 .. 1 in the diverging colour map of buoyancy, from blue over white to orange.
png::Colour diverging(double s) {
  constexpr std::array<double, 3> kLow{38, 92, 148}, kMiddle{247, 247, 245}, kHigh{196, 88, 24};
  const double t = std::clamp(std::fabs(s), 0.0, 1.0);
  png::Colour out{};
  for (std::size_t c = 0; c < 3; ++c)
    out[c] = static_cast<std::uint8_t>(std::lround(kMiddle[c] + t * ((s < 0 ? kLow[c] : kHigh[c]) - kMiddle[c])));
  return out;
}

/// Buoyancy on a plane of nodes through the box, the lowest row first; along periodic axes the last value repeats the first.
struct Plane {
  std::size_t width = 0;       ///< number of nodes in a row
  std::size_t height = 0;      ///< number of rows of nodes
  std::vector<double> values;  ///< buoyancy, m/s^2
  std::string words;           ///< caption above the plane
  std::array<int, 2> axes{};   ///< axes of the box to the right and upwards

  /// Returns the buoyancy, interpolated bilinearly, at (x, y) of the plane, both in [0, 1] from corner to corner.
  [[nodiscard]] double at(double x, double y) const {
    const double i = x * static_cast<double>(width - 1);
    const double j = y * static_cast<double>(height - 1);
    const auto i0 = std::min(static_cast<std::size_t>(i), width - 2);
    const auto j0 = std::min(static_cast<std::size_t>(j), height - 2);
    const double p = i - static_cast<double>(i0);
    const double q = j - static_cast<double>(j0);
    const double* const v = values.data() + j0 * width + i0;
    return (1 - q) * ((1 - p) * v[0] + p * v[1]) + q * ((1 - p) * v[width] + p * v[width + 1]);
  }
};

/// Draws coordinates of the box along the lower and left side of a plane at (x, y) of the SVG picture.
std::string draw_coordinates(const Plane& plane, const Box& box, double x, double y, double height) {
  std::string out;
  const auto [right, up] = plane.axes;
  const auto r = static_cast<std::size_t>(right), u = static_cast<std::size_t>(up);
  const double left = box.lower[r], low = box.lower[u], width = box.extent[r], tall = box.extent[u];
  for (const double v : svg::round_levels(left, left + width))
    out +=
        text_element(x + kSide * (v - left) / width, y + height + 18, "middle", svg::level_text(v, left, left + width));
  for (const double v : svg::round_levels(low, low + tall))
    out += text_element(x - 8, y + height * (1 - (v - low) / tall) + 4, "end", svg::level_text(v, low, low + tall));
  const std::array<const char*, 3> names{"x", "y", "z"};
  return out + text_element(x + kSide / 2, y + height + 36, "middle", names[r]) +
         text_element(x - 40, y + height / 2 + 4, "end", names[u]);
}

/// Draws the bar of colours of buoyancy at (x, y) of the SVG picture, `height` pixels high, with numbers.
std::string draw_colour_bar(double x, double y, double height, const BuoyancyRange& range) {
  std::string stops;
  for (const double s : {-1.0, 0.0, 1.0}) {
    const png::Colour c = diverging(s);
    stops += svg::element("stop", {{"offset", format_length((s + 1) / 2)},
                                   {"stop-color", fmt::format("rgb({},{},{})", c[0], c[1], c[2])}});
  }
  const std::string gradient =
      svg::element("linearGradient", {{"id", "buoyancy"}, {"x1", "0"}, {"x2", "0"}, {"y1", "1"}, {"y2", "0"}}, stops);
  std::string out = svg::element("defs", {}, gradient) + '\n' +
                    svg::element("rect", {{"x", format_length(x)},
                                          {"y", format_length(y)},
                                          {"width", "16"},
                                          {"height", format_length(height)},
                                          {"fill", "url(#buoyancy)"},
                                          {"stroke", "#51606d"}}) +
                    '\n' + text_element(x, y - 8, "caption", "buoyancy");
  for (const double v : svg::round_levels(range.least, range.most))
    out += text_element(x + 24, y + height * (1 - (v - range.least) / (range.most - range.least)) + 4, "caption",
                        svg::level_text(v, range.least, range.most));
  return out;
}

/// Draws a plane of buoyancy at (x, y) of the SVG picture as an embedded PNG image, with the coordinates of the box.
std::string draw_plane(const Plane& plane, const Box& box, double x, double y, double height,
                       const BuoyancyRange& range) {
  constexpr std::uint32_t kPixels = 192;
  const auto rows = static_cast<std::uint32_t>(std::max(1.0, kPixels * height / kSide));
  const double middle = 0.5 * (range.least + range.most);
  const double half = range.most > range.least ? 0.5 * (range.most - range.least) : 1;
  std::vector<png::Colour> pixels;
  for (std::uint32_t row = 0; row < rows; ++row)
    for (std::uint32_t i = 0; i < kPixels; ++i)
      pixels.push_back(diverging((plane.at((i + 0.5) / kPixels, 1 - (row + 0.5) / rows) - middle) / half));
  return svg::element("image", {{"x", format_length(x)},
                                {"y", format_length(y)},
                                {"width", format_length(kSide)},
                                {"height", format_length(height)},
                                {"preserveAspectRatio", "none"},
                                {"style", "image-rendering: pixelated"},
                                {"href", "data:image/png;base64," + png::base64(png::encode(pixels, kPixels, rows))}}) +
         '\n' +
         svg::element("rect", {{"class", "axis"},
                               {"x", format_length(x)},
                               {"y", format_length(y)},
                               {"width", format_length(kSide)},
                               {"height", format_length(height)}}) +
         '\n' + text_element(x, y - 8, "caption", plane.words) + draw_coordinates(plane, box, x, y, height);
}

/// SVG chart of statistics of a flow run as lines over simulated time, with an optionally logarithmic vertical axis.
class Chart {
 public:
  Chart(double x, double y, double t0, double t1, double low, double high, bool logarithmic)
      : x_(x),
        y_(y),
        t0_(t0),
        t1_(t1 > t0 ? t1 : t0 + 1),
        low_(low),
        high_(high > low ? high : low + 1),
        log_(logarithmic) {}

  /// Adds a line through points (time, value) to the chart.
  void line(const std::vector<std::pair<double, double>>& points, const std::string& colour) {
    std::string path;
    for (const auto& [t, v] : points)
      path += (path.empty() ? "M" : "L") + format_length(across(t)) + ' ' + format_length(up(v));
    if (!path.empty())
      out_ += svg::element("path", {{"d", path}, {"fill", "none"}, {"stroke", colour}, {"stroke-width", "1.6"}}) + '\n';
  }
  /// Adds horizontal grid lines at values of the vertical axis, labelled with their unit.
  void levels(const std::vector<double>& levels, const std::string& unit) {
    for (const double v : levels)
      under_ += svg::element("line", {{"class", "grid"},
                                      {"x1", format_length(x_)},
                                      {"x2", format_length(x_ + kSide)},
                                      {"y1", format_length(up(v))},
                                      {"y2", format_length(up(v))}}) +
                '\n' + text_element(x_ - 8, up(v) + 4, "end", general_text(v, 6) + unit);
  }
  /// Returns the SVG elements of the chart: grid, lines, frame, labels of time and the title.
  [[nodiscard]] std::string to_svg(const std::string& title) const {
    std::string frame = svg::element("rect", {{"class", "axis"},
                                              {"x", format_length(x_)},
                                              {"y", format_length(y_)},
                                              {"width", format_length(kSide)},
                                              {"height", format_length(kHeight)}}) +
                        '\n' + text_element(x_, y_ - 8, "caption", title);
    for (const double t : svg::round_levels(t0_, t1_))
      frame += text_element(across(t), y_ + kHeight + 18, "middle", svg::level_text(t, t0_, t1_));
    return under_ + out_ + frame + text_element(x_ + kSide / 2, y_ + kHeight + 38, "middle", "time");
  }
  static constexpr double kHeight = 260;

 private:
  // across() returns the x coordinate of a time, up() the y coordinate of a value, both in units of the SVG picture.
  [[nodiscard]] double across(double t) const { return x_ + kSide * (t - t0_) / (t1_ - t0_); }
  [[nodiscard]] double up(double v) const {
    const double s = log_ ? std::log(std::max(v, low_) / low_) / std::log(high_ / low_) : (v - low_) / (high_ - low_);
    return y_ + kHeight * (1 - s);
  }
  double x_, y_, t0_, t1_, low_, high_;
  bool log_;
  std::string under_, out_;
};

/// Returns an SVG document of the flow pictures with style, background and title around `content`.
std::string page(double width, double height, const std::string& title, const std::string& content) {
  return svg::document(format_length(width), format_length(height),
                       {{"viewBox", "0 0 " + format_length(width) + ' ' + format_length(height)}},
                       kFlowStyle + svg::background() + text_element(kMargin, 30, "title", title) + content);
}

constexpr std::array<const char*, 7> kColours{"#2f7fc1", "#e8743b", "#3a9a5b", "#8a4fa3",
                                              "#b58900", "#c0392b", "#51606d"};
constexpr std::array<const char*, 7> kMembers{"2", "3", "4", "5", "6", "7", "8 or more"};

}  // namespace

// Picture of buoyancy in a vertical and a horizontal plane through the middle of the box.
void draw_section(const flow::Model& model, const std::string& path, std::optional<BuoyancyRange>& range,
                  comm::Transport& transport) {
  const Grid& grid = model.decomposition().grid();
  const WholeField all =
      collect_field(model.decomposition(), transport, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
        return model.carried().at(i, j, k)[flow::CarriedFields::buoyancy];
      });
  if (transport.rank() != 0) return;
  const auto nx = static_cast<std::size_t>(grid.cells[0]);
  const auto ny = static_cast<std::size_t>(grid.cells[1]);
  const auto nz = static_cast<std::size_t>(grid.cells[2]) + 1;
  const auto middle = [&](int axis) {
    const auto a = static_cast<std::size_t>(axis);
    const std::int64_t middle = grid.cells[a] / 2;
    return general_text(grid.box.lower[a] + static_cast<double>(middle) * grid.spacing(axis), 4);
  };
  Plane upright{nx + 1, nz, {}, "y = " + middle(1), {0, 2}};
  Plane flat{nx + 1, ny + 1, {}, "z = " + middle(2), {0, 1}};
  for (std::size_t k = 0; k < nz; ++k)
    for (std::size_t i = 0; i <= nx; ++i) upright.values.push_back(all[(k * ny + ny / 2) * nx + i % nx]);
  for (std::size_t j = 0; j <= ny; ++j)
    for (std::size_t i = 0; i <= nx; ++i) flat.values.push_back(all[((nz - 1) / 2 * ny + j % ny) * nx + i % nx]);
  if (!range) {
    const auto [least, most] = std::minmax_element(all.begin(), all.end());
    range = {*least, *most};
    if (!(*most - *least > kNegligible * std::max(std::fabs(*least), std::fabs(*most)))) range->most = *least;
  }
  const bool equal = !(range->most > range->least);
  const std::string title = "Buoyancy at t = " + general_text(model.state().time, 4) +
                            (equal ? ": " + general_text(range->least, 3) + " everywhere" : std::string());
  const auto height = [&](int axis) {
    return kSide * grid.box.extent[static_cast<std::size_t>(axis)] / grid.box.extent[0];
  };
  const double left = kMargin + 16, tallest = std::max(height(1), height(2));
  const double second = left + kSide + 1.5 * kMargin, bar = second + kSide + 0.5 * kMargin;
  write_picture(path, page(bar + 1.6 * kMargin, 70 + kMargin + tallest, title,
                           draw_plane(upright, grid.box, left, 70, height(2), *range) +
                               draw_plane(flat, grid.box, second, 70, height(1), *range) +
                               (equal ? "" : draw_colour_bar(bar, 70, tallest, *range))));
}

// Charts of the share of small parcels and of the number of parcels over the time of a flow run.
std::string draw_small_share(const std::vector<flow::Statistics>& rows) {
  std::vector<std::pair<double, double>> share, parcels;
  double most_share = 0, most_parcels = 0;
  for (const flow::Statistics& row : rows) {
    share.emplace_back(row.time, 100 * row.small_share());
    parcels.emplace_back(row.time, static_cast<double>(row.parcels));
    most_share = std::max(most_share, share.back().second);
    most_parcels = std::max(most_parcels, parcels.back().second);
  }
  const double t0 = rows.empty() ? 0 : rows.front().time;
  const double t1 = rows.empty() ? 1 : rows.back().time;
  Chart left(kMargin + 20, 80, t0, t1, 0, most_share * 1.05, false);
  left.levels(svg::round_levels(0, most_share), " %");
  left.line(share, kColours[1]);
  Chart right(3 * kMargin + kSide, 80, t0, t1, 0, most_parcels * 1.05, false);
  right.levels(svg::round_levels(0, most_parcels), "");
  right.line(parcels, kColours[0]);
  return page(4 * kMargin + 2 * kSide, 80 + Chart::kHeight + 60, "Small parcels over time",
              left.to_svg("share of parcels that are small") + right.to_svg("parcels"));
}

// Chart of the shares of merged clusters by members, in bins of time.
std::string draw_clusters(const std::vector<flow::Statistics>& rows) {
  constexpr std::size_t kBins = 60;
  const double t0 = rows.empty() ? 0 : rows.front().time;
  const double t1 = rows.empty() || rows.back().time <= t0 ? t0 + 1 : rows.back().time;
  std::vector<flow::StepCounts> bins(kBins);
  flow::StepCounts all;
  for (const flow::Statistics& row : rows) {
    const auto bin = static_cast<std::size_t>((row.time - t0) / (t1 - t0) * kBins);
    bins[std::min(bin, kBins - 1)] += row.counts;
    all += row.counts;
  }
  const auto sum = [](const flow::StepCounts& c) {
    std::int64_t n = 0;
    for (const std::int64_t x : c.clusters) n += x;
    return static_cast<double>(n);
  };
  if (!(sum(all) > 0))
    return page(2 * kMargin + kSide + 320, 120, "Clusters that merged, by members",
                text_element(kMargin, 80, "caption",
                             "nothing merged from t = " + general_text(t0, 4) + " to " + general_text(t1, 4)));
  double least = 100;
  for (const flow::StepCounts& bin : bins)
    for (const std::int64_t n : bin.clusters)
      if (n > 0) least = std::min(least, 100 * static_cast<double>(n) / sum(bin));
  const int first = static_cast<int>(std::floor(std::log10(std::min(least, 10.0))));
  std::vector<double> levels;
  for (int power = first; power <= 2; ++power) levels.push_back(std::pow(10.0, power));
  Chart chart(kMargin + 20, 80, t0, t1, levels.front(), 100, true);
  chart.levels(levels, " %");
  std::string legend;
  double row = 0;
  for (std::size_t n = 0; n < kMembers.size(); ++n) {
    if (all.clusters[n] == 0) continue;
    std::vector<std::pair<double, double>> points;
    for (std::size_t b = 0; b < kBins; ++b)
      if (bins[b].clusters[n] > 0)
        points.emplace_back(t0 + (static_cast<double>(b) + 0.5) * (t1 - t0) / kBins,
                            100 * static_cast<double>(bins[b].clusters[n]) / sum(bins[b]));
    chart.line(points, kColours[n]);
    const double y = 96 + 24 * row++;
    const double x = 2 * kMargin + kSide;
    legend += svg::element("rect", {{"x", format_length(x)},
                                    {"y", format_length(y - 10)},
                                    {"width", "12"},
                                    {"height", "12"},
                                    {"fill", kColours[n]}}) +
              text_element(x + 20, y, "caption",
                           std::string(kMembers[n]) + " members: " + count_text(all.clusters[n]) + ", " +
                               percent_text(static_cast<double>(all.clusters[n]) / sum(all)));
  }
  return page(2 * kMargin + kSide + 320, 80 + Chart::kHeight + 60, "Clusters that merged, by members",
              chart.to_svg("share of clusters over time") + legend);
}

}  // namespace merganser::app
