#pragma once
/// Container of the parcels of one rank: one row per parcel, in two tables.
///
/// A merge touches few parcels at random and all of each, so a row is kept together: 32 bytes that the search reads
/// (position, volume) and one payload row (id and attributes) that only merging and migration read. With one array per
/// attribute the same access costs one cache line per attribute.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/base/aligned_memory.hpp"
#include "merganser/parcels/columns.hpp"

#include "merganser/base/language.hpp"

namespace merganser {

/// Position and volume of a parcel: the part of it that the search reads.
struct alignas(32) Site {
  double x = 0;       ///< x coordinate, in units of the box
  double y = 0;       ///< y coordinate, in units of the box
  double z = 0;       ///< z coordinate, in units of the box
  double volume = 0;  ///< volume, > 0
};

/// Rule by which an attribute of a merged parcel is computed from its members.
enum class Rule : std::uint8_t {
  mean,          ///< volume-weighted mean
  sum,           ///< sum
  centre,        ///< value of the centre
  largest,       ///< value of the member of largest volume (lowest id among equals)
  ellipsoid,     ///< B11 B12 B13 B22 B23 of an ellipsoid: second moment, rescaled to the volume (5 components)
  callback,      ///< function of the caller: ClusterOptions::callbacks, or MergeRules::callbacks
  mean_present,  ///< volume-weighted mean of the members whose value is not NaN, which means missing; NaN if all are
  sum_present,   ///< sum of the members whose value is not NaN; NaN if all are
};

/// Returns whether a rule conserves a total over all parcels: of volume times value for `mean`, of values for the sums.
[[nodiscard]] constexpr bool is_conserved(Rule rule) noexcept {
  return rule == Rule::mean || rule == Rule::sum || rule == Rule::sum_present;
}
/// Returns whether a merge rule of an attribute takes NaN for a missing value.
[[nodiscard]] constexpr bool is_of_present(Rule rule) noexcept {
  return rule == Rule::mean_present || rule == Rule::sum_present;
}

/// Descriptor of one attribute of all parcels: name, number of components, merge rule.
struct Attribute {
  std::string name;                          ///< name of the attribute, unique in a schema
  int components = 1;                        ///< doubles per parcel, >= 1
  Rule rule = Rule::mean;                    ///< rule by which it merges
  std::vector<std::string> component_names;  ///< names of the components, as in files; size = components
  std::string unit;                          ///< unit of the attribute, as in files; empty: none

  friend bool operator==(const Attribute&, const Attribute&) = default;
};

/// Schema of parcels: their attributes besides position and volume, and the offsets of these in a payload row.
class Schema {
 public:
  /// Makes the schema of parcels without attributes.
  Schema() : Schema(std::vector<Attribute>{}) {}
  /// Makes the schema of parcels with these attributes. Local. @throws UsageError for an empty or repeated name, fewer than 1
  /// component, a rule that is no value of Rule, or Rule::ellipsoid with another number of components than 5
  explicit Schema(std::vector<Attribute> attributes);
  /// Returns EPIC's schema: vorticity (3, mean), buoyancy (mean), B (5, ellipsoid).
  [[nodiscard]] static const Schema& epic();

  /// Returns the attributes of a parcel in the order of its payload row.
  [[nodiscard]] const std::vector<Attribute>& attributes() const noexcept { return attributes_; }
  /// Returns the number of doubles in the payload row of a parcel, the id included; even, so that rows are 16-byte aligned.
  [[nodiscard]] std::size_t width() const noexcept { return width_; }
  /// Returns the offset of an attribute's first component in a payload row (>= 1; 0 is the id). @throws UsageError if unknown
  [[nodiscard]] std::size_t offset(std::string_view name) const;
  /// Returns the offset in a payload row of a component, by attribute and number or (component 0) by the component's own name.
  /// @throws UsageError if unknown, with the names that are known
  [[nodiscard]] std::size_t component_offset(std::string_view name, int component) const;
  /// Returns whether an attribute of the parcels has this name.
  [[nodiscard]] bool has(std::string_view name) const;
  friend bool operator==(const Schema&, const Schema&) = default;

 private:
  std::vector<Attribute> attributes_;  // attributes in the order of a payload row
  std::vector<std::size_t> offsets_;   // by attribute: offset of its first component in a row
  std::size_t width_ = 2;              // doubles of a row: id, components, and one more to make it even
};

/// Container of the parcels of one rank. Copies are deep; all functions are local.
class Parcels {
 public:
  /// Makes an empty container of parcels of EPIC's schema.
  Parcels() : Parcels(Schema::epic()) {}
  /// Makes an empty container of parcels with the attributes of a schema.
  explicit Parcels(Schema schema) : schema_(std::move(schema)) {}
  Parcels(Parcels&&) = default;
  Parcels& operator=(Parcels&&) = default;
  Parcels(const Parcels& o);
  Parcels& operator=(const Parcels& o);

