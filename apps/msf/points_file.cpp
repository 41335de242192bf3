#include "apps/msf/points_file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string_view>

#include "apps/frame/npy.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/lines.hpp"
#include "merganser/comm/collectives.hpp"

namespace merganser::app {
namespace {

using Columns = WordsBetween<' ', '\t', '\r', ',', ';'>;
constexpr std::uint64_t kLongest = 1 << 16;      // bytes of a line
constexpr std::uint64_t kMostColumns = 1 << 16;  // of .npy

/// Bytes from `begin` on, as many as are wanted and there.
std::string read_bytes(const std::string& file, std::uint64_t begin, std::uint64_t count) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError(file + ": cannot be opened; allowed: a file that can be read");
  std::string bytes(count, '\0');
  in.seekg(static_cast<std::streamoff>(begin));
  in.read(bytes.data(), static_cast<std::streamsize>(count));
  if (in.bad()) throw InputError(fmt::format("{}: cannot be read at byte {}; allowed: a readable file", file, begin));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

std::uint64_t share(std::uint64_t total, int rank, int ranks) {
  const auto r = static_cast<std::uint64_t>(rank);
  const auto p = static_cast<std::uint64_t>(ranks);
  return total / p * r + total % p * r / p;
}

// ---- text ----

/// The lines that begin in this rank's bytes; the last one cut where it is longer than any may be.
std::string read_lines(const std::string& file, std::uint64_t size, const comm::Transport& t) {
  const std::uint64_t begin = share(size, t.rank(), t.size());
  const std::uint64_t end = share(size, t.rank() + 1, t.size());
  const std::uint64_t before = begin > 0 ? 1 : 0;  // tells whether a line begins here
  std::string text = read_bytes(file, begin - before, end - begin + before);
  while (begin < end && !text.empty() && text.back() != '\n') {
    const std::string more = read_bytes(file, begin - before + text.size(), kLongest + 1);
    const auto stop = more.find('\n');
    text.append(more, 0, stop == std::string::npos ? std::string::npos : stop + 1);
    if (more.empty() || more.size() > kLongest) break;
  }
  if (before == 0) return text;
  const auto first = text.find('\n');
  // What ends beyond this rank's bytes began before them.
  if (first == std::string::npos || first >= end - begin) return {};
  return text.substr(first + 1);
}

struct Text {
  std::vector<double> numbers;
  std::size_t columns = 0;
  std::uint64_t lines = 0;  ///< of all kinds
  std::uint64_t wrong = 0;  ///< line that is wrong, from 1; 0: none
  std::string why;
};

/// Numbers of one line, behind those there. @return false with `why`
bool parse_line(std::string_view line, Text& text) {
  const std::size_t before = text.numbers.size();
  if (line.size() > kLongest) {
    text.why = "more than 65,536 bytes; allowed: the coordinates of one point";
    return false;
  }
  Columns words(line.substr(0, line.find('#')));
  for (auto word = words.next(); !word.empty(); word = words.next()) {
    double value = 0;
    if (!parse_real(word, value) || !std::isfinite(value)) {
      text.why = "\"" + std::string(word.substr(0, 40)) + "\"; allowed: finite numbers";
      return false;
    }
    text.numbers.push_back(value);
  }
  const std::size_t count = text.numbers.size() - before;
  if (count == 0) return true;
  if (text.columns == 0) text.columns = count;
  if (count == text.columns) return true;
  text.why = fmt::format("{} numbers, {} before; allowed: the same in every line", count, text.columns);
  return false;
}

bool is_header(std::string_view line) {
  const auto word = Columns(line).next();
  return !word.empty() && std::string_view("0123456789+-.#").find(word.front()) == std::string_view::npos &&
         line.find_first_of("0123456789") == std::string_view::npos;
}

Text parse_text(std::string_view bytes, bool first) {
  Text text;
  for (LineWalk walk(bytes); walk.next();) {
    ++text.lines;
    if (text.wrong != 0) continue;
    if (first && text.lines == 1 && is_header(walk.line())) continue;
    if (!parse_line(walk.line(), text)) text.wrong = text.lines;
  }
  return text;
}

msf::Points read_text(const std::string& file, std::uint64_t size, comm::Transport& transport) {
  Text text;
  comm::agree(transport, [&] { text = parse_text(read_lines(file, size, transport), transport.rank() == 0); });
  const auto lines = comm::all_gather_value(transport, text.lines);
  const auto columns = comm::all_gather_value(transport, static_cast<std::uint64_t>(text.columns));
  const auto here = static_cast<std::size_t>(transport.rank());
  std::uint64_t dimension = 0;
  for (const auto c : columns)
    if (dimension == 0) dimension = c;
  comm::agree(transport, [&] {
    const std::uint64_t before = std::accumulate(lines.begin(), lines.begin() + transport.rank(), std::uint64_t{0});
    if (text.wrong != 0) throw InputError(fmt::format("{}, line {}: {}", file, before + text.wrong, text.why));
    if (dimension == 0) throw InputError(file + ": no points; allowed: at least one line of numbers");
    if (columns[here] != 0 && columns[here] != dimension)
      throw InputError(
          fmt::format("{}, from line {} on: {} numbers in a line, {} before; allowed: the same in every line", file,
                      before + 1, columns[here], dimension));
  });
  msf::Points points;
  points.dimension = static_cast<int>(dimension);
  points.coordinates = std::move(text.numbers);
  return points;
}

// ---- .npy ----

struct Npy {
  std::uint64_t data = 0;  ///< where it begins
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t bytes = 8;  ///< of a number
};

Npy parse_npy(const std::string& file, std::uint64_t size) {
  const NpyHead head = parse_npy_head(file, read_bytes(file, 0, kMostNpyHead));
  if (head.type != "'<f8'" && head.type != "'<f4'")
    throw InputError(file + ": numbers of type " + head.type.substr(0, 40) + "; allowed: '<f8', '<f4'");
  if (head.fortran_order) throw InputError(file + ": columns one after the other; allowed: rows (C order)");
  if (head.shape.size() != 2 || head.shape[1] < 1 || head.shape[1] > kMostColumns ||
      head.shape[0] > (std::uint64_t{1} << 48U) / head.shape[1])
    throw InputError(file + ": shape " + head.shape_text.substr(0, 40) + "; allowed: (n, 1) to (n, 65536)");
  const Npy npy{head.data, head.shape[0], head.shape[1], head.type == "'<f4'" ? 4U : 8U};
  if (size - npy.data != npy.rows * npy.columns * npy.bytes)
    throw InputError(fmt::format("{}: {} bytes behind the header; allowed: {}, as its shape says", file,
                                 size - npy.data, npy.rows * npy.columns * npy.bytes));
  return npy;
}

msf::Points read_npy(const std::string& file, std::uint64_t size, const comm::Transport& transport) {
  const Npy npy = parse_npy(file, size);
  const std::uint64_t first = share(npy.rows, transport.rank(), transport.size());
  const std::uint64_t rows = share(npy.rows, transport.rank() + 1, transport.size()) - first;
  const std::uint64_t row_bytes = npy.columns * npy.bytes;
  const std::string bytes = read_bytes(file, npy.data + first * row_bytes, rows * row_bytes);
  if (bytes.size() != rows * row_bytes)
    throw InputError(file + ": ended while it was read; allowed: a file that stays");
  msf::Points points;
  points.dimension = static_cast<int>(npy.columns);
  points.coordinates.resize(rows * npy.columns);
  for (std::size_t i = 0; i < points.coordinates.size(); ++i) {
    if (npy.bytes == 8) {
      std::memcpy(&points.coordinates[i], bytes.data() + 8 * i, 8);
      continue;
    }
    float x = 0;
    std::memcpy(&x, bytes.data() + 4 * i, 4);
    points.coordinates[i] = static_cast<double>(x);
  }
  return points;
}

std::uint64_t file_size(const std::string& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) throw InputError(file + ": not a file; allowed: text or .npy");
  const std::uint64_t size = std::filesystem::file_size(file, error);
  if (error) throw InputError(file + ": its size is not known; allowed: a file that can be read");
  return size;
}

bool is_npy(const std::string& file) { return read_bytes(file, 0, kNpyMagic.size()) == kNpyMagic; }

}  // namespace

