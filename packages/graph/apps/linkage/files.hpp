#pragma once
/// Writers of dendrograms and clusters: NumPy arrays if the name ends in .npy, else text with a line per row. All are local and
/// throw InputError if the file cannot be written.
#include <cstdint>
#include <string>
#include <vector>

#include "merganser/msf/hdbscan.hpp"

namespace merganser::app {

/// Writes a dendrogram as a linkage matrix: rows "a b height size", as SciPy's functions take them; float64. Local.
void write_linkage(const std::string& path, const msf::Dendrogram& d);
/// Writes a cluster label per vertex (-1: noise) to a .npy or text file; int64. Local. @param names  of the vertices, which text has
/// before each label; empty: none @param separator  between name and label
void write_labels(const std::string& path, const std::vector<std::int64_t>& labels,
                  const std::vector<std::string>& names = {}, char separator = '\t');
/// Writes a number per vertex, such as its probability in HDBSCAN*, to a .npy or text file; float64. Local.
void write_numbers(const std::string& path, const std::vector<double>& numbers);
/// Writes a condensed tree of HDBSCAN*: rows "parent child lambda size", numbered as in the package hdbscan: points 0 .. n - 1,
/// clusters from n on.
void write_condensed(const std::string& path, const msf::CondensedTree& tree);

/// Returns the memory for writing a file of clusters, in bytes per vertex: `array` for a name in .npy, else `text`; 0 for an empty
/// path.
[[nodiscard]] double written_bytes_per_vertex(const std::string& path, double text, double array);

/// Returns a digest of the merges of a dendrogram, in their order: 32 hexadecimal digits.
[[nodiscard]] std::string compute_digest(const msf::Dendrogram& d);
/// Returns a digest of the cluster labels of all vertices, in their order: 32 hexadecimal digits.
[[nodiscard]] std::string compute_digest(const std::vector<std::int64_t>& labels);

}  // namespace merganser::app
