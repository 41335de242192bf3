#pragma once
/// Files of dendrograms and clusters: arrays of NumPy where the name ends in .npy, else text with a line per row.
#include <cstdint>
#include <string>
#include <vector>

#include "merganser/msf/hdbscan.hpp"

namespace merganser::app {

/// Rows "a b height size", as SciPy's functions take them; float64.
void write_linkage(const std::string& path, const msf::Dendrogram& d);
/// A label per vertex; int64.
void write_labels(const std::string& path, const std::vector<std::int64_t>& labels);
/// A number per vertex; float64.
void write_numbers(const std::string& path, const std::vector<double>& numbers);
/// Rows "parent child lambda size" with names as the package hdbscan has them: points 0 .. n - 1, clusters from n on.
void write_condensed(const std::string& path, const msf::CondensedTree& tree);

/// Bytes that writing takes beside what is written, per vertex; 0 for an empty path.
[[nodiscard]] double written_bytes_per_vertex(const std::string& path, double text, double array);

/// 32 hexadecimal digits of a dendrogram or of labels.
[[nodiscard]] std::string digest_of(const msf::Dendrogram& d);
[[nodiscard]] std::string digest_of(const std::vector<std::int64_t>& labels);

}  // namespace merganser::app
