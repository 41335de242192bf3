#pragma once
/// Handles: numbers, dressed as pointers to types that are never defined, under which objects are kept. A number is given
/// once, so a handle that was freed is found out for ever, and nothing is read through it.
#include <memory>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/pinned.hpp"
#include "merganser/capi/detail/guard.hpp"

namespace merganser::capi {

/// What a handle stands for.
class Object : Pinned {
 public:
  virtual ~Object() = default;
};

/// Keeps an object. @return its handle
[[nodiscard]] void* keep(std::shared_ptr<Object> object);
/// The object of a handle. @throws UsageError for null, and what is no handle (any more)
[[nodiscard]] std::shared_ptr<Object> kept(const void* handle, const char* kind);
/// From now on the handle is good for nothing. Who has got its object holds it, so that none is destroyed here. @throws
/// UsageError for what is no handle (any more)
void let_go(const void* handle, const char* kind);
/// Objects that are kept.
[[nodiscard]] std::size_t handles();

/// The object of type T behind a handle. @throws UsageError if there is none, or it is one of another kind
template <class T>
std::shared_ptr<T> object_of(const void* handle) {
  auto object = std::dynamic_pointer_cast<T>(kept(handle, T::kKind));
  if (!object) throw UsageError(std::string(T::kKind) + ": the handle of another kind of object");
  return object;
}
/// Frees a handle. @throws UsageError as object_of()
template <class T>
std::shared_ptr<T> free_handle(const void* handle) {
  auto object = object_of<T>(handle);  // refuses one of another kind
  let_go(handle, T::kKind);
  return object;
}
/// guard() for a function of one object: `body` gets the one behind the handle.
template <class T, class Body>
int guard(const void* handle, const Body& body) noexcept {
  return guard([&] { body(*object_of<T>(handle)); });
}
/// guard() for a function that gives one thing of an object, what `get` returns, where the caller wants it.
template <class T, class Value, class Get>
int guard_get(const void* handle, Value* where, const char* name, const Get& get) noexcept {
  return guard<T>(handle, [&](T& object) {
    need(where, name);
    *where = get(object);
  });
}
/// guard() for a function that frees a handle. Null is none, and nothing to be done.
template <class T>
int guard_free(const void* handle) noexcept {
  return guard([&] {
    if (handle != nullptr) free_handle<T>(handle).reset();
  });
}
/// Keeps a new object and gives its handle. @throws UsageError if `handle` is null
template <class T, class Handle, class... Arguments>
void make(Handle** handle, Arguments&&... arguments) {
  if (handle == nullptr) throw UsageError(std::string(T::kKind) + ": no pointer for the handle");
  *handle = static_cast<Handle*>(keep(std::make_shared<T>(std::forward<Arguments>(arguments)...)));
}

}  // namespace merganser::capi
