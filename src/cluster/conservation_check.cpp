// Conservation check of a merge step: parcels before and after are compared on the ranks to which their ids hash.
#include "merganser/cluster/conservation_check.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <string>
#include <tuple>

#include "merganser/base/error.hpp"
#include "merganser/base/exact_sum.hpp"
#include "merganser/comm/questions.hpp"

namespace merganser {
namespace {

/// Kind of an entry of the conservation check, in the order in which the entries of one parcel are compared.
enum EntryKind : std::int64_t { kEntryBefore, kEntryAfter, kEntrySource, kEntryChild };

/// Returns the beginning of an error of the conservation check about a parcel: "audit: parcel 7 ".
std::string format_parcel(std::int64_t id) { return "audit: parcel " + std::to_string(id) + ' '; }

/// Formats a volume with all its bits in hexadecimal, as 0x1.8p+1, for an error of the conservation check.
std::string format_hex(double x) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%a", x);
  return text.data();
}

}  // namespace

/// Sends entries of the conservation check to the ranks to which their parcel ids hash and returns those received, sorted by
/// id, kind, other. Collective.
std::vector<ConservationCheck::Entry> ConservationCheck::exchange(const std::vector<Entry>& entries) const {
  const auto ranks = static_cast<std::size_t>(transport_.size());
  auto out = comm::send_to_owners<Entry>(transport_, entries, [ranks](const Entry& e) {
               return comm::hash_to_rank(static_cast<std::uint64_t>(e.id), ranks);
             }).flat();
  std::sort(out.begin(), out.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.id, a.kind, a.other) < std::tie(b.id, b.kind, b.other);
  });
  return out;
}

// First half of the conservation check of a merge step: the parcels before, sorted by id on the ranks to which their
// ids hash.
ConservationCheck::ConservationCheck(comm::Transport& transport, const Parcels& before) : transport_(transport) {
  std::vector<Entry> all;
  for (std::size_t i = 0; i < before.size(); ++i) all.push_back({before.id(i), 0, before.site(i).volume, kEntryBefore});
  before_ = exchange(all);
}

VolumePromise promise_of(const MergePolicy& policy) {
  if (policy.is_friends() || policy.level_ratio > 0)
    throw UsageError(std::string("policy: ") + (policy.is_friends() ? "friends" : "level") +
                     " with an audit; allowed: an audit of policies that merge stars or pairs");
  if (policy.conserve == Conserve::momentum_energy || policy.split_below > 0) return VolumePromise::shared;
  return policy.has_rounds() ? VolumePromise::rounded : VolumePromise::exact;
}

/// Removes the entries of parcels that splitting has added, each of which must be in the output once and not before the step. Local.
/// @param fates  entries by id @return the first fault, empty if there is none
std::string ConservationCheck::take_children(std::vector<Entry>& fates) const {
  std::string fault;
  std::vector<Entry> rest;
  for (std::size_t begin = 0; begin < fates.size();) {
    std::size_t end = begin;
    while (end < fates.size() && fates[end].id == fates[begin].id) ++end;
    if (fates[end - 1].kind == kEntryChild) {
      const std::int64_t id = fates[begin].id;
      const bool was = std::binary_search(before_.begin(), before_.end(), fates[begin],
                                          [](const Entry& a, const Entry& b) { return a.id < b.id; });
      if (fault.empty() && (was || end - begin != 2 || fates[begin].kind != kEntryAfter))
        fault = format_parcel(id) + "is new from a split, but " + (was ? "was there before" : "not in the output once");
    } else {
      rest.insert(rest.end(), fates.begin() + static_cast<std::ptrdiff_t>(begin),
                  fates.begin() + static_cast<std::ptrdiff_t>(end));
    }
    begin = end;
  }
  fates = std::move(rest);
  return fault;
}