  /// Returns the schema: the attributes of the container's parcels and their places in a payload row.
  [[nodiscard]] const Schema& schema() const noexcept { return schema_; }
  /// Returns the number of parcels on this rank.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Returns the number of parcels that the container can hold without allocating larger tables.
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  /// Returns the largest number of parcels of this schema that a container can have.
  [[nodiscard]] std::size_t max_size() const noexcept;
  /// Changes the number of parcels of the container; rows above the old size are uninitialised. Capacity grows by at least a
  /// quarter.
  /// @throws UsageError above max_size(), std::bad_alloc without memory; the container is then as before
  void resize(std::size_t n);
  /// Makes room in the container for n parcels. @throws UsageError above max_size(), std::bad_alloc without memory; the container
  /// is then as before
  void reserve(std::size_t n);
  /// Removes all parcels of the container; the memory is kept.
  void clear() noexcept { size_ = 0; }

  /// Returns the table of sites (position and volume), one per parcel; it moves when the container grows.
  [[nodiscard]] Site* sites() noexcept { return reinterpret_cast<Site*>(sites_.data()); }
  [[nodiscard]] const Site* sites() const noexcept { return reinterpret_cast<const Site*>(sites_.data()); }
  /// Returns position and volume of parcel i; i is not checked.
  [[nodiscard]] Site& site(std::size_t i) noexcept { return sites()[i]; }
  [[nodiscard]] const Site& site(std::size_t i) const noexcept { return sites()[i]; }

  /// Returns the payload row of parcel i: row(i)[0] holds the bits of the id, row(i)[schema().offset(name) + c] a component.
  [[nodiscard]] double* row(std::size_t i) noexcept { return rows() + i * schema_.width(); }
  [[nodiscard]] const double* row(std::size_t i) const noexcept { return rows() + i * schema_.width(); }
  /// Returns the table of payload rows, schema().width() doubles each; it moves when the container grows.
  [[nodiscard]] double* rows() noexcept { return reinterpret_cast<double*>(rows_.data()); }
  [[nodiscard]] const double* rows() const noexcept { return reinterpret_cast<const double*>(rows_.data()); }

  /// Returns one number of every parcel by name, as a column: an attribute's component, the component by its own name, or x, y, z
  /// and volume. It becomes invalid when the container grows.
  ///
  ///     const Column salt = parcels.column("salt");
  ///     for (std::size_t i = 0; i < parcels.size(); ++i) salt[i] = 35;
  ///
  /// @throws UsageError for a name or component that is not there, with the names that are
  [[nodiscard]] Column column(std::string_view name, int component = 0);
  [[nodiscard]] ConstColumn column(std::string_view name, int component = 0) const;
  /// Returns the global ids of the parcels, as integers; set_id() changes one.
  [[nodiscard]] IdColumn ids() const noexcept { return IdColumn({rows(), schema_.width()}); }

  /// Returns the global id of parcel i: unique over all ranks, not necessarily contiguous.
  [[nodiscard]] std::int64_t id(std::size_t i) const noexcept { return std::bit_cast<std::int64_t>(row(i)[0]); }
  /// Sets the global id of parcel i.
  void set_id(std::size_t i, std::int64_t id) noexcept { row(i)[0] = std::bit_cast<double>(id); }

  /// Swaps the table of payload rows with `rows` and sets the number of parcels to n, for algorithms that write a new table from
  /// the old one. Local. @throws UsageError if n > capacity() or `rows` has room for fewer than capacity() rows
  void exchange_rows(RawBuffer& rows, std::size_t n);
  /// Appends a copy of a parcel to the container, given as site and payload row of this schema's width.
  void append(const Site& site, const double* row);
  /// Returns the bytes of one parcel in this container: site and payload row.
  [[nodiscard]] std::size_t parcel_bytes() const noexcept { return sizeof(Site) + schema_.width() * sizeof(double); }

 private:
  /// Returns the column of a name in the tables of sites and rows. @throws UsageError if there is none
  [[nodiscard]] ColumnOf<double> find_column(std::string_view name, int component) const;

  Schema schema_;
  std::size_t size_ = 0;      // number of parcels
  std::size_t capacity_ = 0;  // parcels that both tables have room for
  RawBuffer sites_;           // table of Site: position and volume
  RawBuffer rows_;            // table of payload rows: id and attributes
};

}  // namespace merganser
