#pragma once
/// Table of the objects behind the handles of the C interface. A handle is a number, cast to a pointer to a type that is never
/// defined. No number is used twice and none is dereferenced, so that every use of a freed handle is detected. Thread-safe.
#include <memory>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/pinned.hpp"
#include "merganser/capi/detail/guard.hpp"

namespace merganser::capi {

/// Base class of the objects (transports, finders, ...) behind the handles of the C interface.
class Object : Pinned {
 public:
  virtual ~Object() = default;
};

/// Adds an object to the table of C handles, which shares its ownership. @return its handle
[[nodiscard]] void* register_object(std::shared_ptr<Object> object);
/// Returns the object behind a handle that a C caller passed. @param kind  for the message, as "finder"
/// @throws UsageError for null, a freed handle, or a pointer that never was a handle
[[nodiscard]] std::shared_ptr<Object> find_object(const void* handle, const char* kind);
/// Removes a handle from the table of C handles. The caller must hold a reference to the object: destroying it here would run
/// its destructor, which may communicate, with the table locked.
/// @throws UsageError for a freed handle, or a pointer that never was a handle
void unregister_handle(const void* handle, const char* kind);
/// Returns the number of handles of the C interface that this process was given and has not freed.
[[nodiscard]] std::size_t num_handles();

/// Returns the object of type T behind a handle that a C caller passed.
/// @throws UsageError for null, a freed handle, or a handle of another kind of object
template <class T>
std::shared_ptr<T> object_from(const void* handle) {
  auto object = std::dynamic_pointer_cast<T>(find_object(handle, T::kKind));
  if (!object) throw UsageError(std::string(T::kKind) + ": the handle of another kind of object");
  return object;
}
/// Frees a handle of the C interface and returns its object, which is destroyed with the last reference.
/// @throws UsageError for null, a freed handle, or a handle of another kind of object
template <class T>
std::shared_ptr<T> free_handle(const void* handle) {
  auto object = object_from<T>(handle);  // refuses one of another kind
  unregister_handle(handle, T::kKind);
  return object;
}
/// Runs the body of a function of the C interface on the object of type T behind a handle.
/// @return MG_OK, or the status of the exception that is thrown
template <class T, class Body>
int guard(const void* handle, const Body& body) noexcept {
  return guard([&] { body(*object_from<T>(handle)); });
}
/// Runs a function of the C interface that returns one property of the object of type T behind a handle: writes get(object)
/// to *where. @return MG_OK, or the status of the exception that is thrown
template <class T, class Value, class Get>
int guard_get(const void* handle, Value* where, const char* name, const Get& get) noexcept {
  return guard<T>(handle, [&](T& object) {
    check_not_null(where, name);
    *where = get(object);
  });
}
/// Runs a function of the C interface that frees a handle; null is accepted and does nothing.
/// @return MG_OK, or the status of the exception that is thrown
template <class T>
int guard_free(const void* handle) noexcept {
  return guard([&] {
    if (handle != nullptr) free_handle<T>(handle).reset();
  });
}
/// Constructs an object of type T and writes its handle for the C caller to *handle. @throws UsageError if `handle` is null
template <class T, class Handle, class... Arguments>
void make_handle(Handle** handle, Arguments&&... arguments) {
  if (handle == nullptr) throw UsageError(std::string(T::kKind) + ": no pointer for the handle");
  *handle = static_cast<Handle*>(register_object(std::make_shared<T>(std::forward<Arguments>(arguments)...)));
}

}  // namespace merganser::capi
