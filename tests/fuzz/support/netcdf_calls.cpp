// requires: NetCDF
/// Wrappers of NetCDF functions, installed by the linker (--wrap, list in CMakeLists.txt): calls with an id of the model are
/// answered by it, other calls are forwarded to the library.
#include <netcdf.h>

#include <array>
#include <cstring>

#include "tests/fuzz/support/netcdf_model.hpp"

using namespace merganser::fuzz;

namespace {

template <class T>
void set_result(T* to, T value) {
  if (to != nullptr) *to = value;
}
void set_name(char* to, const std::string& name) {
  if (to != nullptr) std::memcpy(to, name.c_str(), name.size() + 1);
}
int set_numbers(std::size_t count, int* how_many, int* which) {
  set_result(how_many, static_cast<int>(count));
  for (std::size_t i = 0; which != nullptr && i < count; ++i) which[i] = static_cast<int>(i);
  return NC_NOERR;
}

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): parameters and arguments stand without
/// Defines the wrapper of one function: the given body for an id of the model, else the library's function.
#define ANSWER(NAME, PARAMETERS, ARGUMENTS, ...)          \
  extern "C" int __real_##NAME PARAMETERS;                \
  extern "C" int __wrap_##NAME PARAMETERS {               \
    if (!is_model_id(id)) return __real_##NAME ARGUMENTS; \
    __VA_ARGS__                                           \
  }
// NOLINTEND(bugprone-macro-parentheses)

// Functions that write
ANSWER(nc_def_dim, (int id, const char* name, std::size_t length, int* number), (id, name, length, number), {
  *number = static_cast<int>(model().dimensions.size());
  model().dimensions.push_back({name, length, length == NC_UNLIMITED});
  return NC_NOERR;
})
ANSWER(nc_def_grp, (int id, const char* name, int* number), (id, name, number), {
  model().group_name = name;
  *number = kModelGroup;
  return NC_NOERR;
})
ANSWER(nc_def_var, (int id, const char* name, nc_type type, int rank, const int* over, int* number),
       (id, name, type, rank, over, number), {
         auto& all = group(id).variables;
         if (!is_valid_name(name)) return NC_EBADNAME;
         if (type == NC_NAT) return NC_EBADTYPE;
         if (named(all, name) != nullptr || (id == kModelFile && name == model().group_name)) return NC_ENAMEINUSE;
         *number = static_cast<int>(all.size());
         ModelVariable& v = all.emplace_back();
         v.name = name;
         v.type = type;
         v.dimensions.assign(over, over + rank);
         return NC_NOERR;
       })
ANSWER(nc_def_var_chunking, (int id, int number, int, const std::size_t* chunk), (id, number, NC_CHUNKED, chunk), {
  ModelVariable& v = *variable(id, number);
  v.chunk.assign(chunk, chunk + v.dimensions.size());
  return NC_NOERR;
})
ANSWER(nc_def_var_deflate, (int id, int number, int shuffle, int deflate, int level),
       (id, number, shuffle, deflate, level), {
         ModelVariable& v = *variable(id, number);
         v.shuffle = shuffle;
         v.deflate = deflate;
         v.level = deflate != 0 ? level : 0;
         return NC_NOERR;
       })
ANSWER(nc_def_var_fletcher32, (int id, int number, int checksum), (id, number, checksum), {
  variable(id, number)->checksum = checksum;
  return NC_NOERR;
})
ANSWER(nc_put_att_text, (int id, int owner, const char* name, std::size_t length, const char* text),
       (id, owner, name, length, text), {
         ModelAttribute a{{}, NC_CHAR, {}, {}};
         for (std::size_t i = 0; i < length; ++i) a.values.push_back(raw_value(text[i]));
         return put(id, owner, name, std::move(a));
       })
ANSWER(nc_put_att_string, (int id, int owner, const char* name, std::size_t length, const char** texts),
       (id, owner, name, length, texts), {
         return put(id, owner, name, {{}, NC_STRING, {}, {texts, texts + length}});
       })
