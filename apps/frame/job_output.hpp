#pragma once
/// What a job prints on standard output, written by this process: launchers go on after a write that fails.
#include <pthread.h>

#include <atomic>
#include <thread>

#include "apps/frame/pipe.hpp"

namespace merganser::app {

/// Copies what a launcher prints from a pipe to standard output of this process, every byte or an error. A thread does so,
/// which takes no signal that is blocked when the object is made. After an error the rest is read and dropped, so that the
/// job ends as it would have: its files are written.
class JobOutput : Pinned {
 public:
  /// Begins to copy. @throws CommError, std::system_error if the system gives no pipe or no thread
  JobOutput();
  /// As give_up() and finish(); waits for the thread.
  ~JobOutput();

  /// In the new process, before its program begins: its standard output becomes the pipe.
  void take_standard_output() const;
  /// The launcher has started: from now on only that holds the end that is written to.
  void close_input() { pipe_.to.close(); }
  /// The launcher has ended and wrote all it had: the copy ends when the pipe is empty.
  void finish();
  /// Drops what is not written yet, although whoever reads standard output may only be slow. May be called again.
  void give_up();

  /// Whether nothing more will be written. The thread that made the object then gets a SIGCHLD.
  [[nodiscard]] bool done() const { return done_; }
  /// Whether there is something to write: if it stays so, whoever reads standard output is slow.
  [[nodiscard]] bool is_writing() const { return writing_; }
  /// errno of the first write that failed; EINTR: given up; 0: all is written
  [[nodiscard]] int error() const { return error_; }

 private:
  void copy();
  void write(const char* data, std::size_t bytes);

  Pipe pipe_;
  Pipe wake_;  // closed at one end: nothing more will come
  std::atomic<bool> given_up_ = false;
  std::atomic<bool> writing_ = false;
  std::atomic<bool> done_ = false;
  std::atomic<int> error_ = 0;
  pthread_t owner_ = ::pthread_self();
  std::thread thread_;
};

}  // namespace merganser::app
