// Merge of this rank's stars into parcels and packing of its container, the last stage of the Clusterer's merge step.
#include "src/cluster/pack.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/parcels/detail/merge_epic.hpp"
#include "merganser/parcels/merge_batch.hpp"
#include "src/cluster/chunk_lists.hpp"

namespace merganser::cluster {
namespace {

constexpr std::size_t kAhead = 32;      ///< prefetch distance, in parcels; twice that for the indices that lead to them
constexpr std::size_t kHistogram = 64;  ///< stars of fewer members are counted in an array, others in the report's map

/// Merge and packing of one rank's parcels, chunk by chunk: survivors are copied to the new tables, then centres are
/// merged there. Sources are read from the old tables, which no chunk overwrites: sites are sorted copies, rows go to a
/// spare table.
class StarMerger {
 public:
  /// Makes the merger of pack() for this rank's stars; run() carries the merge out. Both arguments must outlive the object.
  StarMerger(const PackInput& in, StepReport& report)
      : in_(in),
        epic_(in.parcels->schema() == Schema::epic()),
        report_(report),
        n_(static_cast<std::uint32_t>(in.parcels->size())),
        width_(in.parcels->schema().width()),
        rows_(in.parcels->rows()),
        out_sites_(in.parcels->sites()),
        out_rows_(reinterpret_cast<double*>(in.spare_rows->data())),
        images_(in.rules->box),
        batch_(in.rules->box) {}

  /// Merges this rank's stars and packs its container: sources are listed per centre, then all chunks of vertices are written.
  /// @throws InputError for more parcels than the linked lists can number
  void run() {
    if (n_ >= kEnd - in_.received_parcels->target.size())
      throw InputError(std::to_string(n_) + " parcels on one rank; at most " + std::to_string(kEnd) +
                       ": use more ranks");
    list_sources();
    const std::size_t after = epic_ ? merge_chunks<true>() : merge_chunks<false>();
    in_.parcels->exchange_rows(*in_.spare_rows, after);
    report_.after = static_cast<std::int64_t>(after);
    for (std::size_t m = 0; m < kHistogram; ++m)
      if (histogram_[m] > 0) report_.clusters[static_cast<int>(m)] += histogram_[m];
  }

 private:
  /// Turns `target`, the kept link of each vertex, into the linked lists of each star's sources. A kept target has no kept link
  /// of its own, so its entry is free for the head of its list.
  void list_sources() {
    std::uint32_t* const target = in_.target;
    std::array<std::uint32_t, kChunk + kLaneSlack> sources;
    for (std::uint32_t begin = 0; begin < n_; begin += kChunk) {
      const std::uint32_t end = std::min(n_ - begin, kChunk) + begin;
      const std::size_t count = list_linked(target, begin, end, sources.data());
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t v = sources[i];
        const std::uint32_t t = target[v];
        if ((t & links::kAway) != 0) [[unlikely]] {
          target[v] = (*in_.departed)[t & ~links::kAway] ? kGone : links::kNone;
          continue;
        }
        const std::uint32_t code = target[t];
        target[v] = kSource | (code & kEnd);  // of kNone the low bits are kEnd
        target[t] = kHead | many_flag(code) | v;
      }
    }
    for (std::size_t a = 0; a < in_.received_parcels->target.size(); ++a) {
      const std::uint32_t t = in_.received_parcels->target[a];
      const std::uint32_t code = target[t];
      arrival_next_.push_back(code & kEnd);
      target[t] = kHead | many_flag(code) | (n_ + static_cast<std::uint32_t>(a));
    }
  }

  /// Returns the kMany flag of a centre to which a source is added: set from the second source on.
  static std::uint32_t many_flag(std::uint32_t code) { return is_head(code) ? kMany : 0; }

  /// Returns true if a vertex's entry of `target` is that of a star's centre. kNone has the bit kSource, hence is no centre.
  static bool is_head(std::uint32_t code) { return (code & (kSource | kHead)) == kHead; }
  /// Returns the source after `member` in the linked list of its star; members from n_ on are received parcels.
  [[nodiscard]] std::uint32_t next_source(std::uint32_t member) const {
    return member < n_ ? in_.target[member] & kEnd : arrival_next_[member - n_];
  }
  /// Returns the payload row of a member of a star, a parcel of this rank or a received one.
  [[nodiscard]] const double* row(std::uint32_t member) const {
    return member < n_ ? rows_ + static_cast<std::size_t>(in_.order[member]) * width_
                       : in_.received_parcels->rows.data() + static_cast<std::size_t>(member - n_) * width_;
  }
  /// Returns the site (position and volume) of a member of a star, a parcel of this rank or a received one.
  [[nodiscard]] const Site& site(std::uint32_t member) const {
    return member < n_ ? in_.sorted[member] : in_.received_parcels->site[member - n_];
  }

