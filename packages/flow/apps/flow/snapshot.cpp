// Attributes of the flow command's snapshots: EPIC's, and a group merganser_flow with the state of the run and its options.
#include "apps/flow/snapshot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <string_view>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/flow/detail/describe_options.hpp"
#include "merganser/io/data_file.hpp"

namespace merganser::app {
namespace {

constexpr std::string_view kGroup = "merganser_flow";
constexpr std::string_view kOptionsGroup = "options";
constexpr std::size_t kDigits = 10;

/// Make attributes of a snapshot that hold one double, one 64-bit or 32-bit integer, a text, or a flag as "true" or "false".
io::FileAttribute number_attribute(std::string name, double x) {
  return {std::move(name), io::file_values(std::span<const double>(&x, 1))};
}
io::FileAttribute count_attribute(std::string name, std::int64_t n) {
  return {std::move(name), io::file_values(std::span<const std::int64_t>(&n, 1))};
}
io::FileAttribute int_attribute(std::string name, std::int64_t n) {
  const auto i = static_cast<std::int32_t>(n);
  return {std::move(name), io::file_values(std::span<const std::int32_t>(&i, 1))};
}
io::FileAttribute text_attribute(std::string name, std::string_view text) {
  return {std::move(name), io::file_values(text)};
}
io::FileAttribute flag_attribute(std::string name, bool on) {
  return text_attribute(std::move(name), on ? "true" : "false");
}

/// Returns the options of the flow as the root attributes that EPIC writes to its parcel files.
std::vector<io::FileAttribute> epic_attributes(const flow::FlowOptions& o) {
  return {int_attribute("rk_order", o.order),
          int_attribute("n_per_cell", 8),
          number_attribute("lambda_max", o.max_aspect_ratio),
          number_attribute("min_vratio", o.min_volume_ratio),
          int_attribute("correction_iters", o.corrections),
          number_attribute("gradient_pref", o.gradient_factor),
          number_attribute("max_compression", o.max_compression),
          number_attribute("alpha", o.alpha),
          flag_attribute("l_ignore_bndry_zeta_flag", o.keep_surface_vorticity),
          flag_attribute("damping_l_surface_vorticity", o.damping > 0),
          number_attribute("damping_vorticity_prefactor", o.damping)};
}

/// Returns EPIC's group of physical quantities, which gives the Coriolis parameters as the planet's rotation and latitude.
io::FileGroup physical_group(const flow::FlowOptions& o) {
  const double twice = std::hypot(o.coriolis_y, o.coriolis_z);
  io::FileGroup group;
  group.name = "physical_quantities";
  group.attributes = {
      number_attribute("planetary_angular_velocity", 0.5 * twice), flag_attribute("l_planetary_vorticity", twice > 0),
      number_attribute("latitude_degrees", std::atan2(o.coriolis_z, o.coriolis_y) * 180 / std::numbers::pi),
      text_attribute("ape_calculation", "none")};
  return group;
}

/// Returns the group merganser_flow of a snapshot: the state of the run, and all options in an inner group.
io::FileGroup progress_group(const Progress& p, flow::FlowOptions options) {
  io::FileGroup group;
  group.name = kGroup;
  const std::array<std::int32_t, 2> hold{p.state.hold[0] ? 1 : 0, p.state.hold[1] ? 1 : 0};
  group.attributes = {text_attribute("case", p.case_name),
                      count_attribute("step", p.state.step),
                      count_attribute("snapshot", p.snapshot),
                      count_attribute("consecutive", p.consecutive),
                      {"mean_vorticity", io::file_values(std::span<const double>(p.state.mean_vorticity))},
                      {"hold", io::file_values(std::span<const std::int32_t>(hold))},
                      {"counts", io::file_values(std::span<const std::int64_t>(counts_to_list(p.state.counts)))}};
  io::FileGroup all;
  all.name = kOptionsGroup;
  const OptionTable table(options);
  for (const Option& o : table.options()) all.attributes.push_back(text_attribute(o.name, value_text(o.value())));
  group.groups.push_back(std::move(all));
  return group;
}

/// Typed access to the attributes of the group merganser_flow of a snapshot; its functions throw InputError for one that is
/// missing or of another type or length.
class Attributes {
 public:
  Attributes(std::string path, const io::FileGroup& group) : path_(std::move(path)), group_(group) {}

