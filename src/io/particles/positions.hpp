#pragma once
/// Positions of openPMD: position and positionOffset, each in a unit of its own, and coordinates in metres.
#include <cstdint>
#include <optional>

#include "merganser/geometry/box.hpp"
#include "merganser/io/file_metadata.hpp"
#include "src/io/columns.hpp"

namespace merganser::io {

/// Returns the coordinate in metres of an openPMD position and its offset: (position + offset) unitSI where both have one unit.
[[nodiscard]] inline double position_in_metres(double position, double unit, double offset,
                                               double offset_unit) noexcept {
  return unit == offset_unit ? (position + offset) * unit : position * unit + offset * offset_unit;
}

/// Position along one axis as an openPMD file holds it.
struct SplitPosition {
  double position;
  double offset;
};

/// Conversion of coordinates along one axis to positions and offsets of an openPMD file, and back. Doubles are written in metres,
/// offset 0; floats as in the file they come from: with its one offset, or with an offset for each part of the box, so that digits are kept.
class PositionCodec {
 public:
  /// Makes the conversion for a file whose positions along `axis` are described so (null: doubles).
  PositionCodec(const FileVariable* column, int axis);
  /// Returns true if positions are floats.
  [[nodiscard]] bool is_float() const noexcept { return is_float_; }
  /// Returns the type of the offsets; empty: they are one constant.
  [[nodiscard]] std::optional<FileType> offset_type() const noexcept { return offset_type_; }
  /// Returns the one offset of all positions, if they have one.
  [[nodiscard]] double offset() const noexcept { return offset_; }
  [[nodiscard]] double unit() const noexcept { return unit_; }
  [[nodiscard]] double offset_unit() const noexcept { return offset_unit_; }

  /// Splits a coordinate in metres.
  [[nodiscard]] SplitPosition split(double x, const Box& box) const;
  /// Returns the coordinate that a file with the split position gives back.
  [[nodiscard]] double join(SplitPosition s) const {
    return position_in_metres(s.position, unit_, s.offset, offset_unit_);
  }
  /// Returns the coordinate nearest to x, or one within some roundings of it, that is inside the walls, and that splitting and
  /// joining leaves as it is. @throws InputError if none is found
  [[nodiscard]] double fit(double x, const Box& box) const;

 private:
  int axis_;
  bool is_float_ = false;
  double unit_ = 1, offset_unit_ = 1, offset_ = 0;
  std::optional<FileType> offset_type_;
};

}  // namespace merganser::io
