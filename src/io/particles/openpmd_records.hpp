#pragma once
/// Records of openPMD for the columns of parcels: their names, and the attributes that the standard and ED-PIC require.
#include <array>
#include <string>

#include "merganser/parcels/parcels.hpp"
#include "src/io/columns.hpp"
#include "src/io/particles/hdf5_file.hpp"

namespace merganser::io {

/// Name of an openPMD record and of its component; the latter is empty for a scalar.
struct RecordPath {
  std::string record;
  std::string component;
};
/// Returns the record of a column: where the file it comes from had it, else by its name: x_vorticity is vorticity/x.
[[nodiscard]] RecordPath record_path(const Column& column, const Schema& schema);

/// Attributes of an openPMD record that say what its numbers mean.
struct RecordMeaning {
  std::array<double, 7> dimension{};  ///< unitDimension: powers of m, kg, s, A, K, mol, cd
  bool macro_weighted = false;        ///< macroWeighted: of all real particles of one that the file has
  double weighting_power = 0;         ///< weightingPower: of the weight, to go from one to all
};
/// Rule by which the values of an openPMD record combine when particles merge, by the attributes of the extension ED-PIC.
enum class Weighting {
  unknown,   ///< the attributes are missing, or combine otherwise
  single,    ///< of one real particle: the mean by weight
  together,  ///< of all real particles that one stands for: the sum
};
/// Reads macroWeighted and weightingPower of an openPMD record.
[[nodiscard]] Weighting read_weighting(const hdf5::File& file, const std::string& record);

/// Returns the attributes of a record of ours by its name and the rule by which it merges.
[[nodiscard]] RecordMeaning meaning_of(const std::string& record, Rule rule);
/// Returns the merge rule of the attribute that a column is a component of; sum for the volume, centre for ids.
[[nodiscard]] Rule rule_of(const Column& column, const Schema& schema);

}  // namespace merganser::io
