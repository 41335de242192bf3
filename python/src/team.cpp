/// Teams of the Python bindings: calls on this process alone, on threads of it, or over a communicator; shares of array rows.
#include "python/src/team.hpp"

#include "merganser/base/error.hpp"
#include "merganser/comm/open.hpp"
#include "merganser/comm/runtime.hpp"

namespace merganser::python {

Team::Team(int ranks) : ranks_(ranks) {
  if (ranks < 1) throw UsageError("ranks: " + std::to_string(ranks) + "; allowed: at least 1");
  comm::check_thread_ranks(ranks);
}

Team::Team(std::unique_ptr<comm::Transport> transport) : ranks_(transport->size()), over_(std::move(transport)) {}

// Transport of a team over a communicator, unless it was closed.
comm::Transport& Team::over() const {
  if (closed_) throw UsageError("comm: it was freed; allowed: a communicator that is there");
  return *over_;
}

int Team::ranks() const { return ranks_; }
int Team::rank() const { return is_local() ? 0 : over().rank(); }
std::string Team::model() const { return is_local() ? "threads" : std::string(over().name()); }

// Body on all ranks of a team. Over a communicator it stays on the calling thread, since MPI may allow calls from one thread only;
// otherwise it is a long call that Ctrl-C can abandon.
void Team::run(Body body) const {
  if (!is_local()) {
    long_call_here([&](const Interrupt& interrupt) { body(over(), interrupt); });
  } else if (ranks_ == 1) {
    long_call(
        [body = std::move(body)](const Interrupt& interrupt) {
          const auto alone = comm::open_alone();
          body(*alone, interrupt);
        },
        FreedMemory::returned);
  } else {
    long_call(
        [body = std::move(body), ranks = ranks_](const Interrupt& interrupt) {
          comm::RunOptions options;
          options.backend = "threads";
          options.ranks = ranks;
          options.within_process = true;  // mpirun may have started this process: without comm it is by itself
          comm::run(options, [&](comm::Transport& transport) { body(transport, interrupt); });
        },
        FreedMemory::returned);
  }
}

void Team::close() {
  closed_ = true;
  over_.reset();
}

// Balanced distribution of array rows: the first n % ranks ranks get one row more than the others.
RowRange row_share(std::size_t n, int rank, int ranks) {
  const auto r = static_cast<std::size_t>(rank);
  const auto p = static_cast<std::size_t>(ranks);
  const std::size_t each = n / p;
  const std::size_t more = n % p;
  const std::size_t begin = r * each + std::min(r, more);
  return {begin, begin + each + (r < more ? 1 : 0)};
}

}  // namespace merganser::python
