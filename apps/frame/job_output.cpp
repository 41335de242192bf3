#include "apps/frame/job_output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <vector>

namespace merganser::app {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 16;  // what a pipe of Linux holds
constexpr int kInterrupt = SIGURG;                         // ignored by default, and sent by no one else here

}  // namespace

JobOutput::JobOutput() {
  ::fcntl(pipe_.from.number, F_SETFL, O_NONBLOCK);
  struct sigaction interrupt {};
  interrupt.sa_handler = [](int) {};  // ends a write or a poll, which a signal that is ignored does not
  sigemptyset(&interrupt.sa_mask);
  ::sigaction(kInterrupt, &interrupt, nullptr);
  thread_ = std::thread([this] { copy(); });
}

JobOutput::~JobOutput() {
  finish();
  while (!done_) {
    give_up();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  thread_.join();
}

void JobOutput::take_standard_output() const {
  ::dup2(pipe_.to.number, STDOUT_FILENO);
  // The launcher keeps an end that could be read from: should this process be killed, its output must not break before it
  // has stopped the ranks.
  ::fcntl(pipe_.from.number, F_SETFD, 0);
}

void JobOutput::finish() {
  close_input();
  wake_.to.close();
}

void JobOutput::give_up() {
  given_up_ = true;
  if (!done_) ::pthread_kill(thread_.native_handle(), kInterrupt);
}

void JobOutput::copy() {
  std::vector<char> block(kBlockBytes);
  for (bool more = true; more;) {
    std::array<pollfd, 2> ready{pollfd{pipe_.from.number, POLLIN, 0}, pollfd{wake_.from.number, POLLIN, 0}};
    if (::poll(ready.data(), ready.size(), -1) < 0) continue;
    const bool finishing = ready[1].revents != 0;
    const ssize_t n = ::read(pipe_.from.number, block.data(), block.size());
    if (n > 0) {
      writing_ = true;
      write(block.data(), static_cast<std::size_t>(n));
      writing_ = false;
    } else {
      more = n < 0 && (errno == EINTR || (errno == EAGAIN && !finishing));
    }
  }
  done_ = true;
  ::pthread_kill(owner_, SIGCHLD);
}

void JobOutput::write(const char* data, std::size_t bytes) {
  while (bytes > 0 && error_ == 0) {
    if (given_up_) {
      error_ = EINTR;
      return;
    }
    const ssize_t n = ::write(STDOUT_FILENO, data, bytes);
    if (n > 0) {
      data += n;
      bytes -= static_cast<std::size_t>(n);
    } else if (n < 0 && errno == EAGAIN) {  // others have made what they share with this process non-blocking
      pollfd out{STDOUT_FILENO, POLLOUT, 0};
      ::poll(&out, 1, -1);
    } else if (n == 0 || errno != EINTR) {
      error_ = n == 0 ? EIO : errno;
    }
  }
}

}  // namespace merganser::app
