/// Costs of MPI calls on a simulated machine, and noise of its operating system, for SimGrid's SMPI. Link this file as an object
/// (not out of an archive) into what smpirun runs, with -Wl,-Bsymbolic so that the program calls these functions. At MPI_Init it
/// reads the variables of machines.py: MERGANSER_SMPI_COSTS (without it SMPI's own costs hold) and MERGANSER_SMPI_NOISE.
///
/// Overheads of messages and the time on the wire are callbacks of SimGrid; collectives pay them too. One-sided calls are
/// wrapped: SMPI's lock is free, and its flush ends when the data have arrived, not when the origin is notified of that.
#include <smpi/smpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <set>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/s4u.hpp>
#include <simulate/costs.hpp>
#include <sstream>
#include <string>
#include <vector>

#undef getpid  // SMPI defines it as a number derived from the rank

namespace {

namespace s4u = simgrid::s4u;

/// Simulated costs of MPI calls between two ranks on one node, or on two nodes; seconds. Class Costs of machines.py has their
/// meanings.
struct Costs {
  double overhead = 0, wire = 0, put = 0, get = 0, epoch = 0, put_done = 0, get_done = 0;
};

/// Kind of MPI call that a simulated rank is in, which decides the overhead of the messages that SMPI sends for it.
enum class CallKind : std::uint8_t { message, put, get, flush };

/// State of a simulated rank for the costs of its one-sided calls and for its noise.
struct RankState {
  CallKind doing = CallKind::message;
  std::map<std::pair<MPI_Win, int>, int>
      open;  // targets with operations not known to be complete: bit 1 puts, bit 2 gets
  std::set<std::pair<MPI_Win, int>> unchecked;  // targets locked with MPI_MODE_NOCHECK
  double computes_since = 0;                    // simulated time at which the last MPI call ended, s
  std::int64_t window = -1;                     // last window of time in which noise was drawn
};

/// State of the simulation of costs and noise, shared by all simulated ranks.
struct SimulationState {
  Costs near, far;                          // between ranks on one node, on two nodes
  double one_in = 0, late = 0, window = 0;  // noise: one rank in so many, delay and window of time, s
  std::uint64_t seed = 0;
  std::deque<RankState>
      ranks;  // by process id, which counts from 1; a deque, since references must stay valid while it grows
};

SimulationState* state =
    nullptr;  // one for the simulation; every rank has a copy of this pointer where SMPI makes variables private

/// Ends the simulation with a message and exit code 2.
[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "simulate: %s\n", what.c_str());
  std::_Exit(2);
}

/// Parses an environment variable of costs or noise, "NAME=NUMBER NAME=NUMBER ..."; ends the simulation for anything else.
std::map<std::string, double> parse_numbers(const char* variable) {
  std::map<std::string, double> found;
  const char* text = std::getenv(variable);
  std::istringstream words(text == nullptr ? "" : text);
  for (std::string word; words >> word;) {
    const auto at = word.find('=');
    char* end = nullptr;
    const double value = at == std::string::npos ? -1 : std::strtod(word.c_str() + at + 1, &end);
    if (end == nullptr || *end != 0 || !(value >= 0)) {
      fail(std::string(variable) + ": \"" + word + "\"; allowed: NAME=NUMBER, 0 or more");
    }
    found[word.substr(0, at)] = value;
  }
  return found;
}

/// Returns the costs of MPI calls at one place, "near" (one node) or "far" (two), from parsed numbers; ends the simulation if one
/// is missing.
Costs find_costs(const std::map<std::string, double>& all, const std::string& place) {
  const auto value = [&](const char* name) {
    const auto at = all.find(place + "." + name);
    if (at == all.end()) fail("MERGANSER_SMPI_COSTS lacks " + place + "." + name);
    return at->second;
  };
  return {value("overhead"), value("wire"),     value("put"),     value("get"),
          value("epoch"),    value("put_done"), value("get_done")};
}

/// Returns the state of costs and noise of the calling simulated rank.
RankState& this_rank() {
  const auto id = static_cast<std::size_t>(s4u::this_actor::get_pid());
  if (id >= state->ranks.size()) state->ranks.resize(id + 1);
  return state->ranks[id];
}

/// Returns the costs of MPI calls between two simulated hosts: one host is one node.
const Costs& between(const s4u::Host* a, const s4u::Host* b) { return a == b ? state->near : state->far; }

/// Returns the costs of one-sided calls from the calling rank to a target of an MPI window. Process ids of ranks are consecutive,
/// so the target's follows from its rank.
const Costs& costs_to(int target, MPI_Win window) {
  MPI_Group group;
  PMPI_Win_get_group(window, &group);
  MPI_Group all;
  PMPI_Comm_group(MPI_COMM_WORLD, &all);
  int there = 0;
  PMPI_Group_translate_ranks(group, 1, &target, all, &there);
  PMPI_Group_free(&all);
  PMPI_Group_free(&group);
  int first = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &first);
  const auto id = s4u::this_actor::get_pid() - first + there;
  return between(s4u::this_actor::get_host(), s4u::Actor::by_pid(id)->get_host());
}

