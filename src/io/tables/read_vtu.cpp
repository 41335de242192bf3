// Reads the description of a VTU file: its XML, and the places of raw arrays behind it.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <fstream>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "src/io/particles/vtkhdf_names.hpp"
#include "src/io/tables/tables.hpp"
#include "src/io/tables/vtu_types.hpp"

namespace merganser::io {
namespace {

constexpr std::size_t kMaxXml = std::size_t{1} << 22;  // bytes of the XML before the arrays

/// Element of the XML: its name with a slash before it at the end, and its attributes.
struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;

  [[nodiscard]] std::string get(const std::string& key) const {
    const auto found = attributes.find(key);
    return found == attributes.end() ? std::string() : found->second;
  }
};

/// Returns a value of an XML attribute as the text that it stands for.
std::string unescaped(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, char>, 5> kEntities{
      {{"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&amp;", '&'}}};
  std::string out;
  while (!text.empty()) {
    const auto* const found =
        std::find_if(kEntities.begin(), kEntities.end(), [&](const auto& e) { return text.starts_with(e.first); });
    const bool known = found != kEntities.end();
    out += known ? found->second : text.front();
    text.remove_prefix(known ? found->first.size() : 1);
  }
  return out;
}

/// Reader of the XML of one VTU file.
class VtuReader {
 public:
  explicit VtuReader(const std::string& path) : path_(path) {
    std::ifstream file(path, std::ios::binary);
    file.seekg(0, std::ios::end);
    size_ = static_cast<std::uint64_t>(file.tellg());
    xml_.resize(std::min<std::uint64_t>(size_, kMaxXml));
    file.seekg(0);
    file.read(xml_.data(), static_cast<std::streamsize>(xml_.size()));
    if (static_cast<std::size_t>(file.gcount()) != xml_.size()) throw InputError("cannot read " + path);
  }

  TableFile read() {
    // The type of the data comes first: a list of files (PVD) has no arrays either.
    std::size_t behind = 0;
    if (const std::size_t head = xml_.find("<VTKFile"); head != std::string::npos) check_file(parse(head, behind));
    const std::size_t appended = xml_.find("<AppendedData");
    const std::size_t mark = appended == std::string::npos ? appended : xml_.find('_', xml_.find('>', appended));
    if (mark == std::string::npos) refuse("no appended data within its first 4 MiB");
    base_ = mark + 1;
    for (std::size_t at = 0; at < mark;) {
      at = xml_.find('<', at);
      if (at == std::string::npos || at >= mark) break;
      std::size_t end = at;
      const Element e = parse(at, end);
      take(e, end);
      at = end;
    }
    if (pieces_ != 1) refuse(std::to_string(pieces_) + " pieces");
    if (out_.positions.name.empty()) refuse("no array of Points");
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(path_ + ": " + what +
                     "; allowed: VTU of one piece whose arrays are appended, raw, without compression, in this "
                     "machine's byte order, as merganser writes them");
  }

  /// Parses the element that begins at `at`, and sets `end` behind it.
  [[nodiscard]] Element parse(std::size_t at, std::size_t& end) const {
    Element e;
    if (xml_.compare(at, 4, "<!--") == 0) {
      end = xml_.find("-->", at);
      if (end == std::string::npos) refuse("a comment without end");
      end += 3;
      return e;
    }
    std::size_t next = at + 1;
    while (next < xml_.size() && std::strchr(" \t\r\n>", xml_[next]) == nullptr) e.name += xml_[next++];
    while (next < xml_.size() && xml_[next] != '>') {
      const std::size_t equals = xml_.find_first_of("=>", next);
      if (equals == std::string::npos || xml_[equals] == '>') {
        next = equals;
        break;
      }
      const std::string key(trimmed(std::string_view(xml_).substr(next, equals - next), " \t\r\n"));
      const std::size_t open = xml_.find_first_of("\"'", equals);
      const std::size_t close = open == std::string::npos ? open : xml_.find(xml_[open], open + 1);
      if (close == std::string::npos) refuse("an attribute without end");
      e.attributes[key] = unescaped(std::string_view(xml_).substr(open + 1, close - open - 1));
      next = close + 1;
    }
    if (next >= xml_.size()) refuse("an element without end");
    end = next + 1;
    return e;
  }

