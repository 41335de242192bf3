// Local exchange of the additive properties of moving objects: packages of changes to neighbouring blocks, and the sum of changes
// in the order of block numbers.
#include "merganser/blocks/local_exchange.hpp"

#include <algorithm>

#include "merganser/base/error.hpp"

namespace merganser::blocks {
namespace {

/// State of a moving object in a block, as packages carry it: the block held a part after the last step, holds one now, created
/// it since.
enum Flag : std::uint8_t { kHeld = 1, kHolds = 2, kCreated = 4 };

std::string object_name(std::uint64_t key) { return "object " + std::to_string(key); }

/// Reads `n` values of an object from the front of a package between blocks, and removes them. @throws CommError if the package
/// is too short
template <class T>
void extract_many(std::span<const std::byte>& package, std::size_t n, std::vector<T>& to) {
  if (package.size() < n * sizeof(T)) detail::throw_short_package(package.size(), n * sizeof(T));
  to.resize(n);
  std::memcpy(to.data(), package.data(), n * sizeof(T));
  package = package.subspan(n * sizeof(T));
}

/// Appends the values of an object to a package between blocks.
template <class T>
void append_many(std::vector<std::byte>& package, const std::vector<T>& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  package.insert(package.end(), bytes.begin(), bytes.end());
}

}  // namespace

template <class T>
LocalExchange<T>::LocalExchange(comm::Transport& transport, BlockGrid grid, BlockPlacement placement,
                                std::size_t values, int reach)
    : values_(values), exchange_(transport, grid, std::move(placement), reach), tables_(exchange_.blocks().size()) {
  const std::int64_t placed = transport.all_reduce(static_cast<std::int64_t>(exchange_.blocks().size()), comm::Op::sum);
  if (values_ < 1) throw InputError("local exchange: 0 values per object; allowed: at least 1");
  if (placed != grid.count()) {
    throw InputError("local exchange: " + std::to_string(placed) + " of " + std::to_string(grid.count()) +
                     " blocks have an owner; every block needs one");
  }
}

/// Adds a reported change to those of an object since the last step. @throws UsageError for another number of values
template <class T>
void LocalExchange<T>::add(Object& object, std::span<const T> change) const {
  if (change.size() != values_) {
    throw UsageError("local exchange: " + std::to_string(change.size()) + " values reported; an object has " +
                     std::to_string(values_));
  }
  object.change.resize(values_);
  for (std::size_t i = 0; i < values_; ++i) object.change[i] += change[i];
  object.touched = true;
}

template <class T>
void LocalExchange<T>::create(std::size_t local, std::uint64_t key, std::span<const T> part) {
  auto& table = tables_.at(local);
  if (table.contains(key)) {
    throw InputError(object_name(key) + " is created in block " + grid().name(blocks()[local]) +
                     ", but an object of this key is already there or in a neighbouring block");
  }
  Object fresh;
  add(fresh, part);
  fresh.created = true;
  fresh.holds = true;
  table.emplace(key, std::move(fresh));
}

template <class T>
void LocalExchange<T>::report(std::size_t local, std::uint64_t key, std::span<const T> change, bool holds) {
  auto& table = tables_.at(local);
  const auto found = table.find(key);
  if (found == table.end()) {
    throw InputError(object_name(key) + " appears in block " + grid().name(blocks()[local]) +
                     ", but neither this block nor a neighbouring one held it after the last step; objects enter from "
                     "neighbouring blocks or begin with create()");
  }
  add(found->second, change);
  found->second.holds = holds;
}

/// Writes the objects that a block holds or has changed into the packages for all of its neighbours.
template <class T>
void LocalExchange<T>::write(std::size_t local) {
  std::vector<std::byte> package;
  std::int64_t entries = 0;
  for (auto& [key, object] : tables_[local]) {
    if (!object.held && !object.touched) continue;
    object.change.resize(values_);
    object.value.resize(values_);
    const int flags = (object.held ? kHeld : 0) | (object.holds ? kHolds : 0) | (object.created ? kCreated : 0);
    append(package, key);
    append(package, static_cast<std::uint8_t>(flags));
    append_many(package, object.change);
    append_many(package, object.value);
    ++entries;
  }
  const std::size_t slots = exchange_.neighbours(local).size();
  for (std::size_t s = 0; s < slots; ++s) exchange_.package(local, s) = package;
  counts_.packages += static_cast<std::int64_t>(slots);
  counts_.entries += entries * static_cast<std::int64_t>(slots);
}

/// Reads the package that a neighbouring block has sent, and appends the objects that it reports to `parts`. @throws CommError
template <class T>
void LocalExchange<T>::read(std::size_t local, std::size_t slot, std::vector<Part>& parts) const {
  auto package = exchange_.received(local, slot);
  while (!package.empty()) {
    Part part;
    part.key = extract<std::uint64_t>(package);
    part.block = exchange_.neighbours(local)[slot];
    part.flags = extract<std::uint8_t>(package);
    extract_many(package, values_, part.change);
    extract_many(package, values_, part.value);
    parts.push_back(std::move(part));
  }
}

/// Validates that the blocks that hold or change an object fit into reach + 1 consecutive ones along every axis. @throws InputError
template <class T>
void LocalExchange<T>::check_extent(std::span<const Part> parts) const {
  static constexpr const char* kAxes[] = {"x", "y", "z"};
  std::vector<std::int64_t> members;
  for (const Part& p : parts) members.push_back(p.block);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const int width = grid().width(members, axis);
    if (width <= exchange_.reach() + 1) continue;
    std::string list;
    for (const std::int64_t b : members) list += (list.empty() ? "" : ", ") + grid().name(b);
    throw InputError(object_name(parts[0].key) + " lies before or after this step in blocks " + list + ": " +
                     std::to_string(width) + " blocks along " + kAxes[axis] + "; allowed: at most " +
                     std::to_string(exchange_.reach() + 1) + " consecutive ones (reach " +
                     std::to_string(exchange_.reach()) + "); use larger blocks, smaller objects or a larger reach");
  }
}

