#pragma once
/// Registry of benchmark kernels: those compiled in, from a table that CMake generates of the files in families/
/// (cmake/kernels.cmake), and those of the plug-in for an MPI library, if one is loaded.
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

/// Returns the index of a model in comm::backends(); their number if the model is not in this build.
[[nodiscard]] std::size_t model_index(std::string_view model);

/// Registered kernel.
struct KernelEntry {
  KernelInfo info;
  /// Factory. Collective; make_plan() has checked the plan. Throws the same error on every rank.
  std::unique_ptr<Exchange> (*make)(comm::Transport& control, ExchangePlan&& plan);
  /// Greatest number of bytes of one arc.
  std::size_t most_bytes = std::numeric_limits<std::size_t>::max();
  /// Greatest number of bytes of all out-arcs, and of all in-arcs, of a rank in one buffer.
  std::size_t most_bytes_together = std::numeric_limits<std::size_t>::max();
};

/// Registered implementation of Start for one model.
struct StartEntry {
  std::string_view model;
  std::unique_ptr<Start> (*make)(comm::Transport& control);  ///< factory; collective
};

/// Registered all-gather of one model.
struct GatherEntry {
  GatherInfo info;
  /// Factory. Collective; make_gather() has checked the size. Throws the same error on every rank.
  std::unique_ptr<Gather> (*make)(comm::Transport& control, const GatherInfo& info, std::size_t part_bytes);
};

/// Table of what one file in families/ implements, which the file defines under the name <file>_kernels.
struct KernelFamily {
  std::span<const KernelEntry> kernels;
  std::span<const StartEntry> starts;
  std::span<const GatherEntry> gathers{};
  /// Implementation of kernels::time_pair(); null without MPI. Collective; the arguments have been checked.
  PairTimes (*time_pair)(comm::Transport& control, double seconds) = nullptr;
};

/// Type of the symbol `merganser_plugin_kernels` of a plug-in: its kernel families.
using PluginFamilies = std::span<const KernelFamily* const>;

/// Returns the kernel families that are compiled into this library; defined in the file that CMake generates.
[[nodiscard]] std::span<const KernelFamily* const> built_in_families();
/// Returns the kernel families that are compiled in and those of the loaded plug-in.
[[nodiscard]] std::span<const KernelFamily* const> kernel_families();

}  // namespace merganser::kernels::detail
