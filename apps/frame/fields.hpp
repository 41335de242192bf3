#pragma once
/// Serialization of structs to JSON and back by one list of their fields, which a function `fields` in namespace app gives:
///
///     template <class V> void fields(V&& v, Spread& s) { v("min", s.min, "count", s.count); }
///     const Json json = serialize(spread);
///     const Spread again = deserialize<Spread>(json);
#include <utility>

#include "apps/frame/json.hpp"

namespace merganser::app {

class FieldReader;
/// Type of structs for which a function `fields(visitor, struct)` lists the fields for JSON.
template <class T>
concept HasFields = requires(FieldReader& v, T& x) {
  fields(v, x);
};

/// Type of containers, which can be appended to, of structs whose fields `fields` lists for JSON.
template <class T>
concept ListOfFields = HasFields<typename T::value_type> && requires(T& x) {
  x.emplace_back();
};
/// Type of optional values, as std::optional, which become null in JSON without a value.
template <class T>
concept MayLack = requires(T& x) {
  x.has_value();
};

/// Serialises a value as JSON: a struct as an object of its fields, a list as an array, an enumeration as its number, an empty
/// optional as null.
template <class T>
[[nodiscard]] Json serialize(const T& value);

/// Visitor that writes the fields of a struct to a JSON object. `extra` writes a derived value, which FieldReader ignores.
class FieldWriter {
 public:
  static constexpr bool reads = false;
  template <class T, class... More>
  void operator()(const char* key, const T& value, More&&... more) {
    json[key] = serialize(value);
    if constexpr (sizeof...(more) > 0) (*this)(more...);
  }
  template <class T>
  void extra(const char* key, const T& value) {
    (*this)(key, value);
  }
  Json json = Json::object();
};

/// Visitor that reads the fields of a struct from a JSON object. `extra` reads nothing. @throws Json::exception if a field is
/// missing
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
Json serialize(const T& value) {
  if constexpr (HasFields<T>) {
    FieldWriter writer;
    fields(writer, const_cast<T&>(value));  // a writer changes nothing
    return std::move(writer.json);
  } else if constexpr (ListOfFields<T>) {
    Json out = Json::array();
    for (const auto& x : value) out.push_back(serialize(x));
    return out;
  } else if constexpr (MayLack<T>) {
    return value ? serialize(*value) : Json();
  } else {
    return value;
  }
}

/// Deserialises the value whose JSON serialize() made. @throws Json::exception for JSON of another type, or with a field missing
template <class T>
[[nodiscard]] T deserialize(const Json& json) {
  T value{};
  FieldReader::read(json, value);
  return value;
}

}  // namespace merganser::app
