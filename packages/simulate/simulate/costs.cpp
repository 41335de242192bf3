/// What MPI calls cost on a simulated machine, and noise of its operating system. Link this file as an object (not out of an
/// archive) into what smpirun runs, with -Wl,-Bsymbolic so that it is what the program calls. It reads, at MPI_Init, the
/// variables of machines.py: MERGANSER_SMPI_COSTS (without it calls cost what SMPI says) and MERGANSER_SMPI_NOISE.
///
/// Overheads of messages and the time on the wire are callbacks of SimGrid's; collectives pay them too. One-sided calls are
/// wrapped: SMPI's lock is free, and its flush waits until data have come, not until the origin knows.
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

#undef getpid  // SMPI makes a number of the rank of it

namespace {

namespace s4u = simgrid::s4u;

/// Of two ranks on one node, or on two; seconds. See machines.py.
struct Costs {
  double overhead = 0, wire = 0, put = 0, get = 0, epoch = 0, put_done = 0, get_done = 0;
};

enum class Doing : std::uint8_t { message, put, get, flush };

/// What is known of a rank. Operations to a target that the origin does not know to be done: bit 1 puts, bit 2 gets.
struct Rank {
  Doing doing = Doing::message;
  std::map<std::pair<MPI_Win, int>, int> open;
  std::set<std::pair<MPI_Win, int>> unchecked;  // locked without asking
  double computes_since = 0;
  std::int64_t window = -1;
};

struct State {
  Costs near, far;
  double one_in = 0, late = 0, window = 0;
  std::uint64_t seed = 0;
  std::deque<Rank> ranks;  // by process id, which counts from 1; a rank is referred to while others come
};

State* state = nullptr;  // of the simulation; every rank has a copy of this pointer where SMPI makes variables private

[[noreturn]] void refuse(const std::string& what) {
  std::fprintf(stderr, "simulate: %s\n", what.c_str());
  std::_Exit(2);
}

std::map<std::string, double> numbers(const char* variable) {
  std::map<std::string, double> found;
  const char* text = std::getenv(variable);
  std::istringstream words(text == nullptr ? "" : text);
  for (std::string word; words >> word;) {
    const auto at = word.find('=');
    char* end = nullptr;
    const double value = at == std::string::npos ? -1 : std::strtod(word.c_str() + at + 1, &end);
    if (end == nullptr || *end != 0 || !(value >= 0)) {
      refuse(std::string(variable) + ": \"" + word + "\"; allowed: NAME=NUMBER, 0 or more");
    }
    found[word.substr(0, at)] = value;
  }
  return found;
}

Costs costs_of(const std::map<std::string, double>& all, const std::string& place) {
  const auto value = [&](const char* name) {
    const auto at = all.find(place + "." + name);
    if (at == all.end()) refuse("MERGANSER_SMPI_COSTS lacks " + place + "." + name);
    return at->second;
  };
  return {value("overhead"), value("wire"),     value("put"),     value("get"),
          value("epoch"),    value("put_done"), value("get_done")};
}

Rank& me() {
  const auto id = static_cast<std::size_t>(s4u::this_actor::get_pid());
  if (id >= state->ranks.size()) state->ranks.resize(id + 1);
  return state->ranks[id];
}

const Costs& between(const s4u::Host* a, const s4u::Host* b) { return a == b ? state->near : state->far; }

const Costs& to(int target, MPI_Win window) {
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

void spend(double seconds) {
  if (seconds > 0) s4u::this_actor::sleep_for(seconds);
}

double send_cost(std::size_t, s4u::Host* from, s4u::Host* target) {
  const Costs& c = between(from, target);
  switch (me().doing) {
    case Doing::put:
      return c.put;
    case Doing::get:
      return c.get;
    default:
      return c.overhead;
  }
}

double receive_cost(std::size_t, s4u::Host* from, s4u::Host* target) {
  return me().doing == Doing::message ? between(from, target).overhead : 0;
}

double latency_factor(double, const s4u::Host* from, const s4u::Host* target, const std::vector<s4u::Link*>& links,
                      const std::unordered_set<s4u::NetZone*>&) {
  double links_s = 0;
  for (const auto* link : links) links_s += link->get_latency();
  return links_s > 0 ? (links_s + between(from, target).wire) / links_s : 1;
}

/// Once for a simulation; later ranks find what the first has made. The environment is all they surely share: a property of
/// the platform is set when the first rank has had to wait, which is too late.
void start() {
  const std::string ours = std::to_string(getpid()) + ":";
  const char* known = std::getenv("MERGANSER_SMPI_STATE");
  if (known != nullptr && std::string(known).rfind(ours, 0) == 0) {
    state = reinterpret_cast<State*>(std::strtoull(known + ours.size(), nullptr, 10));
    return;
  }
  state = new State;
  setenv("MERGANSER_SMPI_STATE", (ours + std::to_string(reinterpret_cast<std::uintptr_t>(state))).c_str(), 1);
  if (std::getenv("MERGANSER_SMPI_COSTS") != nullptr) {
    const auto all = numbers("MERGANSER_SMPI_COSTS");
    state->near = costs_of(all, "near");
    state->far = costs_of(all, "far");
    smpi_register_op_cost_callback(SmpiOperation::SEND, send_cost);
    smpi_register_op_cost_callback(SmpiOperation::ISEND, send_cost);
    smpi_register_op_cost_callback(SmpiOperation::RECV, receive_cost);
    s4u::Engine::get_instance()->get_netzone_root()->get_network_model()->set_lat_factor_cb(latency_factor);
  }
  auto noise = numbers("MERGANSER_SMPI_NOISE");
  if (noise.empty()) return;
  state->one_in = noise["one_in"];
  state->late = noise["late"];
  state->window = noise["window"];
  state->seed = static_cast<std::uint64_t>(noise["seed"]);
  if (state->one_in < 1 || state->late <= 0 || state->window < state->late) {
    refuse("MERGANSER_SMPI_NOISE: allowed: one_in 1 or more, 0 < late <= window, in seconds");
  }
}

/// A number in [0, 1) that follows from the seed, the rank and k (the finaliser of splitmix64, twice).
double chance(std::uint64_t rank, std::uint64_t k) {
  const auto mix = [](std::uint64_t z) {
    z += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  };
  return static_cast<double>(mix(mix(state->seed ^ (rank << 40)) + k) >> 11) * 0x1p-53;
}

/// Holds the rank up if it was hit between two times. @param computed  it computed then, and did not wait
void suffer(Rank& rank, double from, double until, bool computed) {
  const auto id = static_cast<std::uint64_t>(s4u::this_actor::get_pid());
  const auto last = static_cast<std::int64_t>(until / state->window);
  for (auto k = std::max(rank.window + 1, static_cast<std::int64_t>(from / state->window)); k <= last; ++k) {
    const auto draw = 2 * static_cast<std::uint64_t>(k);
    const double begin = (static_cast<double>(k) + chance(id, draw)) * state->window;
    if (begin > until) return;  // not yet
    rank.window = k;
    if (chance(id, draw + 1) * state->one_in >= 1) continue;
    spend(computed && begin >= from ? state->late : begin + state->late - s4u::Engine::get_clock());
  }
}

/// A call of MPI, and what it does.
class Operation {
 public:
  explicit Operation(Doing doing = Doing::message) {
    if (state != nullptr) me().doing = doing;
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  ~Operation() {
    if (state != nullptr) me().doing = Doing::message;
  }

 private:
  merganser::simulated::Call call_;
};

void note(MPI_Win window, int target, int bit) {
  if (state != nullptr) me().open[{window, target}] |= bit;
}

/// The origin gets to know that its operations to a target are done; those to several come back together.
void settle(MPI_Win window, int target) {
  if (state == nullptr) return;
  double longest = 0;
  auto& open = me().open;
  for (auto at = open.lower_bound({window, target < 0 ? 0 : target}); at != open.end() && at->first.first == window;) {
    if (target >= 0 && at->first.second != target) break;
    const Costs& c = to(at->first.second, window);
    if ((at->second & 1) != 0) longest = std::max(longest, c.put_done);
    if ((at->second & 2) != 0) longest = std::max(longest, c.get_done);
    at = open.erase(at);
  }
  spend(longest);
}

double half_epoch(int target, MPI_Win window) { return state == nullptr ? 0 : to(target, window).epoch / 2; }

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
  suffer(me(), me().computes_since, s4u::Engine::get_clock(), true);
  began_ = s4u::Engine::get_clock();
}

Call::~Call() {
  if (!has_noise()) return;
  suffer(me(), began_, s4u::Engine::get_clock(), false);
  me().computes_since = s4u::Engine::get_clock();
}

}  // namespace merganser::simulated

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  const int result = PMPI_Init(argc, argv);
  start();
  return result;
}
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int result = PMPI_Init_thread(argc, argv, required, provided);
  start();
  return result;
}

