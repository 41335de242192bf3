#pragma once
/// Serialises the description of a parcel file (ParcelFileInfo), so that the rank that has read it can broadcast it.
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/io/parcel_file.hpp"

namespace merganser::io {

// visit_fields() passes every field of a struct, in order, to an archive. Packing and unpacking share these lists, so both
// ends agree on the format; it holds within one job only, whose ranks run the same program.
template <class A>
void visit_fields(A& a, FileValues& v) {
  a(v.type, v.count, v.bytes, v.strings);
}
template <class A>
void visit_fields(A& a, FileAttribute& v) {
  a(v.name, v.values);
}
template <class A>
void visit_fields(A& a, FileStorage& v) {
  a(v.chunk, v.deflate, v.shuffle, v.checksum);
}
template <class A>
void visit_fields(A& a, FileVariable& v) {
  a(v.name, v.dimensions, v.attributes, v.storage, v.values, v.unwritten, v.skip_missing);
}
template <class A>
void visit_fields(A& a, FileDimension& v) {
  a(v.name, v.length, v.unlimited);
}
template <class A>
void visit_fields(A& a, FileGroup& v) {
  a(v.name, v.attributes, v.dimensions, v.variables, v.groups);
}
template <class A>
void visit_fields(A& a, FileLoss& v) {
  a(v.name, v.what);
}
template <class A>
void visit_fields(A& a, OpenpmdSource& v) {
  a(v.file, v.iteration, v.meshes, v.particles, v.species, v.constants, v.marked_ids);
}
template <class A>
void visit_fields(A& a, ColumnName& v) {
  a(v.column, v.name);
}
template <class A>
void visit_fields(A& a, CsvSource& v) {
  a(v.bytes, v.rows, v.names, v.types, v.texts, v.places);
}
template <class A>
void visit_fields(A& a, FileMetadata& v) {
  a(v.format, v.openpmd, v.root, v.columns, v.lost, v.csv_names, v.csv);
}
template <class A>
void visit_fields(A& a, Grid& v) {
  a(v.box.lower, v.box.extent, v.box.periodic, v.cells);
}
template <class A>
void visit_fields(A& a, Attribute& v) {
  a(v.name, v.components, v.rule, v.component_names, v.unit);
}
template <class A>
void visit_fields(A& a, std::optional<double>& v) {  // an empty one has indeterminate bytes, which must not be sent
  bool given = v.has_value();
  double value = v.value_or(0);
  a(given, value);
  if constexpr (A::kReads) v = given ? std::optional(value) : std::nullopt;
}
template <class A>
void visit_fields(A& a, ParcelFileInfo& v) {
  std::vector<Attribute> attributes = v.schema.attributes();
  a(v.grid, v.says_periodic, v.min_volume_ratio, v.parcels, v.time, v.classic, v.has_ids, attributes, v.metadata,
    v.says_grid, v.notes);
  if constexpr (A::kReads) v.schema = Schema(std::move(attributes));
}

/// Byte archive that serialises the description of a parcel file (ParcelFileInfo) for its broadcast from rank 0: appends the
/// fields of the structs to its bytes (packing) or fills them from given bytes (unpacking).
template <bool kReading>
class Archive {
 public:
  static constexpr bool kReads = kReading;
  Archive() = default;
  explicit Archive(std::span<const std::byte> bytes) : rest_(bytes) {}
  template <class... T>
  void operator()(T&... values) {
    (transfer(values), ...);
  }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  /// Appends the bytes of one field of the file description to the archive, or fills the field from the next bytes.
  void transfer_bytes(void* at, std::size_t bytes) {
    if (bytes == 0) return;
    if constexpr (kReads) {
      check_left(bytes);
      std::memcpy(at, rest_.data(), bytes);
      rest_ = rest_.subspan(bytes);
    } else {
      const auto* from = static_cast<const std::byte*>(at);
      bytes_.insert(bytes_.end(), from, from + bytes);
    }
  }
  /// Checks that `bytes` bytes of a received file description are left to unpack. @throws CommError if fewer are left: a
  /// length is checked before memory is allocated for it
  void check_left(std::size_t bytes) const {
    if (bytes > rest_.size()) throw CommError("the description of a parcel file has arrived in part only");
  }
  /// Packs or unpacks one field of the file description: field by field where visit_fields() knows its type, else as bytes.
  template <class T>
  void transfer(T& value) {
    if constexpr (requires { visit_fields(*this, value); }) {
      visit_fields(*this, value);
    } else {
      static_assert(std::is_trivially_copyable_v<T>);
      transfer_bytes(&value, sizeof value);
    }
  }
  /// Packs or unpacks a string or vector of the file description: its length, then its entries.
  template <class List>
  void transfer_list(List& items) {
    std::size_t size = items.size();
    transfer(size);
    if constexpr (kReads) {
      check_left(size);
      items.resize(size);
    }
    if constexpr (sizeof(typename List::value_type) == 1) {
      transfer_bytes(items.data(), size);
    } else {
      for (auto& item : items) transfer(item);
    }
  }
  void transfer(std::string& text) { transfer_list(text); }
  template <class T>
  void transfer(std::vector<T>& items) {
    transfer_list(items);
  }

  std::vector<std::byte> bytes_;
  std::span<const std::byte> rest_;
};
/// Archive of rank 0, which serialises the description of a parcel file.
using Packer = Archive<false>;
/// Archive of the other ranks, which restores the description of a parcel file from the bytes that rank 0 broadcast.
using Unpacker = Archive<true>;

}  // namespace merganser::io
