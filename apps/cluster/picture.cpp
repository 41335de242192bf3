// Drawing of cluster --picture: a slab of parcels before and after a merge step, as SVG. Parcels are ellipses, links are lines.
#include "apps/cluster/picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "apps/frame/svg.hpp"
#include "apps/frame/table.hpp"
#include "merganser/parcels/merge.hpp"

namespace merganser::app {
namespace {

constexpr double kPanel = 500;  // longest side of a panel, in pixels
constexpr double kGap = 60;     // between and around panels: room for the numbers of an axis
constexpr double kTop = 84;
constexpr double kBottom = 96;
constexpr double kOutline = 0.5;  // outlines are drawn at this part of their size, else they would hide each other

/// Position on a panel of the picture, in pixels from its upper left corner.
struct Point {
  double u, v;
};

/// Projection of a parcel's ellipsoid along an axis: semi-axes of the ellipse in pixels, angle in degrees.
struct Outline {
  double a, b, angle;
};

/// Mapping from positions in the domain to pixels of a panel, along the normal of the scene's window.
class View {
 public:
  /// Determines the axes and the scale of a panel from the window of the scene, which must outlive this.
  View(const Scene& scene) : scene_(scene) {  // NOLINT(google-explicit-constructor)
    const int n = scene.window.normal;
    u_ = n == 0 ? 1 : 0;
    v_ = n == 2 ? 1 : 2;
    const double w = side(u_);
    const double h = side(v_);
    scale_ = kPanel / std::max(w, h);
    width = w * scale_;
    height = h * scale_;
  }
  /// Returns the distance of a coordinate from the drawn window's lower face; on periodic axes that of the image nearest to its
  /// centre.
  [[nodiscard]] double offset(int axis, double x) const {
    const Grid& g = scene_.grid;
    const double dx = g.spacing(axis);
    double d = x - (g.box.lower[axis] + static_cast<double>(scene_.window.first[axis]) * dx);
    if (g.box.periodic[axis]) {
      const double centre = 0.5 * side(axis);
      d -= g.box.extent[axis] * std::round((d - centre) / g.box.extent[axis]);
    }
    return d;
  }
  /// Returns the position of a parcel's centre on the panel.
  [[nodiscard]] Point to_pixels(const Site& s) const {
    const Vec3 p{s.x, s.y, s.z};
    return {offset(u_, p[u_]) * scale_, height - offset(v_, p[v_]) * scale_};
  }
  /// Returns true if a parcel's centre lies in the slab that is drawn, the middle of the window's layer of cells.
  [[nodiscard]] bool is_in_slab(const Site& s) const {
    const Vec3 p{s.x, s.y, s.z};
    const double d = offset(scene_.window.normal, p[scene_.window.normal]) / side(scene_.window.normal);
    return d >= 0.5 - 0.5 * kSlab && d < 0.5 + 0.5 * kSlab;
  }
  /// Returns true if a position is on the panel.
  [[nodiscard]] bool is_in_panel(const Point& p) const { return p.u >= 0 && p.u <= width && p.v >= 0 && p.v <= height; }
  [[nodiscard]] Outline outline(const Parcels& parcels, std::size_t i) const;
  /// Returns the length of the window along an axis of the domain.
  [[nodiscard]] double side(int axis) const {
    return static_cast<double>(scene_.window.cells[axis]) * scene_.grid.spacing(axis);
  }
  /// Returns the axis of the domain that points to the right on the panel.
  [[nodiscard]] int u() const { return u_; }
  /// Returns the axis of the domain that points up on the panel.
  [[nodiscard]] int v() const { return v_; }
  double width = 0;   ///< of the panel, in pixels
  double height = 0;  ///< of the panel, in pixels

