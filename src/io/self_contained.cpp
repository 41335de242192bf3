/// check_self_contained() of data_file.hpp: refuses files with references to other files before the NetCDF library opens
/// them, since HDF5 follows such references on its own.
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include "merganser/base/error.hpp"
#include "merganser/io/data_file.hpp"
#include "src/io/hdf5/references.hpp"

namespace merganser::io {

// Check of a NetCDF file before the library opens it: regular file, signature of NetCDF, no references to other files.
std::int64_t check_self_contained(const std::string& path) {
  struct stat s {};
  if (stat(path.c_str(), &s) != 0) throw InputError("cannot read " + path + ": " + std::strerror(errno));
  if (!S_ISREG(s.st_mode)) throw InputError("cannot read " + path + ": not a plain file");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError("cannot read " + path + ": " + std::strerror(errno));
  if (s.st_size == 0) throw InputError(path + ": the file is empty");
  std::array<char, 8> head{};
  file.read(head.data(), head.size());
  const std::string_view begin(head.data(), static_cast<std::size_t>(file.gcount()));
  const bool classic =
      begin.size() >= 4 && begin.starts_with("CDF") && std::strchr("\x01\x02\x05", begin[3]) != nullptr;
  if (!classic && begin != std::string_view("\x89HDF\r\n\x1a\n", 8))
    throw InputError(path + ": not a NetCDF file; its first bytes are neither those of HDF5 nor CDF");
  if (!classic) hdf5::check_references(path);
  return static_cast<std::int64_t>(s.st_size);
}

}  // namespace merganser::io