  /// Merges the stars and packs the survivors of all chunks of this rank's vertices. @return number of parcels after the merge
  /// step
  template <bool kEpic>
  std::size_t merge_chunks() {
    std::size_t after = 0;
    for (std::uint32_t begin = 0; begin < n_; begin += kChunk) {
      sort_chunk(in_.target, begin, std::min(n_ - begin, kChunk) + begin, work_);
      copy_survivors<kEpic>(out_sites_ + after, out_rows_ + after * width_);
      for (std::uint32_t i = 0; i < work_.pair_count; ++i) {
        if (i + kAhead < work_.pair_count) prefetch_row(first_source(work_.pairs[i + kAhead]));
        if (i % 4 == 0 && i / 4 < work_.star_count) {  // there are about five times as many pairs
          const std::uint32_t first = first_source(work_.stars[i / 4]);
          prefetch_row(first);
          prefetch_index(next_source(first));
        }
        const std::size_t j = after + work_.pairs[i];
        const std::uint32_t source = first_source(work_.pairs[i]);
        if constexpr (kEpic) {
          batch_.centre(1, out_sites_ + j, out_rows_ + j * width_);
          batch_.source(site(source), row(source));
          batch_.end();
          report_.merged_into_big +=
              static_cast<std::int64_t>(!(in_.sorted[work_.survivors[work_.pairs[i]]].volume < in_.small_volume));
          if (in_.lineage) record_lineage(source, out_rows_ + j * width_);
        } else {
          merge_star_at(work_.survivors[work_.pairs[i]], j);
        }
      }
      if constexpr (kEpic) {
        report_.merged += work_.pair_count;
        histogram_[2] += work_.pair_count;
      }
      for (std::uint32_t i = 0; i < work_.star_count; ++i) {
        if (i + kAhead / 2 < work_.star_count) prefetch_row(next_source(first_source(work_.stars[i + kAhead / 2])));
        const std::uint32_t centre = work_.survivors[work_.stars[i]];
        const std::size_t j = after + work_.stars[i];
        if (!kEpic || !merge_two(centre, j)) merge_star_at(centre, j);
      }
      if constexpr (kEpic) batch_.flush();  // rows of this chunk are still near
      after += work_.survivor_count;
    }
    return after;
  }

  /// Copies sites and payload rows of the parcels of a chunk that survive the merge to the new tables, before centres are merged
  /// there.
  template <bool kEpic>
  void copy_survivors(Site* sites, double* rows) {
    const std::size_t width = kEpic ? detail::kEpicWidth : width_;
    const std::uint32_t count = work_.survivor_count;
    const std::uint32_t* const survivors = work_.survivors;
    const std::uint32_t* const order = in_.order;
    const std::uint32_t* const target = in_.target;
    const Site* const sorted = in_.sorted;
    const double* const old_rows = rows_;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t later = survivors[i + kAhead < count ? i + kAhead : i];
      const double* const ahead = old_rows + static_cast<std::size_t>(order[later]) * width;
      __builtin_prefetch(ahead);
      __builtin_prefetch(ahead + width - 1);
      const std::uint32_t v = survivors[i];
      const std::uint32_t code = target[v];
      prefetch_index(is_head(code) ? code & kEnd : v);
      sites[i] = sorted[v];
      std::memcpy(rows + i * width, old_rows + static_cast<std::size_t>(order[v]) * width, width * sizeof(double));
    }
  }
  /// Returns the first source of the centre at a position among the chunk's survivors.
  [[nodiscard]] std::uint32_t first_source(std::uint32_t position) const {
    return in_.target[work_.survivors[position]] & kEnd;
  }
  /// Prefetches the table entries (target, order, site) that lead to the payload row of a member of a star. Always inline, as the next
  /// one: GCC takes a function that does nothing but prefetch for one without effect, and drops its calls.
  [[gnu::always_inline]] void prefetch_index(std::uint32_t member) const {
    if (member >= n_) return;
    __builtin_prefetch(&in_.target[member]);
    __builtin_prefetch(&in_.order[member]);
    __builtin_prefetch(&in_.sorted[member]);
  }
  /// Prefetches the first and last cache line of the payload row of a member of a star.
  [[gnu::always_inline]] void prefetch_row(std::uint32_t member) const {
    const double* const r = row(member);
    __builtin_prefetch(r);
    __builtin_prefetch(r + width_ - 1);
  }

