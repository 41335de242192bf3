#pragma once
/// Objects behind the handles of the C interface that other objects are made from: transports, decompositions, schemas.
#include <memory>
#include <utility>
#include <vector>

#include "merganser/capi/clusterer.h"
#include "merganser/capi/detail/guard.hpp"
#include "merganser/capi/detail/handles.hpp"
#include "merganser/capi/transport.h"
#include "merganser/comm/transport.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/parcels/merge.hpp"

namespace merganser::capi {

/// Transport behind a handle: owned, or borrowed from mg_run_threads() until that run ends. Objects made over it share its
/// ownership.
class TransportObject final : public Object {
 public:
  static constexpr const char* kKind = "transport";
  explicit TransportObject(std::unique_ptr<comm::Transport> own) : own_(std::move(own)), transport_(own_.get()) {}
  explicit TransportObject(comm::Transport& of_a_run) : transport_(&of_a_run) {}

  /// Returns the transport. @throws CommError if the run that it was borrowed from has ended
  comm::Transport& get() {
    if (transport_ == nullptr) throw CommError("transport: the run that it belonged to has ended");
    return *transport_;
  }
  /// Returns the line on the choice of "auto", empty if a backend was named. Valid until the next call.
  const char* choice() {
    choice_ = get().choice();
    return choice_.c_str();
  }
  /// Invalidates a borrowed transport at the end of its run: get() throws from now on.
  void end() { transport_ = nullptr; }

 private:
  std::unique_ptr<comm::Transport> own_;
  comm::Transport* transport_;
  std::string choice_;
};

/// Base class of objects that are made over a transport and keep it alive.
class OverTransport : public Object {
 public:
  /// Returns the transport. @throws CommError if the run that it was borrowed from has ended
  comm::Transport& transport() { return transport_->get(); }
  [[nodiscard]] const std::shared_ptr<TransportObject>& transport_object() const { return transport_; }

 protected:
  explicit OverTransport(std::shared_ptr<TransportObject> transport) : transport_(std::move(transport)) {
    static_cast<void>(transport_->get());
  }

 private:
  std::shared_ptr<TransportObject> transport_;  // declared first, so destroyed after what derived classes hold
};

/// Decomposition behind a handle; immutable, so that threads may share it.
class DecompositionObject final : public Object {
 public:
  static constexpr const char* kKind = "decomposition";
  explicit DecompositionObject(Decomposition d) : value(std::move(d)) {}
  const Decomposition value;
};

/// Schema behind a handle, to which attributes can be added, and the merge callbacks of its attributes.
class SchemaObject final : public Object {
 public:
  static constexpr const char* kKind = "schema";
  SchemaObject() = default;
  explicit SchemaObject(const Schema& schema) : schema(schema), callbacks(schema.attributes().size()) {}

  Schema schema;
  std::vector<MergeCallback> callbacks;  // one per attribute, empty for those with another rule
};

/// Returns the number of columns for a parcel's attributes: the sum of their components.
[[nodiscard]] std::size_t num_columns(const Schema& schema);

/// Converts a box of the caller's. @throws UsageError for null, InputError for an extent that is not positive and finite
[[nodiscard]] Box to_box(const mg_box* box);

/// Converts a flag of the caller's. @throws UsageError naming the argument unless it is 0 or 1
inline bool read_flag(int value, const char* name) {
  check_range(value, 0, 1, name);
  return value == 1;
}

}  // namespace merganser::capi
