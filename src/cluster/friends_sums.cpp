// Exact sums over groups of friends of friends (friends.hpp): each part of a group adds its points, and the root of the
// group adds its parts. Sums are rounded once, so that it does not matter how a group is divided.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/exact_sum.hpp"
#include "merganser/parcels/detail/merge_epic.hpp"
#include "src/cluster/friends.hpp"

namespace merganser::cluster {
namespace {

/// Appends the bytes of a value to a record.
template <class T>
void append_value(std::vector<std::byte>& to, const T& value) {
  const std::size_t at = to.size();
  to.resize(at + sizeof value);
  std::memcpy(to.data() + at, &value, sizeof value);
}

/// Reader of the records that another rank has sent. @throws CommError where they end too early
class RecordReader {
 public:
  explicit RecordReader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  [[nodiscard]] bool is_at_end() const { return at_ == bytes_.size(); }
  template <class T>
  T read() {
    T value;
    if (bytes_.size() - at_ < sizeof value) throw CommError("a record of a group of friends ends early");
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  /// Returns the next bytes, which are passed over.
  std::span<const std::byte> skip(std::uint64_t bytes) {
    if (bytes_.size() - at_ < bytes) throw CommError("a record of a group of friends ends early");
    at_ += static_cast<std::size_t>(bytes);
    return bytes_.subspan(at_ - static_cast<std::size_t>(bytes), static_cast<std::size_t>(bytes));
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

/// Exact sum of few or many numbers, rounded once as ExactSum does: up to two are kept as they are, since the rounded sum
/// of two doubles is that of their addition.
class LazySum {
 public:
  /// Makes the sum empty.
  void clear() { count_ = 0; }
  /// Adds a finite number.
  void add(double x) {
    if (count_ < 2) {
      few_[count_++] = x;
      return;
    }
    make_exact();
    exact_.add(x);
    count_ = kExact;
  }
  /// Returns the sum, rounded once; never -0.
  [[nodiscard]] double value() const {
    if (count_ == kExact) return exact_.value();
    return count_ == 0 ? 0 : count_ == 1 ? few_[0] + 0.0 : (few_[0] + few_[1]) + 0.0;
  }
  /// Returns whether nothing was added.
  [[nodiscard]] bool is_empty() const { return count_ == 0; }
  /// Appends the sum to a record: its sign, and the words of its amount that are not 0.
  void write(std::vector<std::byte>& to) {
    const bool empty = is_empty();
    make_exact();
    count_ = kExact;
    std::vector<std::int64_t> words = exact_.words();
    const std::int64_t sign = words.back() < 0 ? -1 : 1;
    if (sign < 0) {
      for (std::int64_t& w : words) w = -w;
      words = ExactSum::from_words(words.data()).words();
    }
    std::int32_t first = 0;
    auto last = static_cast<std::int32_t>(words.size());
    while (first < last && words[static_cast<std::size_t>(first)] == 0) ++first;
    while (first < last && words[static_cast<std::size_t>(last) - 1] == 0) --last;
    append_value(to, empty ? std::int64_t{0} : sign);
    append_value(to, first);
    append_value(to, last);
    for (std::int32_t i = first; i < last; ++i) append_value(to, words[static_cast<std::size_t>(i)]);
  }
  /// Adds the sum that a record has.
  void read(RecordReader& from) {
    const auto sign = from.read<std::int64_t>();
    const auto first = from.read<std::int32_t>();
    const auto last = from.read<std::int32_t>();
    if (first < 0 || last > ExactSum::kWords) throw CommError("a record of a group of friends has a wrong sum");
    std::array<std::int64_t, ExactSum::kWords> words{};
    for (std::int32_t i = first; i < last; ++i) words[static_cast<std::size_t>(i)] = sign * from.read<std::int64_t>();
    if (sign == 0) return;
    make_exact();
    exact_.add(ExactSum::from_words(words.data()));
    count_ = kExact;
  }

 private:
  static constexpr std::uint32_t kExact = 3;  // the sum is in exact_
  void make_exact() {
    if (count_ == kExact) return;
    exact_ = ExactSum();
    for (std::uint32_t i = 0; i < count_; ++i) exact_.add(few_[i]);
  }

  std::uint32_t count_ = 0;
  std::array<double, 2> few_{};
  ExactSum exact_;
};

/// Member of a group that competes for its place or its values of Rule::largest: the least key wins, of the lowest id among
/// equals.
struct Candidate {
  double key = std::numeric_limits<double>::infinity();
  std::int64_t id = std::numeric_limits<std::int64_t>::max();
  [[nodiscard]] bool precedes(const Candidate& o) const { return key < o.key || (key == o.key && id < o.id); }
};

/// Sums over points of one group.
class GroupSums {
 public:
  GroupSums(const FriendSearch& search, const std::vector<FriendColumn>& columns, const FriendSumOptions& options)
      : search_(search), columns_(columns), options_(options), sums_(columns.size()), weights_(columns.size()) {
    for (const FriendColumn& c : columns) largest_.resize(largest_.size() + (c.rule == Rule::largest ? 1 : 0));
  }

  /// Starts the sums of a group. @param centre  position of its point of lowest id
  void begin(const Vec3& centre) {
    centre_ = centre;
    members_ = 0;
    weight_.clear();
    for (LazySum& s : shift_) s.clear();
    for (LazySum& s : sums_) s.clear();
    for (LazySum& s : weights_) s.clear();
    heaviest_ = chosen_ = Candidate();
  }

  /// Adds point v of this rank. @param k  periods by which it is away from the centre
  void add(std::uint32_t v, const FriendPeriods& k) {
    const FriendPoints& input = search_.input();
    const double weight = input.weight.data != nullptr ? input.weight[v] : 1;
    const std::int64_t id = input.ids[v];
    const Vec3 x = search_.position(v);
    ++members_;
    add_term(weight_, weight, v);
    for (std::size_t a = 0; a < 3; ++a)
      add_term(shift_[a], weight * ((x[a] - centre_[a]) + static_cast<double>(k[a]) * search_.box().extent[a]), v);
    for (std::size_t c = 0; c < columns_.size(); ++c) add_column(c, v, weight);
    if (const Candidate heavy{-weight, id}; heavy.precedes(heaviest_)) {
      heaviest_ = heavy;
      std::size_t at = 0;
      for (const FriendColumn& c : columns_)
        if (c.rule == Rule::largest) largest_[at++] = c.values[v];
    }
    if (options_.place != Placement::heaviest && options_.place != Placement::member) return;
    const bool heavy = options_.place == Placement::heaviest;
    const Candidate mine{heavy ? -weight : draw_place(options_.key, id, weight), id};
    if (!mine.precedes(chosen_)) return;
    chosen_ = mine;
    place_ = x;
  }

  /// Appends the sums to a record for the root of the group.
  void write(std::uint32_t vertex, std::vector<std::byte>& to) {
    append_value(to, vertex);
    append_value(to, members_);
    append_value(to, heaviest_);
    append_value(to, chosen_);
    append_value(to, place_);
    for (const double x : largest_) append_value(to, x);
    weight_.write(to);
    for (LazySum& s : shift_) s.write(to);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (!is_summed(c)) continue;
      sums_[c].write(to);
      weights_[c].write(to);
    }
  }

  /// Adds the sums of a record, after its vertex.
  void read(RecordReader& from) {
    members_ += from.read<std::int64_t>();
    const auto heavy = from.read<Candidate>();
    const auto chosen = from.read<Candidate>();
    const auto place = from.read<Vec3>();
    const bool replaces = heavy.precedes(heaviest_);
    if (replaces) heaviest_ = heavy;
    for (double& x : largest_) {
      const auto value = from.read<double>();
      if (replaces) x = value;
    }
    if (chosen.precedes(chosen_)) {
      chosen_ = chosen;
      place_ = place;
    }
    weight_.read(from);
    for (LazySum& s : shift_) s.read(from);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (!is_summed(c)) continue;
      sums_[c].read(from);
      weights_[c].read(from);
    }
  }

  /// Computes the total of the group. @param total  receives all but `vertex`
  void finish(bool winds, FriendTotal& total) const {
    total.members = members_;
    total.winds = winds;
    total.weight = weight_.value();
    total.place = place_;
    const double w = 1 / total.weight;
    for (std::size_t a = 0; a < 3; ++a)
      total.centre[a] = detail::wrap_or_clamp(search_.box(), static_cast<int>(a), centre_[a] + shift_[a].value() * w);
    total.columns.resize(columns_.size());
    std::size_t at = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].rule == Rule::largest) total.columns[c] = largest_[at++];
      if (is_summed(c)) total.columns[c] = merged_value(c, w);
    }
  }

