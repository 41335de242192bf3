// Validation of the parcels of a file: positions, volumes, shapes, attributes, and their fit into the types of the file.
#include "src/io/parcel_check.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/numbers.hpp"
#include "merganser/base/text.hpp"
#include "merganser/parcels/detail/ellipsoid.hpp"
#include "src/io/missing.hpp"

namespace merganser::io {
namespace {

constexpr std::size_t kSiteColumns = 4;  // position and volume
constexpr std::array<const char*, 3> kAxes{"x", "y", "z"};

/// Formats the error of a parcel's attribute out of range: "NAME is VALUE; allowed: LOW to HIGH".
std::string range_error(const std::string& name, double value, double low, double high) {
  return name + " is " + number_text(value) + "; allowed: " + number_text(low) + " to " + number_text(high);
}

/// Validates the position and volume of a parcel of a file: finite, between the walls, volume within bounds. Returns the error
/// text, empty if they are valid.
std::string check_site(const Site& site, const Box& box) {
  const std::array<double, 3> position{site.x, site.y, site.z};
  for (std::size_t a = 0; a < 3; ++a) {
    const double x = position[a];
    const double low = box.lower[a];
    const double high = low + box.extent[a];
    const auto name = [&] { return std::string(kAxes[a]) + "_position is " + number_text(x); };
    if (!std::isfinite(x)) return name() + "; it must be finite";
    if (!box.periodic[a] && (x < low || x > high))
      return name() + ", outside the walls; allowed: " + number_text(low) + " to " + number_text(high);
  }
  return volume_error(site.volume);
}

/// Checks that a parcel's value, once written to its column, would not be read again as a missing one. Returns the error text,
/// empty if it would not, or if the column may lack values.
std::string check_missing(const Column& column, const MissingValues& missing, double value) {
  const MissingValues::Kind kind = missing.classify(column, value);
  if (kind == MissingValues::Kind::present) return {};
  if (column.may_lack && (!column.computed || kind == MissingValues::Kind::nan)) return {};
  if (kind == MissingValues::Kind::nan) return column.computed ? std::string() : column.name + " is missing (NaN)";
  const auto word = std::bit_cast<std::uint64_t>(value);
  const std::string digits =
      column.type == FileType::u64 ? std::to_string(word) : std::to_string(static_cast<std::int64_t>(word));
  return column.name + " is " + (column.bits() ? digits : number_text(value)) +
         ", which in this variable means missing (" + missing.reason(kind) + ")";
}

/// Checks a parcel's attribute that merging computes with: finite, at most `most` in magnitude, within its NetCDF type. Returns
/// the error text, empty if it is valid.
std::string check_value(const Column& column, double value, double most) {
  if (column.may_lack && std::isnan(value)) return {};
  if (!std::isfinite(value)) return column.name + " is " + number_text(value) + "; it must be finite";
  if (std::fabs(value) > most) return range_error(column.name, value, -most, most);
  return check_fit(column, value);
}

/// Validates the attributes of one parcel of a file against the columns of its row: bounds, types, missing values, shape.
/// Returns the error text, empty if they are valid.
std::string check_row(const Schema& schema, const double* row, double volume, const Column* column,
                      const MissingValues* missing) {
  const double* values = row + 1;
  for (const Attribute& attribute : schema.attributes()) {
    for (int c = 0; c < attribute.components; ++c, ++column, ++missing) {
      const double most = attribute.rule == Rule::ellipsoid ? kMaxShape : kMaxAttribute;
      if (std::string wrong = check_missing(*column, *missing, values[c]); !wrong.empty()) return wrong;
      std::string wrong = column->computed ? check_value(*column, values[c], most) : check_fit(*column, values[c]);
      if (!wrong.empty()) return wrong;
    }
    if (attribute.rule == Rule::ellipsoid)
      if (std::string wrong = shape_error(values, volume); !wrong.empty()) return wrong;
    values += attribute.components;
  }
  return {};
}

/// Returns whether shape_error() accepts a parcel's ellipsoid, judged in double precision alone, without branches. May be false for
/// an ellipsoid that shape_error() accepts, never true for one that it refuses. @param volume  one that is_volume()
bool is_plain_shape(const double* b5, double volume) {
  const double minor = detail::minor33(b5[0], b5[1], b5[3]);
  const double rest = detail::b33_plain(b5, volume, minor);
  bool plain = b5[0] * b5[3] <= detail::kMaxCancellation * minor;  // then b33() is b33_plain(), and nothing is singular
  for (const int i : {0, 3}) plain &= b5[i] >= kMinShape && b5[i] <= kMaxShape;
  for (const int i : {1, 2, 4}) plain &= std::fabs(b5[i]) <= kMaxShape;
  plain &= rest >= kMinShape && rest <= kMaxShape;
  return plain;
}

}  // namespace

/// Fast acceptance of ordinary parcels of a file: bounds of each column that suffice for check_site() and check_row() to accept
/// the parcel. What is not accepted here is examined by those, which also make the error texts.
class QuickCheck {
 public:
  /// Prepares the bounds for the columns of a parcel file; accepts nothing if one of them holds integers, or has a list or range
  /// of missing values.
  QuickCheck(const Schema& schema, const Box& box, std::span<const Column> columns,
             std::span<const MissingValues> missing) {
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const std::optional<double> only = missing[c].only_missing();
      possible_ = possible_ && only && !is_integer(columns[c].type);
      missing_.push_back(only.value_or(0));
      // A float that merging computes with must fit its type; one that is only carried was widened, so it does.
      const double fits = columns[c].type == FileType::f32 ? double{std::numeric_limits<float>::max()} : kInfinity;
      most_.push_back(columns[c].computed ? std::min(fits, kMaxAttribute) : kInfinity);
    }
    std::size_t offset = 1;
    for (const Attribute& attribute : schema.attributes()) {
      if (attribute.rule == Rule::ellipsoid) shapes_.push_back(offset);
      offset += static_cast<std::size_t>(attribute.components);
    }
    for (std::size_t a = 0; a < 3; ++a) {
      low_[a] = box.periodic[a] ? -std::numeric_limits<double>::max() : box.lower[a];
      high_[a] = box.periodic[a] ? std::numeric_limits<double>::max() : box.lower[a] + box.extent[a];
    }
  }

