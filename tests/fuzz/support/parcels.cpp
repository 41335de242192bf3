// requires: NetCDF
#include "tests/fuzz/support/parcels.hpp"

#include <bit>
#include <cmath>

#include "merganser/comm/runtime.hpp"
#include "merganser/io/data_file.hpp"
#include "merganser/io/parcel_file.hpp"
#include "merganser/parcels/statistics.hpp"
#include "src/io/archive.hpp"
#include "tests/fuzz/support/files.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

struct Whole {
  Digest digest{};
  std::uint64_t parcels = 0;
  friend bool operator==(const Whole&, const Whole&) = default;
};

/// Reads the header of a file and adds every variable that can be read. Collective.
io::ParcelFileInfo info_of(const std::string& path, comm::Transport& t) {
  io::ParcelFileInfo info = io::read_info(path, t);
  std::vector<io::VariableRule> rules;
  for (const auto& name : io::unread_variables(info))  // what is called as EPIC's attributes cannot be added
    if (!Schema::epic().has(name)) rules.push_back({name, Rule::centre, true});
  io::add_variables(path, info, rules);
  return info;
}

Whole read_on(int ranks, const std::string& path, const std::string& to = {}) {
  std::vector<Whole> parts(static_cast<std::size_t>(ranks));
  comm::run({"threads", ranks, "", {}}, [&](comm::Transport& t) {
    const io::ParcelFileInfo info = info_of(path, t);
    Parcels parcels = io::read_parcels(path, info, t);
    Whole& mine = parts[static_cast<std::size_t>(t.rank())];
    for (std::size_t i = 0; i < parcels.size(); ++i)
      require(std::isfinite(parcels.site(i).x) && parcels.site(i).volume > 0, "a parcel that is none");
    mine = {digest(parcels), parcels.size()};
    if (to.empty()) return;
    const Decomposition decomposition(info.grid, t.size());
    io::write_parcels(to, parcels, decomposition, info.time, t, info.metadata);
  });
  Whole whole;
  for (const Whole& part : parts) {
    whole.parcels += part.parcels;
    whole.digest += part.digest;
  }
  return whole;
}

template <class Described>
std::string packed(Described described) {
  io::Packer packer;
  packer(described);
  return {reinterpret_cast<const char*>(packer.bytes().data()), packer.bytes().size()};
}

/// Returns the result of `read`, or the message of its InputError with the path replaced.
template <class Read>
std::string result_or_message(const std::string& path, const Read& read) {
  try {
    return read();
  } catch (const InputError& e) {
    std::string text = e.what();
    for (auto at = text.find(path); at != std::string::npos; at = text.find(path))
      text.replace(at, path.size(), "FILE");
    return text;
  }
}

}  // namespace

std::string all_parcels(const std::string& path) {
  return result_or_message(path, [&] {
    std::string all;
    comm::run({"threads", 1, "", {}}, [&](comm::Transport& t) {
      const io::ParcelFileInfo info = info_of(path, t);
      all = packed(info) + packed(digest(io::read_parcels(path, info, t)));
    });
    return all;
  });
}

std::string all_arrays(const std::string& path) {
  return result_or_message(path, [&] { return packed(io::read_data(path)); });
}

bool feed_parcel_file(const std::string& path, std::string_view input, bool writes) {
  Whole alone, other;
  const bool read = read_or_refuse([&] { alone = read_on(1, path); });
  if (is_selected(64, input)) {
    require(read_or_refuse([&] { other = read_on(3, path); }) == read,
            "one number of ranks reads the file, another does not");
    require(!read || other == alone, "three ranks read other parcels");
  }
  if (!read || !writes || !is_selected(32, input)) return read;
  const std::string again = make_path("again.nc");
  const std::string said = result_or_message(again, [&] {
    static_cast<void>(read_on(1, path, again));
    return std::string();
  });
  if (!said.empty()) finding("parcels that were read are not written: " + said);
  const std::string refused = result_or_message(again, [&] {
    other = read_on(1, again);
    return std::string();
  });
  if (!refused.empty()) finding("what was written is refused: " + refused);
  require(other == alone, "what was written are other parcels");
  return true;
}

}  // namespace merganser::fuzz
