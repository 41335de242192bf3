#pragma once
/// Structs as JSON, written and read by one list of their fields in namespace app:
///
///     template <class V> void fields(V&& v, Spread& s) { v("min", s.min, "count", s.count); }
///     const Json json = json_of(spread);
///     const Spread again = value_of<Spread>(json);
#include <utility>

#include "apps/frame/json.hpp"

namespace merganser::app {

class FieldReader;
/// A struct with such a list.
template <class T>
concept HasFields = requires(FieldReader& v, T& x) {
  fields(v, x);
};

template <class T>
concept ListOfFields = HasFields<typename T::value_type> && requires(T& x) {
  x.emplace_back();
};
template <class T>
concept MayLack = requires(T& x) {
  x.has_value();
};

/// The value as JSON: an object of its fields, a list of such; an enumeration as its number, what an optional lacks as null.
template <class T>
[[nodiscard]] Json json_of(const T& value);

/// Writes fields. `extra` is for what follows from them, and is never read.
class FieldWriter {
 public:
  static constexpr bool reads = false;
  template <class T, class... More>
  void operator()(const char* key, const T& value, More&&... more) {
    json[key] = json_of(value);
    if constexpr (sizeof...(more) > 0) (*this)(more...);
  }
  template <class T>
  void extra(const char* key, const T& value) {
    (*this)(key, value);
  }
  Json json = Json::object();
};

/// Reads them again.
class FieldReader {
 public:
  static constexpr bool reads = true;
  explicit FieldReader(const Json& json) : json_(json) {}
  template <class T, class... More>
  void operator()(const char* key, T& value, More&&... more) {
    read(json_.at(key), value);
    if constexpr (sizeof...(more) > 0) (*this)(more...);
  }
  template <class T>
  void extra(const char*, const T&) {}

  template <class T>
  static void read(const Json& json, T& value) {
    if constexpr (HasFields<T>) {
      FieldReader reader(json);
      fields(reader, value);
    } else if constexpr (ListOfFields<T>) {
      for (const auto& x : json) read(x, value.emplace_back());
    } else if constexpr (MayLack<T>) {
      if (!json.is_null()) read(json, value.emplace());
    } else {
      value = json.get<T>();
    }
  }

 private:
  const Json& json_;
};

template <class T>
Json json_of(const T& value) {
  if constexpr (HasFields<T>) {
    FieldWriter writer;
    fields(writer, const_cast<T&>(value));  // a writer changes nothing
    return std::move(writer.json);
  } else if constexpr (ListOfFields<T>) {
    Json out = Json::array();
    for (const auto& x : value) out.push_back(json_of(x));
    return out;
  } else if constexpr (MayLack<T>) {
    return value ? json_of(*value) : Json();
  } else {
    return value;
  }
}

/// The value that json_of() made the JSON of. @throws Json::exception for another
template <class T>
[[nodiscard]] T value_of(const Json& json) {
  T value{};
  FieldReader::read(json, value);
  return value;
}

}  // namespace merganser::app
