#pragma once
/// The container: one row per parcel, in two tables.
///
/// A merge touches few parcels at random and all of each, so a row is kept together: 32 bytes that the search reads
/// (position, volume) and one payload row (id and attributes) that only merging and migration read. With one array
/// per attribute the same access costs one cache line per attribute.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/parcels/columns.hpp"

#include "merganser/base/language.hpp"

namespace merganser {

/// What the search reads of a parcel.
struct alignas(32) Site {
  double x = 0;       ///< position, in units of the box
  double y = 0;       ///< see x
  double z = 0;       ///< see x
  double volume = 0;  ///< > 0
};

/// How an attribute of a merged parcel follows from its members.
enum class Rule : std::uint8_t {
  mean,          ///< volume-weighted mean
  sum,           ///< sum
  centre,        ///< the centre's
  largest,       ///< that of the member of largest volume (lowest id among equals)
  ellipsoid,     ///< B11 B12 B13 B22 B23 of an ellipsoid: second moment, rescaled to the volume (5 components)
  callback,      ///< ClusterOptions::callbacks, or MergeRules::callbacks below it
  mean_present,  ///< volume-weighted mean of the members whose value is not NaN, which means missing; NaN if all are
  sum_present,   ///< sum of the members whose value is not NaN; NaN if all are
};

/// True for rules under which a total of all parcels stays: of volume times value for `mean`, of values for the sums.
[[nodiscard]] constexpr bool is_conserved(Rule rule) noexcept {
  return rule == Rule::mean || rule == Rule::sum || rule == Rule::sum_present;
}
/// True for rules that take NaN for a missing value.
[[nodiscard]] constexpr bool is_of_present(Rule rule) noexcept {
  return rule == Rule::mean_present || rule == Rule::sum_present;
}

/// One attribute of every parcel.
struct Attribute {
  std::string name;                          ///< unique in a schema
  int components = 1;                        ///< doubles per parcel
  Rule rule = Rule::mean;                    ///< how it merges
  std::vector<std::string> component_names;  ///< as in files; size = components
  std::string unit;

  friend bool operator==(const Attribute&, const Attribute&) = default;
};

/// The attributes of a parcel besides position and volume, and where they stand in a payload row.
class Schema {
 public:
  Schema() : Schema(std::vector<Attribute>{}) {}
  /// @throws UsageError for a repeated or empty name, a rule that is none, or an ellipsoid without 5 components
  explicit Schema(std::vector<Attribute> attributes);
  /// EPIC's: vorticity (3, mean), buoyancy (mean), B (5, ellipsoid).
  [[nodiscard]] static const Schema& epic();

  /// In the order of the row.
  [[nodiscard]] const std::vector<Attribute>& attributes() const noexcept { return attributes_; }
  /// Doubles per payload row, the id included; even, so that rows are 16-byte aligned.
  [[nodiscard]] std::size_t width() const noexcept { return width_; }
  /// Position of an attribute's first component in a row (>= 1; 0 is the id). @throws UsageError if unknown
  [[nodiscard]] std::size_t offset(std::string_view name) const;
  /// Position in a row of a component, by attribute and number or (component 0) by the component's own name.
  /// @throws UsageError if unknown, with the names that are known
  [[nodiscard]] std::size_t offset_of(std::string_view name, int component) const;
  /// True if an attribute has this name.
  [[nodiscard]] bool has(std::string_view name) const;
  friend bool operator==(const Schema&, const Schema&) = default;

 private:
  std::vector<Attribute> attributes_;
  std::vector<std::size_t> offsets_;
  std::size_t width_ = 2;
};

namespace detail {

/// Memory that begins at a cache line; from 8 MiB on, on huge pages where the system has them. For std::free().
/// @param bytes  rounded up to what is there @throws std::bad_alloc
[[nodiscard]] void* take_memory(std::size_t& bytes);

}  // namespace detail

/// Memory without initialisation, on huge pages where the system has them; pages are not touched before use.
class RawBuffer {
 public:
  RawBuffer() = default;
  explicit RawBuffer(std::size_t bytes) : data_(bytes > 0 ? detail::take_memory(bytes) : nullptr), bytes_(bytes) {}
  /// The memory; null without bytes.
  [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(data_.get()); }
  /// Its length.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<void, Free> data_;
  std::size_t bytes_ = 0;
};

/// Parcels of one rank.
class Parcels {
 public:
  Parcels() : Parcels(Schema::epic()) {}
  explicit Parcels(Schema schema) : schema_(std::move(schema)) {}
  Parcels(Parcels&&) = default;
  Parcels& operator=(Parcels&&) = default;
  Parcels(const Parcels& o);
  Parcels& operator=(const Parcels& o);

