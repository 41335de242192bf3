#pragma once
/// A file that all ranks write, and that appears whole or not at all.
#include <cstdint>
#include <memory>
#include <string>

#include "merganser/base/output_file.hpp"
#include "merganser/base/pinned.hpp"
#include "merganser/comm/transport.hpp"

namespace merganser::comm {

/// An OutputFile of rank 0 that the other ranks open too.
class SharedOutput : Pinned {
 public:
  /// Begins the file. Collective.
  /// @param bytes   how large the file will be; 0: unknown
  /// @param opened  by_name: a library opens name(); else only write() is used
  /// @throws InputError on every rank if the destination is no place for it
  SharedOutput(std::string path, Transport& transport, std::int64_t bytes = 0,
               OutputFile::Opened opened = OutputFile::Opened::here);
  /// Removes what was not committed.
  ~SharedOutput();

  /// Under which any rank may open the file until commit().
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Writes at a place of the file, from this rank. @throws InputError on this rank
  void write(std::uint64_t at, const void* data, std::uint64_t bytes);
  /// As OutputFile::hold_room(). Collective. @throws InputError on every rank
  void hold_room();
  /// Gives the file its name. Collective. @throws InputError on every rank; then the old file is still there
  void commit();

 private:
  std::string path_;
  Transport& transport_;
  std::string name_;
  std::unique_ptr<OutputFile> file_;  // of rank 0
  int opened_ = -1;                   // descriptor on the others, once they write
};

}  // namespace merganser::comm