 private:
  /// Returns whether a column has a sum.
  [[nodiscard]] bool is_summed(std::size_t c) const {
    return columns_[c].rule != Rule::centre && columns_[c].rule != Rule::largest;
  }
  /// Returns the merged value of a column that has a sum. @param w  1 / weight of the group
  [[nodiscard]] double merged_value(std::size_t c, double w) const {
    const Rule rule = columns_[c].rule;
    if (is_of_present(rule) && sums_[c].is_empty()) return std::numeric_limits<double>::quiet_NaN();
    if (rule == Rule::mean) return sums_[c].value() * w;
    return rule == Rule::mean_present ? sums_[c].value() * (1 / weights_[c].value()) : sums_[c].value();
  }
  /// Adds the term of a point to the sum of a column.
  void add_column(std::size_t c, std::uint32_t v, double weight) {
    if (!is_summed(c)) return;
    const Rule rule = columns_[c].rule;
    const double value = columns_[c].values[v];
    if (is_of_present(rule) && std::isnan(value)) return;
    add_term(sums_[c], rule == Rule::mean || rule == Rule::mean_present ? weight * value : value, v);
    if (rule == Rule::mean_present) weights_[c].add(weight);
  }
  /// Adds a term of point v. @throws InputError if it is not finite
  void add_term(LazySum& sum, double term, std::uint32_t v) const {
    if (!std::isfinite(term))
      throw InputError("id " + std::to_string(search_.input().ids[v]) +
                       ": a number, or its product with the weight, is " + std::to_string(term) +
                       "; allowed: finite numbers");
    sum.add(term);
  }

