// Writes parcels as a table: all ranks write, and the file appears when it is complete.
#include <algorithm>
#include <array>
#include <utility>

#include "merganser/base/log.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/io/data_file.hpp"
#include "src/io/particles/vtkhdf_names.hpp"
#include "src/io/tables/tables.hpp"

namespace merganser::io {
namespace {

/// Estimates the bytes of a table of binary arrays, from above; 0 for text, whose length depends on the numbers.
std::int64_t estimate_bytes(FileFormat format, const ParticlesToWrite& in, std::int64_t parcels) {
  if (format == FileFormat::csv) return 0;
  constexpr std::int64_t kHeader = 64 * 1024;
  return kHeader + parcels * static_cast<std::int64_t>(8 * (in.columns.size() + 3));
}

}  // namespace

std::map<std::string, std::vector<double>> box_numbers(const ParticlesToWrite& in, double time) {
  std::map<std::string, std::vector<double>> out;
  const Box& box = in.grid.box;
  for (std::size_t a = 0; a < 3; ++a) {
    out[kCellsAttribute].push_back(static_cast<double>(in.grid.cells[a]));
    out[kExtentAttribute].push_back(box.extent[a]);
    out[kOriginAttribute].push_back(box.lower[a]);
    out[kPeriodicAttribute].push_back(box.periodic[a] ? 1 : 0);
  }
  constexpr std::array<std::pair<const char*, const char*>, 2> kNumbers{
      {{"min_vratio", kRatioAttribute}, {"merge_step", kStepAttribute}}};
  for (const auto& [name, as] : kNumbers) {
    const FileValues* const found = find_attribute(in.metadata.root, name);
    if (found != nullptr && found->count == 1) out[as] = to_doubles(*found);
  }
  out[kTimeAttribute] = {time};
  return out;
}

bool is_box_number(std::string_view name) {
  constexpr std::array<std::string_view, 7> kNames{kCellsAttribute,    kExtentAttribute, kOriginAttribute,
                                                   kPeriodicAttribute, kRatioAttribute,  kStepAttribute,
                                                   kTimeAttribute};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

void write_table(const OutputName& name, const Parcels& parcels, const Grid& grid, double time,
                 comm::Transport& transport, const FileMetadata& metadata) {
  ParticlesToWrite in{parcels, grid, metadata, columns(parcels.schema(), metadata), {}};
  in.columns.push_back(id_column(metadata));
  const std::int64_t total = transport.all_reduce(static_cast<std::int64_t>(parcels.size()), comm::Op::sum);
  comm::SharedOutput output(name.path, transport, estimate_bytes(name.format, in, total));
  ByteSink sink(output);
  if (name.format == FileFormat::vtu) write_vtu(sink, in, time, transport);
  if (name.format == FileFormat::npz) write_npz(sink, in, time, transport);
  if (name.format == FileFormat::npy) write_npy(sink, in, transport);
  if (name.format == FileFormat::csv) write_csv(sink, in, transport);
  if (name.format == FileFormat::npy || name.format == FileFormat::csv)
    log(Level::warning, transport.rank(),
        name.path + (name.format == FileFormat::npy ? ": NPY" : ": CSV") +
            " tells no box, cells, periodic axes, time, volume ratio and rules; a command that reads it needs --cells, "
            "--origin, --extent and --periodic");
  output.commit();
}

}  // namespace merganser::io
