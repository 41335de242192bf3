#pragma once
/// Synthetic run records of topo bench, with times by a formula and noise.
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "merganser/base/random.hpp"

namespace merganser::test {

/// Parameters of a synthetic record.
struct TopoRecord {
  double noise = 0.01;
  double slow = 1;          ///< factor on all times, or on those of slow_kernel
  std::string slow_kernel;  ///< kernel whose times are multiplied; empty: all
  std::uint64_t seed = 1;
  int launches = 5;
  int ranks = 4;
  std::string time;  ///< time at which the record was made; empty: the record has none
};

/// Returns a record of the graphs chain, one-way chain, complete and ring with two-sided and one-sided kernels. Times follow
/// o + d (g + s G) for degree d and message size s, as in the LogGP model.
inline nlohmann::ordered_json topo_record(const TopoRecord& r) {
  using Json = nlohmann::ordered_json;
  struct Kernel {
    const char *name, *model, *completion;
    double o, g, per_byte;
  };
  const std::vector<Kernel> kernels{{"p2p.isend-irecv", "p2p", "notified", 300, 400, 0.10},
                                    {"rma.put-notify", "rma", "notified", 1500, 300, 0.05},
                                    {"shmem.put-signal", "shmem", "notified", 150, 120, 0.16},
                                    {"rma.put-flush", "rma", "remote", 100, 80, 0.05},
                                    {"shmem.put-quiet", "shmem", "remote", 50, 40, 0.06}};
  struct Graph {
    const char* name;
    int arcs, degree;
  };
  const std::vector<Graph> graphs{{"chain", 6, 2}, {"one-way", 4, 1}, {"complete", 12, 3}, {"ring", 8, 2}};
  Json out = {{"schema", "merganser-run-record"}, {"schema_version", 1},
              {"command", "topo bench"},          {"arguments", Json::array()},
              {"options", {{"seed", 1}}},         {"provenance", {{"cores", 8}, {"cpu", "x"}}}};
  if (!r.time.empty()) out["provenance"]["time"] = r.time;
  Json& t = out["topology"];
  t = {{"sync", "dissemination"}, {"buffers", "warm"}, {"oversubscribed", false}, {"unusable", Json::array()}};
  Random random(r.seed, 0, 0);
  for (const auto& g : graphs) {
    t["graphs"].push_back({{"name", g.name},
                           {"ranks", r.ranks},
                           {"arcs", g.arcs},
                           {"mean_degree", 1.0 * g.arcs / r.ranks},
                           {"max_degree", g.degree},
                           {"digest", std::string("digest of ") + g.name}});
    for (const auto& k : kernels)
      for (double bytes = 8; bytes < 1e5; bytes *= 8) {
        const bool slowed = r.slow_kernel.empty() || r.slow_kernel == k.name;
        const double time = (k.o + g.degree * (k.g + bytes * k.per_byte)) * (slowed ? r.slow : 1);
        Json cell = {{"graph", g.name},          {"kernel", k.name},
                     {"model", k.model},         {"completion", k.completion},
                     {"bytes", bytes},           {"bytes_total", bytes * g.arcs},
                     {"messages_total", g.arcs}, {"exchange", {{"p50_ns", time}}}};
        for (int l = 0; l < r.launches; ++l)
          for (int i = 0; i < 4; ++i)
            cell["rounds"].push_back({{"launch", l},
                                      {"iterations", 100},
                                      {"p50_ns", time * (1 + random.uniform(-r.noise, r.noise))},
                                      {"mean_ns", time},
                                      {"p99_ns", nullptr}});
        t["cells"].push_back(cell);
      }
  }
  return out;
}

inline void write_json(const std::string& path, const nlohmann::ordered_json& record) {
  std::ofstream(path) << record.dump();
}

}  // namespace merganser::test
