// Schema of parcels, and the container with a table of sites and a table of payload rows, on huge pages if large.
#include "merganser/parcels/parcels.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "merganser/base/error.hpp"

namespace merganser {
namespace {

/// Returns the least multiple of `to` that is not below n, for widths of rows and sizes of allocations.
std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

}  // namespace

// Makes a schema: checks the attributes, and places their components behind the id in a payload row.
Schema::Schema(std::vector<Attribute> attributes) : attributes_(std::move(attributes)) {
  std::size_t at = 1;
  for (std::size_t i = 0; i < attributes_.size(); ++i) {
    const Attribute& a = attributes_[i];
    if (a.name.empty()) throw UsageError("an attribute without a name; allowed: names of at least one letter");
    for (std::size_t j = 0; j < i; ++j)
      if (attributes_[j].name == a.name)
        throw UsageError("attribute " + a.name + " stands twice; allowed: each name once");
    if (a.components < 1)
      throw UsageError("attribute " + a.name + ": " + std::to_string(a.components) +
                       " components; allowed: at least 1");
    if (a.rule == Rule::ellipsoid && a.components != 5)
      throw UsageError("attribute " + a.name + ": an ellipsoid has 5 components (B11 B12 B13 B22 B23), not " +
                       std::to_string(a.components));
    if (a.rule > Rule::sum_present)
      throw UsageError("attribute " + a.name + ": rule " + std::to_string(static_cast<int>(a.rule)) +
                       "; allowed: a value of Rule");
    offsets_.push_back(at);
    at += static_cast<std::size_t>(a.components);
  }
  width_ = round_up(at, 2);
}

// Returns the schema of parcels of EPIC, with the units of its files.
const Schema& Schema::epic() {
  static const Schema schema({{"vorticity", 3, Rule::mean, {"x_vorticity", "y_vorticity", "z_vorticity"}, "1/s"},
                              {"buoyancy", 1, Rule::mean, {"buoyancy"}, "m/s^2"},
                              {"B", 5, Rule::ellipsoid, {"B11", "B12", "B13", "B22", "B23"}, "m^2"}});
  return schema;
}

bool Schema::has(std::string_view name) const {
  return std::any_of(attributes_.begin(), attributes_.end(), [&](const Attribute& a) { return a.name == name; });
}

// Returns the offset of an attribute in a payload row, or lists the known names in the error.
std::size_t Schema::offset(std::string_view name) const {
  std::string known;
  for (std::size_t i = 0; i < attributes_.size(); ++i) {
    if (attributes_[i].name == name) return offsets_[i];
    known += ' ' + attributes_[i].name;
  }
  throw UsageError("unknown attribute " + std::string(name) + "; known:" + known);
}

// Returns the offset of a component in a payload row: by attribute and number first, then by the component's own name.
std::size_t Schema::component_offset(std::string_view name, int component) const {
  for (std::size_t i = 0; i < attributes_.size(); ++i) {
    const Attribute& a = attributes_[i];
    if (a.name == name) {
      if (component >= 0 && component < a.components) return offsets_[i] + static_cast<std::size_t>(component);
      throw UsageError("component " + std::to_string(component) + " of attribute " + a.name + "; allowed: 0 to " +
                       std::to_string(a.components - 1));
    }
  }
  for (std::size_t i = 0; i < attributes_.size(); ++i) {
    const auto& names = attributes_[i].component_names;
    const auto at = std::find(names.begin(), names.end(), name);
    if (at != names.end() && component == 0) return offsets_[i] + static_cast<std::size_t>(at - names.begin());
  }
  return offset(name);  // throws: there is no such attribute
}

Parcels::Parcels(const Parcels& o) : schema_(o.schema_) { *this = o; }

// Copies all parcels of another container, deeply, and its schema if it differs.
Parcels& Parcels::operator=(const Parcels& o) {
  if (this == &o) return *this;
  // Rows of another width cannot be reused; tables of the same schema keep their memory.
  if (!(schema_ == o.schema_)) {
    schema_ = o.schema_;
    sites_ = RawBuffer();
    rows_ = RawBuffer();
    capacity_ = 0;
  }
  size_ = 0;
  resize(o.size_);
  if (size_ > 0) {
    std::memcpy(sites_.data(), o.sites_.data(), size_ * sizeof(Site));
    std::memcpy(rows_.data(), o.rows_.data(), size_ * schema_.width() * sizeof(double));
  }
  return *this;
}

// Returns the column of a name: of the table of sites for x, y, z and volume, unless an attribute has that name.
Column Parcels::find_column(std::string_view name, int component) const {
  constexpr std::array<std::string_view, 4> kSite{"x", "y", "z", "volume"};
  const auto* const at = std::find(kSite.begin(), kSite.end(), name);
  if (at != kSite.end() && component == 0 && !schema_.has(name))
    return {reinterpret_cast<double*>(sites_.data()) + (at - kSite.begin()), sizeof(Site) / sizeof(double)};
  return {reinterpret_cast<double*>(rows_.data()) + schema_.component_offset(name, component), schema_.width()};
}

Column Parcels::column(std::string_view name, int component) { return find_column(name, component); }

ConstColumn Parcels::column(std::string_view name, int component) const {
  const Column c = find_column(name, component);
  return {c.data, c.stride};
}

std::size_t Parcels::max_size() const noexcept {
  return PTRDIFF_MAX / std::max(sizeof(Site), schema_.width() * sizeof(double));
}

// Allocates larger tables of sites and rows and copies the parcels; strong exception guarantee.
void Parcels::reserve(std::size_t n) {
  if (n <= capacity_) return;
  if (n > max_size())
    throw UsageError("Parcels: room for " + std::to_string(n) + " parcels; allowed: up to " +
                     std::to_string(max_size()));
  const std::size_t row_bytes = schema_.width() * sizeof(double);
  RawBuffer sites(n * sizeof(Site));
  RawBuffer rows(n * row_bytes);
  if (size_ > 0) {
    std::memcpy(sites.data(), sites_.data(), size_ * sizeof(Site));
    std::memcpy(rows.data(), rows_.data(), size_ * row_bytes);
  }
  sites_ = std::move(sites);
  rows_ = std::move(rows);
  capacity_ = n;
}

void Parcels::resize(std::size_t n) {
  if (n > capacity_) reserve(size_ == 0 ? n : std::max(n, std::min(capacity_ + capacity_ / 4, max_size())));
  size_ = n;
}

// Exchanges the table of payload rows for another one with room for as many parcels.
void Parcels::exchange_rows(RawBuffer& rows, std::size_t n) {
  if (n > capacity_ || rows.bytes() < capacity_ * schema_.width() * sizeof(double))
    throw UsageError("exchange_rows: " + std::to_string(rows.bytes()) + " bytes for " + std::to_string(capacity_) +
                     " rows");
  std::swap(rows_, rows);
  size_ = n;
}

void Parcels::append(const Site& site, const double* row) {
  const std::size_t i = size_;
  resize(i + 1);
  sites()[i] = site;
  std::memcpy(this->row(i), row, schema_.width() * sizeof(double));
}

}  // namespace merganser