  /// Returns whether a parcel of the file is valid beyond doubt.
  [[nodiscard]] bool accepts(const Site& site, const double* row) const {
    if (!possible_) return false;
    const std::array<double, kSiteColumns> values{site.x, site.y, site.z, site.volume};
    bool good = is_volume(site.volume);
    for (std::size_t a = 0; a < 3; ++a) good &= values[a] >= low_[a] && values[a] <= high_[a];
    for (std::size_t c = 0; c < kSiteColumns; ++c) good &= values[c] != missing_[c];
    const double* const most = most_.data() + kSiteColumns;
    const double* const missing = missing_.data() + kSiteColumns;
    const std::size_t count = missing_.size() - kSiteColumns;
    for (std::size_t c = 0; c < count; ++c) good &= std::fabs(row[1 + c]) <= most[c] && row[1 + c] != missing[c];
    for (const std::size_t offset : shapes_) good &= is_plain_shape(row + offset, site.volume);
    return good;
  }

 private:
  bool possible_ = true;
  std::array<double, 3> low_;  // bounds of positions
  std::array<double, 3> high_;
  std::vector<double> most_;         // by column: magnitude that is allowed; NaN exceeds it
  std::vector<double> missing_;      // by column: the one number that means missing; NaN: none does
  std::vector<std::size_t> shapes_;  // offsets of ellipsoids in a row
};

void wrap_parcels(Parcels& parcels, const Box& box) { wrap_parcels(parcels, box, 0, parcels.size()); }

// Positions of a file's parcels on periodic axes, wrapped into the box before they are checked.
void wrap_parcels(Parcels& parcels, const Box& box, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    Site& s = parcels.site(i);
    const std::array<double*, 3> position{&s.x, &s.y, &s.z};
    for (int a = 0; a < 3; ++a) {
      double& x = *position[static_cast<std::size_t>(a)];
      if (box.periodic[static_cast<std::size_t>(a)] && std::isfinite(x)) x = box.wrap(a, x);
    }
  }
}

/// Values with which the check of a file's parcels compares: box, columns, their missing values, and bounds for the fast acceptance.
struct ParcelCheck::Impl {
  Impl(const Schema& schema, const Box& b, std::span<const Column> list, std::vector<MissingValues> values)
      : box(b), columns(list), missing(std::move(values)), quick(schema, b, list, missing) {}
  Box box;
  std::span<const Column> columns;
  std::vector<MissingValues> missing;
  QuickCheck quick;
};

ParcelCheck::ParcelCheck(const Schema& schema, const Box& box, std::span<const Column> columns) {
  std::vector<MissingValues> missing;
  for (const Column& column : columns) missing.push_back(missing_values(column));
  impl_ = std::make_unique<const Impl>(schema, box, columns, std::move(missing));
}
ParcelCheck::~ParcelCheck() = default;

// Returns the first fault of one parcel of a file: tests position and volume first, then the values in the order of the columns.
std::string ParcelCheck::describe(const Parcels& parcels, std::size_t i) const {
  const Site& site = parcels.site(i);
  std::string wrong = check_site(site, impl_->box);
  const std::array<double, kSiteColumns> values{site.x, site.y, site.z, site.volume};
  for (std::size_t c = 0; c < values.size() && wrong.empty(); ++c)
    wrong = check_missing(impl_->columns[c], impl_->missing[c], values[c]);
  if (!wrong.empty()) return wrong;
  return check_row(parcels.schema(), parcels.row(i), site.volume, impl_->columns.data() + kSiteColumns,
                   impl_->missing.data() + kSiteColumns);
}

std::size_t ParcelCheck::find_refused(const Parcels& parcels, std::size_t begin, std::size_t end) const {
  for (std::size_t i = begin; i < end; ++i) {
    if (impl_->quick.accepts(parcels.site(i), parcels.row(i))) [[likely]]
      continue;
    if (!describe(parcels, i).empty()) return i;
  }
  return end;
}

// Validation of this rank's parcels after reading and before writing a file: one rule, so that what is written can be read.
void check_parcels(const Parcels& parcels, const Box& box, std::span<const Column> columns,
                   const std::function<std::string(std::size_t)>& name) {
  const ParcelCheck check(parcels.schema(), box, columns);
  const std::size_t i = check.find_refused(parcels, 0, parcels.size());
  if (i < parcels.size()) throw InputError(name(i) + ": " + check.describe(parcels, i));
}

// Attributes that a file will hold as 32-bit floats, rounded before the writing, so that the digest is that of the file.
void round_to_types(Parcels& parcels, std::span<const Column> columns) {
  for (const Column& column : columns) {
    if (column.in_site || column.type != FileType::f32 || !column.computed) continue;
    for (std::size_t i = 0; i < parcels.size(); ++i) {
      double& value = parcels.row(i)[column.offset];
      if (std::isfinite(value) && check_fit(column, value).empty())
        value = static_cast<double>(static_cast<float>(value));
    }
  }
}

}  // namespace merganser::io
