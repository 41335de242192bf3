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

/// Returns the index of a communication model in comm::backends(), by which kernels are ordered; the number of models if this build
/// does not have it.
[[nodiscard]] std::size_t model_index(std::string_view model);

/// Registry entry of an exchange kernel: its description, factory and limits.
struct KernelEntry {
  KernelInfo info;  ///< name, model and completion class
  /// Factory of an exchange by this kernel. Collective; make_plan() has checked the plan. Throws the same error on every rank.
  std::unique_ptr<Exchange> (*make)(comm::Transport& control, ExchangePlan&& plan);
  /// Greatest number of bytes that the kernel can transfer along one arc in one iteration.
  std::size_t most_bytes = std::numeric_limits<std::size_t>::max();
  /// Greatest number of bytes that the kernel can transfer along all out-arcs, and along all in-arcs, of a rank in one iteration.
  std::size_t most_bytes_together = std::numeric_limits<std::size_t>::max();
};

/// Registry entry of the synchronised start of measurements in one communication model.
struct StartEntry {
  std::string_view model;                                    ///< communication model, a name of comm::backends()
  std::unique_ptr<Start> (*make)(comm::Transport& control);  ///< factory of the barrier; collective
};

/// Registry entry of an all-gather of one communication model.
struct GatherEntry {
  GatherInfo info;  ///< kind, model and library calls
  /// Factory of the all-gather. Collective; make_gather() has checked the size. Throws the same error on every rank.
  std::unique_ptr<Gather> (*make)(comm::Transport& control, const GatherInfo& info, std::size_t part_bytes);
};

/// Registry table of the kernels, synchronised starts and all-gathers that one file in families/ implements, which the file defines
/// under the name <file>_kernels.
struct KernelFamily {
  std::span<const KernelEntry> kernels;    ///< exchange kernels of the file
  std::span<const StartEntry> starts;      ///< synchronised starts of measurements
  std::span<const GatherEntry> gathers{};  ///< all-gathers
  /// Implementation of kernels::time_pair(); null without MPI. Collective; the arguments have been checked.
  PairTimes (*time_pair)(comm::Transport& control, double seconds) = nullptr;
};

/// Type of the symbol `merganser_plugin_kernels` of a plug-in for an MPI library: its benchmark kernel families.
using PluginFamilies = std::span<const KernelFamily* const>;

/// Returns the registry tables of the benchmark kernels that are compiled into this library; defined in the file that CMake
/// generates.
[[nodiscard]] std::span<const KernelFamily* const> built_in_families();
/// Returns the registry tables of the benchmark kernels that are compiled in and of those of the loaded plug-in for an MPI library.
[[nodiscard]] std::span<const KernelFamily* const> kernel_families();

}  // namespace merganser::kernels::detail
