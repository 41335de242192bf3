// Conservation check of a merge step: parcels before and after are compared on the ranks to which their ids hash.
#include "merganser/cluster/conservation_check.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <string>
#include <tuple>

#include "merganser/base/error.hpp"
#include "merganser/comm/questions.hpp"

namespace merganser {
namespace {

/// Kind of an entry of the conservation check, in the order in which the entries of one parcel are compared.
enum EntryKind : std::int64_t { kEntryBefore, kEntryAfter, kEntrySource };

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

// Second half of the conservation check of a merge step: every parcel before is in the output or merged exactly once,
// and every centre has the volume of its members.
void ConservationCheck::verify(const Parcels& after, std::span<const StepReport::MergedPair> merged) {
  std::vector<Entry> all;
  for (std::size_t i = 0; i < after.size(); ++i) all.push_back({after.id(i), 0, after.site(i).volume, kEntryAfter});
  for (const auto& [source, centre] : merged) all.push_back({source, centre, 0, kEntrySource});
  const auto fates = exchange(all);

  // Merge of two sorted lists: each parcel before must have exactly one entry after. Those merged away are then sent to
  // the rank that checks their centre. Errors are collected, since all ranks must make the second exchange.
  std::string fault;
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

  // Entries of a centre come in the order before, after, sources by id: volumes are added in the order in which the
  // merge does.
  const auto by_centre = exchange(members);
  for (std::size_t i = 0; i < by_centre.size() && fault.empty();) {
    const std::int64_t id = by_centre[i].id;
    if (by_centre[i].kind != kEntryBefore) {
      fault = format_parcel(id) + "took part in a merge as centre but is not in the output";
      break;
    }
    double sum = by_centre[i].volume;
    const double volume = by_centre[i + 1].volume;
    for (i += 2; i < by_centre.size() && by_centre[i].id == id; ++i) sum += by_centre[i].volume;
    if (std::bit_cast<std::uint64_t>(sum) != std::bit_cast<std::uint64_t>(volume))
      fault = format_parcel(id) + "has volume " + format_hex(volume) + ", its members have " + format_hex(sum);
  }
  comm::agree(transport_, [&] {
    if (!fault.empty()) throw VerificationError(fault);
  });
}

}  // namespace merganser
