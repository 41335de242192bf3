// Writes parcels as an NPZ file: a ZIP archive, without compression, of arrays in NumPy's format.
#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/io/particles/gathered.hpp"
#include "src/io/particles/point_arrays.hpp"
#include "src/io/tables/npz_format.hpp"
#include "src/io/tables/tables.hpp"

namespace merganser::io {
namespace {

/// Writer of a ZIP archive of stored members whose lengths are known beforehand.
class ZipWriter {
 public:
  explicit ZipWriter(ByteSink& sink) : sink_(sink) {}

  /// Begins a member of `bytes` bytes, which put() appends.
  void begin(const std::string& name, std::uint64_t bytes) {
    members_.push_back({name, sink_.size(), bytes, 0});
    const bool large = bytes >= kZipLarge;
    ZipBytes head;
    head.u32(kZipLocal).u16(large ? 45 : 20).u16(kZipUtf8).u16(0).u16(0).u16(kZipDate).u32(0);
    head.u32(large ? kZipLarge : bytes).u32(large ? kZipLarge : bytes).u16(name.size()).u16(large ? 20 : 0);
    head.text += name;
    if (large) head.u16(1).u16(16).u64(bytes).u64(bytes);
    sink_.put(head.text);
    crc_ = Crc32();
  }
  void put(const void* data, std::size_t bytes) {
    crc_.add(data, bytes);
    sink_.put(data, bytes);
  }
  /// Leaves room for bytes of the member that ranks write. @return offset of the first
  std::uint64_t leave_room(std::uint64_t bytes) { return sink_.leave_room(bytes); }
  /// Adds to the checksum that of bytes that a rank has written, rank after rank.
  void add_known(std::uint32_t checksum, std::uint64_t bytes) { crc_.add_known(checksum, bytes); }
  /// Ends the member: its checksum is set.
  void end() {
    ZipBytes crc;
    members_.back().crc = crc_.value();
    crc.u32(members_.back().crc);
    sink_.replace(members_.back().at + kZipCrcAt, crc.text.data(), crc.text.size());
  }
  /// Writes the directory of the archive.
  void finish() {
    const std::uint64_t at = sink_.size();
    for (const Member& m : members_) {
      ZipBytes more;
      if (m.bytes >= kZipLarge) more.u64(m.bytes).u64(m.bytes);
      if (m.at >= kZipLarge) more.u64(m.at);
      ZipBytes head;
      head.u32(kZipCentral)
          .u16(45)
          .u16(more.text.empty() ? 20 : 45)
          .u16(kZipUtf8)
          .u16(0)
          .u16(0)
          .u16(kZipDate)
          .u32(m.crc);
      head.u32(std::min(m.bytes, kZipLarge)).u32(std::min(m.bytes, kZipLarge)).u16(m.name.size());
      head.u16(more.text.empty() ? 0 : more.text.size() + 4).u16(0).u16(0).u16(0).u32(0).u32(std::min(m.at, kZipLarge));
      head.text += m.name;
      if (!more.text.empty()) head.u16(1).u16(more.text.size());
      sink_.put(head.text + more.text);
    }
    const std::uint64_t bytes = sink_.size() - at;
    ZipBytes end;
    if (at >= kZipLarge)
      end.u32(kZip64End)
          .u64(44)
          .u16(45)
          .u16(45)
          .u32(0)
          .u32(0)
          .u64(members_.size())
          .u64(members_.size())
          .u64(bytes)
          .u64(at)
          .u32(kZip64Locator)
          .u32(0)
          .u64(at + bytes)
          .u32(1);
    end.u32(kZipEnd)
        .u16(0)
        .u16(0)
        .u16(members_.size())
        .u16(members_.size())
        .u32(bytes)
        .u32(std::min(at, kZipLarge))
        .u16(0);
    sink_.put(end.text);
  }

