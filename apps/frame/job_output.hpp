#pragma once
/// What a job prints on standard output, written by this process: launchers go on after a write that fails.
#include <sys/types.h>

#include <atomic>

#include "apps/frame/pipe.hpp"

namespace merganser::app {

/// Copies what a launcher prints from a pipe to standard output of this process, every byte or an error. A process of its own
/// does so: no thread, since the kernel tells the launcher once for each thread that its parent has died, and Open MPI's takes
/// the second time for an order to leave the ranks. After an error the rest is read and dropped, so that the job ends as it would
/// have: its files are written.
class JobOutput : Pinned {
 public:
  /// Begins to copy. @throws CommError if the system gives no pipe or no process
  JobOutput();
  /// As give_up() and finish(); waits for the process.
  ~JobOutput();

  /// In the new process, before its program begins: its standard output becomes the pipe.
  void take_standard_output() const;
  /// The launcher has started: from now on only that holds the end that is written to.
  void close_input() { pipe_.to.close(); }
  /// The launcher has ended and wrote all it had: the copy ends when the pipe is empty.
  void finish();
  /// Drops what is not written yet, although whoever reads standard output may only be slow. May be called again.
  void give_up();

  /// Whether nothing more will be written. This process then gets a SIGCHLD.
  [[nodiscard]] bool done() const { return shared_->done; }
  /// Whether there is something to write: if it stays so, whoever reads standard output is slow.
  [[nodiscard]] bool is_writing() const { return shared_->writing; }
  /// errno of the first write that failed; EINTR: given up; 0: all is written
  [[nodiscard]] int error() const { return shared_->error; }

 private:
  /// What both processes see.
  struct Shared {
    std::atomic<bool> given_up = false, writing = false, done = false;
    std::atomic<int> error = 0;
  };
  void copy();
  void write(const char* data, std::size_t bytes);

  Pipe pipe_;
  Pipe wake_;  // closed at one end: nothing more will come
  Shared* shared_ = nullptr;
  pid_t copier_ = -1;
};

}  // namespace merganser::app
