// Writes parcels as a VTU file (VTK's XML): an UnstructuredGrid of vertices, whose arrays follow the XML as raw bytes.
#include <bit>
#include <optional>
#include <span>
#include <utility>

#include "merganser/base/text.hpp"
#include "src/io/particles/gathered.hpp"
#include "src/io/particles/hdf_rows.hpp"
#include "src/io/particles/point_arrays.hpp"
#include "src/io/particles/vtkhdf_names.hpp"
#include "src/io/tables/npz_format.hpp"
#include "src/io/tables/tables.hpp"
#include "src/io/tables/vtu_types.hpp"

namespace merganser::io {
namespace {

/// Returns a name as the value of an XML attribute. @throws InputError for a name that is not UTF-8
std::string escaped(const std::string& text) {
  check_utf8(text);
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

/// Writer of the XML of a VTU file, with the places of arrays in the bytes behind it.
class VtuHead {
 public:
  explicit VtuHead(std::int64_t points) : points_(static_cast<std::uint64_t>(points)) {}

  /// Appends the element of an array whose numbers follow the XML, `components` for each point.
  void add(const std::string& name, FileType type, std::size_t components, const std::string& more = {}) {
    text += "<DataArray type=\"" + vtk_type_name(type) + "\" Name=\"" + escaped(name) + "\" NumberOfComponents=\"" +
            std::to_string(components) + "\"" + more + " format=\"appended\" offset=\"" + std::to_string(offset_) +
            "\"/>\n";
    offset_ += sizeof(std::uint64_t) + points_ * components * type_bytes(type);
  }
  /// Appends numbers of the whole file, as an array of field data. VTK takes kVtkTime for the time.
  void add_numbers(const std::string& name, const std::vector<double>& values) {
    text += "<DataArray type=\"Float64\" Name=\"" + name + "\" NumberOfTuples=\"" + std::to_string(values.size()) +
            "\" format=\"ascii\">" + joined(values, " ", number_text) + "</DataArray>\n";
  }

  std::string text;

 private:
  std::uint64_t points_;
  std::uint64_t offset_ = 0;  // of the next array in the bytes behind the XML
};

/// Returns the attributes of an array's element that tell its rule; empty for one that has none to tell.
std::string told_rule(const PointArray& array) {
  const std::string rule = array.attribute == nullptr ? std::string() : rule_name(array.attribute->rule);
  if (rule.empty()) return {};
  return std::string(" ") + kRuleAttribute + "=\"" + rule + "\" " + kPlaceAttribute + "=\"" +
         std::to_string(array.place) + "\"";
}

/// Makes the XML of the file, up to the bytes of the arrays. The order of arrays is that in which they are written.
std::string vtu_head(const ParticlesToWrite& in, double time, std::int64_t points, std::span<const PointArray> arrays) {
  VtuHead head(points);
  const char* const order = std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian";
  const std::string count = std::to_string(points);
  head.text = std::string("<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"") +
              order +
              "\" header_type=\"UInt64\">\n<!-- merganser " MERGANSER_VERSION " -->\n<UnstructuredGrid>\n<FieldData>\n";
  head.add_numbers(kVtkTime, {time});
  for (const auto& [name, values] : box_numbers(in, time)) head.add_numbers(name, values);
  head.text += "</FieldData>\n<Piece NumberOfPoints=\"" + count + "\" NumberOfCells=\"" + count + "\">\n<Points>\n";
  head.add("Points", FileType::f64, 3);
  head.text += "</Points>\n<Cells>\n";
  head.add("connectivity", FileType::i64, 1);
  head.add("offsets", FileType::i64, 1);
  head.add("types", FileType::u8, 1);
  head.text += "</Cells>\n<PointData>\n";
  for (const PointArray& a : arrays) head.add(a.name, a.columns[0].type, a.columns.size(), told_rule(a));
  head.text += "</PointData>\n</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_";
  return head.text;
}

/// Arrays of a VTU file, of which every rank writes its rows: before each stands its length in bytes, from rank 0.
class VtuArrays {
 public:
  VtuArrays(ByteSink& sink, GatheredParcels& gathered) : sink_(sink), gathered_(gathered) {}

  /// Makes room for an array of `width` numbers for each point, which `bytes` makes from their values.
  void add(std::size_t width, std::size_t row_bytes, GatheredParcels::Values values, GatheredParcels::Bytes bytes) {
    std::optional<std::uint64_t> begin;
    gathered_.on_first([&] {
      const std::uint64_t length = static_cast<std::uint64_t>(gathered_.total(0)) * row_bytes;
      sink_.put(&length, sizeof length);
      begin = sink_.leave_room(length);
    });
    arrays_.push_back({width, std::move(values), std::move(bytes), begin, row_bytes});
  }
  /// Makes room for an array of one number for each point: its row times `factor`, plus `plus`.
  void add_row_numbers(FileType type, double factor, double plus) {
    const auto first = static_cast<double>(gathered_.own_first(0));
    add(
        1, type_bytes(type),
        [first, factor, plus](std::span<const std::size_t> parcels, double* to) {
          for (const std::size_t i : parcels) *to++ = factor * (first + static_cast<double>(i)) + plus;
        },
        [type](std::span<const double> values, std::vector<std::byte>& to) { to_type(type, values, to); });
  }
  /// Writes the arrays. Collective.
  void write() { gathered_.write_rows(sink_.file(), 0, arrays_); }

 private:
  ByteSink& sink_;
  GatheredParcels& gathered_;
  std::vector<GatheredParcels::Array> arrays_;
};

}  // namespace

void write_vtu(ByteSink& sink, const ParticlesToWrite& in, double time, comm::Transport& transport) {
  GatheredParcels gathered(in.parcels, transport);
  const std::vector<PointArray> arrays = point_arrays(in);
  VtuArrays out(sink, gathered);
  gathered.on_first([&] { sink.put(vtu_head(in, time, gathered.total(0), arrays)); });
  out.add(
      3, 3 * sizeof(double),
      [&](std::span<const std::size_t> parcels, double* to) {
        put_array_rows(in, std::span(in.columns).first(3), parcels, to);
      },
      to_bytes);
  constexpr int kVertex = 1;  // VTK's number of the type of cells
  out.add_row_numbers(FileType::i64, 1, 0);
  out.add_row_numbers(FileType::i64, 1, 1);
  out.add_row_numbers(FileType::u8, 0, kVertex);
  for (const PointArray& array : arrays) {
    const std::size_t width = array.columns.size();
    out.add(
        width, width * type_bytes(array.columns[0].type),
        [&](std::span<const std::size_t> parcels, double* to) { put_array_rows(in, array.columns, parcels, to); },
        [&](std::span<const double> rows, std::vector<std::byte>& to) {
          to_particle_type(array.columns[0], rows, to);
        });
  }
  out.write();
  gathered.on_first([&] { sink.put("\n</AppendedData>\n</VTKFile>\n"); });
  gathered.throw_error();
}

}  // namespace merganser::io