ANSWER(nc_put_att_double, (int id, int owner, const char* name, nc_type type, std::size_t length, const double* values),
       (id, owner, name, type, length, values), {
         ModelAttribute a{{}, type, {}, {}};
         for (std::size_t i = 0; i < length; ++i) a.values.push_back(from_double(type, values[i]));
         return put(id, owner, name, std::move(a));
       })
ANSWER(nc_put_vara_double,
       (int id, int number, const std::size_t* start, const std::size_t* count, const double* values),
       (id, number, start, count, values), { return write(*variable(id, number), start, count, values, nullptr); })
ANSWER(nc_put_vara_string, (int id, int number, const std::size_t* start, const std::size_t* count, const char** texts),
       (id, number, start, count, texts), { return write(*variable(id, number), start, count, nullptr, texts); })
ANSWER(nc_enddef, (int id), (id), { return NC_NOERR; })
ANSWER(nc_close, (int id), (id), { return NC_NOERR; })

// Functions that read
extern "C" int __real_nc_open(const char* path, int mode, int* id);
extern "C" int __wrap_nc_open(const char* path, int mode, int* id) {
  if (path != model_path()) return __real_nc_open(path, mode, id);
  *id = kModelFile;
  return NC_NOERR;
}
ANSWER(nc_inq_format, (int id, int* format), (id, format), {
  *format = NC_FORMAT_NETCDF4;
  return NC_NOERR;
})
ANSWER(nc_inq, (int id, int* dimensions, int* variables, int* attributes, int* unlimited),
       (id, dimensions, variables, attributes, unlimited), {
         set_result(dimensions, static_cast<int>(id == kModelFile ? model().dimensions.size() : 0));
         set_result(variables, static_cast<int>(group(id).variables.size()));
         set_result(attributes, static_cast<int>(group(id).attributes.size()));
         set_result(unlimited, -1);
         return NC_NOERR;
       })
ANSWER(nc_inq_grps, (int id, int* count, int* which), (id, count, which), {
  const bool any = id == kModelFile && !model().group_name.empty();
  set_result(count, any ? 1 : 0);
  if (any) set_result(which, kModelGroup);
  return NC_NOERR;
})
ANSWER(nc_inq_grpname, (int id, char* name), (id, name), {
  set_name(name, id == kModelFile ? "/" : model().group_name);
  return NC_NOERR;
})
ANSWER(nc_inq_type, (int id, nc_type type, char* name, std::size_t* size), (id, type, name, size), {
  constexpr std::array kTypeNames{"none",  "byte",   "char", "short", "int",    "float", "double",
                                  "ubyte", "ushort", "uint", "int64", "uint64", "string"};
  if (type <= NC_NAT || type > NC_STRING) return NC_EBADTYPE;
  set_name(name, kTypeNames[static_cast<std::size_t>(type)]);
  set_result(size, type_size(type));
  return NC_NOERR;
})
ANSWER(nc_inq_dimids, (int id, int* count, int* which, int parents), (id, count, which, parents),
       { return set_numbers(id == kModelFile ? model().dimensions.size() : 0, count, which); })
ANSWER(nc_inq_unlimdims, (int id, int* count, int* which), (id, count, which), {
  int found = 0;
  for (std::size_t i = 0; id == kModelFile && i < model().dimensions.size(); ++i) {
    if (!model().dimensions[i].unlimited) continue;
    if (which != nullptr) which[found] = static_cast<int>(i);
    ++found;
  }
  set_result(count, found);
  return NC_NOERR;
})
ANSWER(nc_inq_dimid, (int id, const char* name, int* number), (id, name, number), {
  const ModelDimension* const found = named(model().dimensions, name);
  if (found == nullptr) return NC_EBADDIM;
  set_result(number, static_cast<int>(found - model().dimensions.data()));
  return NC_NOERR;
})
ANSWER(nc_inq_dim, (int id, int number, char* name, std::size_t* length), (id, number, name, length), {
  const ModelDimension* const d = dimension(number);
  if (d == nullptr) return NC_EBADDIM;
  set_name(name, d->name);
  set_result(length, d->length);
  return NC_NOERR;
})
ANSWER(nc_inq_dimname, (int id, int number, char* name), (id, number, name),
       { return __wrap_nc_inq_dim(id, number, name, nullptr); })