PointsSize size_of_points(const std::string& file) {
  const std::uint64_t size = file_size(file);
  const auto bytes = static_cast<double>(size);
  if (is_npy(file)) {
    const Npy npy = parse_npy(file, size);
    return {static_cast<double>(npy.rows), true, static_cast<int>(npy.columns), 3 * bytes};
  }
  const std::string head = read_bytes(file, 0, kLongest);
  const auto columns = static_cast<int>(std::max<std::size_t>(1, parse_text(head, true).columns));
  const auto lines = static_cast<double>(std::max<std::ptrdiff_t>(1, std::count(head.begin(), head.end(), '\n')));
  const double points = head.empty() ? 0 : std::ceil(bytes / static_cast<double>(head.size()) * lines);
  // The text, and its numbers in a list that grows.
  return {points, false, columns, bytes + 2 * 8 * columns * points};
}

msf::Points read_points(const std::string& file, comm::Transport& transport) {
  std::uint64_t size = 0;
  bool npy = false;
  comm::agree(transport, [&] {
    size = file_size(file);
    npy = is_npy(file);
  });
  if (!npy) return read_text(file, size, transport);
  msf::Points points;
  comm::agree(transport, [&] { points = read_npy(file, size, transport); });
  return points;
}

}  // namespace merganser::app