int MPI_Put(const void* from, int count, MPI_Datatype type, int target, MPI_Aint at, int target_count,
            MPI_Datatype target_type, MPI_Win window) {
  const Operation call(Doing::put);
  note(window, target, 1);
  return PMPI_Put(from, count, type, target, at, target_count, target_type, window);
}
int MPI_Get(void* result, int count, MPI_Datatype type, int target, MPI_Aint at, int target_count,
            MPI_Datatype target_type, MPI_Win window) {
  const Operation call(Doing::get);
  note(window, target, 2);
  return PMPI_Get(result, count, type, target, at, target_count, target_type, window);
}
/// SMPI makes a get and a put of it and waits for both.
int MPI_Fetch_and_op(const void* operand, void* result, MPI_Datatype type, int target, MPI_Aint at, MPI_Op op,
                     MPI_Win window) {
  const Operation call(Doing::get);
  return PMPI_Fetch_and_op(operand, result, type, target, at, op, window);
}
/// With MPI_MODE_NOCHECK nobody has to be asked, nor told in the end.
int MPI_Win_lock(int type, int target, int assert, MPI_Win window) {
  const Operation call(Doing::flush);
  if ((assert& MPI_MODE_NOCHECK) == 0) {
    spend(half_epoch(target, window));
  } else if (state != nullptr) {
    me().unchecked.insert({window, target});
  }
  return PMPI_Win_lock(type, target, assert, window);
}
int MPI_Win_unlock(int target, MPI_Win window) {
  const Operation call(Doing::flush);
  const int result = PMPI_Win_unlock(target, window);
  settle(window, target);
  if (state == nullptr || me().unchecked.erase({window, target}) == 0) spend(half_epoch(target, window));
  return result;
}
/// Until the data are there; the origin may still not know.
int MPI_Win_flush_local(int target, MPI_Win window) {
  const Operation call(Doing::flush);
  return PMPI_Win_flush(target, window);
}
int MPI_Win_flush(int target, MPI_Win window) {
  const Operation call(Doing::flush);
  const int result = PMPI_Win_flush(target, window);
  settle(window, target);
  return result;
}
int MPI_Win_flush_all(MPI_Win window) {
  const Operation call(Doing::flush);
  if (state == nullptr) return PMPI_Win_flush_all(window);
  // SMPI's own asks every rank of the window.
  int result = MPI_SUCCESS;
  const auto& open = me().open;
  std::vector<int> targets;
  for (auto at = open.lower_bound({window, 0}); at != open.end() && at->first.first == window; ++at) {
    targets.push_back(at->first.second);
  }
  for (const int target : targets) result = std::max(result, PMPI_Win_flush(target, window));
  settle(window, -1);
  return result;
}
int MPI_Win_unlock_all(MPI_Win window) {
  const Operation call(Doing::flush);
  const int result = PMPI_Win_unlock_all(window);
  settle(window, -1);
  return result;
}

/// Calls whose only change is that noise may strike before and in them.
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
