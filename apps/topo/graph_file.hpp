#pragma once
/// A process graph handed to another process, and the sizes tried where a graph knows none.
#include <string>
#include <vector>

#include "merganser/base/private_folder.hpp"
#include "merganser/graphs/process_graph.hpp"

namespace merganser::app {

/// A temporary file of the graph in the published layout, of this process alone; removed with the object.
class GraphFile {
 public:
  /// @throws InputError if it cannot be written
  explicit GraphFile(const graphs::ProcessGraph& graph);
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  PrivateFolder folder_;
  std::string path_;
};

/// What --sizes stands for: itself, or 8, 1024 and 65536 bytes where it says "weights" and the graph has none.
[[nodiscard]] std::vector<std::string> sizes_for(const graphs::ProcessGraph& graph,
                                                 const std::vector<std::string>& sizes);
/// True where sizes_for() gives others than `sizes`.
[[nodiscard]] bool sizes_unknown(const graphs::ProcessGraph& graph, const std::vector<std::string>& sizes);

}  // namespace merganser::app