ANSWER(nc_inq_dimlen, (int id, int number, std::size_t* length), (id, number, length),
       { return __wrap_nc_inq_dim(id, number, nullptr, length); })
ANSWER(nc_inq_varids, (int id, int* count, int* which), (id, count, which),
       { return set_numbers(group(id).variables.size(), count, which); })
ANSWER(nc_inq_varid, (int id, const char* name, int* number), (id, name, number), {
  const ModelVariable* const found = named(group(id).variables, name);
  if (found == nullptr) return NC_ENOTVAR;
  set_result(number, static_cast<int>(found - group(id).variables.data()));
  return NC_NOERR;
})
ANSWER(nc_inq_var, (int id, int number, char* name, nc_type* type, int* rank, int* over, int* attributes),
       (id, number, name, type, rank, over, attributes), {
         const ModelVariable* const v = variable(id, number);
         if (v == nullptr) return NC_ENOTVAR;
         set_name(name, v->name);
         set_result(type, v->type);
         set_result(rank, static_cast<int>(v->dimensions.size()));
         if (over != nullptr) std::copy(v->dimensions.begin(), v->dimensions.end(), over);
         set_result(attributes, static_cast<int>(v->attributes.size()));
         return NC_NOERR;
       })
ANSWER(nc_inq_vartype, (int id, int number, nc_type* type), (id, number, type),
       { return __wrap_nc_inq_var(id, number, nullptr, type, nullptr, nullptr, nullptr); })
ANSWER(nc_inq_varndims, (int id, int number, int* rank), (id, number, rank),
       { return __wrap_nc_inq_var(id, number, nullptr, nullptr, rank, nullptr, nullptr); })
ANSWER(nc_inq_vardimid, (int id, int number, int* over), (id, number, over),
       { return __wrap_nc_inq_var(id, number, nullptr, nullptr, nullptr, over, nullptr); })
ANSWER(nc_inq_var_chunking, (int id, int number, int* kind, std::size_t* chunk), (id, number, kind, chunk), {
  const ModelVariable* const v = variable(id, number);
  if (v == nullptr) return NC_ENOTVAR;
  set_result(kind, v->chunk.empty() ? NC_CONTIGUOUS : NC_CHUNKED);
  if (chunk != nullptr) std::copy(v->chunk.begin(), v->chunk.end(), chunk);
  return NC_NOERR;
})
ANSWER(nc_inq_var_deflate, (int id, int number, int* shuffle, int* deflate, int* level),
       (id, number, shuffle, deflate, level), {
         const ModelVariable* const v = variable(id, number);
         if (v == nullptr) return NC_ENOTVAR;
         set_result(shuffle, v->shuffle);
         set_result(deflate, v->deflate);
         set_result(level, v->level);
         return NC_NOERR;
       })
ANSWER(nc_inq_var_fletcher32, (int id, int number, int* checksum), (id, number, checksum), {
  const ModelVariable* const v = variable(id, number);
  if (v == nullptr) return NC_ENOTVAR;
  set_result(checksum, v->checksum);
  return NC_NOERR;
})
ANSWER(nc_get_var_chunk_cache, (int id, int number, std::size_t* size, std::size_t* slots, float* preemption),
       (id, number, size, slots, preemption), {
         set_result(size, std::size_t{1} << 24);
         set_result(slots, std::size_t{1009});
         set_result(preemption, 0.75F);
         return NC_NOERR;
       })