/// Compares the volume of each centre with the sum of its members'. Entries of a centre come in the order before, after, sources by
/// id: volumes are added in the order in which the merge does. Local. @return the first fault, empty if there is none
std::string ConservationCheck::compare_volumes(const std::vector<Entry>& by_centre, VolumePromise promise) {
  for (std::size_t i = 0; i < by_centre.size();) {
    const std::int64_t id = by_centre[i].id;
    if (by_centre[i].kind != kEntryBefore)
      return format_parcel(id) + "took part in a merge as centre but is not in the output";
    double sum = by_centre[i].volume;
    const double volume = by_centre[i + 1].volume;
    for (i += 2; i < by_centre.size() && by_centre[i].id == id; ++i) sum += by_centre[i].volume;
    const bool equal = promise == VolumePromise::exact
                           ? std::bit_cast<std::uint64_t>(sum) == std::bit_cast<std::uint64_t>(volume)
                           : promise == VolumePromise::shared || std::fabs(sum - volume) <= 1e-12 * sum;
    if (!equal) return format_parcel(id) + "has volume " + format_hex(volume) + ", its members have " + format_hex(sum);
  }
  return {};
}

/// Compares the sums of all volumes before and after the step. Collective. @return the fault, empty if there is none
std::string ConservationCheck::compare_sums(const Parcels& after) const {
  ExactSum exact[2];
  for (const Entry& e : before_) exact[0].add(e.volume);
  for (std::size_t i = 0; i < after.size(); ++i) exact[1].add(after.site(i).volume);
  double sums[2] = {exact[0].value(), exact[1].value()};
  transport_.all_reduce(sums, comm::Op::sum);
  if (std::fabs(sums[1] - sums[0]) <= 1e-12 * sums[0]) return {};
  return "audit: all parcels have volume " + format_hex(sums[1]) + " after the step, " + format_hex(sums[0]) +
         " before it";
}

// Second half of the conservation check of a merge step: every parcel before is in the output or merged exactly once,
// and every centre has the volume of its members.
void ConservationCheck::verify(const Parcels& after, std::span<const StepReport::MergedPair> merged,
                               VolumePromise promise, std::span<const StepReport::SplitPair> splits) {
  std::vector<Entry> all;
  for (std::size_t i = 0; i < after.size(); ++i) all.push_back({after.id(i), 0, after.site(i).volume, kEntryAfter});
  for (const auto& [source, centre] : merged) all.push_back({source, centre, 0, kEntrySource});
  for (const auto& [child, parent] : splits) all.push_back({child, parent, 0, kEntryChild});
  auto fates = exchange(all);

  // Merge of two sorted lists: each parcel before must have exactly one entry after. Those merged away are then sent to
  // the rank that checks their centre. Errors are collected, since all ranks must make the second exchange.
  std::string fault = take_children(fates);
  std::vector<Entry> members;
  std::size_t f = 0;
  for (std::size_t b = 0; b < before_.size(); ++b) {
    const Entry& e = before_[b];
    if (b > 0 && before_[b - 1].id == e.id && fault.empty()) fault = format_parcel(e.id) + "is in the input twice";
    if (f < fates.size() && fates[f].id < e.id && fault.empty())
      fault = format_parcel(fates[f].id) + "is in the output but not in the input, or twice";
    while (f < fates.size() && fates[f].id < e.id) ++f;
    if (f == fates.size() || fates[f].id != e.id) {
      if (fault.empty()) fault = format_parcel(e.id) + "is neither in the output nor merged";
      continue;
    }
    if (fates[f].kind == kEntrySource) {
      members.push_back({fates[f].other, e.id, e.volume, kEntrySource});
    } else {
      members.push_back({e.id, 0, e.volume, kEntryBefore});
      members.push_back({e.id, 0, fates[f].volume, kEntryAfter});
    }
    ++f;
  }
  if (f < fates.size() && fault.empty())
    fault = format_parcel(fates[f].id) + "is in the output but not in the input, or twice";

  const auto by_centre = exchange(members);
  if (fault.empty()) fault = compare_volumes(by_centre, promise);
  const std::string sums = promise == VolumePromise::shared ? compare_sums(after) : std::string();
  if (fault.empty()) fault = sums;
  comm::agree(transport_, [&] {
    if (!fault.empty()) throw VerificationError(fault);
  });
}

}  // namespace merganser
