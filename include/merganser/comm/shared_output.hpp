#pragma once
/// Output file that all ranks write in parallel, and that appears whole under its name or not at all.
#include <cstdint>
#include <memory>
#include <string>

#include "merganser/base/output_file.hpp"
#include "merganser/base/pinned.hpp"
#include "merganser/comm/transport.hpp"

namespace merganser::comm {

/// Output file under a temporary name, created by rank 0. Other ranks write through its descriptor where ranks are threads, and open it
/// by name once they write where they are processes or a library needs the name. Its writes are independent; beginning and committing it
/// are collective. Destructors without commit() remove it.
class SharedOutput : Pinned {
 public:
  /// Creates the shared output file under a temporary name, on rank 0. Collective. `transport` must outlive the object.
  /// @param bytes   final size of the file in bytes, to be checked against free space; 0: unknown
  /// @param opened  by_name: a library opens name(); else only write() is used
  /// @throws InputError on every rank if no file can be made at `path`
  SharedOutput(std::string path, Transport& transport, std::int64_t bytes = 0,
               OutputFile::Opened opened = OutputFile::Opened::here);
  /// Closes the shared output file on this rank; the last rank that has its descriptor removes it if it was not committed. Local.
  ~SharedOutput();

  /// Returns the temporary name of the shared output file, under which any rank may open it until commit().
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Writes `bytes` bytes at offset `at` (in bytes) of the shared output file. Local, independent of other ranks.
  /// @throws InputError on this rank only
  void write(std::uint64_t at, const void* data, std::uint64_t bytes);
  /// Reserves disk space for the whole output file, where the file system can, so that a library that writes the file by name
  /// does not run out of it. Called by every rank once the file exists and before it has data. Collective.
  /// @throws InputError on every rank if there is too little space
  void hold_room();
  /// Flushes the shared output file on all ranks and renames it to its final name. Collective.
  /// @throws InputError on every rank; a former file of that name is then unchanged
  void commit();

 private:
  std::string path_;  // final name of the file
  Transport& transport_;
  std::string name_;                  // temporary name of the file
  std::shared_ptr<OutputFile> file_;  // on rank 0, and on the threads that write through it
  int opened_ = -1;                   // descriptor on ranks without file_, -1 until they write
};

}  // namespace merganser::comm