  /// Takes one element, behind which the text begins at `end`.
  void take(const Element& e, std::size_t end) {
    if (e.name == "VTKFile") return check_file(e);
    if (e.name == "Piece") {
      ++pieces_;
      points_ = whole(e, "NumberOfPoints");
    }
    for (const char* section : {"FieldData", "Points", "PointData", "CellData", "Cells"})
      if (e.name == section) section_ = section;
    if (e.name == "AppendedData" && e.get("encoding") != "raw") refuse("appended data in " + e.get("encoding"));
    if (e.name == "DataArray" || e.name == "Array") add(e, end);
  }

  void check_file(const Element& e) {
    const char* const order = std::endian::native == std::endian::little ? "LittleEndian" : "BigEndian";
    if (e.get("type") == "Collection")
      throw InputError(path_ + ": a list of VTU files (PVD); allowed: one of the files that stand in it");
    if (e.get("type") != "UnstructuredGrid") refuse("data of type " + e.get("type") + ", not UnstructuredGrid");
    if (e.get("byte_order") != order) refuse("byte order " + e.get("byte_order"));
    if (!e.get("compressor").empty()) refuse("compressed by " + e.get("compressor"));
    length_bytes_ = e.get("header_type") == "UInt64" ? 8 : 4;
  }

  [[nodiscard]] std::int64_t whole(const Element& e, const std::string& key) const {
    const std::string text = e.get(key);
    std::int64_t value = -1;
    const auto r = std::from_chars(text.data(), text.data() + text.size(), value);
    if (r.ec != std::errc() || r.ptr != text.data() + text.size() || value < 0)
      refuse(e.name + " with " + key + " \"" + text + "\"");
    return value;
  }

  void add(const Element& e, std::size_t end) {
    const std::string name = e.get("Name");
    if (section_ == "Cells") return;
    if (section_ == "FieldData") return add_numbers(name, e, end);
    if (section_ == "CellData") return out_.lost.push_back({name, "array " + name + " of cells"});
    const std::optional<FileType> type = parse_vtk_type(e.get("type"));
    if (!type) return out_.lost.push_back({name, "array " + name + ", of type " + e.get("type")});
    if (e.get("format") != "appended") refuse("the array " + name + " is " + e.get("format"));
    const bool positions = section_ == "Points";
    const std::int64_t width = e.get("NumberOfComponents").empty() ? 1 : whole(e, "NumberOfComponents");
    if (positions && width != 3) refuse("points of " + std::to_string(width) + " coordinates");
    ArrayAbout a{.name = name,
                 .at = section_ + "/" + name,
                 .type = *type,
                 .rows = points_,
                 .width = width == 1 ? 0 : width,
                 .storage = {},
                 .rule = e.get(kRuleAttribute),
                 .place = {}};
    if (!a.rule.empty()) a.place = static_cast<double>(whole(e, kPlaceAttribute));
    check_length(a, static_cast<std::uint64_t>(whole(e, "offset")));
    if (positions) a.name = "Points";
    if (positions)
      out_.positions = std::move(a);
    else
      out_.arrays.push_back(std::move(a));
  }

  /// Reads the length in bytes that stands before the numbers of an array, which lies in the file.
  [[nodiscard]] std::uint64_t read_length(std::uint64_t offset) const {
    std::uint64_t length = 0;
    std::ifstream file(path_, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(base_ + offset));
    std::array<unsigned char, 8> raw{};
    file.read(reinterpret_cast<char*>(raw.data()), length_bytes_);
    if (length_bytes_ == 8) {
      std::memcpy(&length, raw.data(), 8);
    } else {
      std::uint32_t short_length = 0;
      std::memcpy(&short_length, raw.data(), 4);
      length = short_length;
    }
    return length;
  }

