// Read access to graph files at any position, and agreement of all ranks on the first error in a file.
#include "src/graphs/files/disk.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>

#include "merganser/base/resources.hpp"
#include "merganser/base/text.hpp"

namespace merganser::graphs::detail {

void fail_at_byte(const std::string& path, std::uint64_t byte, const std::string& what) {
  throw PlacedError(byte, path + ": byte " + std::to_string(byte) + ": " + what);
}

std::string quote(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string out = "\"";
  for (const char c : text.substr(0, most)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (text.size() > most ? "...\"" : "\"");
}

// Check of the memory of a reader: throws before a reader's arrays outgrow the memory, so that the system does not kill the
// process.
void check_memory(const std::string& path, double bytes, int sharing, const std::string& what) {
  const auto there = static_cast<double>(available_bytes());
  if (there == 0 || bytes * sharing <= there) return;
  throw InputError(path + ": " + what + ", which takes about " + bytes_text(bytes) + " more" +
                   (sharing > 1 ? " on each of " + std::to_string(sharing) + " ranks here" : "") + "; there is " +
                   bytes_text(there) + ": use more memory, or more ranks on more machines");
}

// Agreement of ranks on one error of a file: a reduction finds the least position, and the rank that has it sends its error to the
// others.
void agree_first(comm::Transport& transport, const std::function<void()>& local) {
  std::int64_t position = INT64_MAX;
  std::exception_ptr error;
  try {
    local();
  } catch (const PlacedError& e) {
    position = static_cast<std::int64_t>(std::min<std::uint64_t>(e.position, INT64_MAX - 1));
    error = std::current_exception();
  } catch (const std::bad_alloc&) {
    position = 0;
    error = std::make_exception_ptr(InputError("out of memory while reading; allowed: what fits, more ranks share it"));
  } catch (const Error&) {
    position = 0;
    error = std::current_exception();
  }
  // Ranks that did not fail contribute INT64_MAX. Several ranks may fail at the least position (0, without a place); agree()
  // then decides for one of their errors.
  const std::int64_t first = transport.all_reduce(position, comm::Op::min);
  comm::agree(transport, [&] {
    if (error && position == first) std::rethrow_exception(error);
  });
}

// Graph file of a reader; refuses folders, pipes and devices, which have no positions.
File::File(std::string path) : path_(std::move(path)) {
  // O_NONBLOCK: opening a named pipe must not block until it has a writer; pipes are refused below.
  handle_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status {};
  if (handle_ < 0 || ::fstat(handle_, &status) != 0) {
    const int reason = errno;
    if (handle_ >= 0) ::close(handle_);
    throw InputError("cannot read " + path_ + ": " + std::strerror(reason));
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(handle_);
    throw InputError("cannot read " + path_ + ": it is no plain file; allowed: a file that all ranks can read at once");
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

File::~File() {
  if (handle_ >= 0) ::close(handle_);
}

// Reads part of a graph file, by as many system calls as it takes.
std::size_t File::read(std::uint64_t from, void* to, std::size_t bytes) const {
  std::size_t done = 0;
  // pread() may return less than requested, and be interrupted by a signal.
  while (done < bytes) {
    const ssize_t got = ::pread(handle_, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(from + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw InputError("cannot read " + path_ + ": " + std::strerror(errno));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void File::read_all(std::uint64_t from, void* to, std::size_t bytes, std::string_view what) const {
  const std::size_t got = read(from, to, bytes);
  if (got < bytes) fail_at_byte(path_, from + got, "the file ends inside " + std::string(what));
}

}  // namespace merganser::graphs::detail