/// Advances the simulated time of the calling rank; no time for 0 or less.
void sleep_for(double seconds) {
  if (seconds > 0) s4u::this_actor::sleep_for(seconds);
}

/// Returns the simulated overhead of a send, s: a callback of SMPI, which implements put and get by messages, so the kind of call
/// decides.
double send_cost(std::size_t, s4u::Host* from, s4u::Host* target) {
  const Costs& c = between(from, target);
  switch (this_rank().doing) {
    case CallKind::put:
      return c.put;
    case CallKind::get:
      return c.get;
    default:
      return c.overhead;
  }
}

/// Returns the simulated overhead of a receive, s: a callback of SMPI; 0 for messages within one-sided operations, whose target
/// does not compute.
double receive_cost(std::size_t, s4u::Host* from, s4u::Host* target) {
  return this_rank().doing == CallKind::message ? between(from, target).overhead : 0;
}

/// Returns the factor on the latency of a route that adds the time on the wire to the latencies of its links: a callback of
/// SimGrid.
double latency_factor(double, const s4u::Host* from, const s4u::Host* target, const std::vector<s4u::Link*>& links,
                      const std::unordered_set<s4u::NetZone*>&) {
  double links_s = 0;
  for (const auto* link : links) links_s += link->get_latency();
  return links_s > 0 ? (links_s + between(from, target).wire) / links_s : 1;
}

/// Initialises the state of costs and noise once for a simulation, from the environment; later ranks find the address in the
/// environment, the only thing that they all share by then: a property of the platform is set only when the first rank has had to
/// wait, which is too late.
void initialise() {
  const std::string ours = std::to_string(getpid()) + ":";
  const char* known = std::getenv("MERGANSER_SMPI_STATE");
  if (known != nullptr && std::string(known).rfind(ours, 0) == 0) {
    state = reinterpret_cast<SimulationState*>(std::strtoull(known + ours.size(), nullptr, 10));
    return;
  }
  state = new SimulationState;
  setenv("MERGANSER_SMPI_STATE", (ours + std::to_string(reinterpret_cast<std::uintptr_t>(state))).c_str(), 1);
  if (std::getenv("MERGANSER_SMPI_COSTS") != nullptr) {
    const auto all = parse_numbers("MERGANSER_SMPI_COSTS");
    state->near = find_costs(all, "near");
    state->far = find_costs(all, "far");
    smpi_register_op_cost_callback(SmpiOperation::SEND, send_cost);
    smpi_register_op_cost_callback(SmpiOperation::ISEND, send_cost);
    smpi_register_op_cost_callback(SmpiOperation::RECV, receive_cost);
    s4u::Engine::get_instance()->get_netzone_root()->get_network_model()->set_lat_factor_cb(latency_factor);
  }
  auto noise = parse_numbers("MERGANSER_SMPI_NOISE");
  if (noise.empty()) return;
  state->one_in = noise["one_in"];
  state->late = noise["late"];
  state->window = noise["window"];
  state->seed = static_cast<std::uint64_t>(noise["seed"]);
  if (state->one_in < 1 || state->late <= 0 || state->window < state->late) {
    fail("MERGANSER_SMPI_NOISE: allowed: one_in 1 or more, 0 < late <= window, in seconds");
  }
}

/// Returns a pseudo-random number in [0, 1) for simulated noise that depends on the seed, the rank and k alone (the finaliser of
/// splitmix64, twice).
double random_fraction(std::uint64_t rank, std::uint64_t k) {
  const auto mix = [](std::uint64_t z) {
    z += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  };
  return static_cast<double>(mix(mix(state->seed ^ (rank << 40)) + k) >> 11) * 0x1p-53;
}

/// Delays a simulated rank by the noise that strikes it between two simulated times, s, at most once per window.
/// @param computed  true: it computed then, and loses the whole delay; false: it waited, and loses what exceeds the wait
void apply_noise(RankState& rank, double from, double until, bool computed) {
  const auto id = static_cast<std::uint64_t>(s4u::this_actor::get_pid());
  const auto last = static_cast<std::int64_t>(until / state->window);
  for (auto k = std::max(rank.window + 1, static_cast<std::int64_t>(from / state->window)); k <= last; ++k) {
    const auto draw = 2 * static_cast<std::uint64_t>(k);
    const double begin = (static_cast<double>(k) + random_fraction(id, draw)) * state->window;
    if (begin > until) return;  // strikes later
    rank.window = k;
    if (random_fraction(id, draw + 1) * state->one_in >= 1) continue;
    sleep_for(computed && begin >= from ? state->late : begin + state->late - s4u::Engine::get_clock());
  }
}