  const FriendSearch& search_;
  const std::vector<FriendColumn>& columns_;
  const FriendSumOptions& options_;
  Vec3 centre_{};
  std::int64_t members_ = 0;
  LazySum weight_;
  std::array<LazySum, 3> shift_;
  std::vector<LazySum> sums_;     // by column
  std::vector<LazySum> weights_;  // by column of rule mean_present: weight of the points that have a value
  Candidate heaviest_;
  Candidate chosen_;
  Vec3 place_{};
  std::vector<double> largest_;  // values of the heaviest point, of the columns of Rule::largest
};

/// Points of this rank by part, for the parts of groups that have at least two points.
struct PartMembers {
  std::vector<std::uint32_t> vertex;  ///< vertices of the parts
  std::vector<std::uint32_t> first;   ///< by part: the first of its points; and the number of all
  std::vector<std::uint32_t> points;  ///< points, part after part

  explicit PartMembers(const FriendSearch& search) {
    const auto n = static_cast<std::uint32_t>(search.input().points.size);
    std::vector<std::uint32_t> count(n, 0);
    for (std::uint32_t v = 0; v < n; ++v) ++count[search.part_of(v)];
    first.push_back(0);
    for (std::uint32_t v = 0; v < n; ++v) {
      if (count[v] == 0) continue;
      if (count[v] == 1 && search.find_part(v) == nullptr) {
        count[v] = links::kNone;
        continue;
      }
      vertex.push_back(v);
      first.push_back(first.back() + count[v]);
      count[v] = first[first.size() - 2];
    }
    points.resize(first.back());
    for (std::uint32_t v = 0; v < n; ++v)
      if (std::uint32_t& at = count[search.part_of(v)]; at != links::kNone) points[at++] = v;
  }
};

/// Adds the records of the parts of each group on the rank of its root.
void sum_parts(const FriendSearch& search, GroupSums& sums, const std::vector<std::vector<std::byte>>& received,
               const std::function<void(const FriendTotal&)>& use) {
  // One group is added at a time: records are sorted by root. Their lengths differ, so a first pass finds where they begin.
  struct Record {
    std::uint32_t vertex;
    std::span<const std::byte> bytes;
  };
  std::vector<Record> records;
  for (const auto& message : received)
    for (RecordReader from(message); !from.is_at_end();) {
      const auto bytes = from.read<std::uint64_t>();
      const auto record = from.skip(bytes);
      records.push_back({RecordReader(record).read<std::uint32_t>(), record});
    }
  std::sort(records.begin(), records.end(), [](const Record& a, const Record& b) { return a.vertex < b.vertex; });
  FriendTotal total;
  for (std::size_t i = 0; i < records.size();) {
    total.vertex = records[i].vertex;
    const FriendPart* const part = total.vertex < search.input().points.size ? search.find_part(total.vertex) : nullptr;
    if (part == nullptr) throw CommError("a record names a root that is none, " + std::to_string(total.vertex));
    sums.begin(search.position(total.vertex));
    for (; i < records.size() && records[i].vertex == total.vertex; ++i) {
      RecordReader from(records[i].bytes);
      static_cast<void>(from.read<std::uint32_t>());
      sums.read(from);
    }
    sums.finish(part->winds, total);
    use(total);
  }
}

}  // namespace

void sum_groups(const FriendSearch& search, const std::vector<FriendColumn>& columns, const FriendSumOptions& options,
                const std::function<void(const FriendTotal&)>& use) {
  comm::Transport& transport = search.transport();
  GroupSums sums(search, columns, options);
  std::vector<std::vector<std::byte>> to(static_cast<std::size_t>(transport.size()));
  bool any = false;
  comm::agree(transport, [&] {
    const PartMembers members(search);
    FriendTotal total;
    std::vector<std::byte> record;
    for (std::size_t i = 0; i < members.vertex.size(); ++i) {
      const FriendPart* const part = search.find_part(members.vertex[i]);
      if (part != nullptr && part->winds && !options.winding) continue;
      sums.begin(part != nullptr ? part->centre : search.position(members.vertex[i]));
      for (std::uint32_t m = members.first[i]; m < members.first[i + 1]; ++m)
        sums.add(members.points[m], part != nullptr ? part->label.k : FriendPeriods{0, 0, 0});
      if (part == nullptr) {
        total.vertex = members.vertex[i];
        sums.finish(false, total);
        use(total);
        continue;
      }
      record.clear();
      sums.write(part->label.vertex, record);
      auto& message = to[static_cast<std::size_t>(part->label.rank)];
      append_value(message, std::uint64_t{record.size()});
      message.insert(message.end(), record.begin(), record.end());
      any = true;
    }
  });
  if (transport.all_reduce(any, comm::Op::max) == 0) return;
  const auto received = transport.all_to_all(to);
  comm::agree(transport, [&] { sum_parts(search, sums, received, use); });
}

}  // namespace merganser::cluster
