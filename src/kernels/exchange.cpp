// Registry, factory and probe of the benchmark kernels that exchange data along the arcs of a process graph.
#include "merganser/kernels/exchange.hpp"

#include <algorithm>

#include "merganser/base/error.hpp"
#include "merganser/comm/runtime.hpp"
#include "src/comm/detail/plugin.hpp"
#include "src/kernels/families/support/family.hpp"
#include "src/kernels/families/support/plan.hpp"

namespace merganser::kernels {
namespace {

constexpr std::size_t kProbeBytes = 24;  // message along each arc of the ring by which a kernel is probed
constexpr int kProbeRounds = 2;          // exchanges of the probe of a kernel

/// Returns the registry entries of the exchange kernels of all families, by communication model in the order of backends(), then by
/// name.
const std::vector<const detail::KernelEntry*>& kernel_entries() {
  static comm::detail::ListOfAll<const detail::KernelEntry*> sorted;
  return sorted.get([] {
    std::vector<const detail::KernelEntry*> all;
    for (const auto* family : detail::kernel_families()) {
      for (const auto& entry : family->kernels) all.push_back(&entry);
    }
    std::sort(all.begin(), all.end(), [](const auto* a, const auto* b) {
      return std::pair(detail::model_index(a->info.model), a->info.name) <
             std::pair(detail::model_index(b->info.model), b->info.name);
    });
    return all;
  });
}

/// Returns the index of an exchange kernel in kernels() by its name, such as "rma.put-flush". @throws UsageError for an unknown
/// name
std::size_t kernel_index(std::string_view name) {
  const auto all = kernels();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == name) return i;
  }
  std::string text = "unknown exchange kernel '" + std::string(name) + "'; known:";
  for (const auto& info : all) text += " " + std::string(info.name);
  for (const auto& missing : comm::missing_backends()) text += "; not in this build: " + std::string(missing);
  throw UsageError(text);
}

/// Returns the reason why an exchange kernel cannot run on the ranks of a transport: it needs threads and they are processes, or
/// the reverse; empty if it can.
std::string describe_mismatch(const KernelInfo& info, const comm::Transport& control) {
  const bool processes = info.model != "threads";
  if (processes == control.capabilities().processes) return {};
  return processes ? "ranks are threads of one process here, this kernel needs processes"
                   : "ranks are processes here, this kernel needs threads";
}

/// Returns the test byte at offset `at` of the message from one rank to another in a round of the probe of an exchange kernel; it
/// differs by sender, receiver, round and offset, so that a wrong or stale message is detected.
std::byte probe_byte(int from, int to, int round, std::size_t at) {
  return static_cast<std::byte>(static_cast<std::size_t>(from * 7 + to * 31 + round * 101) + at);
}

/// Tries an exchange kernel by two exchanges of 24 bytes along a ring of all ranks. Collective. Returns the error, the same on
/// every rank; empty if all bytes arrived.
std::string probe_kernel(comm::Transport& control, std::string_view name) {
  const int rank = control.rank();
  const int size = control.size();
  const int next = (rank + 1) % size;
  const int last = (rank + size - 1) % size;
  std::string reason;
  try {
    // Ring of all ranks: each sends its test bytes to the next rank, and checks those of the one before.
    const auto exchange = make_exchange(control, name, {{{next}, {last}}, {kProbeBytes}, {kProbeBytes}, 1});
    for (int round = 0; round < kProbeRounds; ++round) {
      const auto source = exchange->source(0, 0);
      for (std::size_t at = 0; at < source.size(); ++at) source[at] = probe_byte(rank, next, round, at);
      exchange->quiesce();
      exchange->iterate(0);
      exchange->quiesce();
      agree(control, [&] {
        const auto came = exchange->landing(0, 0);
        for (std::size_t at = 0; at < came.size(); ++at) {
          if (came[at] == probe_byte(last, rank, round, at)) continue;
          throw CommError("on rank " + std::to_string(rank) + " byte " + std::to_string(at) + " from rank " +
                          std::to_string(last) + " is wrong");
        }
      });
    }
  } catch (const Error& e) {
    return e.what();
  }
  return {};
}

}  // namespace

// Returns the registry of kernel families, complete on first use: tables compiled in, then those of the plug-in for an MPI library.
std::span<const detail::KernelFamily* const> detail::kernel_families() {
  static comm::detail::ListOfAll<const KernelFamily*> all;
  return all.get([] {
    const auto own = built_in_families();
    std::vector<const KernelFamily*> families(own.begin(), own.end());
    if (const void* more = comm::detail::plugin_symbol("merganser_plugin_kernels"))
      for (const auto* family : *static_cast<const PluginFamilies*>(more)) families.push_back(family);
    return families;
  });
}

// Returns the position of a communication model in backends(), by which kernels and all-gathers are ordered.
std::size_t detail::model_index(std::string_view model) {
  const auto all = comm::backends();
  const auto at =
      std::find_if(all.begin(), all.end(), [&](const comm::Backend& backend) { return backend.name == model; });
  return static_cast<std::size_t>(at - all.begin());
}

// Returns the descriptions of all exchange kernels, in the order of their registry entries.
std::span<const KernelInfo> kernels() {
  static comm::detail::ListOfAll<KernelInfo> all;
  return all.get([] { return comm::detail::collect_infos<KernelInfo>(kernel_entries()); });
}

// Returns the description of the exchange kernel of this name.
const KernelInfo& kernel(std::string_view name) { return kernels()[kernel_index(name)]; }

// Makes an exchange by the name of its kernel: all ranks agree that the kernel can run here, then on the plan of zones and arcs.
std::unique_ptr<Exchange> make_exchange(comm::Transport& control, std::string_view kernel, ExchangeSpec spec) {
  const detail::KernelEntry* entry = nullptr;
  agree(control, [&] {
    entry = kernel_entries()[kernel_index(kernel)];
    const std::string wrong = describe_mismatch(entry->info, control);
    if (!wrong.empty()) throw UsageError(std::string(kernel) + ": " + wrong);
  });
  return entry->make(control, detail::make_plan(control, *entry, std::move(spec)));
}

// Returns the exchange kernels that a benchmark must leave out on these ranks, each with its reason.
std::vector<Unusable> probe_kernels(comm::Transport& control, std::span<const std::string> names) {
  std::vector<Unusable> unusable;
  for (const auto& info : kernels()) {
    if (!names.empty() && std::find(names.begin(), names.end(), info.name) == names.end()) continue;
    std::string reason = describe_mismatch(info, control);
    if (reason.empty()) reason = probe_kernel(control, info.name);
    if (!reason.empty()) unusable.push_back({info.name, reason});
  }
  return unusable;
}

// Makes the synchronised start of a measurement for the model of the ranks, from the first kernel family that has one.
std::unique_ptr<Start> make_start(comm::Transport& control) {
  for (const auto* family : detail::kernel_families()) {
    for (const auto& entry : family->starts) {
      if (entry.model == control.name()) return entry.make(control);
    }
  }
  throw UsageError("no synchronised start for the model '" + std::string(control.name()) + "'");
}

}  // namespace merganser::kernels