ANSWER(nc_inq_natts, (int id, int* count), (id, count), {
  set_result(count, static_cast<int>(group(id).attributes.size()));
  return NC_NOERR;
})
ANSWER(nc_inq_attname, (int id, int owner, int number, char* name), (id, owner, number, name), {
  const auto* const all = attributes(id, owner);
  if (all == nullptr) return NC_ENOTVAR;
  if (number < 0 || number >= static_cast<int>(all->size())) return NC_ENOTATT;
  set_name(name, (*all)[static_cast<std::size_t>(number)].name);
  return NC_NOERR;
})
ANSWER(nc_inq_att, (int id, int owner, const char* name, nc_type* type, std::size_t* length),
       (id, owner, name, type, length), {
         const ModelAttribute* const a = attribute(id, owner, name);
         if (a == nullptr) return NC_ENOTATT;
         set_result(type, a->type);
         set_result(length, a->length());
         return NC_NOERR;
       })
ANSWER(nc_inq_attid, (int id, int owner, const char* name, int* number), (id, owner, name, number), {
  const ModelAttribute* const a = attribute(id, owner, name);
  if (a == nullptr) return NC_ENOTATT;
  set_result(number, static_cast<int>(a - attributes(id, owner)->data()));
  return NC_NOERR;
})
ANSWER(nc_inq_attlen, (int id, int owner, const char* name, std::size_t* length), (id, owner, name, length),
       { return __wrap_nc_inq_att(id, owner, name, nullptr, length); })
ANSWER(nc_get_att, (int id, int owner, const char* name, void* to), (id, owner, name, to), {
  const ModelAttribute* const a = attribute(id, owner, name);
  if (a == nullptr) return NC_ENOTATT;
  auto* bytes = static_cast<std::byte*>(to);
  for (const RawValue& value : a->values) bytes = std::copy_n(value.begin(), type_size(a->type), bytes);
  return NC_NOERR;
})
ANSWER(nc_get_att_double, (int id, int owner, const char* name, double* to), (id, owner, name, to), {
  const ModelAttribute* const a = attribute(id, owner, name);
  if (a == nullptr) return NC_ENOTATT;
  if (!is_number(a->type)) return a->type == NC_CHAR ? NC_ECHAR : NC_EBADTYPE;
  for (const RawValue& value : a->values) *to++ = to_double(a->type, value);
  return NC_NOERR;
})
ANSWER(nc_get_att_string, (int id, int owner, const char* name, char** to), (id, owner, name, to), {
  const ModelAttribute* const a = attribute(id, owner, name);
  if (a == nullptr) return NC_ENOTATT;
  for (const std::string& text : a->texts) *to++ = strdup(text.c_str());
  return NC_NOERR;
})
ANSWER(nc_get_vara, (int id, int number, const std::size_t* start, const std::size_t* count, void* to),
       (id, number, start, count, to), {
         const ModelVariable* const v = variable(id, number);
         if (v == nullptr) return NC_ENOTVAR;
         auto* bytes = static_cast<std::byte*>(to);
         auto* texts = static_cast<char**>(to);
         std::vector<Written> values;
         const int status = read(*v, start, count, values);
         for (const Written& w : values) {
           if (v->type == NC_STRING)
             *texts++ = strdup(w.text.c_str());
           else
             bytes = std::copy_n(w.value.begin(), type_size(v->type), bytes);
         }
         return status;
       })
ANSWER(nc_get_vara_double, (int id, int number, const std::size_t* start, const std::size_t* count, double* to),
       (id, number, start, count, to), {
         const ModelVariable* const v = variable(id, number);
         if (v == nullptr) return NC_ENOTVAR;
         if (!is_number(v->type)) return NC_ECHAR;
         std::vector<Written> values;
         const int status = read(*v, start, count, values);
         for (const Written& w : values) *to++ = to_double(v->type, w.value);
         return status;
       })
ANSWER(nc_get_var1_double, (int id, int number, const std::size_t* at, double* to), (id, number, at, to), {
  constexpr std::array<std::size_t, kMaxRank> one{1, 1, 1, 1};
  return __wrap_nc_get_vara_double(id, number, at, one.data(), to);
})