 private:
  struct Member {
    std::string name;
    std::uint64_t at, bytes;
    std::uint32_t crc;
  };
  ByteSink& sink_;
  std::vector<Member> members_;
  Crc32 crc_;
};

/// Begins an array of the archive: its head is written, and `bytes` bytes are to follow.
void begin_array(ZipWriter& zip, const std::string& name, const std::string& type, const std::string& shape,
                 std::uint64_t bytes) {
  const std::string head = npy_array_head("'" + type + "'", shape);
  zip.begin(name + ".npy", head.size() + bytes);
  zip.put(head.data(), head.size());
}

/// Writes a small array of doubles, or of 64-bit integers.
void put_small(ZipWriter& zip, const std::string& name, const std::vector<double>& values, bool integers) {
  const std::string shape = values.size() == 1 ? "" : std::to_string(values.size()) + ",";
  begin_array(zip, name, npy_type(integers ? FileType::i64 : FileType::f64), shape, values.size() * 8);
  for (const double v : values) {
    const auto bits =
        integers ? static_cast<std::uint64_t>(static_cast<std::int64_t>(v)) : std::bit_cast<std::uint64_t>(v);
    zip.put(&bits, sizeof bits);
  }
  zip.end();
}

/// Writes the rules that the file tells, as texts of one length.
void put_rules(ZipWriter& zip, std::span<const PointArray> arrays) {
  std::vector<std::string> rules;
  std::int64_t last = -1;
  for (const PointArray& a : arrays) {
    if (a.attribute == nullptr || rule_name(a.attribute->rule).empty() || a.place == last) continue;
    rules.push_back(a.name + ":" + rule_name(a.attribute->rule));
    last = a.place;
  }
  if (rules.empty()) return;
  std::size_t length = 1;
  for (const std::string& r : rules) length = std::max(length, r.size());
  begin_array(zip, kRulesArray, "|S" + std::to_string(length), std::to_string(rules.size()) + ",",
              length * rules.size());
  for (std::string r : rules) {
    r.resize(length, '\0');
    zip.put(r.data(), r.size());
  }
  zip.end();
}

/// Checks that no array of an attribute has the name of one that the format defines. @throws InputError
void check_names(std::span<const PointArray> arrays) {
  for (const PointArray& a : arrays) {
    check_utf8(a.name);
    if (a.name == kPositionArray || (a.name.starts_with("merganser_") && a.name != kIdName))
      throw InputError("cannot write the attribute " + a.name +
                       " as NPZ: such a file has an array of ours of this name; allowed: another name, or drop");
  }
}

/// Writes an array over the points as a member of the archive: its head from rank 0, then the rows of every rank. Collective.
class NpzArrays {
 public:
  NpzArrays(ZipWriter& zip, ByteSink& sink, GatheredParcels& gathered, comm::Transport& transport)
      : zip_(zip), sink_(sink), gathered_(gathered), transport_(transport) {}

  /// Writes an array of `width` numbers of a type for each point, which `bytes` makes from their values.
  void write(const std::string& name, FileType type, std::size_t width, const GatheredParcels::Values& values,
             const GatheredParcels::Bytes& bytes) {
    const std::size_t row_bytes = width * type_bytes(type);
    std::optional<std::uint64_t> begin;
    gathered_.on_first([&] {
      const std::uint64_t length = static_cast<std::uint64_t>(gathered_.total(0)) * row_bytes;
      const std::string count = std::to_string(gathered_.total(0));
      begin_array(zip_, name, npy_type(type), count + (width > 1 ? ", " + std::to_string(width) : std::string(",")),
                  length);
      begin = zip_.leave_room(length);
    });
    Part mine;
    Crc32 crc;
    const auto summed = [&](std::span<const double> rows, std::vector<std::byte>& to) {
      bytes(rows, to);
      crc.add(to.data(), to.size());
      mine.bytes += to.size();
    };
    std::array arrays{GatheredParcels::Array{width, values, summed, begin, row_bytes}};
    gathered_.write_rows(sink_.file(), 0, arrays);
    mine.checksum = crc.value();
    const std::vector<Part> all = comm::all_gather_value(transport_, mine);
    gathered_.on_first([&] {
      for (const Part& part : all) zip_.add_known(static_cast<std::uint32_t>(part.checksum), part.bytes);
      zip_.end();
    });
  }

 private:
  /// Bytes that a rank has written.
  struct Part {
    std::uint64_t bytes = 0;
    std::uint64_t checksum = 0;
  };
  ZipWriter& zip_;
  ByteSink& sink_;
  GatheredParcels& gathered_;
  comm::Transport& transport_;
};

}  // namespace

void write_npz(ByteSink& sink, const ParticlesToWrite& in, double time, comm::Transport& transport) {
  GatheredParcels gathered(in.parcels, transport);
  ZipWriter zip(sink);  // of use on rank 0
  const std::vector<PointArray> arrays = point_arrays(in);
  NpzArrays out(zip, sink, gathered, transport);
  gathered.on_first([&] {
    check_names(arrays);
    for (const auto& [name, values] : box_numbers(in, time))
      put_small(zip, name, values, name == kCellsAttribute || name == kPeriodicAttribute || name == kStepAttribute);
    put_rules(zip, arrays);
  });
  out.write(
      kPositionArray, FileType::f64, 3,
      [&](std::span<const std::size_t> parcels, double* to) {
        put_array_rows(in, std::span(in.columns).first(3), parcels, to);
      },
      [](std::span<const double> rows, std::vector<std::byte>& to) { to_bytes(rows, to); });
  for (const PointArray& array : arrays)
    out.write(
        array.name, array.columns[0].type, array.columns.size(),
        [&](std::span<const std::size_t> parcels, double* to) { put_array_rows(in, array.columns, parcels, to); },
        [&](std::span<const double> rows, std::vector<std::byte>& to) {
          to_particle_type(array.columns[0], rows, to);
        });
  gathered.on_first([&] { zip.finish(); });
  gathered.throw_error();
}

}  // namespace merganser::io
