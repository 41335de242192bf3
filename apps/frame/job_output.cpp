// Copier of a job's standard output: a child process that checks every write, so that a full disk or a closed reader is seen.
#include "apps/frame/job_output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <new>
#include <vector>

namespace merganser::app {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 16;  // capacity of a pipe of Linux
constexpr int kInterrupt = SIGURG;                         // ignored by default, and unused elsewhere in this program

}  // namespace

// Starts the copier of a job's standard output as a child process, with a page of shared state.
JobOutput::JobOutput(int to) : to_(to) {
  ::fcntl(pipe_.from.number, F_SETFL, O_NONBLOCK);
  void* const page = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw CommError(std::string("cannot share memory: ") + std::strerror(errno));
  shared_ = new (page) Shared;
  std::fflush(nullptr);
  copier_ = ::fork();
  if (copier_ == 0) {
    struct sigaction interrupt {};
    interrupt.sa_handler = [](int) {};  // a handled signal interrupts write() and poll(); an ignored one does not
    sigemptyset(&interrupt.sa_mask);
    ::sigaction(kInterrupt, &interrupt, nullptr);
    pipe_.to.close();
    wake_.to.close();
    copy();
    ::_exit(0);
  }
  if (copier_ > 0) return;
  const int error = errno;
  ::munmap(page, sizeof(Shared));
  throw CommError(std::string("cannot start a process: ") + std::strerror(error));
}

// Ends the copier, whatever it waits for.
JobOutput::~JobOutput() {
  finish();
  // Repeated: a signal that arrives between the copier's test of given_up and its write() interrupts nothing.
  while (!shared_->done && ::waitpid(copier_, nullptr, WNOHANG) == 0) {
    discard();
    ::usleep(1000);
  }
  while (::waitpid(copier_, nullptr, 0) < 0 && errno == EINTR) continue;
  ::munmap(shared_, sizeof(Shared));
}

void JobOutput::redirect_standard_output() const { ::dup2(pipe_.to.number, STDOUT_FILENO); }

void JobOutput::finish() {
  close_input();
  wake_.to.close();
}

void JobOutput::discard() {
  shared_->given_up = true;
  if (!shared_->done) ::kill(copier_, kInterrupt);
}

/// Body of the copier process: copies the job's output from the pipe to standard output until the pipe is empty after the
/// launcher's end.
void JobOutput::copy() {
  std::vector<char> block(kBlockBytes);
  for (bool more = true; more;) {
    std::array<pollfd, 2> ready{pollfd{pipe_.from.number, POLLIN, 0}, pollfd{wake_.from.number, POLLIN, 0}};
    if (::poll(ready.data(), ready.size(), -1) < 0) continue;
    const bool finishing = ready[1].revents != 0;
    const ssize_t n = ::read(pipe_.from.number, block.data(), block.size());
    if (n > 0) {
      shared_->writing = true;
      write(block.data(), static_cast<std::size_t>(n));
      shared_->writing = false;
    } else {
      more = n < 0 && (errno == EINTR || (errno == EAGAIN && !finishing));
    }
  }
  shared_->done = true;
}

/// Writes all bytes of a piece of the job's output to standard output, or records errno of the failure in the shared state.
void JobOutput::write(const char* data, std::size_t bytes) {
  while (bytes > 0 && shared_->error == 0) {
    if (shared_->given_up) {
      shared_->error = EINTR;
      return;
    }
    const ssize_t n = ::write(to_, data, bytes);
    if (n > 0) {
      data += n;
      bytes -= static_cast<std::size_t>(n);
    } else if (n < 0 && errno == EAGAIN) {  // another process has made the shared open file description non-blocking
      pollfd out{to_, POLLOUT, 0};
      ::poll(&out, 1, -1);
    } else if (n == 0 || errno != EINTR) {
      shared_->error = n == 0 ? EIO : errno;
    }
  }
}

}  // namespace merganser::app