/// Scope of a wrapped MPI call on a simulated rank: sets the kind of its messages, and applies noise before and during it.
class Operation {
 public:
  explicit Operation(CallKind doing = CallKind::message) {
    if (state != nullptr) this_rank().doing = doing;
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  ~Operation() {
    if (state != nullptr) this_rank().doing = CallKind::message;
  }

 private:
  merganser::simulated::Call call_;
};

/// Records a one-sided operation of the calling rank to a target as not known to be complete. @param bit  1: put, 2: get
void record_operation(MPI_Win window, int target, int bit) {
  if (state != nullptr) this_rank().open[{window, target}] |= bit;
}

/// Completes the one-sided operations of the calling rank to a target (negative: to all), which takes simulated time.
/// Acknowledgements of several targets arrive together, so the longest delay counts.
void complete_operations(MPI_Win window, int target) {
  if (state == nullptr) return;
  double longest = 0;
  auto& open = this_rank().open;
  for (auto at = open.lower_bound({window, target < 0 ? 0 : target}); at != open.end() && at->first.first == window;) {
    if (target >= 0 && at->first.second != target) break;
    const Costs& c = costs_to(at->first.second, window);
    if ((at->second & 1) != 0) longest = std::max(longest, c.put_done);
    if ((at->second & 2) != 0) longest = std::max(longest, c.get_done);
    at = open.erase(at);
  }
  sleep_for(longest);
}

/// Returns the simulated seconds of opening, or of closing, a passive-target epoch to a target: half the cost of an epoch.
double half_epoch(int target, MPI_Win window) { return state == nullptr ? 0 : costs_to(target, window).epoch / 2; }

}  // namespace

namespace merganser::simulated {

MessageCosts message_costs(bool on_one_node) {
  if (state == nullptr) return {};
  const Costs& c = on_one_node ? state->near : state->far;
  return {c.overhead, c.wire};
}

OneSidedCosts one_sided_costs(bool on_one_node) {
  if (state == nullptr) return {};
  const Costs& c = on_one_node ? state->near : state->far;
  return {c.put, c.get, c.epoch, c.put_done, c.get_done};
}

bool has_noise() { return state != nullptr && state->one_in > 0; }

Call::Call() {
  if (!has_noise()) return;
  apply_noise(this_rank(), this_rank().computes_since, s4u::Engine::get_clock(), true);
  began_ = s4u::Engine::get_clock();
}

Call::~Call() {
  if (!has_noise()) return;
  apply_noise(this_rank(), began_, s4u::Engine::get_clock(), false);
  this_rank().computes_since = s4u::Engine::get_clock();
}

}  // namespace merganser::simulated

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  const int result = PMPI_Init(argc, argv);
  initialise();
  return result;
}
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int result = PMPI_Init_thread(argc, argv, required, provided);
  initialise();
  return result;
}

