// The command convert: reads a parcel file and writes its parcels in another format, merging nothing.
#include <cmath>
#include <iostream>

#include "apps/cluster/file_rules.hpp"
#include "apps/cluster/merge_options.hpp"
#include "apps/frame/command.hpp"
#include "apps/frame/forecast.hpp"
#include "apps/frame/gather.hpp"
#include "apps/frame/ranks.hpp"
#include "apps/frame/record.hpp"
#include "apps/frame/table.hpp"
#include "merganser/base/log.hpp"
#include "merganser/base/text.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/io/output_name.hpp"
#include "merganser/io/parcel_file.hpp"

namespace merganser::app {
namespace {

/// Options of the command convert, filled by the option parser.
struct ConvertOptions {
  std::string input;                    ///< parcel file to read
  std::string output;                   ///< parcel file to write
  std::string json;                     ///< run record to write; empty: none
  std::vector<std::string> attributes;  ///< merge rules of variables, as --attribute gives them
  InputOptions box;                     ///< species and box, where the input does not tell them
  FileOptions file;                     ///< periodic axes that replace those of the file
  RankOptions ranks;                    ///< communication model and number of ranks
  ForceOption limits;                   ///< --force: run even if forecasts exceed the free memory
};

/// Passes name, value, meaning and range of every option of `convert` to option(...).
template <class V>
void describe(ConvertOptions& o, V&& option) {
  option.positional("IN", o.input, "parcel file: EPIC's (NetCDF-4), openPMD particles, VTKHDF, VTU, NPZ, NPY, or .csv",
                    Required{}, Reads{});
  option.positional("OUT", o.output,
                    "parcel file to write; its suffix (.nc .vtkhdf .vtu .pvd .npz .npy .csv), or :epic, :openpmd, "
                    ":vtkhdf, :vtu, :npz, :npy or :csv behind it, says the format; .vtkhdf:series grows by a step",
                    Required{}, Writes{},
                    Instead{"-o", "{command} takes the file to write as its last argument: {value}"},
                    Instead{"--output", "{command} takes the file to write as its last argument: {value}"});
  option.section("Output");
  option("json", o.json, "run record to write (- for standard output)", Kind{"FILE"}, Writes{});
  option.section("Input");
  describe_periodic(o.file, option);
  describe_attributes(o.attributes, option);
  describe(o.box, option);
  option.restrict({"columns"}, UsedWith{"IN *.csv", "OUT *.csv|*:csv"});
  describe(o.ranks, option);
  describe(o.limits, option);
}

/// Parcels of a file on this rank, with the description of the file; filled by read().
struct Loaded {
  io::ParcelFileInfo info;
  std::vector<io::MissingFound> missing;  ///< values that parcels lack, by a rule with missing=skip
  Parcels parcels;
};

/// Throws the forecast's error for a file that needs more memory or disk than is free. Collective.
void check_memory(const ConvertOptions& o, const io::ParcelFileInfo& info, comm::Transport& t) {
  constexpr double kContainers = 2.9;  // that exist at a time, as of cluster
  const auto parcels = static_cast<double>(info.parcels);
  Need need;
  need.what = o.input + " (" + count_text(info.parcels) + " parcels)";
  need.rank_bytes =
      std::ceil(parcels / t.size()) * kContainers * static_cast<double>(Parcels(info.schema).parcel_bytes());
  constexpr double kTextBytes = 2.5;  // of a number as text to those of a double
  const io::OutputName out = io::parse_output_name(o.output, info.metadata);
  need.disk_bytes = parcels * parcel_file_bytes(info.schema) * (out.format == io::FileFormat::csv ? kTextBytes : 1);
  need.file = out.path;
  need.of_file = true;
  need.help = "more ranks on more machines";
  require(need, o.limits.force, t);
}

/// Reads the input with its rules, box and periodic axes. Collective. @throws CollectiveError
Loaded read(const ConvertOptions& o, const FileRules& rules, Answers& answers, comm::Transport& t) {
  Loaded in;
  collective_try([&] {
    in.info = read_input_info(o.input, o.box, o.file.periodic, nullptr, t);
    apply_file_rules(rules, o.input, o.output, in.info, t.rank());
  });
  const AxisFlags periodic = resolve_periodic(o.file, in.info, answers);
  in.info.grid.box.periodic = {periodic[0], periodic[1], periodic[2]};
  for (const auto& warning : answers.warnings()) log(Level::warning, t.rank(), warning);
  if (in.info.min_volume_ratio) io::set_min_volume_ratio(in.info.metadata, *in.info.min_volume_ratio);
  collective_try([&] { check_memory(o, in.info, t); });
  in.parcels = collective_try([&] { return io::read_parcels(o.input, in.info, t, nullptr, &in.missing); });
  return in;
}

/// Writes the parcels. Collective. In EPIC's files ranks own blocks of cells, so parcels go to their owners first; files of other
/// formats have the parcels in the order of the input. @throws CollectiveError
void write(const ConvertOptions& o, Loaded& in, comm::Transport& t) {
  collective_try([&] {
    const io::FileFormat format = io::parse_output_name(o.output, in.info.metadata).format;
    const Decomposition blocks(in.info.grid, t.size());
    if (format == io::FileFormat::epic) distribute(in.parcels, blocks, t);
    if (format == in.info.metadata.format) io::fit_to_file(o.output, in.parcels, in.info.grid.box, in.info.metadata, t);
    io::write_parcels(o.output, in.parcels, blocks, in.info.time, t, in.info.metadata);
  });
}

/// Prints what was read and written, with digests, and writes --json. On rank 0. @param written  digest of what was written
void report(const ConvertOptions& o, const Loaded& in, const Digest& read, const Digest& written,
            const Answers& answers, const Invocation& call, comm::Transport& t) {
  if (can_print_report(call.table)) {
    std::cout << o.input << ": " << count_text(in.info.parcels) << (in.info.parcels == 1 ? " parcel, " : " parcels, ")
              << grid_text(in.info.grid) << ", time " << general_text(in.info.time, 6) << '\n'
              << answers.to_string() << '\n';
    for (const std::string& note : in.info.notes) std::cout << note << '\n';
    for (const io::MissingFound& m : in.missing)
      std::cout << m.name << ": " << count_text(m.count) << " of " << count_text(in.info.parcels)
                << " parcels without a value\n";
    std::cout << "wrote " << io::parse_output_name(o.output, in.info.metadata).path << '\n';
    if (!(read == written))
      std::cout << "values were rounded to the types that the file has: digest of what it holds " << written.to_string()
                << '\n';
    std::cout << "digest " << read.to_string() << '\n';
  }
  if (o.json.empty()) return;
  Json record = make_record(call, {t.size(), std::string(t.name()), std::string(t.choice()), o.ranks.decorators, ""});
  for (const io::MissingFound& m : in.missing) record["missing"][bytes_to_utf8(m.name)] = m.count;
  answers.add_to(record);
  record["result"] = {
      {"parcels", in.info.parcels}, {"digest", read.to_string()}, {"digest_written", written.to_string()}};
  write_record(o.json, record);
}

/// Runs the command convert on all ranks. @return exit code @throws UsageError for rules in --attribute that are none
int run(ConvertOptions& o, const Invocation& call) {
  FileRules rules = parse_file_rules(o.attributes);
  rules.names_losses = true;
  return run_on_ranks(o.ranks, [&](comm::Transport& t) {
    Answers answers(o.input);
    Loaded in = read(o, rules, answers, t);
    const Digest before = total_digest(t, digest(in.parcels));
    write(o, in, t);
    const Digest written = total_digest(t, digest(in.parcels));
    if (t.rank() == 0) report(o, in, before, written, answers, call, t);
  });
}

constexpr std::string_view kConvertText =
    "Writes the parcels of a file in another format, with every attribute and id; nothing is merged. The digest is "
    "that\n"
    "of what was read; reading OUT gives it again, of CSV unless integers are narrower than 64 bits. Variables beside\n"
    "EPIC's need a rule, as in cluster, since files tell it. What else OUT has no place for, as groups and units, is\n"
    "named in a warning, unless --attribute NAME:drop says so. OUT appears whole or the old file stays. A series .pvd\n"
    "grows by one step, a file .vtu beside it; OUT.vtkhdf:series by one in the same file.\n\n"
    "  merganser convert out.nc out.vtkhdf\n"
    "  merganser convert out.nc out.csv --columns x_position=x,y_position=y,z_position=z\n"
    "  merganser convert points.csv in.npz --cells 8,8,8 --origin 0,0,0 --extent 1,1,1 --periodic xyz\n"
    "  merganser convert dump.h5 dump.vtkhdf --species electrons --periodic xyz\n"
    "  for f in rt_*_parcels.nc; do merganser convert $f rt.vtkhdf:series; done\n"
    "  merganser run -n 4 -- convert out.nc out.h5:openpmd\n";

}  // namespace

extern const Command convert_command;
const Command convert_command =
    make_command<ConvertOptions, run>("convert", "write a parcel file in another format", kConvertText);

}  // namespace merganser::app
