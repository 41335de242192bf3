// requires: NetCDF
#include "tests/fuzz/support/netcdf_model.hpp"

#include <functional>
#include <numeric>

#include "merganser/base/utf8.hpp"
#include "tests/fuzz/support/files.hpp"

namespace merganser::fuzz {
namespace {

/// Calls f with the index of every element of a hyperslab of a variable, the last dimension fastest.
template <class F>
void each_place(const ModelVariable& v, const std::size_t* start, const std::size_t* count, F&& f) {
  const std::size_t rank = v.dimensions.size();
  std::size_t all = 1;
  for (std::size_t d = 0; d < rank; ++d) all *= count[d];
  for (std::size_t i = 0; i < all; ++i) {
    Place at{};
    std::size_t rest = i;
    for (std::size_t d = rank; d-- > 0; rest /= count[d]) at[d] = start[d] + rest % count[d];
    f(at);
  }
}

}  // namespace

Model& model() {
  static Model one;
  return one;
}

int begin_model() {
  model() = {};
  return kModelFile;
}

std::string model_path() {
  static const std::string path = [] {
    // A minimal HDF5 file: a superblock and an empty root group, without references to other files.
    std::string bytes("\x89HDF\r\n\x1a\n");
    bytes.resize(1 << 14);
    bytes[13] = bytes[14] = 8;                   // of addresses and lengths
    std::fill_n(bytes.begin() + 48, 8, '\xff');  // no driver
    bytes[64] = 96;                              // header of the root
    bytes[96] = 1;                               // its version
    return make_file("parcels-in-memory.nc", bytes);
  }();
  return path;
}

bool beyond_model() {
  // HDF5 1.10 cannot read strings of an unwritten chunk in a variable with a written one.
  const auto some_texts = [](const ModelVariable& v) {
    const std::size_t all = std::transform_reduce(v.dimensions.begin(), v.dimensions.end(), std::size_t{1},
                                                  std::multiplies<>(), [](int d) { return dimension(d)->length; });
    return v.type == NC_STRING && !v.chunk.empty() && !v.written.empty() && v.written.size() < all;
  };
  return model().beyond || std::any_of(model().groups.begin(), model().groups.end(), [&](const ModelGroup& g) {
           return std::any_of(g.variables.begin(), g.variables.end(), some_texts);
         });
}

ModelGroup& group(int id) { return model().groups[static_cast<std::size_t>(id - kModelFile)]; }
ModelVariable* variable(int id, int number) {
  auto& all = group(id).variables;
  return number >= 0 && number < static_cast<int>(all.size()) ? &all[static_cast<std::size_t>(number)] : nullptr;
}
ModelDimension* dimension(int number) {
  auto& all = model().dimensions;
  return number >= 0 && number < static_cast<int>(all.size()) ? &all[static_cast<std::size_t>(number)] : nullptr;
}
std::vector<ModelAttribute>* attributes(int id, int number) {
  if (number == NC_GLOBAL) return &group(id).attributes;
  ModelVariable* const v = variable(id, number);
  return v == nullptr ? nullptr : &v->attributes;
}

ModelAttribute* attribute(int id, int number, const char* name) {
  auto* const all = attributes(id, number);
  return all == nullptr ? nullptr : named(*all, name);
}

bool is_valid_name(std::string_view name) {
  const auto first = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
  if (name.empty() || name.back() == ' ' || name.find('/') != std::string_view::npos) return false;
  if (static_cast<unsigned char>(name[0]) < 0x80 && !first(name[0]) && name[0] != '_') return false;
  for (std::size_t bytes = 0; !name.empty(); name.remove_prefix(bytes)) {
    const Utf8Character c = first_character(name);
    bytes = c.bytes;
    if (bytes == 0 || c.code < ' ' || c.code == 0x7f) return false;
    if (bytes > 1) model().beyond = true;
  }
  return true;
}

int put(int id, int number, const char* name, ModelAttribute a) {
  auto* const all = attributes(id, number);
  if (all == nullptr) return NC_ENOTVAR;
  if (!is_valid_name(name)) return NC_EBADNAME;
  a.name = name;
  const bool fills = number != NC_GLOBAL && a.name == "_FillValue";
  // Names that NetCDF or HDF5 reserve.
  if (a.name != "_FillValue" &&
      (a.name[0] == '_' || a.name == "CLASS" || a.name == "NAME" || a.name.ends_with("_LIST")))
    model().beyond = true;
  if (a.type == NC_NAT) return NC_EBADTYPE;
  ModelAttribute* const before = named(*all, name);
  ModelAttribute& to = before == nullptr ? all->emplace_back() : *before;
  const bool fits = !fills || (a.type == variable(id, number)->type && a.length() == 1);
  if (!fits) {  // the library returns an error, but the attribute is in the file, without values
    a.values.clear();
    a.texts.clear();
  }
  to = std::move(a);
  return fits ? NC_NOERR : NC_EINVAL;
}

int write(ModelVariable& v, const std::size_t* start, const std::size_t* count, const double* numbers,
          const char* const* texts) {
  if (is_number(v.type) != (numbers != nullptr) || v.type == NC_CHAR) return NC_ECHAR;
  for (std::size_t d = 0; d < v.dimensions.size(); ++d) {
    const ModelDimension& over = *dimension(v.dimensions[d]);
    if (!over.unlimited && start[d] + count[d] > over.length) return NC_EEDGE;
  }
  for (std::size_t d = 0; d < v.dimensions.size(); ++d) {
    ModelDimension& over = *dimension(v.dimensions[d]);
    over.length = std::max(over.length, start[d] + count[d]);
  }
  each_place(v, start, count, [&](const Place& at) {
    const auto before = std::find_if(v.written.begin(), v.written.end(), [&](const Written& w) { return w.at == at; });
    Written& to = before == v.written.end() ? v.written.emplace_back() : *before;
    to.at = at;
    if (numbers != nullptr) to.value = from_double(v.type, *numbers++);
    if (texts != nullptr) to.text = *texts++;
  });
  return NC_NOERR;
}

int read(const ModelVariable& v, const std::size_t* start, const std::size_t* count, std::vector<Written>& out) {
  for (std::size_t d = 0; d < v.dimensions.size(); ++d) {
    const std::size_t length = dimension(v.dimensions[d])->length;
    if (start[d] > length || (start[d] == length && count[d] > 0)) return NC_EINVALCOORDS;
    if (start[d] + count[d] > length) return NC_EEDGE;
  }
  const ModelAttribute* const given = named(v.attributes, "_FillValue");
  Written fill{{}, default_fill(v.type), {}};
  if (given != nullptr && !given->values.empty()) fill.value = given->values[0];
  if (given != nullptr && !given->texts.empty()) fill.text = given->texts[0];
  each_place(v, start, count, [&](const Place& at) {
    const auto found = std::find_if(v.written.begin(), v.written.end(), [&](const Written& w) { return w.at == at; });
    out.push_back(found == v.written.end() ? fill : *found);
  });
  return NC_NOERR;
}

}  // namespace merganser::fuzz
