// Reads the description of an NPZ file: members of the ZIP archive, and the heads of their arrays.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <set>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "src/io/particles/vtkhdf_names.hpp"
#include "src/io/tables/npz_format.hpp"
#include "src/io/tables/tables.hpp"

namespace merganser::io {
namespace {

/// Member of a ZIP archive.
struct Member {
  std::string name;
  std::uint64_t method, packed, bytes, at, crc;
};

/// Reader of the records of a ZIP archive, all lengths checked against the file's.
class ZipReader {
 public:
  explicit ZipReader(const std::string& path) : path_(path), file_(path, std::ios::binary) {
    file_.seekg(0, std::ios::end);
    size_ = static_cast<std::uint64_t>(file_.tellg());
  }
  [[nodiscard]] std::uint64_t size() const { return size_; }

  /// Returns bytes of the file. @throws InputError beyond its end
  std::string bytes(std::uint64_t at, std::uint64_t count) {
    if (at > size_ || count > size_ - at) damaged("a record lies outside of the file");
    std::string out(count, '\0');
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(at));
    file_.read(out.data(), static_cast<std::streamsize>(count));
    if (static_cast<std::uint64_t>(file_.gcount()) != count) damaged("it ends early");
    return out;
  }
  static std::uint64_t number(std::string_view from, std::size_t at, int bytes) {
    std::uint64_t v = 0;
    for (int i = bytes - 1; i >= 0; --i)
      v = v << 8 | static_cast<unsigned char>(from[at + static_cast<std::size_t>(i)]);
    return v;
  }
  [[noreturn]] void damaged(const std::string& what) const {
    throw InputError(path_ + ": not a whole NPZ file: " + what + "; truncated or damaged");
  }

  /// Lists the members by the directory at the end of the archive.
  std::vector<Member> members() {
    constexpr std::uint64_t kEnd = 22, kEntry = 46;
    const std::uint64_t tail = std::min<std::uint64_t>(size_, kEnd + 0xffff);
    const std::string end = bytes(size_ - tail, tail);
    const std::size_t found = end.rfind(std::string("PK\x05\x06", 4));
    if (found == std::string::npos || found + kEnd > end.size()) damaged("no directory");
    std::uint64_t count = number(end, found + 10, 2), length = number(end, found + 12, 4),
                  at = number(end, found + 16, 4);
    if (at == kZipLarge || count == 0xffff) {
      if (found < 20 || number(end, found - 20, 4) != kZip64Locator) damaged("no 64-bit directory");
      const std::string large = bytes(number(end, found - 20 + 8, 8), 56);
      if (number(large, 0, 4) != kZip64End) damaged("no 64-bit directory");
      count = number(large, 32, 8), length = number(large, 40, 8), at = number(large, 48, 8);
    }
    const std::string directory = bytes(at, length);
    std::vector<Member> out;
    std::size_t next = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (next + kEntry > directory.size() || number(directory, next, 4) != kZipCentral)
        damaged("its directory is wrong");
      const std::size_t name = number(directory, next + 28, 2), more = number(directory, next + 30, 2);
      const std::size_t whole = kEntry + name + more + number(directory, next + 32, 2);
      if (next + whole > directory.size()) damaged("its directory is wrong");
      Member m{directory.substr(next + kEntry, name), number(directory, next + 10, 2), number(directory, next + 20, 4),
               number(directory, next + 24, 4),       number(directory, next + 42, 4), number(directory, next + 16, 4)};
      widen(std::string_view(directory).substr(next + kEntry + name, more), m);
      out.push_back(std::move(m));
      next += whole;
    }
    return out;
  }

  /// Returns where the bytes of a member begin.
  std::uint64_t data(const Member& m) {
    const std::string head = bytes(m.at, 30);
    if (number(head, 0, 4) != kZipLocal) damaged("a member is not where the directory says");
    return m.at + 30 + number(head, 26, 2) + number(head, 28, 2);
  }

 private:
  /// Replaces numbers of a member that do not fit into 32 bits by those of its extra field.
  static void widen(std::string_view more, Member& m) {
    std::size_t at = 0;
    while (at + 4 <= more.size()) {
      const std::uint64_t id = number(more, at, 2), length = number(more, at + 2, 2);
      std::size_t field = at + 4;
      const std::size_t end = std::min<std::size_t>(more.size(), field + length);
      for (std::uint64_t* v : {&m.bytes, &m.packed, &m.at})
        if (id == 1 && *v == kZipLarge && field + 8 <= end) {
          *v = number(more, field, 8);
          field += 8;
        }
      at += 4 + length;
    }
  }

  const std::string& path_;
  std::ifstream file_;
  std::uint64_t size_ = 0;
};

/// Reader of the arrays of one NPZ file.
class NpzReader {
 public:
  explicit NpzReader(const std::string& path) : path_(path), zip_(path) {}

  TableFile read(NpzChecksums checksums) {
    const std::vector<Member> members = zip_.members();
    for (const Member& m : members) add(m);
    for (const Member& m : members)
      if (checksums == NpzChecksums::verify && m.method == 0) verify(m);
    place_rules();
    std::int64_t rows = -1;
    for (const ArrayAbout& a : out_.arrays)
      if (a.name == kPositionArray && a.width == 3) {
        out_.positions = a;
        rows = a.rows;
      }
    // Arrays of another length are not of the parcels.
    std::erase_if(out_.arrays, [&](const ArrayAbout& a) {
      if (a.name == kPositionArray && a.width != 3)
        lose(a.name,
             "array " + a.name + ", with " + std::to_string(std::max<std::int64_t>(a.width, 1)) + " numbers in a row");
      if (a.rows != rows && rows >= 0) lose(a.name, "array " + a.name + ", of another length than the positions");
      return a.name == kPositionArray || a.rows != rows;
    });
    return std::move(out_);
  }

