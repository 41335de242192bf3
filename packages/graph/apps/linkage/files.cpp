// Output files of the command linkage: dendrograms, labels, probabilities and condensed trees as NumPy arrays or text.
#include "apps/linkage/files.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "apps/frame/npy.hpp"
#include "apps/frame/record.hpp"
#include "merganser/base/options.hpp"
#include "merganser/base/random.hpp"
#include "merganser/base/text.hpp"
#include "merganser/io/output_name.hpp"

namespace merganser::app {
namespace {

/// Returns true if an output file is a NumPy array by its name (.npy), not text.
bool is_array(const std::string& path) { return io::has_suffix(path, ".npy"); }

/// Appends the bytes of a number, little-endian on machines of any byte order, to the contents of a .npy file.
template <class T>
void append_bytes(std::string& text, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  if constexpr (std::endian::native == std::endian::big) std::reverse(bytes, bytes + sizeof bytes);
  text.append(bytes, sizeof bytes);
}

/// Writes one number per vertex (cluster labels, probabilities) to a file, as a NumPy array or as text. Local.
/// @param type  NumPy's type of the array, quoted
template <class T>
void write_column(const std::string& path, const std::vector<T>& values, const char* type) {
  std::string text;
  if (is_array(path)) {
    text = npy_head(type, fmt::format("{},", values.size()));
    text.reserve(text.size() + values.size() * sizeof(T));
    for (const T v : values) append_bytes(text, v);
  } else {
    for (const T v : values) {
      if constexpr (std::is_integral_v<T>)
        text += std::to_string(v);
      else
        text += number_text(v);
      text += '\n';
    }
  }
  write_text_file(path, text);
}

/// Order-dependent 128-bit hash of a sequence of words, for digests of dendrograms and cluster labels.
class WordDigest {
 public:
  /// Adds the next word of a dendrogram or of labels to the digest.
  void add(std::uint64_t word) {
    a_ = mix64(a_ ^ word) + 0x9e3779b97f4a7c15ULL;
    b_ = mix64(b_ + word * 0xd1342543de82ef95ULL) ^ a_;
  }
  /// Returns the digest of the words added so far as 32 hexadecimal digits.
  [[nodiscard]] std::string text() const { return hex16_text(a_) + hex16_text(b_); }

 private:
  std::uint64_t a_ = 1;
  std::uint64_t b_ = 2;
};

/// Row of a condensed tree of HDBSCAN* in the layout of the structured NumPy array: points are 0 .. n - 1, clusters n and above.
struct CondensedRow {
  std::uint64_t parent;  ///< cluster that the child leaves
  std::uint64_t child;   ///< cluster or point
  double lambda;         ///< 1 / distance at which the child leaves
  std::uint64_t size;    ///< number of points of the child
};

/// Calls `row` with the rows (CondensedRow) of a condensed tree: of all clusters but the root, then of all points.
void for_each_row(const msf::CondensedTree& tree, const auto& row) {
  const std::uint64_t points = tree.lambda.size();
  for (std::size_t c = 1; c < tree.clusters.size(); ++c) {
    const auto& cluster = tree.clusters[c];
    row(CondensedRow{points + cluster.parent, points + c, cluster.birth, cluster.size});
  }
  for (std::size_t p = 0; p < points; ++p) row(CondensedRow{points + tree.cluster_of[p], p, tree.lambda[p], 1});
}

}  // namespace

// Dendrogram as SciPy's linkage matrix: an array of float64 in row order, or text.
void write_linkage(const std::string& path, const msf::Dendrogram& d) {
  std::string text;
  if (is_array(path)) {
    text = npy_head("'<f8'", fmt::format("{}, 4", d.merges.size()));
    text.reserve(text.size() + 32 * d.merges.size());
  }
  for (const auto& m : d.merges) {
    if (is_array(path)) {
      for (const double x : {static_cast<double>(m.a), static_cast<double>(m.b), m.height, static_cast<double>(m.size)})
        append_bytes(text, x);
    } else {
      text += fmt::format("{} {} {} {}\n", m.a, m.b, number_text(m.height), m.size);
    }
  }
  write_text_file(path, text);
}

void write_labels(const std::string& path, const std::vector<std::int64_t>& labels,
                  const std::vector<std::string>& names, char separator) {
  if (!names.empty() && !is_array(path)) {
    std::string text;
    for (std::size_t v = 0; v < labels.size(); ++v) text += names[v] + separator + std::to_string(labels[v]) + '\n';
    return write_text_file(path, text);
  }
  write_column(path, labels, "'<i8'");
}

void write_numbers(const std::string& path, const std::vector<double>& numbers) {
  write_column(path, numbers, "'<f8'");
}

// Condensed tree of HDBSCAN* as the structured array of the package hdbscan, or as text of the same columns.
void write_condensed(const std::string& path, const msf::CondensedTree& tree) {
  const std::size_t rows = tree.lambda.size() + (tree.clusters.empty() ? 0 : tree.clusters.size() - 1);
  std::string text;
  if (is_array(path)) {
    text = npy_head("[('parent', '<i8'), ('child', '<i8'), ('lambda_val', '<f8'), ('child_size', '<i8')]",
                    fmt::format("{},", rows));
    text.reserve(text.size() + sizeof(CondensedRow) * rows);
  }
  for_each_row(tree, [&](const CondensedRow& row) {
    if (is_array(path)) {
      append_bytes(text, row.parent);
      append_bytes(text, row.child);
      append_bytes(text, row.lambda);
      append_bytes(text, row.size);
    } else {
      text += fmt::format("{} {} {} {}\n", row.parent, row.child, number_text(row.lambda), row.size);
    }
  });
  write_text_file(path, text);
}

double written_bytes_per_vertex(const std::string& path, double text, double array) {
  if (path.empty()) return 0;
  return is_array(path) ? array : text;
}

// Digest of a dendrogram: clusters, height and size of every merge, in order.
std::string compute_digest(const msf::Dendrogram& d) {
  WordDigest digest;
  for (const auto& m : d.merges) {
    digest.add(static_cast<std::uint64_t>(m.a) << 32 | m.b);
    digest.add(std::bit_cast<std::uint64_t>(m.height));
    digest.add(m.size);
  }
  return digest.text();
}

// Digest of the cluster labels of all vertices.
std::string compute_digest(const std::vector<std::int64_t>& labels) {
  WordDigest digest;
  for (const auto label : labels) digest.add(static_cast<std::uint64_t>(label));
  return digest.text();
}

}  // namespace merganser::app
