// requires: MPI
// Translation of ranks of communicators and windows to ranks of MPI_COMM_WORLD, cached by handle, for the tracing library.
#include "src/trace/mpi_ranks.hpp"

#include <link.h>

#include <cstdlib>

namespace merganser::trace {
namespace {

HandleTable comms;     // world ranks by communicator
HandleTable windows;   // world ranks by window
HandleTable requests;  // messages by persistent request
int world_size = 0;    // number of ranks of MPI_COMM_WORLD

/// Range of addresses of the code of a library with MPI's Fortran bindings.
struct Range {
  std::uintptr_t begin;
  std::uintptr_t end;
};
constexpr int kMaxRanges = 8;
Range bindings[kMaxRanges];
int binding_count = 0;

/// Callback of dl_iterate_phdr: records the code of a library that holds MPI's Fortran bindings, recognised by its name.
int record_bindings(struct dl_phdr_info* info, std::size_t, void*) {
  const char* base = std::strrchr(info->dlpi_name, '/');
  base = base != nullptr ? base + 1 : info->dlpi_name;
  const auto has = [base](const char* part) { return std::strstr(base, part) != nullptr; };
  if (!has("mpifh") && !has("usempi") && !has("mpifort")) return 0;
  for (int i = 0; i < info->dlpi_phnum && binding_count < kMaxRanges; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    const auto begin = static_cast<std::uintptr_t>(info->dlpi_addr + header.p_vaddr);
    bindings[binding_count++] = {begin, begin + header.p_memsz};
  }
  return 0;
}

#ifdef OPEN_MPI
/// Returns the address of a predefined object of Open MPI, such as a communicator, by name. It is not linked, so that programs
/// without MPI may load this library.
template <class Handle>
Handle predefined(const char* name) {
  return static_cast<Handle>(find_object(name));
}
#endif

/// Translates ranks 0 to size - 1 of an MPI group to ranks of MPI_COMM_WORLD; ranks of other worlds become kOutside.
/// @return false on an error of MPI
bool translate(MPI_Group group, int size, int* to) {
  MPI_Group all{};
  if (MERGANSER_REAL(Comm_group)(world(), &all) != MPI_SUCCESS) return false;
  auto* mine = static_cast<int*>(std::malloc(sizeof(int) * static_cast<std::size_t>(size > 0 ? size : 1)));
  bool good = mine != nullptr;
  if (good) {
    for (int i = 0; i < size; ++i) mine[i] = i;
    good = MERGANSER_REAL(Group_translate_ranks)(group, size, mine, all, to) == MPI_SUCCESS;
  }
  for (int i = 0; good && i < size; ++i) {
    if (to[i] == MPI_UNDEFINED) to[i] = kOutside;
  }
  std::free(mine);
  MERGANSER_REAL(Group_free)(&all);
  return good;
}

/// Allocates the table of world ranks of a communicator with `size` ranks and `neighbours` neighbours; null without memory.
WorldRanks* new_ranks(int size, int neighbours) {
  auto* ranks = static_cast<WorldRanks*>(std::malloc(
      sizeof(WorldRanks) + sizeof(int) * (static_cast<std::size_t>(size) + static_cast<std::size_t>(neighbours))));
  if (ranks != nullptr) {
    ranks->size = size;
    ranks->neighbours = neighbours;
  }
  return ranks;
}

/// Ranks that a neighbourhood collective on a communicator sends to, in the order of its send buffer; none without a topology.
class Destinations {
 public:
  explicit Destinations(MPI_Comm comm) {
    int kind = MPI_UNDEFINED;
    if (MERGANSER_REAL(Topo_test)(comm, &kind) != MPI_SUCCESS) return;
    if (kind == MPI_DIST_GRAPH) read_distributed(comm);
    if (kind == MPI_GRAPH) read_replicated(comm);
    if (kind == MPI_CART) read_cartesian(comm);
  }
  ~Destinations() { std::free(list); }
  Destinations(const Destinations&) = delete;
  Destinations& operator=(const Destinations&) = delete;

