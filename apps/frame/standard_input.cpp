// Standard input of rank 0 as a temporary file without a name, which is standard input of all ranks.
#include "apps/frame/standard_input.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <thread>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/private_folder.hpp"
#include "merganser/comm/collectives.hpp"

namespace merganser::app {
namespace {

constexpr const char* kPath = "/dev/stdin";
/// Time after the end of standard input under a launcher within which the launcher's signal would come, if it was interrupted.
constexpr std::chrono::milliseconds kSignalWait{500};

/// Open file, which the destructor closes.
struct OpenFile {
  int number = -1;
  explicit OpenFile(int n) : number(n) {}
  ~OpenFile() {
    if (number >= 0) ::close(number);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
};

/// Throws the error of standard input. @throws InputError
[[noreturn]] void refuse(const std::string& what) {
  throw InputError("standard input (-): " + what + "; allowed: a pipe or a file");
}

/// Writes bytes to the temporary copy of standard input. @throws InputError
void write_all(int to, const char* bytes, std::size_t count, const std::string& folder) {
  while (count > 0) {
    const ssize_t done = ::write(to, bytes, count);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0)
      throw InputError("cannot keep standard input (-) in " + folder + ": " + std::strerror(errno) +
                       "; allowed: a folder with room for it (TMPDIR names it)");
    bytes += done;
    count -= static_cast<std::size_t>(done);
  }
}

/// Copies standard input to a new file. Local. @throws InputError
void copy_to(const std::string& path) {
  const OpenFile to(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (to.number < 0) throw InputError("cannot write " + path + ": " + std::strerror(errno));
  std::vector<char> buffer(std::size_t{1} << 18);
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(std::strerror(errno));
    if (got == 0) return;
    write_all(to.number, buffer.data(), static_cast<std::size_t>(got), path);
  }
}

/// Returns true if standard input is a plain file from its beginning on, which needs no copy where no other process reads it.
/// @throws InputError if it is closed, a terminal or a folder
bool is_whole_file() {
  struct stat status {};
  if (::fstat(STDIN_FILENO, &status) != 0) refuse("it is closed");
  if (S_ISDIR(status.st_mode)) refuse("it is a folder");
  if (::isatty(STDIN_FILENO) == 1) refuse("it is a terminal");
  if (!S_ISREG(status.st_mode) || ::lseek(STDIN_FILENO, 0, SEEK_CUR) != 0) return false;
  const OpenFile again(
      ::open(kPath, O_RDONLY | O_CLOEXEC));  // fails for a file that this user may not open by its name
  return again.number >= 0;
}

/// Makes a file standard input of this process. @throws InputError
void become_input(const std::string& path, int rank) {
  const OpenFile file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.number < 0 || ::dup2(file.number, STDIN_FILENO) < 0)
    throw InputError("rank " + std::to_string(rank) + " cannot read " + path + ", the copy of standard input (-): " +
                     std::strerror(errno) + "; allowed: a folder in TMPDIR that the hosts of all ranks share");
}

}  // namespace

std::string input_name(const std::string& path) { return path == "-" ? "standard input" : path; }

std::string readable_input(const std::string& path, comm::Transport& transport) {
  if (path != "-") return path;
  const bool alone = transport.size() == 1 || !transport.capabilities().processes;
  std::optional<PrivateFolder> folder;
  std::string copy;
  comm::agree(transport, [&] {
    if (transport.rank() != 0 || (is_whole_file() && alone)) return;
    folder.emplace();
    copy = folder->file("standard_input");
    copy_to(copy);
    // A launcher that is interrupted closes the standard input of rank 0 before it ends the ranks: what was cut off there must not be
    // taken as the whole of it.
    if (!alone) std::this_thread::sleep_for(kSignalWait);
  });
  const auto name = comm::broadcast_from_first(transport, copy);
  copy.assign(name.begin(), name.end());
  // Ranks that are threads share standard input.
  comm::agree(transport, [&] {
    if (!copy.empty() && (transport.rank() == 0 || !alone)) become_input(copy, transport.rank());
  });
  return kPath;
}

}  // namespace merganser::app