  /// What a row holds.
  [[nodiscard]] const Schema& schema() const noexcept { return schema_; }
  /// Parcels on this rank.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Parcels that there is room for without moving the tables.
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  /// Parcels whose bytes can be counted.
  [[nodiscard]] std::size_t max_size() const noexcept;
  /// Rows above the old size are uninitialised. Grows by at least a quarter. Like reserve() it throws UsageError above
  /// max_size() and std::bad_alloc without memory; the container is then as before.
  void resize(std::size_t n);
  /// Makes room for n parcels.
  void reserve(std::size_t n);
  /// No parcels; the memory is kept.
  void clear() noexcept { size_ = 0; }

  /// The table of sites; moves when the container grows.
  [[nodiscard]] Site* sites() noexcept { return reinterpret_cast<Site*>(sites_.data()); }
  [[nodiscard]] const Site* sites() const noexcept { return reinterpret_cast<const Site*>(sites_.data()); }
  /// Position and volume of parcel i, which is not checked.
  [[nodiscard]] Site& site(std::size_t i) noexcept { return sites()[i]; }
  [[nodiscard]] const Site& site(std::size_t i) const noexcept { return sites()[i]; }

  /// Payload row i: row(i)[0] holds the bits of the id, row(i)[schema().offset(name) + c] a component.
  [[nodiscard]] double* row(std::size_t i) noexcept { return rows() + i * schema_.width(); }
  [[nodiscard]] const double* row(std::size_t i) const noexcept { return rows() + i * schema_.width(); }
  /// The table of payload rows; moves when the container grows.
  [[nodiscard]] double* rows() noexcept { return reinterpret_cast<double*>(rows_.data()); }
  [[nodiscard]] const double* rows() const noexcept { return reinterpret_cast<const double*>(rows_.data()); }

  /// A number of every parcel by name: an attribute's component, the component by its own name, or x, y, z and volume.
  /// It moves when the container grows.
  ///
  ///     const Column salt = parcels.column("salt");
  ///     for (std::size_t i = 0; i < parcels.size(); ++i) salt[i] = 35;
  ///
  /// @throws UsageError for a name or component that is not there, with the names that are
  [[nodiscard]] Column column(std::string_view name, int component = 0);
  [[nodiscard]] ConstColumn column(std::string_view name, int component = 0) const;
  /// The ids, as integers; set_id() changes one.
  [[nodiscard]] IdColumn ids() const noexcept { return IdColumn({rows(), schema_.width()}); }

  /// Global id: unique over all ranks, need not be contiguous.
  [[nodiscard]] std::int64_t id(std::size_t i) const noexcept { return std::bit_cast<std::int64_t>(row(i)[0]); }
  /// Gives parcel i an id.
  void set_id(std::size_t i, std::int64_t id) noexcept { row(i)[0] = std::bit_cast<double>(id); }

  /// Exchanges the payload table for `rows`, which must have room for capacity() rows, and sets the size. For
  /// algorithms that write a new table from the old one.
  void exchange_rows(RawBuffer& rows, std::size_t n);
  /// Appends a copy of a parcel given as site and payload row of this schema's width.
  void append(const Site& site, const double* row);
  /// Bytes of one parcel in this container.
  [[nodiscard]] std::size_t parcel_bytes() const noexcept { return sizeof(Site) + schema_.width() * sizeof(double); }

 private:
  [[nodiscard]] ColumnOf<double> find_column(std::string_view name, int component) const;

  Schema schema_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  RawBuffer sites_;
  RawBuffer rows_;
};

}  // namespace merganser