/// Computes the new values of one object in `block` from the parts that this block and its neighbours report, in the order of block
/// numbers. @throws InputError if two objects have one key, or the object is too long
template <class T>
typename LocalExchange<T>::Object LocalExchange<T>::join(std::int64_t block, std::span<const Part> parts) const {
  check_extent(parts);
  const Part* old = nullptr;
  const Part* created = nullptr;
  for (const Part& p : parts) {
    if ((p.flags & kCreated) != 0) created = &p;
    if ((p.flags & kHeld) == 0) continue;
    if (old != nullptr && std::memcmp(old->value.data(), p.value.data(), values_ * sizeof(T)) != 0) {
      throw InputError(object_name(p.key) + ": blocks " + grid().name(old->block) + " and " + grid().name(p.block) +
                       " disagree about its values before this step; two objects have this key");
    }
    old = old == nullptr ? &p : old;
  }
  if (old != nullptr && created != nullptr) {
    throw InputError(object_name(parts[0].key) + " is created in block " + grid().name(created->block) +
                     " while block " + grid().name(old->block) + " holds an object of this key");
  }
  // The values before the step are the same in every part; changes are added in the order of block numbers, so that every
  // block obtains the same bits.
  Object out;
  out.value = old != nullptr ? old->value : std::vector<T>(values_);
  for (const Part& p : parts) {
    for (std::size_t i = 0; i < values_; ++i) out.value[i] += p.change[i];
    if (p.block == block) out.held = out.holds = (p.flags & kHolds) != 0;
  }
  return out;
}

// Step of the local exchange: packages to all neighbouring blocks, then for each object the sum of the changes that this block and
// its neighbours report; objects that no block holds any more are dropped.
template <class T>
void LocalExchange<T>::step() {
  for (std::size_t i = 0; i < tables_.size(); ++i) write(i);
  exchange_.step();
  ++counts_.steps;
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const std::int64_t block = blocks()[i];
    std::vector<Part> parts;
    for (auto& [key, object] : tables_[i]) {
      if (!object.held && !object.touched) continue;
      const int flags = (object.held ? kHeld : 0) | (object.holds ? kHolds : 0) | (object.created ? kCreated : 0);
      parts.push_back({key, block, static_cast<std::uint8_t>(flags), object.change, object.value});
    }
    for (std::size_t s = 0; s < exchange_.neighbours(i).size(); ++s) read(i, s, parts);
    std::sort(parts.begin(), parts.end(),
              [](const Part& a, const Part& b) { return a.key != b.key ? a.key < b.key : a.block < b.block; });
    Table next;
    for (std::size_t first = 0, last = 0; first < parts.size(); first = last) {
      bool alive = false;
      while (last < parts.size() && parts[last].key == parts[first].key) alive |= (parts[last++].flags & kHolds) != 0;
      Object joined = join(block, std::span(parts).subspan(first, last - first));
      if (alive) next.emplace_hint(next.end(), parts[first].key, std::move(joined));
    }
    tables_[i] = std::move(next);
  }
}

/// Returns an object as a block of this rank stores it. @throws UsageError if the block does not
template <class T>
const typename LocalExchange<T>::Object& LocalExchange<T>::object(std::size_t local, std::uint64_t key) const {
  const auto found = tables_.at(local).find(key);
  if (found == tables_[local].end()) {
    throw UsageError(object_name(key) + " is not known in block " + grid().name(blocks()[local]));
  }
  return found->second;
}

template <class T>
bool LocalExchange<T>::contains(std::size_t local, std::uint64_t key) const {
  const auto found = tables_.at(local).find(key);
  return found != tables_[local].end() && !found->second.created;
}

template <class T>
bool LocalExchange<T>::holds(std::size_t local, std::uint64_t key) const {
  const auto found = tables_.at(local).find(key);
  return found != tables_[local].end() && found->second.held;
}

template <class T>
std::span<const T> LocalExchange<T>::values(std::size_t local, std::uint64_t key) const {
  const Object& found = object(local, key);
  if (found.created) {
    throw UsageError(object_name(key) + " has been created since the last step; its values are known after the next");
  }
  return found.value;
}

template <class T>
std::vector<std::uint64_t> LocalExchange<T>::held_keys(std::size_t local) const {
  std::vector<std::uint64_t> out;
  for (const auto& [key, object] : tables_.at(local))
    if (object.held) out.push_back(key);
  return out;
}

template class LocalExchange<std::int64_t>;
template class LocalExchange<double>;

}  // namespace merganser::blocks