 private:
  /// Compares the checksum of a member with that of the directory. @throws InputError if they differ
  void verify(const Member& m) {
    constexpr std::uint64_t kPart = std::uint64_t{1} << 20;
    const std::uint64_t at = zip_.data(m);
    Crc32 crc;
    for (std::uint64_t done = 0; done < m.bytes; done += kPart) {
      const std::string part = zip_.bytes(at + done, std::min(kPart, m.bytes - done));
      crc.add(part.data(), part.size());
    }
    if (crc.value() != m.crc) zip_.damaged(m.name + " has another checksum (CRC-32) than the directory says");
  }

  /// Returns why an array is not read: its type, else its shape, else that it is stored by columns.
  [[nodiscard]] static std::string why_unread(const ArrayHead& head, bool is_type) {
    if (!is_type) return unread_type(head.type);
    if (head.shape.size() > 2)
      return "of " + std::to_string(head.shape.size()) + " dimensions, which is not read (1 and 2 are)";
    return "stored by columns, which is not read (by rows: numpy.ascontiguousarray(a))";
  }

  void lose(const std::string& name, const std::string& what) { out_.lost.push_back({name, what}); }

  void add(const Member& m) {
    std::string name = m.name;
    if (!name.ends_with(".npy")) return lose(name, "member " + name + ", no array");
    name.resize(name.size() - 4);
    if (!names_.insert(name).second)
      throw InputError(path_ + ": two members " + name + ".npy; allowed: one of each name");
    if (m.method != 0)
      throw InputError(path_ + ": " + name + " is compressed; allowed: archives of numpy.savez, not savez_compressed");
    const std::uint64_t at = zip_.data(m);
    const std::string begin = zip_.bytes(at, std::min<std::uint64_t>({m.bytes, zip_.size() - at, kMaxNpyHead}));
    std::optional<ArrayHead> found = parse_array_head(begin);
    if (!found) zip_.damaged(name + " is no array of NumPy's");
    ArrayHead& head = *found;
    head.data += at;
    if (name == kRulesArray && head.type.starts_with("|S") && head.shape.size() == 1) return read_rules(head);
    const std::optional<FileType> type = parse_npy_type(head.type);
    if (!type || head.shape.size() > 2 || (head.fortran && head.shape.size() == 2))
      return lose(name, "array " + name + ", " + why_unread(head, type.has_value()));
    double count = 1;
    for (const std::int64_t n : head.shape) count *= static_cast<double>(n);
    const double end = static_cast<double>(head.data) + count * static_cast<double>(type_bytes(*type));
    if (end > static_cast<double>(zip_.size()) || end > static_cast<double>(at) + static_cast<double>(m.bytes))
      zip_.damaged(name + " has fewer numbers than its shape says");
    if (name.starts_with("merganser_") && name != kIdName) return read_numbers(name, *type, head);
    if (head.shape.empty()) return lose(name, "array " + name + ", one number");
    out_.offsets[name] = head.data;
    out_.arrays.push_back({.name = name,
                           .at = name,
                           .type = *type,
                           .rows = head.shape[0],
                           .width = head.shape.size() == 2 ? head.shape[1] : 0,
                           .storage = {},
                           .rule = {},
                           .place = {}});
  }

  /// Reads numbers that hold for all parcels.
  void read_numbers(const std::string& name, FileType type, const ArrayHead& head) {
    std::uint64_t count = 1;
    for (const std::int64_t n : head.shape) count *= static_cast<std::uint64_t>(n);
    constexpr std::uint64_t kMax = 64;
    if (count > kMax || !is_box_number(name))
      return lose(name, "array " + name + ", whose name begins with merganser_");
    const std::string bytes = zip_.bytes(head.data, count * type_bytes(type));
    dispatch_type(type, [&](auto zero) {
      for (std::uint64_t i = 0; i < count; ++i) {
        std::memcpy(&zero, bytes.data() + i * sizeof zero, sizeof zero);
        out_.numbers[name].push_back(static_cast<double>(zero));
      }
    });
  }

  /// Reads the texts of rules.
  void read_rules(const ArrayHead& head) {
    const std::string digits = head.type.substr(2);
    if (digits.empty() || digits.size() > 6 || digits.find_first_not_of("0123456789") != std::string::npos)
      zip_.damaged(std::string(kRulesArray) + " holds no texts");
    const std::uint64_t length = std::stoull(digits);
    constexpr std::int64_t kMax = 100000;
    if (head.shape[0] > kMax) zip_.damaged(std::string(kRulesArray) + " is too long");
    for (std::int64_t i = 0; i < head.shape[0]; ++i) {
      std::string rule = zip_.bytes(head.data + static_cast<std::uint64_t>(i) * length, length);
      rules_.push_back(rule.substr(0, rule.find('\0')));
    }
  }

  /// Gives arrays the rules that the file tells.
  void place_rules() {
    for (std::size_t i = 0; i < rules_.size(); ++i) {
      const std::size_t colon = rules_[i].rfind(':');
      for (ArrayAbout& a : out_.arrays) {
        if (colon == std::string::npos || a.name != rules_[i].substr(0, colon)) continue;
        a.rule = rules_[i].substr(colon + 1);
        a.place = static_cast<double>(i);
      }
    }
  }

  const std::string& path_;
  ZipReader zip_;
  TableFile out_;
  std::set<std::string> names_;  // of arrays so far
  std::vector<std::string> rules_;
};

}  // namespace

TableFile describe_npz(const std::string& path, NpzChecksums checksums) { return NpzReader(path).read(checksums); }

}  // namespace merganser::io
