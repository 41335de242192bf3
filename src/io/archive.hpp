#pragma once
/// What describes a file as bytes, so that the rank that has read it can tell the others.
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/io/parcel_file.hpp"

namespace merganser::io {

/// Every field of a struct, in order, handed to `a`: packing and unpacking walk the same lists.
template <class A>
void fields(A& a, FileValues& v) {
  a(v.type, v.count, v.bytes, v.strings);
}
template <class A>
void fields(A& a, FileAttribute& v) {
  a(v.name, v.values);
}
template <class A>
void fields(A& a, FileStorage& v) {
  a(v.chunk, v.deflate, v.shuffle, v.checksum);
}
template <class A>
void fields(A& a, FileVariable& v) {
  a(v.name, v.dimensions, v.attributes, v.storage, v.values);
}
template <class A>
void fields(A& a, FileDimension& v) {
  a(v.name, v.length, v.unlimited);
}
template <class A>
void fields(A& a, FileGroup& v) {
  a(v.name, v.attributes, v.dimensions, v.variables, v.groups);
}
template <class A>
void fields(A& a, FileLoss& v) {
  a(v.name, v.what);
}
template <class A>
void fields(A& a, FileHeading& v) {
  a(v.root, v.columns, v.lost);
}
template <class A>
void fields(A& a, Grid& v) {
  a(v.box.lower, v.box.extent, v.box.periodic, v.cells);
}
template <class A>
void fields(A& a, Attribute& v) {
  a(v.name, v.components, v.rule, v.component_names, v.unit);
}
template <class A>
void fields(A& a, ParcelFileInfo& v) {
  std::vector<Attribute> attributes = v.schema.attributes();
  a(v.grid, v.parcels, v.time, v.classic, v.has_ids, attributes, v.heading);
  if constexpr (A::kReads) v.schema = Schema(std::move(attributes));
}

class Packer {
 public:
  static constexpr bool kReads = false;
  template <class... T>
  void operator()(T&... values) {
    (put(values), ...);
  }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  void raw(const void* from, std::size_t bytes) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + bytes);
    if (bytes > 0) std::memcpy(bytes_.data() + at, from, bytes);
  }
  template <class T>
  void put(T& value) {
    if constexpr (requires { fields(*this, value); }) {
      fields(*this, value);
    } else {
      static_assert(std::is_trivially_copyable_v<T>);
      raw(&value, sizeof value);
    }
  }
  void put(std::string& text) {
    std::size_t size = text.size();
    put(size);
    raw(text.data(), size);
  }
  template <class T>
  void put(std::vector<T>& list) {
    std::size_t size = list.size();
    put(size);
    if constexpr (std::is_same_v<T, std::byte>) {
      raw(list.data(), size);
    } else {
      for (T& item : list) put(item);
    }
  }

  std::vector<std::byte> bytes_;
};

class Unpacker {
 public:
  static constexpr bool kReads = true;
  explicit Unpacker(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }

 private:
  void raw(void* to, std::size_t bytes) {
    if (bytes > bytes_.size()) throw CommError("the description of a parcel file has arrived in part only");
    if (bytes > 0) std::memcpy(to, bytes_.data(), bytes);
    bytes_ = bytes_.subspan(bytes);
  }
  std::size_t size() {
    std::size_t size = 0;
    raw(&size, sizeof size);
    if (size > bytes_.size()) throw CommError("the description of a parcel file has arrived in part only");
    return size;
  }
  template <class T>
  void get(T& value) {
    if constexpr (requires { fields(*this, value); }) {
      fields(*this, value);
    } else {
      static_assert(std::is_trivially_copyable_v<T>);
      raw(&value, sizeof value);
    }
  }
  void get(std::string& text) {
    text.resize(size());
    raw(text.data(), text.size());
  }
  template <class T>
  void get(std::vector<T>& list) {
    list.resize(size());
    if constexpr (std::is_same_v<T, std::byte>) {
      raw(list.data(), list.size());
    } else {
      for (T& item : list) get(item);
    }
  }

  std::span<const std::byte> bytes_;
};

}  // namespace merganser::io