  /// Merges the star of centre v with two sources, the most frequent with more than one, without a list of members, into
  /// position j of the new tables. @return false, with nothing done, if it has more sources
  bool merge_two(std::uint32_t v, std::size_t j) {
    const std::uint32_t a = in_.target[v] & kEnd;
    const std::uint32_t b = next_source(a);
    if (next_source(b) != kEnd) return false;
    const double* const row_a = row(a);
    const double* const row_b = row(b);
    const bool swap = std::bit_cast<std::int64_t>(row_b[0]) < std::bit_cast<std::int64_t>(row_a[0]);
    double* const out = out_rows_ + j * width_;
    batch_.centre(2, out_sites_ + j, out);
    batch_.source(site(swap ? b : a), swap ? row_b : row_a);
    batch_.source(site(swap ? a : b), swap ? row_a : row_b);
    batch_.end();
    report_.merged += 2;
    report_.merged_into_big += in_.sorted[v].volume < in_.small_volume ? 0 : 2;
    ++histogram_[3];
    if (in_.lineage) record_lineage(swap ? b : a, out), record_lineage(swap ? a : b, out);
    return true;
  }

  /// Merges the star of centre v, a vertex of this rank that has been copied to position j of the new tables.
  void merge_star_at(std::uint32_t v, std::size_t j) {
    double* const out = out_rows_ + j * width_;
    collect_sources(in_.target[v] & kEnd, out, in_.sorted[v]);
    if (epic_) {
      merge_epic(out_sites_[j], out);
    } else {
      merge_general(out_sites_[j], out);
    }
  }

  /// Adds the ids of a source and its centre to the lineage in the report of the merge step.
  void record_lineage(std::uint32_t source, const double* centre) {
    report_.lineage.push_back({std::bit_cast<std::int64_t>(row(source)[0]), std::bit_cast<std::int64_t>(centre[0])});
  }

  /// Lists the sources of a star in members_, in the order of their ids, and counts the star in the report of the merge step.
  void collect_sources(std::uint32_t first, const double* centre, const Site& centre_site) {
    members_.clear();
    for (std::uint32_t m = first; m != kEnd; m = next_source(m)) members_.push_back(m);
    const auto id = [&](std::uint32_t m) { return std::bit_cast<std::int64_t>(row(m)[0]); };
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
      for (const std::uint32_t m : members_) record_lineage(m, centre);
  }

  /// Merges a star of EPIC's schema: in a batch if it is small, else at once.
  void merge_epic(Site& s, double* out) {
    if (members_.size() <= EpicMergeBatch::kMaxSources) {
      batch_.centre(members_.size(), &s, out);
      for (const std::uint32_t m : members_) batch_.source(site(m), row(m));
      batch_.end();
      return;
    }
    detail::merge_epic(
        images_, s, out, members_.size(), [&](std::size_t i) -> const Site& { return site(members_[i]); },
        [&](std::size_t i) { return row(members_[i]); });
  }

  /// Merges a star of any schema by the rules of its attributes (merge_star), centre first.
  void merge_general(Site& s, double* out) {
    star_.clear();
    const Site centre = s;
    centre_row_.assign(out, out + width_);
    star_.push_back({&centre, centre_row_.data()});
    for (const std::uint32_t m : members_) star_.push_back({&site(m), row(m)});
    merge_star(*in_.rules, star_, s, out);
  }

  const PackInput& in_;
  bool epic_;
  ChunkWork work_;
  StepReport& report_;
  std::uint32_t n_;
  std::size_t width_;
  const double* rows_;
  Site* out_sites_;
  double* out_rows_;
  detail::Images images_;
  EpicMergeBatch batch_;
  std::vector<std::uint32_t> arrival_next_;
  std::vector<std::uint32_t> members_;
  std::vector<Member> star_;
  std::vector<double> centre_row_;
  std::array<std::int64_t, kHistogram> histogram_{};
};

}  // namespace

// Last stage of a merge step: stars of this rank become parcels, in a container packed in the order of cells.
void pack(const PackInput& in, StepReport& report) { StarMerger(in, report).run(); }

}  // namespace merganser::cluster
