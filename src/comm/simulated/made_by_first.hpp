#pragma once
/// Objects that simulated ranks share, which one of them makes: all ranks are in one process.
#include <mpi.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "src/comm/backends/mpi/library.hpp"
#include "src/comm/detail/simulated.hpp"

namespace merganser::comm::detail {

/// Returns an object that the first simulated rank to call makes and every rank of the world receives a copy of. Every rank calls
/// it, in the same order as others; no rank blocks. @param make  called with the number of ranks; its result is copied
template <class Make>
auto make_for_world(const Make& make) {
  using Thing = decltype(make(0));
  struct Shelf {
    std::optional<Thing> thing;  // the object, once a rank has made it
    int takers = 0;              // number of ranks that have received it
  };
  static std::map<std::uint64_t, Shelf> shelves;  // by number
  static std::vector<std::uint64_t> numbers;      // per rank: number of its next object; the calls have the same order
  const World world = simulated_world();
  numbers.resize(static_cast<std::size_t>(world.size));
  const std::uint64_t number = numbers[static_cast<std::size_t>(world.rank)]++;
  Shelf& shelf = shelves[number];
  if (!shelf.thing) shelf.thing = make(world.size);
  Thing mine = *shelf.thing;
  if (++shelf.takers == world.size) shelves.erase(number);
  return mine;
}

/// Returns an object that the first simulated rank of a communicator makes and all its ranks receive a copy of. Collective.
/// @param make  called with the number of ranks; its result is copied
template <class Make>
auto make_by_first(MPI_Comm comm, const Make& make) {
  using Thing = decltype(make(0));
  if (comm == MPI_COMM_WORLD) return make_for_world(make);
  struct Shelf {
    Thing thing;  // the object
    int takers;   // number of ranks that have not received it
  };
  int size = 0;
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  Shelf* const made = rank_in(comm) == 0 ? new Shelf{make(size), size} : nullptr;
  // A reduction of the address, since SMPI's broadcasts may first exchange the nodes of all ranks.
  auto where = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(made));
  check(MPI_Allreduce(MPI_IN_PLACE, &where, 1, MPI_UINT64_T, MPI_SUM, comm), "MPI_Allreduce");
  auto* const shelf = reinterpret_cast<Shelf*>(static_cast<std::uintptr_t>(where));
  Thing mine = shelf->thing;
  if (--shelf->takers == 0) delete shelf;
  return mine;
}

}  // namespace merganser::comm::detail
