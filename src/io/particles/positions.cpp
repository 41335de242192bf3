// Coordinates as positions and offsets of openPMD files, with the precision that a file has.
#include "src/io/particles/positions.hpp"

#include <algorithm>
#include <cmath>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/io/data_file.hpp"
#include "src/io/particles/particle_file.hpp"

namespace merganser::io {
namespace {

/// Returns a numeric attribute of a column, or nothing.
std::optional<double> column_number(const FileVariable& column, const char* name) {
  for (const FileAttribute& a : column.attributes)
    if (a.name == name)
      if (const std::vector<double> values = to_doubles(a.values); values.size() == 1) return values[0];
  return std::nullopt;
}

}  // namespace

PositionCodec::PositionCodec(const FileVariable* column, int axis) : axis_(axis) {
  if (column == nullptr || column->values.type != static_cast<int>(FileType::f32)) return;
  is_float_ = true;
  unit_ = column_number(*column, "unitSI").value_or(1);
  offset_unit_ = column_number(*column, kOffsetUnit).value_or(unit_);
  const std::optional<double> value = column_number(*column, kOffsetValue);
  offset_ = value.value_or(0);
  const std::optional<double> type_number = column_number(*column, kOffsetType);
  if (value || !type_number) return;  // without a type the format has no offsets
  const auto type = static_cast<FileType>(static_cast<int>(*type_number));
  offset_type_ = is_integer(type) ? type : FileType::f64;
}

SplitPosition PositionCodec::split(double x, const Box& box) const {
  if (!is_float_) return {x, 0};
  double offset = offset_;
  if (offset_type_ && is_integer(*offset_type_)) {
    offset = std::floor(x / offset_unit_);
  } else if (offset_type_) {
    constexpr double kParts = 1024;  // of the box: ten bits of a position are then in the offset
    const auto a = static_cast<std::size_t>(axis_);
    const double width = box.extent[a] / kParts;
    offset = (box.lower[a] + std::floor((x - box.lower[a]) / width) * width) / offset_unit_;
  }
  const double rest = unit_ == offset_unit_ ? x / unit_ - offset : (x - offset * offset_unit_) / unit_;
  return {static_cast<double>(static_cast<float>(rest)), offset};
}

double PositionCodec::fit(double x, const Box& box) const {
  if (!is_float_ || !std::isfinite(x)) return x;
  const auto a = static_cast<std::size_t>(axis_);
  const double low = box.lower[a];
  const double high = low + box.extent[a];
  const auto round = [&](double y) {
    SplitPosition s = split(y, box);
    // A rounding may lead out through a wall: the next floats lead back.
    const float inward = join(s) > high ? -INFINITY : INFINITY;
    for (int i = 0; i < 8 && !box.periodic[a] && (join(s) < low || join(s) > high); ++i)
      s.position = static_cast<double>(std::nextafter(static_cast<float>(s.position), unit_ > 0 ? inward : -inward));
    return box.periodic[a] ? box.wrap(axis_, join(s)) : join(s);
  };
  double now = round(x);
  for (int i = 0; i < 32; ++i) {
    const double next = round(now);
    if (next == now) return now;
    now = next;
  }
  throw InputError("the coordinate " + number_text(x) + " cannot be held by the positions of 32 bits of the file");
}

}  // namespace merganser::io
