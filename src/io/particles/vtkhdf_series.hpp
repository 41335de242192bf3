#pragma once
/// Time steps of VTKHDF files of points (group Steps): those that a file has, and the growth of a series by one. Call everything here on
/// one rank, under the lock of NetCDF.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/io/particles/hdf5_file.hpp"
#include "src/io/particles/point_arrays.hpp"

namespace merganser::io {

/// Steps that a series has before the one that is written: those of the file that the new one will replace.
struct EarlierSteps {
  std::optional<hdf5::File> file;    ///< empty: there is no file yet
  std::vector<double> times;         ///< of each step, ascending
  std::vector<std::int64_t> points;  ///< number of points of each step
  std::int64_t rows = 0;             ///< number of points of all steps
};

/// Right to add a step to a series: other processes that add to a series in the same folder wait for the destructor, where the file
/// system has locks (flock); everywhere check() finds that another one has written the file.
class SeriesLock {
 public:
  /// Waits for the lock of the folder of `path`, and notes which file stands there.
  explicit SeriesLock(std::string path);
  ~SeriesLock();
  SeriesLock(const SeriesLock&) = delete;
  SeriesLock& operator=(const SeriesLock&) = delete;
  /// Checks that the file is the one that stood there at first, or that there is none still. @throws InputError if it is another one
  void check() const;

 private:
  /// Device, inode, size and time of the last change of the file; zeros if there is none.
  using Identity = std::array<std::int64_t, 5>;
  [[nodiscard]] Identity identity() const;

  std::string path_;
  int folder_ = -1;
  Identity before_{};
};

/// Opens a VTKHDF file of ours and reads what it tells of its steps; one without the group Steps has one; without a file there are none.
/// @throws InputError unless the parcels can be its next step: no file of ours, another box, no later time
[[nodiscard]] EarlierSteps read_earlier_steps(const std::string& path, const ParticlesToWrite& in, double time);
/// Checks that the earlier steps have the arrays of the next one, with their rules. @param positions  type of its points
/// @throws InputError naming an array that differs, or what stands beside them and the new file would lack
void check_arrays(const EarlierSteps& earlier, const std::vector<PointArray>& arrays, FileType positions);
/// Writes the group Steps of a new file: the earlier ones, and that of the time given.
void put_steps(const hdf5::File& file, const EarlierSteps& earlier, const std::vector<PointArray>& arrays, double time);
/// Copies the rows of all earlier steps of an array or of the points. @param width  numbers of a row; 0: the array has one dimension
void copy_rows(const hdf5::File& file, const EarlierSteps& earlier, const std::string& at, FileType type,
               std::int64_t width);

/// Time step of a series: where it begins in the arrays.
struct VtkhdfStep {
  std::int64_t number = 0;  ///< of the step, from 0
  std::int64_t steps = 0;   ///< number of steps in the file
  double time = 0;
  std::int64_t first_point = 0;
  std::int64_t points = 0;
};

/// Returns the last step of a VTKHDF file; empty if it has no group Steps. @throws InputError if the group is damaged
[[nodiscard]] std::optional<VtkhdfStep> last_step(const hdf5::File& file);
/// Checks that a VTKHDF file without steps has as many points as the counts of its parts say, where it has these. @throws InputError
void check_point_count(const hdf5::File& file, std::int64_t rows);
/// Returns the row at which a step begins in an array over the points. @throws InputError if the file does not tell
[[nodiscard]] std::int64_t first_row(const hdf5::File& file, const VtkhdfStep& step, const std::string& array);

}  // namespace merganser::io