  /// Returns the `count` integers of an attribute of the snapshot.
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view name, std::size_t count) const {
    const io::FileValues* const found = io::find_attribute(group_, name);
    std::vector<std::int64_t> out = found == nullptr ? std::vector<std::int64_t>() : io::to_integers(*found);
    if (out.size() != count) refuse(name, fmt::format("{} integers", count));
    return out;
  }
  /// Returns the integer of an attribute of the snapshot. @throws InputError if it is below `least`
  [[nodiscard]] std::int64_t at_least(std::string_view name, std::int64_t least) const {
    const std::int64_t n = integers(name, 1)[0];
    if (n < least)
      throw InputError(fmt::format("{}: {} of group {} is {}; allowed: {} and above", path_, name, kGroup, n, least));
    return n;
  }
  /// Returns the `count` finite doubles of an attribute of the snapshot.
  [[nodiscard]] std::vector<double> numbers(std::string_view name, std::size_t count) const {
    const io::FileValues* const found = io::find_attribute(group_, name);
    std::vector<double> out = found == nullptr ? std::vector<double>() : io::to_doubles(*found);
    const bool finite = std::all_of(out.begin(), out.end(), [](double x) { return std::isfinite(x); });
    if (out.size() != count || !finite) refuse(name, fmt::format("{} finite numbers", count));
    return out;
  }

 private:
  [[noreturn]] void refuse(std::string_view name, const std::string& expected) const {
    throw InputError(fmt::format("{}: the attribute {} of group {} must hold {}", path_, name, kGroup, expected));
  }
  std::string path_;
  const io::FileGroup& group_;
};

/// Returns the value of an attribute of a parcel file's group that is one number; nothing if there is none such.
std::optional<double> attribute_number(const io::FileGroup& group, std::string_view name) {
  const io::FileValues* const found = io::find_attribute(group, name);
  const std::vector<double> value = found == nullptr ? std::vector<double>() : io::to_doubles(*found);
  return value.size() == 1 ? std::optional(value[0]) : std::nullopt;
}

/// Returns the text of an attribute of a parcel file's group; empty if there is none.
std::string attribute_text(const io::FileGroup& group, std::string_view name) {
  const io::FileValues* const found = io::find_attribute(group, name);
  return found == nullptr ? std::string() : io::to_text(*found);
}

/// Sets flow options from attributes of the parcel file that a run continues from, unless the command line gives them, and records
/// their origin. Throws InputError naming the attribute, for a value that is not allowed.
class OptionSetter {
 public:
  OptionSetter(const std::string& path, const OptionTable& given, flow::FlowOptions& options, Answers& answers)
      : path_(path), given_(given), in_file_(options), file_table_(in_file_), table_(options), answers_(answers) {}

  /// Sets a flow option to the text of a file attribute, unless the command line gives it; `attribute` names the origin in errors.
  void set(std::string_view option, const std::string& text, std::string_view attribute) {
    for (std::size_t i = 0; i < table_.options().size(); ++i) {
      const Option& o = file_table_.options()[i];
      const Option& own = table_.options()[i];
      if (o.name != option) continue;
      if (o.flag && text != "true" && text != "false")
        throw InputError(
            fmt::format("{}: {} gives --{}: \"{}\"; allowed: true and false", path_, attribute, option, text));
      try {
        o.set(text);
        if (!given_.is_given(option)) own.set(text);
      } catch (const Error& e) {
        throw InputError(fmt::format("{}: {} gives --{}: {}", path_, attribute, option, e.what()));
      }
      answers_.note(o.name, own.value(), o.value(), given_.is_given(option), "");
    }
  }
  /// Returns the path of the parcel file that the options come from.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Records as defaults the flow options that the parcel file does not give.
  void finish() {
    for (const Option& o : table_.options())
      if (!answers_.has(o.name))
        answers_.note(o.name, o.value(), OptionValue(std::monostate()), given_.is_given(o.name), "default");
  }

 private:
  const std::string& path_;
  const OptionTable& given_;
  flow::FlowOptions in_file_;
  OptionTable file_table_;
  OptionTable table_;
  Answers& answers_;
};

/// Sets flow options from the group of options that write_snapshot() writes, whose attributes have the names of options.
void set_own_options(const io::FileGroup& group, OptionSetter& to) {
  for (const io::FileAttribute& a : group.attributes) to.set(a.name, io::to_text(a.values), "the attribute " + a.name);
}

/// Sets flow options from the attributes that EPIC writes to its parcel files. @throws InputError for one that is not allowed
void set_epic_options(const io::FileGroup& root, OptionSetter& to) {
  constexpr std::array<std::pair<const char*, const char*>, 7> kNumbers{{{"alpha", "alpha"},
                                                                         {"lambda_max", "max-aspect-ratio"},
                                                                         {"min_vratio", "min-volume-ratio"},
                                                                         {"correction_iters", "corrections"},
                                                                         {"gradient_pref", "gradient-factor"},
                                                                         {"max_compression", "max-compression"},
                                                                         {"rk_order", "rk-order"}}};
  for (const auto& [name, option] : kNumbers) {
    const auto value = attribute_number(root, name);
    // An error, not a default: a default would change the run silently.
    if (!value && io::find_attribute(root, name) != nullptr)
      throw InputError(
          fmt::format("{}: the attribute {} is not one number; allowed: a number for --{}", to.path(), name, option));
    if (value) to.set(option, number_text(*value), std::string("the attribute ") + name);
  }
  if (const std::string ignored = attribute_text(root, "l_ignore_bndry_zeta_flag"); !ignored.empty())
    to.set("keep-surface-vorticity", ignored, "the attribute l_ignore_bndry_zeta_flag");
  if (const std::string damped = attribute_text(root, "damping_l_surface_vorticity"); !damped.empty())
    to.set("damping",
           damped == "true" ? number_text(attribute_number(root, "damping_vorticity_prefactor").value_or(0)) : "0",
           "the attribute damping_vorticity_prefactor");
  const io::FileGroup* const physics = io::find_group(root, "physical_quantities");
  if (physics == nullptr) return;
  const double twice = attribute_text(*physics, "l_planetary_vorticity") == "false"
                           ? 0
                           : 2 * attribute_number(*physics, "planetary_angular_velocity").value_or(0);
  const double latitude = attribute_number(*physics, "latitude_degrees").value_or(0) * std::numbers::pi / 180;
  to.set("coriolis-y", number_text(twice * std::cos(latitude)), "the group physical_quantities");
  to.set("coriolis-z", number_text(twice * std::sin(latitude)), "the group physical_quantities");
}

}  // namespace

