// Files of HDF5 through the library that NetCDF is linked with: its functions are found by name.
#include "src/io/particles/hdf5_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <numeric>

#include "merganser/base/error.hpp"
#include "src/io/particles/hdf5_library.hpp"

namespace merganser::io::hdf5 {
namespace {

// Constants of HDF5 that its headers define.
constexpr unsigned kReadOnly = 0;                       // H5F_ACC_RDONLY
constexpr unsigned kTruncate = 2;                       // H5F_ACC_TRUNC
constexpr int kScalar = 0;                              // H5S_SCALAR
constexpr int kGroup = 2;                               // H5I_GROUP
constexpr int kDataset = 5;                             // H5I_DATASET
constexpr int kInteger = 0;                             // H5T_INTEGER
constexpr int kFloating = 1;                            // H5T_FLOAT
constexpr int kText = 3;                                // H5T_STRING
constexpr int kNullPadded = 1;                          // H5T_STR_NULLPAD
constexpr int kChunked = 2;                             // H5D_CHUNKED
constexpr int kDeflate = 1;                             // H5Z_FILTER_DEFLATE
constexpr int kShuffle = 2;                             // H5Z_FILTER_SHUFFLE
constexpr int kChecksum = 3;                            // H5Z_FILTER_FLETCHER32
constexpr int kContiguous = 1;                          // H5D_CONTIGUOUS
constexpr int kAtCreation = 1;                          // H5D_ALLOC_TIME_EARLY
constexpr int kNever = 1;                               // H5D_FILL_TIME_NEVER
constexpr std::uint64_t kNoOffset = ~std::uint64_t{0};  // HADDR_UNDEF
constexpr std::size_t kMaxText = 1024 * 1024;
constexpr std::size_t kMaxValues = 1 << 20;  // of an attribute

/// Returns the table of HDF5's functions. @throws InputError naming the file if there is none
const Library& need_library(const std::string& path) {
  const Library* const found = library();
  if (found == nullptr)
    throw InputError(path +
                     ": this build's NetCDF has no HDF5 of version 1.10 or later, so files of openPMD and VTKHDF "
                     "cannot be read or written");
  return *found;
}

Id memory_type(FileType type) { return *library()->types[static_cast<std::size_t>(type)]; }

/// Returns the type of numbers of an HDF5 type; empty for text, and for numbers that no double holds.
std::optional<FileType> number_type(Id type) {
  const Calls& c = *calls();
  const int kind = c.type_class(type);
  const std::size_t bytes = c.type_size(type);
  if (kind == kFloating) {
    if (bytes == 4) return FileType::f32;
    if (bytes == 8) return FileType::f64;
    return std::nullopt;
  }
  if (kind != kInteger) return std::nullopt;
  const bool with_sign = library()->type_sign(type) != 0;
  switch (bytes) {
    case 1:
      return with_sign ? FileType::i8 : FileType::u8;
    case 2:
      return with_sign ? FileType::i16 : FileType::u16;
    case 4:
      return with_sign ? FileType::i32 : FileType::u32;
    case 8:
      return with_sign ? FileType::i64 : FileType::u64;
    default:
      return std::nullopt;
  }
}

/// Lists names by index until HDF5 has no more. @param name  writes name `i` into a buffer, and returns its length
std::vector<std::string> list_names(const std::function<ssize_t(Length, char*, std::size_t)>& name) {
  std::vector<std::string> all;
  for (Length i = 0; i < kMaxValues; ++i) {
    std::array<char, 4096> text{};
    const ssize_t length = name(i, text.data(), text.size());
    if (length < 0) break;
    all.emplace_back(text.data());
  }
  return all;
}

}  // namespace

bool available() noexcept { return library() != nullptr; }

Object& Object::operator=(Object&& o) noexcept {
  std::swap(id_, o.id_);
  std::swap(close_, o.close_);
  return *this;
}

Object::~Object() { close(); }

bool Object::close() {
  const bool good = id_ < 0 || close_(id_) >= 0;
  id_ = kNoId;
  return good;
}

File File::open(const std::string& path) {
  const Library& l = need_library(path);
  Object file(l.open_file(path.c_str(), kReadOnly, 0), l.close_file);
  if (file.id() < 0) throw InputError(path + ": truncated or damaged HDF5 file");
  return {std::move(file), path};
}

File File::create(const std::string& path, std::string shown) {
  const Library& l = need_library(shown);
  Object file(l.create_file(path.c_str(), kTruncate, 0, 0), l.close_file);
  if (file.id() < 0) throw InputError("cannot write " + shown + ": HDF5 cannot create it");
  return {std::move(file), std::move(shown)};
}

void File::close() {
  const bool flushed = library()->flush(file_.id(), 1) >= 0;
  if (!file_.close() || !flushed) throw InputError("cannot write " + path_ + ": HDF5 cannot finish it");
}

void File::check(Id result, const char* what, const std::string& at) const {
  if (result < 0) throw InputError(path_ + ": cannot " + what + " \"" + at + "\"; truncated or damaged");
}

Object File::open_object(const std::string& at) const {
  const Library& l = *library();
  Object object(l.open_object(file_.id(), at.c_str(), 0), l.close_object);
  check(object.id(), "open", at);
  return object;
}

Object File::open_attribute(Id object, const std::string& name) const {
  const Library& l = *library();
  if (l.has_attribute(object, name.c_str()) <= 0) return {};
  return {l.open_attribute(object, name.c_str(), 0), l.close_attribute};
}

bool File::has_attribute(const std::string& at, const std::string& name) const {
  const Object object = open_object(at);
  return library()->has_attribute(object.id(), name.c_str()) > 0;
}

ObjectKind File::kind(const std::string& at) const {
  // H5Lexists() asks for the last link of a path only; those before must exist.
  for (std::size_t slash = at.find('/', 1);; slash = at.find('/', slash + 1)) {
    const std::string part = at.substr(0, slash);
    if (part != "/" && !part.empty() && calls()->is_link(file_.id(), part.c_str(), 0) <= 0) return ObjectKind::none;
    if (slash == std::string::npos) break;
  }
  const Library& l = *library();
  const Object object(l.open_object(file_.id(), at.c_str(), 0), l.close_object);
  if (object.id() < 0) return ObjectKind::none;
  const int type = l.object_type(object.id());
  return type == kGroup ? ObjectKind::group : type == kDataset ? ObjectKind::dataset : ObjectKind::none;
}

std::vector<std::string> File::members(const std::string& group) const {
  if (kind(group) != ObjectKind::group) throw InputError(path_ + ": \"" + group + "\" is no group");
  const Object object = open_object(group);
  return list_names([&](Length i, char* to, std::size_t most) {
    return library()->link_name(object.id(), ".", 0, 0, i, to, most, 0);
  });
}

std::vector<std::string> File::attributes(const std::string& at) const {
  const Object object = open_object(at);
  return list_names([&](Length i, char* to, std::size_t most) {
    return library()->attribute_name(object.id(), ".", 0, 0, i, to, most, 0);
  });
}

std::vector<double> File::numbers(const std::string& at, const std::string& name) const {
  const Library& l = *library();
  const Object object = open_object(at);
  const Object attribute = open_attribute(object.id(), name);
  if (attribute.id() < 0) return {};
  const OwnedId type(l.attribute_type(attribute.id()), calls()->close_type);
  const OwnedId space(l.attribute_space(attribute.id()), calls()->close_space);
  const int kind = type ? calls()->type_class(type.id()) : -1;
  const std::int64_t count = space ? l.points(space.id()) : -1;
  if ((kind != kInteger && kind != kFloating) || count < 1 || count > static_cast<std::int64_t>(kMaxValues)) return {};
  std::vector<double> values(static_cast<std::size_t>(count));
  check(l.read_attribute(attribute.id(), memory_type(FileType::f64), values.data()), "read the attribute", name);
  return values;
}

std::vector<std::string> File::texts(const std::string& at, const std::string& name) const {
  const Library& l = *library();
  const Object object = open_object(at);
  const Object attribute = open_attribute(object.id(), name);
  if (attribute.id() < 0) return {};
  const OwnedId type(l.attribute_type(attribute.id()), calls()->close_type);
  const OwnedId space(l.attribute_space(attribute.id()), calls()->close_space);
  if (!type || !space || calls()->type_class(type.id()) != kText) return {};
  const std::int64_t points = l.points(space.id());
  if (points < 1 || points > 4096) return {};
  const auto count = static_cast<std::size_t>(points);
  std::vector<std::string> out;
  if (calls()->is_any_text(type.id()) > 0) {
    std::vector<char*> values(count, nullptr);
    check(l.read_attribute(attribute.id(), type.id(), values.data()), "read the attribute", name);
    for (const char* value : values) out.emplace_back(value == nullptr ? "" : value);
    l.reclaim(type.id(), space.id(), 0, values.data());
    return out;
  }
  const std::size_t bytes = calls()->type_size(type.id());
  if (bytes * count > kMaxText) return {};
  std::vector<char> values(bytes * count);
  check(l.read_attribute(attribute.id(), type.id(), values.data()), "read the attribute", name);
  for (std::size_t i = 0; i < count; ++i) {
    std::string_view text(values.data() + i * bytes, bytes);
    text = text.substr(0, text.find('\0'));
    out.emplace_back(text.substr(0, text.find_last_not_of(' ') + 1));  // strings of Fortran are filled with blanks
  }
  return out;
}

DatasetInfo File::dataset(const std::string& at) const {
  const Library& l = *library();
  const Object object = open_object(at);
  const OwnedId type(calls()->dataset_type(object.id()), calls()->close_type);
  const OwnedId space(calls()->dataset_space(object.id()), calls()->close_space);
  const OwnedId list(l.dataset_list(object.id()), l.close_list);
  const int rank = space ? calls()->rank(space.id()) : -1;
  if (!type || !list || rank < 0 || rank > 32) check(-1, "read", at);
  std::array<Length, 32> lengths{};
  if (rank > 0) check(calls()->lengths(space.id(), lengths.data(), nullptr), "read", at);
  DatasetInfo info;
  info.type = number_type(type.id());
  for (int d = 0; d < rank; ++d) {
    if (lengths[static_cast<std::size_t>(d)] > (Length{1} << 62)) check(-1, "read", at);
    info.shape.push_back(static_cast<std::int64_t>(lengths[static_cast<std::size_t>(d)]));
  }
  if (l.layout(list.id()) != kChunked) return info;
  std::array<Length, 32> chunk{};
  if (rank > 0 && l.get_chunk(list.id(), rank, chunk.data()) == rank)
    info.storage.chunk = static_cast<std::int64_t>(chunk[0]);
  const int filters = l.filters(list.id());
  for (int i = 0; i < filters; ++i) {
    std::size_t count = 1;
    unsigned flags = 0, level = 0, config = 0;
    std::array<char, 8> name{};
    const int filter =
        l.get_filter(list.id(), static_cast<unsigned>(i), &flags, &count, &level, name.size(), name.data(), &config);
    if (filter == kDeflate) info.storage.deflate = static_cast<int>(std::min(level, 9U));
    info.storage.shuffle = info.storage.shuffle || filter == kShuffle;
    info.storage.checksum = info.storage.checksum || filter == kChecksum;
  }
  return info;
}

void File::read(const std::string& at, FileType type, const Rows& rows, void* to) const {
  if (rows.count == 0) return;
  const Object object = open_object(at);
  const OwnedId space(calls()->dataset_space(object.id()), calls()->close_space);
  const bool all = rows.width > 0 && rows.column == kAllColumns;
  const std::array<Length, 2> start{static_cast<Length>(rows.first), all ? 0 : static_cast<Length>(rows.column)};
  const std::array<Length, 2> count{static_cast<Length>(rows.count), all ? static_cast<Length>(rows.width) : 1};
  const Length numbers = count[0] * count[1];
  const OwnedId memory(calls()->make_space(1, &numbers, nullptr), calls()->close_space);
  if (!space || !memory || calls()->rank(space.id()) != (rows.width > 0 ? 2 : 1)) check(-1, "read", at);
  check(calls()->select(space.id(), 0, start.data(), nullptr, count.data(), nullptr), "read", at);
  check(calls()->read(object.id(), memory_type(type), memory.id(), space.id(), 0, to), "read", at);
}

void File::make_group(const std::string& at) const {
  const Library& l = *library();
  const OwnedId list(l.create_list(*l.link_list), l.close_list);
  l.set_intermediate(list.id(), 1);
  const Object group(l.create_group(file_.id(), at.c_str(), list.id(), 0, 0), l.close_object);
  check(group.id(), "create", at);
}

void File::make_dataset(const std::string& at, FileType type, std::span<const std::int64_t> shape,
                        const FileStorage& storage) const {
  const Library& l = *library();
  const OwnedId links(l.create_list(*l.link_list), l.close_list);
  l.set_intermediate(links.id(), 1);
  const OwnedId list(l.create_list(*l.creation_list), l.close_list);
  const std::vector<Length> lengths(shape.begin(), shape.end());
  const OwnedId space(calls()->make_space(static_cast<int>(lengths.size()), lengths.data(), nullptr),
                      calls()->close_space);
  const bool packed = storage.deflate > 0 || storage.shuffle || storage.checksum;
  if ((packed || storage.chunk > 0) && !lengths.empty() && lengths[0] > 0) {
    std::vector<Length> chunk = lengths;
    chunk[0] = std::min<Length>(lengths[0], storage.chunk > 0 ? static_cast<Length>(storage.chunk) : Length{1} << 18);
    check(l.set_chunk(list.id(), static_cast<int>(chunk.size()), chunk.data()), "create", at);
    if (storage.shuffle) l.set_shuffle(list.id());
    if (storage.deflate > 0) l.set_deflate(list.id(), static_cast<unsigned>(storage.deflate));
    if (storage.checksum) l.set_checksum(list.id());
  } else {
    // Space without fill values at once: other ranks write the numbers where they belong (place_of_numbers()).
    l.set_allocation_time(list.id(), kAtCreation);
    l.set_fill_time(list.id(), kNever);
  }
  const Id file_type = *l.file_types[static_cast<std::size_t>(type)];
  const Object dataset(l.create_dataset(file_.id(), at.c_str(), file_type, space.id(), links.id(), list.id(), 0),
                       l.close_object);
  check(dataset.id(), "create", at);
}

std::optional<std::uint64_t> File::place_of_numbers(const std::string& at) const {
  if (std::endian::native != std::endian::little) return std::nullopt;  // file_types are little-endian
  const Library& l = *library();
  const Object object = open_object(at);
  const OwnedId list(l.dataset_list(object.id()), l.close_list);
  if (!list || l.layout(list.id()) != kContiguous) return std::nullopt;
  const std::uint64_t offset = l.dataset_offset(object.id());
  return offset == kNoOffset ? std::nullopt : std::optional(offset);
}

void File::write(const std::string& at, FileType type, const Rows& rows, const void* from) const {
  if (rows.count == 0) return;
  const Object object = open_object(at);
  const OwnedId space(calls()->dataset_space(object.id()), calls()->close_space);
  const std::array<Length, 2> start{static_cast<Length>(rows.first), 0};
  const std::array<Length, 2> count{static_cast<Length>(rows.count), static_cast<Length>(rows.width)};
  const OwnedId memory(calls()->make_space(rows.width > 0 ? 2 : 1, count.data(), nullptr), calls()->close_space);
  check(space ? calls()->select(space.id(), 0, start.data(), nullptr, count.data(), nullptr) : -1, "write", at);
  check(memory ? library()->write(object.id(), memory_type(type), memory.id(), space.id(), 0, from) : -1, "write", at);
}

void File::put_values(const std::string& at, const std::string& name, const Values& values) const {
  const Library& l = *library();
  const Object object = open_object(at);
  if (l.has_attribute(object.id(), name.c_str()) > 0) l.delete_attribute(object.id(), name.c_str());
  const Length count = values.count;
  const OwnedId space(values.array ? calls()->make_space(1, &count, nullptr) : l.create_space(kScalar),
                      calls()->close_space);
  const Object attribute(l.create_attribute(object.id(), name.c_str(), values.file_type, space.id(), 0, 0),
                         l.close_attribute);
  check(attribute.id(), "create the attribute", name);
  check(l.write_attribute(attribute.id(), values.memory_type, values.from), "write the attribute", name);
}

void File::put(const std::string& at, const std::string& name, std::span<const double> values, bool array) const {
  put_values(at, name,
             {memory_type(FileType::f64), *library()->file_types[static_cast<std::size_t>(FileType::f64)],
              values.size(), array, values.data()});
}

void File::put(const std::string& at, const std::string& name, FileType type, std::span<const std::int64_t> values,
               bool array) const {
  put_values(at, name,
             {memory_type(FileType::i64), *library()->file_types[static_cast<std::size_t>(type)], values.size(), array,
              values.data()});
}

void File::put(const std::string& at, const std::string& name, std::string_view text) const {
  const std::string value(text);
  const OwnedId type(library()->copy_type(*library()->text_type), calls()->close_type);
  library()->set_type_size(type.id(), std::max<std::size_t>(value.size(), 1));
  library()->set_padding(type.id(), kNullPadded);
  put_values(at, name, {type.id(), type.id(), 1, false, value.c_str()});
}

void File::put(const std::string& at, const std::string& name, const std::vector<std::string>& texts) const {
  std::size_t most = 1;
  for (const std::string& text : texts) most = std::max(most, text.size());
  std::string all;
  for (const std::string& text : texts) all += text + std::string(most - text.size(), '\0');
  const OwnedId type(library()->copy_type(*library()->text_type), calls()->close_type);
  library()->set_type_size(type.id(), most);
  library()->set_padding(type.id(), kNullPadded);
  put_values(at, name, {type.id(), type.id(), texts.size(), true, all.data()});
}

void File::copy_attributes(const File& from, const std::string& source, const std::string& to,
                           const std::vector<std::string>& without) const {
  const Library& l = *library();
  const Object object = from.open_object(source);
  const Object target = open_object(to);
  for (const std::string& name : from.attributes(source)) {
    if (l.has_attribute(target.id(), name.c_str()) > 0 || std::count(without.begin(), without.end(), name) > 0)
      continue;
    const Object attribute = from.open_attribute(object.id(), name);
    const OwnedId type(l.attribute_type(attribute.id()), calls()->close_type);
    const OwnedId space(l.attribute_space(attribute.id()), calls()->close_space);
    const std::int64_t count = space ? l.points(space.id()) : -1;
    const std::size_t bytes = type ? calls()->type_size(type.id()) : 0;
    if (count < 0 || bytes == 0 || static_cast<std::size_t>(count) * bytes > kMaxText)
      throw InputError(from.path_ + ": cannot copy the attribute \"" + name + "\" of \"" + source +
                       "\": larger than 1 MiB, or damaged");
    std::vector<std::byte> values(std::max<std::size_t>(static_cast<std::size_t>(count) * bytes, 1));
    from.check(l.read_attribute(attribute.id(), type.id(), values.data()), "read the attribute", name);
    const Object copied(l.create_attribute(target.id(), name.c_str(), type.id(), space.id(), 0, 0), l.close_attribute);
    const int written = copied.id() < 0 ? -1 : l.write_attribute(copied.id(), type.id(), values.data());
    l.reclaim(type.id(), space.id(), 0, values.data());  // texts of any length
    check(written, "write the attribute", name);
  }
}

void File::copy(const File& from, const std::string& source, const std::string& to) const {
  const Library& l = *library();
  const OwnedId list(l.create_list(*l.link_list), l.close_list);
  l.set_intermediate(list.id(), 1);
  check(l.copy(from.file_.id(), source.c_str(), file_.id(), to.c_str(), 0, list.id()), "copy", source);
}

}  // namespace merganser::io::hdf5