  int count = 0;        ///< number of destinations
  int* list = nullptr;  ///< ranks of the communicator; MPI_PROC_NULL where a grid ends

 private:
  /// Allocates room for n ranks or weights, at least one; null without memory.
  int* make(int n) { return static_cast<int*>(std::malloc(sizeof(int) * static_cast<std::size_t>(n > 0 ? n : 1))); }

  /// Reads the out-neighbours of this rank in a distributed graph topology of MPI.
  void read_distributed(MPI_Comm comm) {
    int in = 0;
    int out = 0;
    int weighted = 0;
    if (MERGANSER_REAL(Dist_graph_neighbors_count)(comm, &in, &out, &weighted) != MPI_SUCCESS) return;
    int* sources = make(in);
    int* weights = make(in > out ? in : out);
    int* more_weights = make(out);
    list = make(out);
    if (sources != nullptr && weights != nullptr && more_weights != nullptr && list != nullptr &&
        MERGANSER_REAL(Dist_graph_neighbors)(comm, in, sources, weights, out, list, more_weights) == MPI_SUCCESS) {
      count = out;
    }
    std::free(sources);
    std::free(weights);
    std::free(more_weights);
  }
  /// Reads the neighbours of this rank in a replicated graph topology of MPI.
  void read_replicated(MPI_Comm comm) {
    int rank = 0;
    int n = 0;
    MERGANSER_REAL(Comm_rank)(comm, &rank);
    if (MERGANSER_REAL(Graph_neighbors_count)(comm, rank, &n) != MPI_SUCCESS) return;
    list = make(n);
    if (list != nullptr && MERGANSER_REAL(Graph_neighbors)(comm, rank, n, list) == MPI_SUCCESS) count = n;
  }
  /// Reads the neighbours of this rank in a Cartesian topology, in the order of MPI: per dimension below, then above.
  void read_cartesian(MPI_Comm comm) {
    int dimensions = 0;
    if (MERGANSER_REAL(Cartdim_get)(comm, &dimensions) != MPI_SUCCESS) return;
    list = make(2 * dimensions);
    if (list == nullptr) return;
    for (int d = 0; d < dimensions; ++d) {
      int below = MPI_PROC_NULL;
      int above = MPI_PROC_NULL;
      MERGANSER_REAL(Cart_shift)(comm, d, 1, &below, &above);
      list[2 * d] = below;
      list[2 * d + 1] = above;
    }
    count = 2 * dimensions;
  }
};

/// Computes the world ranks of a communicator's ranks and of this rank's neighbours in it; null on an error of MPI. No rank is
/// known if the translation fails.
WorldRanks* query_ranks(MPI_Comm comm) {
  int inter = 0;
  if (MERGANSER_REAL(Comm_test_inter)(comm, &inter) != MPI_SUCCESS) return nullptr;
  int size = 0;
  MPI_Group group{};
  // Calls on an intercommunicator name ranks of the remote group.
  const int result =
      inter != 0 ? MERGANSER_REAL(Comm_remote_group)(comm, &group) : MERGANSER_REAL(Comm_group)(comm, &group);
  if (result != MPI_SUCCESS) return nullptr;
  WorldRanks* ranks = nullptr;
  if (MERGANSER_REAL(Group_size)(group, &size) == MPI_SUCCESS) {
    if (inter != 0) {
      ranks = new_ranks(size, 0);
      if (ranks != nullptr && !translate(group, size, ranks->world)) ranks->size = 0;
    } else {
      const Destinations destinations(comm);
      ranks = new_ranks(size, destinations.count);
      if (ranks != nullptr && !translate(group, size, ranks->world)) ranks->size = ranks->neighbours = 0;
      for (int i = 0; ranks != nullptr && i < ranks->neighbours; ++i) {
        ranks->world[size + i] = (*ranks)[destinations.list[i]];
      }
    }
  }
  MERGANSER_REAL(Group_free)(&group);
  return ranks;
}

}  // namespace

// MPI_COMM_WORLD for the tracing library, which is not linked with MPI: in Open MPI it is the address of an object.
MPI_Comm world() {
#ifdef OPEN_MPI
  static MPI_Comm all = nullptr;
  if (all == nullptr) all = predefined<MPI_Comm>("ompi_mpi_comm_world");
  return all;
#else
  return MPI_COMM_WORLD;
#endif
}

// Translation of a communicator's ranks, queried on its first use and then cached by its handle.
const WorldRanks* get_ranks(MPI_Comm comm) {
  auto* known = static_cast<const WorldRanks*>(comms.find(bits(comm)));
  if (known != nullptr) return known;
  WorldRanks* found = query_ranks(comm);
  return found != nullptr ? static_cast<const WorldRanks*>(comms.insert(bits(comm), found)) : nullptr;
}

// Other end of a message in the counters of the tracing library; MPI_COMM_WORLD takes no lookup.
int world_rank(MPI_Comm comm, int rank) {
  if (rank < 0) return kNobody;
  if (comm == world()) return rank < world_size ? rank : kNobody;
  const WorldRanks* ranks = get_ranks(comm);
  return ranks != nullptr ? (*ranks)[rank] : kNobody;
}

// Target of a one-sided operation in the counters of the tracing library, by the cached group of its window.
int world_rank_of_window(MPI_Win window, int rank) {
  if (rank < 0) return kNobody;
  auto* known = static_cast<const WorldRanks*>(windows.find(bits(window)));
  if (known == nullptr) {
    MPI_Group group{};
    int size = 0;
    if (MERGANSER_REAL(Win_get_group)(window, &group) != MPI_SUCCESS) return kNobody;
    WorldRanks* ranks = nullptr;
    if (MERGANSER_REAL(Group_size)(group, &size) == MPI_SUCCESS && (ranks = new_ranks(size, 0)) != nullptr) {
      if (!translate(group, size, ranks->world)) ranks->size = 0;
      known = static_cast<const WorldRanks*>(windows.insert(bits(window), ranks));
    }
    MERGANSER_REAL(Group_free)(&group);
  }
  return known != nullptr ? (*known)[rank] : kNobody;
}

void erase_comm(MPI_Comm comm) { comms.erase(bits(comm)); }
void erase_window(MPI_Win window) { windows.erase(bits(window)); }

Sends* new_sends(int count) {
  auto* sends = static_cast<Sends*>(
      std::calloc(1, sizeof(Sends) + sizeof(Sends::One) * static_cast<std::size_t>(count > 0 ? count : 0)));
  if (sends != nullptr) sends->count = count;
  return sends;
}

void store_sends(MPI_Request request, Sends* sends) {
  if (sends != nullptr) requests.replace(bits(request), sends);
}

void erase_request(MPI_Request request) { requests.erase(bits(request)); }

// Start of a persistent request: its messages, stored when it was made, count now.
void count_start(MPI_Request request) {
  const auto* sends = static_cast<const Sends*>(requests.find(bits(request)));
  for (int i = 0; sends != nullptr && i < sends->count; ++i)
    count(Move::message, sends->one[i].peer, sends->one[i].bytes);
}

// Set-up of the tracing library in a program of MPI, by its wrapper of MPI_Init.
void start_counting() {
  int rank = 0;
  if (MERGANSER_REAL(Comm_rank)(world(), &rank) != MPI_SUCCESS) return;
  MERGANSER_REAL(Comm_size)(world(), &world_size);
  MPI_Comm parent{};
  MERGANSER_REAL(Comm_get_parent)(&parent);
#ifdef OPEN_MPI
  const bool spawned = parent != predefined<MPI_Comm>("ompi_mpi_comm_null");
#else
  const bool spawned = parent != MPI_COMM_NULL;
#endif
  if (binding_count == 0) ::dl_iterate_phdr(record_bindings, nullptr);
  start(rank, world_size, spawned);
}

// Distinguishes calls by PMPI names that Fortran programs cause from those of tools and of MPI itself, by the return address.
bool from_bindings(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (int i = 0; i < binding_count; ++i) {
    if (at >= bindings[i].begin && at < bindings[i].end) return true;
  }
  return false;
}

}  // namespace merganser::trace
