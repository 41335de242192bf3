// Announcement network: a distributed search in which improvements reach all ranks without a collective call.
// ./05_announce 4, or mpirun -n 4 ./05_announce.
#include <algorithm>
#include <cstdio>

#include <merganser/announce/announcement_network.hpp>
#include <merganser/announce/services.hpp>
#include <merganser/base/random.hpp>

#include "start.hpp"

using namespace merganser;

constexpr std::uint32_t kCandidates = 100000;
constexpr announce::Topic kFound = 1;

struct Best {
  double value = 1;
  std::uint32_t candidate = 0;
};

// Searches the minimum of random values, a share on each rank. A rank that improves on the best value it has received
// announces the new one. All ranks stop after the same step.
void search(comm::Transport& transport) {
  announce::AnnouncementNetwork network(transport, *announce::make_network("manhattan", transport.size(), 2));
  announce::AgreedStop stop(network);
  Best best;
  network.subscribe(kFound, [&best](const announce::Announcement& a) {
    if (const Best theirs = a.as<Best>(); theirs.value < best.value) best = theirs;
  });
  const auto before = transport.counters();
  auto next = static_cast<std::uint32_t>(transport.rank());
  while (!stop.agreed()) {  // becomes true on every rank after the same step
    Best found = best;
    for (int i = 0; i < 100 && next < kCandidates; ++i, next += static_cast<std::uint32_t>(transport.size()))
      if (const double value = Random(42, 0, next).uniform(); value < found.value) found = {value, next};
    if (found.value < best.value) network.announce_value(kFound, found);
    if (found.value < 1e-4) stop.request("good enough");
    network.step();  // one message along each arc of the network: a rank waits for its in-neighbours only
  }
  network.close();
  network.drain();  // what was announced last reaches every rank
  const auto collectives = (transport.counters() - before).collectives;

  // For this report only: do all ranks know the same?
  double worst[1] = {best.value};
  double least[1] = {best.value};
  transport.all_reduce(worst, comm::Op::max);
  transport.all_reduce(least, comm::Op::min);
  if (transport.rank() != 0) return;
  std::printf("every rank knows of a value below 0.0001: %s\n", worst[0] < 1e-4 ? "yes" : "no");
  std::printf("and all know the same one: %s\n", worst[0] == least[0] ? "yes" : "no");
  std::printf("collectives in the loop: %ld\n", static_cast<long>(collectives));
}

int main(int argc, char** argv) { return start(argc, argv, search); }