std::vector<std::int64_t> counts_to_list(const flow::StepCounts& c) {
  std::vector<std::int64_t> out{c.splits, c.merges, c.merged_into_big};
  out.insert(out.end(), c.clusters.begin(), c.clusters.end());
  return out;
}

flow::StepCounts list_to_counts(std::span<const std::int64_t> list) {
  flow::StepCounts c{list[0], list[1], list[2], {}};
  std::copy_n(list.begin() + 3, c.clusters.size(), c.clusters.begin());
  return c;
}

std::string snapshot_name(const std::string& base, std::int64_t number, const std::string& what) {
  return fmt::format("{}_{:010}_{}", base, number, what);
}

std::string snapshot_base(const std::string& path) {
  constexpr std::string_view kEnd = "_parcels.nc";
  if (!path.ends_with(kEnd)) return {};
  const std::string start = path.substr(0, path.size() - kEnd.size());
  if (start.size() < kDigits + 1 || start[start.size() - kDigits - 1] != '_') return {};
  const bool digits = std::all_of(start.end() - kDigits, start.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits ? start.substr(0, start.size() - kDigits - 1) : std::string();
}

// Snapshot of a flow: parcels without registers, EPIC's attributes, and the group from which a run continues.
void write_snapshot(const std::string& path, const Parcels& parcels, const Decomposition& decomposition,
                    const Progress& progress, const flow::FlowOptions& options, comm::Transport& transport) {
  io::FileMetadata metadata;
  metadata.root.attributes = epic_attributes(options);
  io::FileGroup parameters;
  parameters.name = "parameters";
  parameters.attributes = {flag_attribute("l_lower_boundry_zeta_zero", progress.state.hold[0]),
                           flag_attribute("l_upper_boundry_zeta_zero", progress.state.hold[1])};
  metadata.root.groups = {physical_group(options), std::move(parameters), progress_group(progress, options)};
  io::write_parcels(path, flow::without_registers(parcels), decomposition, progress.state.time, transport, metadata);
}

// Flow options of a continued run: from our group of the parcel file where it has one, else from EPIC's attributes.
void read_options(const std::string& path, const io::ParcelFileInfo& info, const OptionTable& given,
                  flow::FlowOptions& options, Answers& answers) {
  OptionSetter to(path, given, options, answers);
  const io::FileGroup* const ours = io::find_group(info.metadata.root, kGroup);
  const io::FileGroup* const all = ours == nullptr ? nullptr : io::find_group(*ours, kOptionsGroup);
  if (all != nullptr) {
    set_own_options(*all, to);
    // A command that changed this option since, such as cluster, has changed EPIC's attribute alone.
    if (info.min_volume_ratio)
      to.set("min-volume-ratio", number_text(*info.min_volume_ratio), "the attribute min_vratio");
  } else {
    set_epic_options(info.metadata.root, to);
  }
  to.finish();
}

// State of a continued flow run, from our group of the snapshot.
Progress read_progress(const std::string& path, const io::ParcelFileInfo& info) {
  Progress out;
  out.state.time = info.time;
  if (!std::isfinite(info.time))
    throw InputError(path + ": the time is " + number_text(info.time) + "; it must be finite");
  const io::FileGroup* const ours = io::find_group(info.metadata.root, kGroup);
  if (ours == nullptr) return out;
  const Attributes of(path, *ours);
  out.state.begun = true;
  out.state.step = of.at_least("step", 0);
  out.snapshot = of.at_least("snapshot", 0);
  out.consecutive = of.at_least("consecutive", 0);
  const std::vector<double> mean = of.numbers("mean_vorticity", 3);
  std::copy(mean.begin(), mean.end(), out.state.mean_vorticity.begin());
  const auto hold = of.integers("hold", 2);
  out.state.hold = {hold[0] != 0, hold[1] != 0};
  out.state.counts = list_to_counts(of.integers("counts", 10));
  out.case_name = attribute_text(*ours, "case");
  return out;
}

}  // namespace merganser::app
