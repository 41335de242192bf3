#pragma once
/// What simulated ranks hold together: they see each other's memory.
#include <mpi.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "src/comm/backends/mpi/library.hpp"
#include "src/comm/detail/simulated.hpp"

namespace merganser::comm::detail {

/// A thing that the first rank to come makes and every rank of the world holds. Each has to come, but waits for nobody.
template <class Make>
auto made_for_world(const Make& make) {
  using Thing = decltype(make(0));
  struct Shelf {
    std::optional<Thing> thing;
    int takers = 0;
  };
  static std::map<std::uint64_t, Shelf> shelves;  // by number
  static std::vector<std::uint64_t> numbers;      // of what each rank takes next, in the same order
  const World world = simulated_world();
  numbers.resize(static_cast<std::size_t>(world.size));
  const std::uint64_t number = numbers[static_cast<std::size_t>(world.rank)]++;
  Shelf& shelf = shelves[number];
  if (!shelf.thing) shelf.thing = make(world.size);
  Thing mine = *shelf.thing;
  if (++shelf.takers == world.size) shelves.erase(number);
  return mine;
}

/// A thing that one rank makes and every rank of a communicator holds. Collective.
template <class Make>
auto made_by_first(MPI_Comm comm, const Make& make) {
  using Thing = decltype(make(0));
  if (comm == MPI_COMM_WORLD) return made_for_world(make);
  struct Shelf {
    Thing thing;
    int takers;
  };
  int size = 0;
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  Shelf* const made = rank_in(comm) == 0 ? new Shelf{make(size), size} : nullptr;
  // A reduction, since SMPI's broadcasts may first have every rank tell every other where it runs.
  auto where = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(made));
  check(MPI_Allreduce(MPI_IN_PLACE, &where, 1, MPI_UINT64_T, MPI_SUM, comm), "MPI_Allreduce");
  auto* const shelf = reinterpret_cast<Shelf*>(static_cast<std::uintptr_t>(where));
  Thing mine = shelf->thing;
  if (--shelf->takers == 0) delete shelf;
  return mine;
}

}  // namespace merganser::comm::detail
