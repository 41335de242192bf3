// Output file that all ranks write in parallel; errors of one rank in collective calls become errors of all.
#include "merganser/comm/shared_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"

namespace merganser::comm {
namespace {

/// Throws InputError for a failed write of the shared output file, with the system's text for `error`, an errno.
[[noreturn]] void fail(const std::string& path, int error) {
  throw InputError("cannot write " + path + ": " + std::strerror(error) + free_space_note(path));
}

}  // namespace

// Creates a file that all ranks write: rank 0 creates it, other threads share it, other processes open it by name once they write.
// Collective.
SharedOutput::SharedOutput(std::string path, Transport& transport, std::int64_t bytes, OutputFile::Opened opened)
    : path_(std::move(path)), transport_(transport) {
  if (transport.size() > 1 && transport.capabilities().processes) opened = OutputFile::Opened::by_name;
  agree(transport_, [&] {
    if (transport_.rank() == 0) file_ = std::make_shared<OutputFile>(path_, bytes, opened);
  });
  const auto name = broadcast_from_first(transport_, file_ ? file_->name() : std::string());
  name_.assign(name.begin(), name.end());
  if (transport.size() == 1 || transport.capabilities().processes || opened == OutputFile::Opened::by_name) return;
  // Opening an unnamed file again needs the permissions of its mode, which the umask may withhold.
  const std::shared_ptr<OutputFile>* const mine = &file_;
  const auto first = broadcast_from_first(transport_, std::span(&mine, 1));
  if (transport_.rank() != 0) file_ = *first[0];
  transport_.barrier();  // until every thread has its reference, rank 0 keeps its own
}

SharedOutput::~SharedOutput() {
  if (opened_ >= 0) ::close(opened_);
}

// Writes this rank's part of the shared file at an offset; parts of ranks do not overlap.
void SharedOutput::write(std::uint64_t at, const void* data, std::uint64_t bytes) {
  if (file_) return file_->write(at, data, bytes);
  if (opened_ < 0) opened_ = ::open(name_.c_str(), O_WRONLY | O_CLOEXEC);
  if (opened_ < 0) fail(path_, errno);
  for (std::uint64_t done = 0; done < bytes;) {
    const ssize_t n =
        ::pwrite(opened_, static_cast<const char*>(data) + done, bytes - done, static_cast<off_t>(at + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail(path_, n == 0 ? EIO : errno);
    done += static_cast<std::uint64_t>(n);
  }
}

void SharedOutput::hold_room() {
  agree(transport_, [&] {
    if (transport_.rank() == 0) file_->hold_room();
  });
}

// End of a shared file: every rank's data are on disk before the file gets its final name. Collective.
void SharedOutput::commit() {
  agree(transport_, [&] {  // file systems may report the failure of a write as late as in fsync() or close()
    const int opened = opened_;
    opened_ = -1;
    if (opened >= 0 && ::fsync(opened) != 0 && errno != EINVAL) {  // EINVAL: a file that cannot be synchronised
      const int error = errno;
      ::close(opened);
      fail(path_, error);
    }
    if (opened >= 0 && ::close(opened) != 0) fail(path_, errno);
  });
  agree(transport_, [&] {  // after every rank has flushed: the final name shows complete data only
    if (transport_.rank() == 0) file_->commit();
  });
}

}  // namespace merganser::comm
