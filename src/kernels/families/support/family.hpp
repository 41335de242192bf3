#pragma once
/// The kernels in this build, and those of a plug-in in use. The table behind kernel_families() is made at configure time
/// from the files in families/, see cmake/kernels.cmake.
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string_view>

#include "merganser/kernels/exchange.hpp"
#include "merganser/kernels/gather.hpp"
#include "merganser/kernels/pair.hpp"

namespace merganser::kernels::detail {

struct ExchangePlan;

/// Place of a model in backends(); their number for one that is not there.
[[nodiscard]] std::size_t place_of(std::string_view model);

struct KernelEntry {
  KernelInfo info;
  /// Collective; the plan has been checked. Throws alike on every rank.
  std::unique_ptr<Exchange> (*make)(comm::Transport& control, ExchangePlan&& plan);
  /// Most bytes of one arc, and of all out-arcs or all in-arcs of a rank and one buffer.
  std::size_t most_bytes = std::numeric_limits<std::size_t>::max();
  std::size_t most_bytes_together = std::numeric_limits<std::size_t>::max();
};

/// How ranks of a model start together.
struct StartEntry {
  std::string_view model;
  std::unique_ptr<Start> (*make)(comm::Transport& control);  ///< collective
};

/// An all-gather of a model.
struct GatherEntry {
  GatherInfo info;
  /// Collective; the size has been checked. Throws alike on every rank.
  std::unique_ptr<Gather> (*make)(comm::Transport& control, const GatherInfo& info, std::size_t part_bytes);
};

/// What a file in families/ defines, named <file>_kernels.
struct KernelFamily {
  std::span<const KernelEntry> kernels;
  std::span<const StartEntry> starts;
  std::span<const GatherEntry> gathers{};
  /// Of an MPI: the body of kernels::time_pair(). Collective; the arguments have been checked.
  PairTimes (*time_pair)(comm::Transport& control, double seconds) = nullptr;
};

/// What a plug-in shows as `merganser_plugin_kernels`.
using PluginFamilies = std::span<const KernelFamily* const>;

/// What was compiled in.
[[nodiscard]] std::span<const KernelFamily* const> built_in_families();
/// What there is now.
[[nodiscard]] std::span<const KernelFamily* const> kernel_families();

}  // namespace merganser::kernels::detail
