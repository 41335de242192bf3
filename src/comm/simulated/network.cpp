// Transfers of messages over the links of a simulated network: each link shares its bandwidth among the flows in transit.
#include "src/comm/simulated/network.hpp"

#include <simgrid/s4u.hpp>
#include <simulate/costs.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <tuple>

#include "merganser/base/error.hpp"
#include "src/comm/detail/simulated.hpp"
#include "src/comm/simulated/events.hpp"

namespace merganser::comm::detail {
namespace {

namespace s4u = simgrid::s4u;

constexpr const char* kMessages = "MERGANSER_SIMULATED_MESSAGES";
/// Weight of links in bytes in SimGrid's network model SMPI (its default of network/weight-S): the share of a flow is
/// proportional to the inverse of latency + the sum of kWeight / bandwidth.
constexpr double kWeight = 8775;

using Function = std::function<void()>;
/// Event of the simulation that calls and destroys a function object, a std::function made by new.
void call(void* function) {
  const std::unique_ptr<Function> its(static_cast<Function*>(function));
  (*its)();
}

}  // namespace

/// Message in transit in the simulated network, which is a flow on each of its links.
struct SimulatedNetwork::Transfer {
  const Route* way;        // route of the message
  double bytes;            // size of the message with its envelope
  std::size_t links_left;  // shared links of the route that have not carried the message
  Events::Act arrived;     // function to call at the arrival
  void* what;              // argument of the function

