#pragma once
/// Forwarding of a job's standard output by `run`, with every write checked. Forced by the launchers,
/// which go on and end with 0 when their own standard output is full, closed or left by its reader, so that lines are lost unseen.
#include <sys/types.h>

#include <atomic>

#include "apps/frame/pipe.hpp"

namespace merganser::app {

/// Copies the launcher's output from a pipe to standard output of this process, or to standard error where that is a result's: every byte, or an error is recorded. The copier is
/// a child process, not a thread: if this process is killed, the kernel sends the launcher's parent-death signal once for each
/// thread, and Open MPI's mpirun takes the second SIGTERM as an order to leave at once, without its ranks and their shared memory.
/// After a write error the rest is read and discarded, so that the job runs to its end and its files are written.
class JobOutput : Pinned {
 public:
  /// Starts the copier of the job's standard output. @param to  descriptor that the output is copied to
  /// @throws CommError if the system gives no pipe, no shared page or no process
  explicit JobOutput(int to);
  /// Ends the copy of the job's output, discards output not written yet, and waits for the copier to end.
  ~JobOutput();

  /// Redirects standard output of the calling process to the pipe that the copier reads. Called in the forked child, before it
  /// executes the launcher.
  void redirect_standard_output() const;
  /// Closes this process' write end of the pipe, once the launcher has started and holds its own.
  void close_input() { pipe_.to.close(); }
  /// Lets the copier end when the pipe with the job's output is empty. Called after the launcher has ended; an end of file alone
  /// does not do, since processes that the launcher left behind may still hold the write end.
  void finish();
  /// Discards the job's output that is not written yet, although the reader of standard output may only be slow. May be called
  /// repeatedly.
  void discard();

  /// Returns true if the copier of the job's output has finished; this process then receives a SIGCHLD.
  [[nodiscard]] bool done() const { return shared_->done; }
  /// Returns true if the copier of the job's output is in a write; if it stays so, the reader of standard output is slow.
  [[nodiscard]] bool is_writing() const { return shared_->writing; }
  /// Returns errno of the first write of the job's output that failed; EINTR after discard(); 0 if all output was written.
  [[nodiscard]] int error() const { return shared_->error; }

 private:
  /// State in memory shared by this process and the copier of the job's output.
  struct Shared {
    std::atomic<bool> given_up = false, writing = false, done = false;
    std::atomic<int> error = 0;
  };
  void copy();
  void write(const char* data, std::size_t bytes);

  Pipe pipe_;
  Pipe wake_;  // its write end closed: the launcher has ended, and the copier stops when pipe_ is empty
  Shared* shared_ = nullptr;
  int to_;  // descriptor that the output is copied to
  pid_t copier_ = -1;
};

}  // namespace merganser::app
