#pragma once
/// What the transports of all backends share.
#include <exception>
#include <string>
#include <vector>

#include "bytes.hpp"
#include "merganser/comm/transport.hpp"

namespace merganser::comm::detail {

/// What the ends of the arcs told each other when an object was made.
struct Introduction {
  std::vector<Bytes> from_in;   ///< per in-arc: what its sender said along it
  std::vector<Bytes> from_out;  ///< per out-arc: what its receiver said against it
};

class TransportBase : public Transport {
 public:
  /// Frees what needs every rank. Collective; not called when ranks end with different errors.
  virtual void close() {}

 protected:
  /// Collective: checks that both ends of every arc know of it and exchanges what they have to say.
  /// @throws CommError on every rank if some rank's graph is wrong
  Introduction introduce(const Graph& graph, const std::vector<Bytes>& to_out = {},
                         const std::vector<Bytes>& to_in = {});
  /// Collective: if some rank has an error (not empty), every rank throws CommError with that of the lowest one.
  void agree_on(const std::string& error);
};

/// What is wrong with a graph as seen from one of `size` ranks; empty if nothing is.
[[nodiscard]] std::string graph_error(const Graph& graph, int size);

/// Notes that every rank is about to throw an error with this text.
void note_agreed_error(const std::string& text);
/// True if that is the text of the last error noted.
[[nodiscard]] bool was_agreed(const std::exception& error);

}  // namespace merganser::comm::detail