  /// Event at which the message enters the shared links of its route.
  static void enter(void* flow) { get().enter(static_cast<Transfer*>(flow)); }
  /// Event of the message's arrival: recycles the object, then calls the function given to send().
  static void arrive(void* flow) {
    const Transfer its = *static_cast<Transfer*>(flow);
    get().spare_flows_.push_back(static_cast<Transfer*>(flow));
    its.arrived(its.what);
  }
};

/// Link of the simulated network that messages share, with an event of the simulator for the next message that it has carried.
struct SimulatedNetwork::Link {
  /// Makes an idle link with a bandwidth in bytes/s.
  explicit Link(double bandwidth) : bytes_per_s(bandwidth), flows(bandwidth) {}
  /// Event at which the link has carried a message.
  static void serve(void* link) { get().serve(*static_cast<Link*>(link)); }
  double bytes_per_s;                            // bandwidth
  SharedLink<Transfer*> flows;                   // messages in transit over the link
  double armed = SharedLink<Transfer*>::kNever;  // date of the link's earliest scheduled event, s
};

// Choice between timers of the library and messages of SMPI in a simulation, from an environment variable.
bool messages_are_timers() {
  const char* which = std::getenv(kMessages);
  const std::string_view name = which == nullptr ? "timers" : which;
  if (name != "timers" && name != "smpi") {
    throw UsageError(std::string(kMessages) + " is '" + std::string(name) + "'; allowed: timers, smpi");
  }
  return name == "timers";
}

double simulated_now() { return Events::get().now(); }

void simulated_sleep(int rank, double seconds) { simulated_sleep_until(rank, simulated_now() + seconds); }

// Blocks a simulated rank by an event at the date that wakes it.
void simulated_sleep_until(int rank, double date) {
  if (date <= simulated_now()) return;
  const auto wake = [](void* sleeper) {
    Events::get().wake(static_cast<int>(reinterpret_cast<std::intptr_t>(sleeper)));
  };
  Events::get().schedule(date, wake, reinterpret_cast<void*>(static_cast<std::intptr_t>(rank)));
  Events::get().block(rank);
}

void simulated_timer(double date, std::function<void()> act) {
  Events::get().schedule(date, call, new Function(std::move(act)));
}

SimulatedNetwork& SimulatedNetwork::get() {
  static SimulatedNetwork network;
  return network;
}

/// Finds the node of every simulated rank in SimGrid's platform: SMPI numbers its processes in the order of ranks.
SimulatedNetwork::SimulatedNetwork() {
  const World world = simulated_world();
  const auto first = s4u::this_actor::get_pid() - world.rank;
  std::unordered_map<const s4u::Host*, std::uint32_t> numbers;
  for (int r = 0; r < world.size; ++r) {
    auto* const host = s4u::Actor::by_pid(first + r)->get_host();
    const auto [at, fresh] = numbers.try_emplace(host, static_cast<std::uint32_t>(hosts_.size()));
    if (fresh) hosts_.push_back(host);
    node_of_.push_back(at->second);
  }
}

SimulatedNetwork::~SimulatedNetwork() = default;

// Returns the route between the nodes of two simulated ranks; routes are computed once per pair of nodes, not of ranks.
const Route& SimulatedNetwork::way(int from, int to) {
  const std::uint32_t a = node_of_[static_cast<std::size_t>(from)];
  const std::uint32_t b = node_of_[static_cast<std::size_t>(to)];
  auto& found = ways_[(std::uint64_t{a} << 32) | b];
  if (found == nullptr) found = find_way(a, b);
  return *found;
}

/// Computes the route between two nodes of the simulated machine and its costs from SimGrid's platform.
std::unique_ptr<Route> SimulatedNetwork::find_way(std::uint32_t from, std::uint32_t to) {
  const auto costs = simulated::message_costs(from == to);
  std::vector<s4u::Link*> route;
  static_cast<s4u::Host*>(hosts_[from])->route_to(static_cast<s4u::Host*>(hosts_[to]), route, nullptr);
  auto way = std::make_unique<Route>(Route{costs.overhead_s, costs.wire_s, SharedLink<Transfer*>::kNever, 0, {}});
  double weighed = 0;
  for (s4u::Link* const link : route) {
    way->latency_s += link->get_latency();
    way->bytes_per_s = std::min(way->bytes_per_s, link->get_bandwidth());
    weighed += link->get_latency() + kWeight / link->get_bandwidth();
    if (link->get_sharing_policy() == s4u::Link::SharingPolicy::FATPIPE) continue;
    const auto [at, fresh] = link_numbers_.try_emplace(link, static_cast<std::uint32_t>(links_.size()));
    if (fresh) links_.push_back(std::make_unique<Link>(link->get_bandwidth()));
    way->shared.push_back(at->second);
  }
  way->weight = 1 / weighed;
  return way;
}

void SimulatedNetwork::send(int from, int to, std::size_t bytes, double date, std::function<void()> arrived) {
  send(from, to, bytes, date, call, new Function(std::move(arrived)));
}

// Starts the transfer of a message: after the latency it enters all shared links of its route.
void SimulatedNetwork::send(int from, int to, std::size_t bytes, double date, Events::Act arrived, void* what) {
  const Route& its = way(from, to);
  const auto size = static_cast<double>(bytes + kEnvelope);
  if (spare_flows_.empty()) {
    flows_.push_back(std::make_unique<Transfer>());
    spare_flows_.push_back(flows_.back().get());
  }
  Transfer* const flow = spare_flows_.back();
  spare_flows_.pop_back();
  *flow = {&its, size, its.shared.size(), arrived, what};
  if (its.shared.empty())
    Events::get().schedule(date + its.latency_s + size / its.bytes_per_s, Transfer::arrive, flow);
  else
    Events::get().schedule(date + its.latency_s, Transfer::enter, flow);
}

// Computes dates of arrival link by link, from the entries of messages in the order of dates: since links are independent and no
// other flow enters them, no event of the simulator is needed. A message arrives when the last of its links has carried it.
void SimulatedNetwork::carry(std::vector<Message>& messages, std::size_t bytes) {
  const auto size = static_cast<double>(bytes + kEnvelope);
  entries_.clear();
  for (std::uint32_t i = 0; i < messages.size(); ++i) {
    auto& m = messages[i];
    const Route& its = way(m.from, m.to);
    m.date += its.latency_s;
    for (const auto link : its.shared) entries_.push_back({link, i, m.date, its.weight});
    m.date += size / its.bytes_per_s;
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.link, a.date, a.message) < std::tie(b.link, b.date, b.message);
  });
  const auto leave = [&](SharedLink<std::uint32_t>& link) {
    const double end = link.next_end();
    double& date = messages[link.leave()].date;
    date = std::max(date, end);
  };
  for (std::size_t begin = 0; begin < entries_.size();) {
    SharedLink<std::uint32_t> link(links_[entries_[begin].link]->bytes_per_s);
    std::size_t i = begin;
    for (; i < entries_.size() && entries_[i].link == entries_[begin].link; ++i) {
      while (link.next_end() <= entries_[i].date) leave(link);
      link.enter(entries_[i].date, size, entries_[i].weight, entries_[i].message);
    }
    while (link.next_end() < SharedLink<std::uint32_t>::kNever) leave(link);
    begin = i;
  }
}

/// Adds a message, after the latency of its route, to the flows of the route's shared links.
void SimulatedNetwork::enter(Transfer* flow) {
  const double now = simulated_now();
  for (const auto number : flow->way->shared) {
    Link& link = *links_[number];
    link.flows.enter(now, flow->bytes, flow->way->weight, flow);
    arm(link);
  }
}

/// Schedules an event for the next message that a link of the simulated network has carried, unless an earlier one is scheduled,
/// which will re-arm the link.
void SimulatedNetwork::arm(Link& link) {
  const double next = link.flows.next_end();
  if (next >= link.armed) return;
  link.armed = next;
  Events::get().schedule(next, Link::serve, &link);
}

/// Removes the messages that a link of the simulated network has carried by now; one whose last link it was arrives.
void SimulatedNetwork::serve(Link& link) {
  const double now = simulated_now();
  if (link.armed <= now) link.armed = SharedLink<Transfer*>::kNever;
  while (link.flows.next_end() <= now) {
    Transfer* const flow = link.flows.leave();
    if (--flow->links_left == 0) Transfer::arrive(flow);
  }
  arm(link);
}

}  // namespace merganser::comm::detail
