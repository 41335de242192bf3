#include "cluster/pack.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/parcels/detail/merge_epic.hpp"

namespace merganser::cluster {
namespace {

// While a star is read, the slots of `target` hold its members as a list: a centre names its first source, a source the
// next one. No other memory is needed, because a source is never a centre.
constexpr std::uint32_t kSource = 0x80000000U;  ///< this vertex goes into another; low bits: next source
constexpr std::uint32_t kEnd = 0x3fffffffU;     ///< low bits: no next source
constexpr std::uint32_t kHead = 0x40000000U;    ///< this vertex is a centre; low bits: first source
constexpr std::uint32_t kGone = 0xbfffffffU;    ///< this vertex has gone to another rank: a source without a list
constexpr std::size_t kAhead = 12;              ///< prefetch distance, in vertices
constexpr std::size_t kHistogram = 64;

class Packer {
 public:
  Packer(const PackInput& in, StepReport& report)
      : in_(in),
        report_(report),
        n_(static_cast<std::uint32_t>(in.parcels->size())),
        width_(in.parcels->schema().width()),
        rows_(in.parcels->rows()),
        out_sites_(in.parcels->sites()),
        out_rows_(reinterpret_cast<double*>(in.spare_rows->data())),
        images_(in.rules->box) {}

  void run() {
    if (n_ >= kEnd - in_.arrivals->target.size())
      throw InputError(std::to_string(n_) + " parcels on one rank; at most " + std::to_string(kEnd) + ": use more ranks");
    list_sources();
    const std::size_t after = in_.parcels->schema() == Schema::epic() ? write<true>() : write<false>();
    in_.parcels->exchange_rows(*in_.spare_rows, after);
    report_.after = static_cast<std::int64_t>(after);
    for (std::size_t m = 0; m < kHistogram; ++m)
      if (histogram_[m] > 0) report_.clusters[static_cast<int>(m)] += histogram_[m];
  }

 private:
  void list_sources() {
    std::uint32_t* const target = in_.target;
    for (std::uint32_t v = 0; v < n_; ++v) {
      const std::uint32_t t = target[v];
      if (t == links::kNone) continue;
      if ((t & links::kAway) != 0) {
        target[v] = (*in_.departed)[t & ~links::kAway] ? kGone : links::kNone;
        continue;
      }
      const std::uint32_t head = target[t];
      target[v] = kSource | (head == links::kNone ? kEnd : head & kEnd);
      target[t] = kHead | v;
    }
    for (std::size_t a = 0; a < in_.arrivals->target.size(); ++a) {
      const std::uint32_t t = in_.arrivals->target[a];
      const std::uint32_t head = target[t];
      arrival_next_.push_back(head == links::kNone ? kEnd : head & kEnd);
      target[t] = kHead | (n_ + static_cast<std::uint32_t>(a));
    }
  }

  static bool is_head(std::uint32_t code) { return (code & (kSource | kHead)) == kHead; }
  static bool is_source(std::uint32_t code) { return (code & kSource) != 0 && code != links::kNone; }
  [[nodiscard]] std::uint32_t next(std::uint32_t member) const {
    return member < n_ ? in_.target[member] & kEnd : arrival_next_[member - n_];
  }
  [[nodiscard]] const double* row(std::uint32_t member) const {
    return member < n_ ? rows_ + static_cast<std::size_t>(in_.order[member]) * width_
                       : in_.arrivals->rows.data() + static_cast<std::size_t>(member - n_) * width_;
  }
  [[nodiscard]] const Site& site(std::uint32_t member) const {
    return member < n_ ? in_.sorted[member] : in_.arrivals->site[member - n_];
  }

  void prefetch(std::uint32_t v) const {
    const std::uint32_t code = in_.target[v];
    if (is_source(code)) return;
    touch(v);
    if (!is_head(code)) return;
    for (std::uint32_t m = code & kEnd; m != kEnd; m = next(m))
      if (m < n_) touch(m);
  }
  void touch(std::uint32_t v) const {
    const double* const r = rows_ + static_cast<std::size_t>(in_.order[v]) * width_;
    __builtin_prefetch(r);
    __builtin_prefetch(r + width_ - 1);
  }

  template <bool kEpic>
  std::size_t write() {
    std::size_t j = 0;
    detail::Unscaled waiting{};
    for (std::uint32_t v = 0; v < n_; ++v) {
      if (v + kAhead < n_) prefetch(static_cast<std::uint32_t>(v + kAhead));
      const std::uint32_t code = in_.target[v];
      if (is_source(code)) continue;
      double* const out = out_rows_ + j * width_;
      std::memcpy(out, row(v), (kEpic ? detail::kEpicWidth : width_) * sizeof(double));
      Site& s = out_sites_[j];
      s = in_.sorted[v];
      ++j;
      if (!is_head(code)) continue;
      collect(code & kEnd, out, s);
      if constexpr (kEpic) {
        if (waiting.row != nullptr) detail::rescale(waiting);
        waiting = detail::merge_epic_unscaled(
            images_, s, out, members_.size(), [&](std::size_t i) -> const Site& { return site(members_[i]); },
            [&](std::size_t i) { return row(members_[i]); });
      } else {
        merge_general(s, out);
      }
    }
    if (waiting.row != nullptr) detail::rescale(waiting);
    return j;
  }

  /// Sources of a star in the order of their ids, and the star's statistics.
  void collect(std::uint32_t first, const double* centre, const Site& centre_site) {
    members_.clear();
    for (std::uint32_t m = first; m != kEnd; m = next(m)) members_.push_back(m);
    const auto id = [&](std::uint32_t m) { return std::bit_cast<std::int64_t>(row(m)[0]); };
    if (members_.size() > 1)
      std::sort(members_.begin(), members_.end(), [&](std::uint32_t a, std::uint32_t b) { return id(a) < id(b); });
    const auto sources = static_cast<std::int64_t>(members_.size());
    report_.merged += sources;
    if (!(centre_site.volume < in_.small_volume)) report_.merged_into_big += sources;
    if (members_.size() + 1 < kHistogram) {
      ++histogram_[members_.size() + 1];
    } else {
      ++report_.clusters[static_cast<int>(members_.size() + 1)];
    }
    if (in_.lineage)
      for (const std::uint32_t m : members_)
        report_.lineage.push_back({id(m), std::bit_cast<std::int64_t>(centre[0])});
  }

  void merge_general(Site& s, double* out) {
    star_.clear();
    const Site centre = s;
    centre_row_.assign(out, out + width_);
    star_.push_back({&centre, centre_row_.data()});
    for (const std::uint32_t m : members_) star_.push_back({&site(m), row(m)});
    merge_star(*in_.rules, star_, s, out);
  }

  const PackInput& in_;
  StepReport& report_;
  std::uint32_t n_;
  std::size_t width_;
  const double* rows_;
  Site* out_sites_;
  double* out_rows_;
  detail::Images images_;
  std::vector<std::uint32_t> arrival_next_;
  std::vector<std::uint32_t> members_;
  std::vector<Member> star_;
  std::vector<double> centre_row_;
  std::array<std::int64_t, kHistogram> histogram_{};
};

}  // namespace

void pack(const PackInput& in, StepReport& report) { Packer(in, report).run(); }

}  // namespace merganser::cluster