  /// Checks the length in bytes before the numbers of an array, and notes where these begin.
  void check_length(const ArrayAbout& a, std::uint64_t offset) {
    const double bytes = static_cast<double>(a.rows) * static_cast<double>(std::max<std::int64_t>(a.width, 1)) *
                         static_cast<double>(type_bytes(a.type));
    const double end = static_cast<double>(base_) + static_cast<double>(offset) + length_bytes_ + bytes;
    if (end > static_cast<double>(size_))
      refuse("the array " + a.name + " lies outside of the file; truncated or damaged");
    const std::uint64_t length = read_length(offset);
    if (static_cast<double>(length) != bytes)
      refuse("the array " + a.name + " has " + std::to_string(length) + " bytes");
    out_.offsets[a.at] = base_ + offset + static_cast<std::uint64_t>(length_bytes_);
  }

  /// Takes numbers that hold for all parcels; others are lost.
  void add_numbers(const std::string& name, const Element& e, std::size_t end) {
    if (!is_box_number(name) && name != kVtkTime) return out_.lost.push_back({name, "field data " + name});
    if (e.get("format") == "ascii") {
      add_ascii(name, end);
    } else if (e.get("format") == "appended") {
      add_appended(name, e);
    } else {
      refuse("the field data " + name + " is " + e.get("format"));
    }
    if (out_.numbers[name].empty()) refuse("the field data " + name + " has no number");
  }

  void add_ascii(const std::string& name, std::size_t end) {
    const std::size_t stop = xml_.find('<', end);
    if (stop == std::string::npos) refuse("an element without end");
    std::string text = xml_.substr(end, stop - end);
    std::replace(text.begin(), text.end(), '\n', ' ');
    for (const std::string_view word : split_at(text, ' ')) {
      const std::string_view digits = trimmed(word, " \t\r");
      double value = 0;
      if (digits.empty()) continue;
      const auto r = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (r.ec != std::errc() || r.ptr != digits.data() + digits.size())
        refuse("field data " + name + " \"" + std::string(digits) + "\"");
      out_.numbers[name].push_back(value);
    }
  }

  /// Takes numbers that stand behind the XML, as VTK writes them.
  void add_appended(const std::string& name, const Element& e) {
    const FileType type = parse_vtk_type(e.get("type")).value_or(FileType::text);
    const auto offset = static_cast<std::uint64_t>(whole(e, "offset"));
    constexpr std::uint64_t kMax = 64 * sizeof(double);
    const std::uint64_t begin = base_ + offset + static_cast<std::uint64_t>(length_bytes_);
    if (type == FileType::text) refuse("the field data " + name + " is of type " + e.get("type"));
    if (offset > size_ || begin > size_)
      refuse("the field data " + name + " lies outside of the file; truncated or damaged");
    const std::uint64_t length = read_length(offset);
    if (length > kMax || length > size_ - begin || length % type_bytes(type) != 0)
      refuse("the field data " + name + " has " + std::to_string(length) + " bytes");
    std::string bytes(length, '\0');
    std::ifstream file(path_, std::ios::binary);
    file.seekg(static_cast<std::streamoff>(begin));
    file.read(bytes.data(), static_cast<std::streamsize>(length));
    dispatch_type(type, [&](auto value) {
      for (std::size_t at = 0; at < length; at += sizeof value) {
        std::memcpy(&value, bytes.data() + at, sizeof value);
        // A byte is a number here. NOLINTNEXTLINE(bugprone-signed-char-misuse)
        out_.numbers[name].push_back(static_cast<double>(value));
      }
    });
  }

  const std::string& path_;
  std::string xml_;
  std::uint64_t size_ = 0;
  std::uint64_t base_ = 0;  // of appended data in the file
  std::string section_;
  std::int64_t points_ = 0;
  int pieces_ = 0;
  int length_bytes_ = 4;  // of the length before each array
  TableFile out_;
};

}  // namespace

TableFile describe_vtu(const std::string& path) { return VtuReader(path).read(); }

}  // namespace merganser::io
