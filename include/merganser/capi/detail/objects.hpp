#pragma once
/// Objects that others are made over.
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

/// A transport, of its own or of a run. What is made over it holds it.
class TransportObject final : public Object {
 public:
  static constexpr const char* kKind = "transport";
  explicit TransportObject(std::unique_ptr<comm::Transport> own) : own_(std::move(own)), transport_(own_.get()) {}
  explicit TransportObject(comm::Transport& of_a_run) : transport_(&of_a_run) {}

  /// @throws CommError if the run that it belonged to has ended
  comm::Transport& get() {
    if (transport_ == nullptr) throw CommError("transport: the run that it belonged to has ended");
    return *transport_;
  }
  /// What "auto" chose, with a zero at its end.
  const char* choice() {
    choice_ = get().choice();
    return choice_.c_str();
  }
  /// The run that it belongs to ends.
  void end() { transport_ = nullptr; }

 private:
  std::unique_ptr<comm::Transport> own_;
  comm::Transport* transport_;
  std::string choice_;
};

/// What is made over a transport.
class OverTransport : public Object {
 public:
  /// @throws CommError if the transport has ended
  comm::Transport& transport() { return transport_->get(); }
  [[nodiscard]] const std::shared_ptr<TransportObject>& transport_object() const { return transport_; }

 protected:
  explicit OverTransport(std::shared_ptr<TransportObject> transport) : transport_(std::move(transport)) {
    static_cast<void>(transport_->get());
  }

 private:
  std::shared_ptr<TransportObject> transport_;  // declared first, so destroyed after what derived classes hold
};

class DecompositionObject final : public Object {
 public:
  static constexpr const char* kKind = "decomposition";
  explicit DecompositionObject(Decomposition d) : value(std::move(d)) {}
  const Decomposition value;
};

/// A schema that grows, and the callbacks of its attributes.
class SchemaObject final : public Object {
 public:
  static constexpr const char* kKind = "schema";
  SchemaObject() = default;
  explicit SchemaObject(const Schema& schema) : schema(schema), callbacks(schema.attributes().size()) {}

  Schema schema;
  std::vector<MergeCallback> callbacks;  // by attribute
};

/// Columns that a parcel's attributes need.
[[nodiscard]] std::size_t columns_of(const Schema& schema);

/// A box of the caller's. @throws UsageError for null, InputError for an extent that is not positive and finite
[[nodiscard]] Box box_of(const mg_box* box);

/// A switch of the caller's. @throws UsageError unless 0 or 1
inline bool flag(int value, const char* name) {
  within(value, 0, 1, name);
  return value == 1;
}

}  // namespace merganser::capi