 private:
  const Scene& scene_;
  int u_, v_;
  double scale_;
};

/// Returns the ellipse by which parcel i is drawn, at the part kOutline of its size; a circle if it has no shape matrix.
Outline View::outline(const Parcels& parcels, std::size_t i) const {
  const double volume = parcels.site(i).volume;
  const double radius = std::cbrt(0.75 * volume / M_PI) * scale_ * kOutline;
  if (!parcels.schema().has("B")) return {radius, radius, 0};
  const double* b5 = parcels.row(i) + parcels.schema().offset("B");
  if (is_singular(b5, volume)) return {radius, radius, 0};
  const double full[3][3] = {{b5[0], b5[1], b5[2]}, {b5[1], b5[3], b5[4]}, {b5[2], b5[4], b33(b5, volume)}};
  // The shape matrix B has the squared semi-axes as eigenvalues, and the shadow of the ellipsoid along a coordinate axis is the
  // ellipse of its 2 x 2 submatrix. Their eigenvalues are mean + swing and mean - swing.
  const double p = full[u_][u_];
  const double q = full[v_][v_];
  const double r = full[u_][v_];
  const double mean = 0.5 * (p + q);
  const double swing = std::hypot(0.5 * (p - q), r);
  // The page's second axis points down.
  const double angle = -0.5 * std::atan2(2 * r, p - q) * 180 / M_PI;
  const double scale = scale_ * kOutline;
  return {std::sqrt(std::max(0.0, mean + swing)) * scale, std::sqrt(std::max(0.0, mean - swing)) * scale, angle};
}

/// Formats a coordinate or length of the picture in pixels.
std::string pixel_text(double x) { return fixed_text(x, 1); }

/// Formats a parcel's ellipse as an SVG element. @param style  class of the style sheet
std::string ellipse(const Point& p, const Outline& o, const char* style) {
  std::string place = "translate(" + pixel_text(p.u) + ' ' + pixel_text(p.v) + ')';
  if (std::fabs(o.angle) >= 0.05) place += " rotate(" + pixel_text(o.angle) + ')';
  return svg::element("ellipse",
                      {{"class", style}, {"rx", pixel_text(o.a)}, {"ry", pixel_text(o.b)}, {"transform", place}}) +
         '\n';
}

/// Formats words at a position of the picture as an SVG element.
std::string text_element(double x, double y, const char* style, const std::string& words) {
  return svg::element("text", {{"class", style}, {"x", pixel_text(x)}, {"y", pixel_text(y)}}, svg::escape(words)) +
         '\n';
}

/// Formats the outline of a panel as an SVG element.
std::string panel_rectangle(const View& view, const char* style) {
  return svg::element("rect",
                      {{"class", style}, {"width", pixel_text(view.width)}, {"height", pixel_text(view.height)}});
}

/// Draws the background of a panel of the picture and the lines between the cells of the grid.
std::string draw_frame(const Scene& scene, const View& view) {
  std::string out = panel_rectangle(view, "paper") + '\n';
  const auto line = [&](int axis, double side, char along, char across, double length) {
    const auto n = static_cast<double>(scene.window.cells[axis]);
    for (int i = 1; i < n; ++i) {
      const std::string at = pixel_text(side * i / n);
      const std::string a(1, along), b(1, across);
      out += svg::element(
                 "line",
                 {{"class", "cell"}, {a + '1', at}, {a + '2', at}, {b + '1', "0"}, {b + '2', pixel_text(length)}}) +
             '\n';
    }
  };
  line(view.u(), view.width, 'x', 'y', view.height);
  line(view.v(), view.height, 'y', 'x', view.width);
  return out;
}

/// Writes coordinates of the domain below a panel and to the left of it, with the names of the axes.
std::string draw_coordinates(const Scene& scene, const View& view) {
  std::string out;
  const std::array<const char*, 3> names{"x", "y", "z"};
  const auto label = [&](double x, double y, const char* style, const std::string& words) {
    out += text_element(x, y, style, words);
  };
  const auto first = [&](int axis) {
    return scene.grid.box.lower[axis] + static_cast<double>(scene.window.first[axis]) * scene.grid.spacing(axis);
  };
  const double left = first(view.u()), bottom = first(view.v());
  const double right = left + view.side(view.u()), top = bottom + view.side(view.v());
  for (const double x : svg::round_levels(left, right))
    label(view.width * (x - left) / view.side(view.u()), view.height + 17, "sub middle",
          svg::level_text(x, left, right));
  for (const double y : svg::round_levels(bottom, top))
    label(-6, view.height * (1 - (y - bottom) / view.side(view.v())) + 4, "sub end", svg::level_text(y, bottom, top));
  label(view.width / 2, view.height + 34, "sub middle", names[static_cast<std::size_t>(view.u())]);
  label(-44, view.height / 2 + 4, "sub middle", names[static_cast<std::size_t>(view.v())]);
  return out;
}

/// Formats a link between parcels as SVG elements: a line from source a to centre b, and a dot at b.
/// @param between  text between the two elements
std::string arrow(const Point& a, const Point& b, const char* between) {
  return svg::element("line", {{"class", "link"},
                               {"x1", pixel_text(a.u)},
                               {"y1", pixel_text(a.v)},
                               {"x2", pixel_text(b.u)},
                               {"y2", pixel_text(b.v)}}) +
         between +
         svg::element("circle", {{"class", "dot"}, {"cx", pixel_text(b.u)}, {"cy", pixel_text(b.v)}, {"r", "2.6"}}) +
         '\n';
}

/// Roles of parcels in the merge step that is drawn: sources and centres, by id.
struct Roles {
  std::unordered_map<std::int64_t, std::int64_t> centre_of;  // by source
  std::unordered_set<std::int64_t> centres;                  // ids of centres
};

const char* kBig = "big";
const char* kSourceStyle = "source";
const char* kCentre = "centre";

/// Ellipses of a set of parcels on one panel, as SVG: those not involved, drawn below, and sources and centres. Parcels outside the
/// slab are drawn only if a link in the slab has them as an end; the counts are of parcels in view.
struct Layers {
  std::string plain, marked;                 ///< parcels not involved; sources and centres
  std::int64_t shown = 0, marked_count = 0;  ///< parcels in view; sources and centres among them
};

/// Draws the parcels of the slab, and those outside that are ends of links in it. @param linked  ids of ends of links
Layers draw_parcels(const View& view, const Parcels& parcels, const Roles& roles,
                    const std::unordered_set<std::int64_t>& linked) {
  Layers out;
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const Point p = view.to_pixels(parcels.site(i));
    const std::int64_t id = parcels.id(i);
    const bool here = view.is_in_slab(parcels.site(i));
    if (!here && !linked.contains(id)) continue;
    const bool source = roles.centre_of.contains(id);
    const bool centre = roles.centres.contains(id);
    const char* style = source ? kSourceStyle : (centre ? kCentre : kBig);
    (source || centre ? out.marked : out.plain) += ellipse(p, view.outline(parcels, i), style);
    if (!here || !view.is_in_panel(p)) continue;
    ++out.shown;
    if (source || centre) ++out.marked_count;
  }
  return out;
}

/// Draws the nearest-neighbour links of the slab from sources to centres, in the order of source ids, and adds their ends to
/// `linked`.
std::string draw_links(const Scene& scene, const View& view, const Roles& roles,
                       std::unordered_set<std::int64_t>& linked) {
  std::unordered_map<std::int64_t, std::size_t> where;
  for (std::size_t i = 0; i < scene.before.size(); ++i) where[scene.before.id(i)] = i;
  std::map<std::int64_t, std::int64_t> ordered(roles.centre_of.begin(), roles.centre_of.end());
  std::string out;
  for (const auto& [source, centre] : ordered) {
    const auto s = where.find(source);
    const auto c = where.find(centre);
    if (s == where.end() || c == where.end()) continue;
    const Site& from = scene.before.site(s->second);
    const Site& to = scene.before.site(c->second);
    if (!view.is_in_slab(from) && !view.is_in_slab(to)) continue;
    linked.insert(source);
    linked.insert(centre);
    out += arrow(view.to_pixels(from), view.to_pixels(to), "\n");
  }
  return out;
}

constexpr const char* kStyle = R"(<style>
text { font-family: "DejaVu Sans", Helvetica, Arial, sans-serif; fill: #22303c; }
.title { font-size: 17px; font-weight: bold; }
.sub { font-size: 12.5px; fill: #51606d; }
.caption { font-size: 13.5px; }
.middle { text-anchor: middle; }
.end { text-anchor: end; }
.paper { fill: #ffffff; }
.edge { fill: none; stroke: #51606d; stroke-width: 1; }
.cell { stroke: #e3e8ec; stroke-width: 1; }
.big { fill: #b9c4ce; fill-opacity: 0.3; stroke: #93a1ad; stroke-width: 0.8; }
.source { fill: #e8743b; fill-opacity: 0.7; stroke: #a8481a; stroke-width: 0.9; }
.centre { fill: #2f7fc1; fill-opacity: 0.55; stroke: #1b5488; stroke-width: 1.2; }
.link { stroke: #10202c; stroke-width: 1.5; }
.dot { fill: #10202c; }
</style>
)";

/// Draws the legend of the picture, from left to right: source, centre, other parcel, link.
std::string draw_legend(double x, double y) {
  const auto entry = [&](const char* style, const char* words, double width) {
    std::string out = ellipse({x + 9, y - 4}, {9, 6, 0}, style) + text_element(x + 25, y, "sub", words);
    x += width;
    return out;
  };
  std::string out = entry(kSourceStyle, "small, merges into its nearest", 232);
  out += entry(kCentre, "centre of a cluster", 168);
  out += entry(kBig, "not involved", 132);
  return out + arrow({x, y - 4}, {x + 24, y - 4}, "") + text_element(x + 35, y, "sub", "link kept by the pruning");
}

/// Formats the ranges of coordinates of the slab that is drawn: "x 0 to 1, y ..., z ...".
std::string slab_text(const Scene& scene) {
  const char* axes = "xyz";
  std::string out;
  for (int a = 0; a < 3; ++a) {
    const double side = static_cast<double>(scene.window.cells[a]) * scene.grid.spacing(a);
    const double cut = a == scene.window.normal ? 0.5 * (1 - kSlab) * side : 0;
    const double lo =
        scene.grid.box.lower[a] + static_cast<double>(scene.window.first[a]) * scene.grid.spacing(a) + cut;
    const double hi = lo + side - 2 * cut;
    out += std::string(a == 0 ? "" : ", ") + axes[a] + " " + general_text(lo, 4) + " to " + general_text(hi, 4);
  }
  return out;
}

}  // namespace

// Picture of cluster --picture: two panels of one slab, before and after the merge step, and a legend. Links are drawn first, since
// they decide which parcels outside the slab are shown.
std::string draw(const Scene& scene, const std::string& title) {
  const View view(scene);
  Roles roles;
  for (const auto& m : scene.merges) {
    roles.centre_of[m.source] = m.centre;
    roles.centres.insert(m.centre);
  }
  std::unordered_set<std::int64_t> linked;
  const std::string links = draw_links(scene, view, roles, linked);
  const Layers before = draw_parcels(view, scene.before, roles, linked);
  const Layers after = draw_parcels(view, scene.after, {{}, roles.centres}, {});

  const double width = std::max(820.0, 2 * view.width + 3 * kGap);
  const double height = kTop + view.height + kBottom;
  const double left = (width - 2 * view.width - kGap) / 2;
  const char* axes = "xyz";
  std::string out =
      kStyle + svg::background() +
      svg::element("clipPath", {{"id", "panel"}},
                   svg::element("rect", {{"width", pixel_text(view.width)}, {"height", pixel_text(view.height)}})) +
      '\n' + text_element(left, 30, "title", title);
  out += text_element(left, 49, "sub",
                      std::string("slab seen along ") + axes[scene.window.normal] + " (" + axes[view.u()] +
                          " to the right, " + axes[view.v()] + " up): " + slab_text(scene) +
                          ". Parcels are drawn at half size.");
  const auto panel = [&](double x, const std::string& caption, const std::string& content) {
    const std::string clipped =
        svg::element("g", {{"clip-path", "url(#panel)"}}, '\n' + draw_frame(scene, view) + content) + '\n';
    out += text_element(x, kTop - 9, "caption", caption) +
           svg::element("g", {{"transform", "translate(" + pixel_text(x) + ' ' + pixel_text(kTop) + ')'}},
                        clipped + panel_rectangle(view, "edge") + '\n' + draw_coordinates(scene, view)) +
           '\n';
  };
  panel(left,
        "before: " + count_text(before.shown) + " parcels in view, " + count_text(before.marked_count) +
            " of them in clusters",
        before.plain + before.marked + links);
  panel(left + view.width + kGap,
        "after: " + count_text(after.shown) + " parcels, " + count_text(after.marked_count) + " of them merged",
        after.plain + after.marked);
  out += draw_legend(left, kTop + view.height + 64);
  return svg::document(pixel_text(width), pixel_text(height),
                       {{"viewBox", "0 0 " + pixel_text(width) + ' ' + pixel_text(height)}}, out);
}

}  // namespace merganser::app
