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

/// Transport behind a handle of the C interface: owned, or borrowed from mg_run_threads() until that run ends. Objects made over
/// it share its ownership.
class TransportObject final : public Object {
 public:
  static constexpr const char* kKind = "transport";
  explicit TransportObject(std::unique_ptr<comm::Transport> own) : own_(std::move(own)), transport_(own_.get()) {}
  explicit TransportObject(comm::Transport& of_a_run) : transport_(&of_a_run) {}

  /// Returns the transport behind the handle. @throws CommError if the run of mg_run_threads() that lent it has ended
  comm::Transport& get() {
    if (transport_ == nullptr) throw CommError("transport: the run that it belonged to has ended");
    return *transport_;
  }
  /// Returns the transport's line on the choice of "auto", empty if a backend was named. Valid until the next call.
  const char* choice() {
    choice_ = get().choice();
    return choice_.c_str();
  }
  /// Invalidates a transport lent by mg_run_threads() at the end of that run: get() throws from now on.
  void end() { transport_ = nullptr; }

 private:
  std::unique_ptr<comm::Transport> own_;
  comm::Transport* transport_;
  std::string choice_;
};

/// Base class of the objects behind C handles that are made over a transport (finder, clusterer, announcer) and keep it alive.
class OverTransport : public Object {
 public:
  /// Returns the transport that the object was made over. @throws CommError if the run of mg_run_threads() that lent it has ended
  comm::Transport& transport() { return transport_->get(); }
  /// Returns the shared owner of the transport that the object was made over.
  [[nodiscard]] const std::shared_ptr<TransportObject>& transport_object() const { return transport_; }

 protected:
  explicit OverTransport(std::shared_ptr<TransportObject> transport) : transport_(std::move(transport)) {
    static_cast<void>(transport_->get());
  }

 private:
  std::shared_ptr<TransportObject> transport_;  // declared first, so destroyed after what derived classes hold
};

/// Decomposition behind a handle of the C interface; immutable, so that threads may share it.
class DecompositionObject final : public Object {
 public:
  static constexpr const char* kKind = "decomposition";
  explicit DecompositionObject(Decomposition d) : value(std::move(d)) {}
  const Decomposition value;
};

/// Schema behind a handle of the C interface, to which attributes can be added, and the merge callbacks of its attributes.
class SchemaObject final : public Object {
 public:
  static constexpr const char* kKind = "schema";
  SchemaObject() = default;
  explicit SchemaObject(const Schema& schema) : schema(schema), callbacks(schema.attributes().size()) {}

  Schema schema;
  std::vector<MergeCallback> callbacks;  // one per attribute, empty for those with another rule
};

/// Returns the number of columns in which a C caller passes the attributes of parcels: the sum of their components.
[[nodiscard]] std::size_t num_columns(const Schema& schema);

/// Converts the box of a C caller. @throws UsageError for null, InputError for an extent that is not positive and finite
[[nodiscard]] Box to_box(const mg_box* box);

/// Converts an integer flag that a C caller passed to a bool. @throws UsageError naming the argument unless it is 0 or 1
inline bool read_flag(int value, const char* name) {
  check_range(value, 0, 1, name);
  return value == 1;
}

}  // namespace merganser::capi