/// Wraps MPI_Put with its simulated overhead, and records the target as one with operations not known to be complete.
int MPI_Put(const void* from, int count, MPI_Datatype type, int target, MPI_Aint at, int target_count,
            MPI_Datatype target_type, MPI_Win window) {
  const Operation call(CallKind::put);
  record_operation(window, target, 1);
  return PMPI_Put(from, count, type, target, at, target_count, target_type, window);
}
/// Wraps MPI_Get with its simulated overhead, and records the target as one with operations not known to be complete.
int MPI_Get(void* result, int count, MPI_Datatype type, int target, MPI_Aint at, int target_count,
            MPI_Datatype target_type, MPI_Win window) {
  const Operation call(CallKind::get);
  record_operation(window, target, 2);
  return PMPI_Get(result, count, type, target, at, target_count, target_type, window);
}
/// Wraps MPI_Fetch_and_op with the overhead of a get: SMPI implements it by a get and a put, and waits for both.
int MPI_Fetch_and_op(const void* operand, void* result, MPI_Datatype type, int target, MPI_Aint at, MPI_Op op,
                     MPI_Win window) {
  const Operation call(CallKind::get);
  return PMPI_Fetch_and_op(operand, result, type, target, at, op, window);
}
/// Wraps MPI_Win_lock with half the cost of an epoch. With MPI_MODE_NOCHECK no lock is acquired, so neither opening nor closing
/// the epoch costs a round trip.
int MPI_Win_lock(int type, int target, int assert, MPI_Win window) {
  const Operation call(CallKind::flush);
  if ((assert& MPI_MODE_NOCHECK) == 0) {
    sleep_for(half_epoch(target, window));
  } else if (state != nullptr) {
    this_rank().unchecked.insert({window, target});
  }
  return PMPI_Win_lock(type, target, assert, window);
}
/// Wraps MPI_Win_unlock with the completion of the operations at the origin and half the cost of an epoch.
int MPI_Win_unlock(int target, MPI_Win window) {
  const Operation call(CallKind::flush);
  const int result = PMPI_Win_unlock(target, window);
  complete_operations(window, target);
  if (state == nullptr || this_rank().unchecked.erase({window, target}) == 0) sleep_for(half_epoch(target, window));
  return result;
}
/// Wraps MPI_Win_flush_local: waits for the arrival of the data at the target, as SMPI does, without the time until the origin is
/// notified.
int MPI_Win_flush_local(int target, MPI_Win window) {
  const Operation call(CallKind::flush);
  return PMPI_Win_flush(target, window);
}
/// Wraps MPI_Win_flush with the time until the origin is notified of the completion.
int MPI_Win_flush(int target, MPI_Win window) {
  const Operation call(CallKind::flush);
  const int result = PMPI_Win_flush(target, window);
  complete_operations(window, target);
  return result;
}
/// Wraps MPI_Win_flush_all with the completion of the operations to all targets at the origin.
int MPI_Win_flush_all(MPI_Win window) {
  const Operation call(CallKind::flush);
  if (state == nullptr) return PMPI_Win_flush_all(window);
  // SMPI's own function sends a request to every rank of the window: only targets with open operations are flushed.
  int result = MPI_SUCCESS;
  const auto& open = this_rank().open;
  std::vector<int> targets;
  for (auto at = open.lower_bound({window, 0}); at != open.end() && at->first.first == window; ++at) {
    targets.push_back(at->first.second);
  }
  for (const int target : targets) result = std::max(result, PMPI_Win_flush(target, window));
  complete_operations(window, -1);
  return result;
}
/// Wraps MPI_Win_unlock_all with the completion of the operations to all targets at the origin.
int MPI_Win_unlock_all(MPI_Win window) {
  const Operation call(CallKind::flush);
  const int result = PMPI_Win_unlock_all(window);
  complete_operations(window, -1);
  return result;
}

/// Wraps MPI calls that are changed by simulated noise alone, which may strike before and during them.
#define MERGANSER_NOISY(name, parameters, arguments) \
  int MPI_##name parameters {                        \
    const Operation call;                            \
    return PMPI_##name arguments;                    \
  }
MERGANSER_NOISY(Send, (const void* b, int n, MPI_Datatype t, int r, int tag, MPI_Comm c), (b, n, t, r, tag, c))
MERGANSER_NOISY(Isend, (const void* b, int n, MPI_Datatype t, int r, int tag, MPI_Comm c, MPI_Request* q),
                (b, n, t, r, tag, c, q))
MERGANSER_NOISY(Recv, (void* b, int n, MPI_Datatype t, int r, int tag, MPI_Comm c, MPI_Status* s),
                (b, n, t, r, tag, c, s))
MERGANSER_NOISY(Irecv, (void* b, int n, MPI_Datatype t, int r, int tag, MPI_Comm c, MPI_Request* q),
                (b, n, t, r, tag, c, q))
MERGANSER_NOISY(Probe, (int r, int tag, MPI_Comm c, MPI_Status* s), (r, tag, c, s))
MERGANSER_NOISY(Iprobe, (int r, int tag, MPI_Comm c, int* found, MPI_Status* s), (r, tag, c, found, s))
MERGANSER_NOISY(Wait, (MPI_Request * q, MPI_Status* s), (q, s))
MERGANSER_NOISY(Waitall, (int n, MPI_Request* q, MPI_Status* s), (n, q, s))
MERGANSER_NOISY(Waitany, (int n, MPI_Request* q, int* i, MPI_Status* s), (n, q, i, s))
MERGANSER_NOISY(Test, (MPI_Request * q, int* done, MPI_Status* s), (q, done, s))
MERGANSER_NOISY(Testall, (int n, MPI_Request* q, int* done, MPI_Status* s), (n, q, done, s))
MERGANSER_NOISY(Barrier, (MPI_Comm c), (c))
MERGANSER_NOISY(Bcast, (void* b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c))
MERGANSER_NOISY(Allreduce, (const void* a, void* b, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c), (a, b, n, t, op, c))
MERGANSER_NOISY(Allgather, (const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, MPI_Comm c),
                (a, n, t, b, m, u, c))
MERGANSER_NOISY(Allgatherv,
                (const void* a, int n, MPI_Datatype t, void* b, const int* m, const int* d, MPI_Datatype u, MPI_Comm c),
                (a, n, t, b, m, d, u, c))
MERGANSER_NOISY(Alltoall, (const void* a, int n, MPI_Datatype t, void* b, int m, MPI_Datatype u, MPI_Comm c),
                (a, n, t, b, m, u, c))
#undef MERGANSER_NOISY

}  // extern "C"
