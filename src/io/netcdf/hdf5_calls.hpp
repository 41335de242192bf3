#pragma once
/// Calls of the HDF5 library that NetCDF itself works with. It is found in the process, through NetCDF: nothing is linked or
/// loaded for it. Call all of it under the lock of nc_file.hpp.
#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace merganser::io::hdf5 {

/// An identifier of HDF5 1.10 and later: of a file, a dataset, a type, a space.
using Id = std::int64_t;
inline constexpr Id kNoId = -1;
using Length = unsigned long long;  // hsize_t
inline constexpr Length kUnlimited = ~Length{0};

enum class TypeClass : int { integer = 0, floating = 1, text = 3 };

/// The functions, by what they do here.
struct Calls {
  int (*version)(unsigned*, unsigned*, unsigned*);
  ssize_t (*count_objects)(Id of, unsigned kinds);
  ssize_t (*list_objects)(Id of, unsigned kinds, std::size_t most, Id* to);
  int (*is_link)(Id at, const char* name, Id access);
  Id (*open_dataset)(Id at, const char* name, Id access);
  int (*close_dataset)(Id);
  Id (*type_of)(Id dataset);
  Id (*native_type)(Id type, int direction);
  int (*type_class)(Id type);
  std::size_t (*type_size)(Id type);
  int (*is_any_text)(Id type);
  int (*close_type)(Id);
  Id (*space_of)(Id dataset);
  Id (*make_space)(int rank, const Length* lengths, const Length* most);
  int (*rank)(Id space);
  int (*lengths)(Id space, Length* now, Length* most);
  int (*select)(Id space, int how, const Length* start, const Length* stride, const Length* count, const Length* block);
  int (*close_space)(Id);
  int (*read)(Id dataset, Id memory_type, Id memory_space, Id file_space, Id transfer, void* to);
};

/// Finds the functions. @return null where NetCDF has no HDF5 of version 1.10 or later, or it cannot be told which
[[nodiscard]] const Calls* calls();
/// Lists the files that are open in it, ascending; none without calls().
[[nodiscard]] std::vector<Id> open_files();

/// Closes an identifier when it ends.
class Held {
 public:
  Held(Id id, int (*close)(Id)) : id_(id), close_(close) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    if (id_ >= 0) close_(id_);
  }
  [[nodiscard]] Id id() const noexcept { return id_; }
  explicit operator bool() const noexcept { return id_ >= 0; }

 private:
  Id id_;
  int (*close_)(Id);
};

}  // namespace merganser::io::hdf5
