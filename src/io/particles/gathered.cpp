// Distributed parcels on their way into a file: rows that each rank writes, and rows that rank 0 gathers.
#include "src/io/particles/gathered.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <numeric>
#include <span>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"

namespace merganser::io {
namespace {

/// Returns the number of parcels whose rows are made and written at a time: of several arrays so few that they stay in the cache until
/// every array has theirs, and of one array more, for fewer calls of the system.
std::int64_t rows_at_a_time(std::span<const GatheredParcels::Array> arrays) {
  constexpr std::int64_t kValues = std::int64_t{1} << 16, kValuesOfOne = std::int64_t{1} << 18;
  constexpr std::int64_t kMin = 256, kMax = 8192;
  std::size_t widest = 1;
  for (const GatheredParcels::Array& array : arrays) widest = std::max(widest, array.width);
  const auto width = static_cast<std::int64_t>(widest);
  return arrays.size() == 1 ? std::max(kMin, kValuesOfOne / width) : std::clamp(kValues / width, kMin, kMax);
}

}  // namespace

GatheredParcels::GatheredParcels(const Parcels& parcels, comm::Transport& transport) : transport_(transport) {
  count(std::array{static_cast<std::int64_t>(parcels.size())});
}

GatheredParcels::GatheredParcels(const Parcels& parcels, int groups, const std::function<int(std::size_t)>& group,
                                 comm::Transport& transport)
    : transport_(transport), mine_(static_cast<std::size_t>(groups)) {
  for (std::size_t i = 0; i < parcels.size(); ++i) mine_[static_cast<std::size_t>(group(i))].push_back(i);
  std::vector<std::int64_t> counts;
  for (const auto& list : mine_) counts.push_back(static_cast<std::int64_t>(list.size()));
  count(counts);
}

void GatheredParcels::count(std::span<const std::int64_t> mine) {
  for (const std::int64_t number : mine) {
    counts_.push_back(comm::all_gather_value(transport_, number));
    total_.push_back(std::accumulate(counts_.back().begin(), counts_.back().end(), std::int64_t{0}));
  }
}

std::span<const std::size_t> GatheredParcels::own(int group, std::int64_t first, std::int64_t count) {
  const auto begin = static_cast<std::size_t>(first);
  const auto length = static_cast<std::size_t>(count);
  if (!mine_.empty()) return std::span(mine_[static_cast<std::size_t>(group)]).subspan(begin, length);
  if (numbers_.size() != length || (length > 0 && numbers_[0] != begin)) {
    numbers_.resize(length);
    std::iota(numbers_.begin(), numbers_.end(), begin);
  }
  return numbers_;
}

std::int64_t GatheredParcels::own_count(int group) const {
  return counts_[static_cast<std::size_t>(group)][static_cast<std::size_t>(transport_.rank())];
}

std::int64_t GatheredParcels::own_first(int group) const {
  const auto& counts = counts_[static_cast<std::size_t>(group)];
  return std::accumulate(counts.begin(), counts.begin() + transport_.rank(), std::int64_t{0});
}

void GatheredParcels::write(int group, std::size_t width, const Values& values, const Sink& sink) {
  constexpr std::int64_t kValues = std::int64_t{1} << 20;  // that rank 0 holds of a round
  const auto g = static_cast<std::size_t>(group);
  const std::int64_t block =
      std::max<std::int64_t>(256, kValues / transport_.size() / static_cast<std::int64_t>(width));
  const std::int64_t most = *std::max_element(counts_[g].begin(), counts_[g].end());
  const std::int64_t count = own_count(group);
  std::vector<double> part;
  for (std::int64_t done = 0; done < most; done += block) {
    const std::int64_t mine = std::clamp<std::int64_t>(count - done, 0, block);
    part.resize(static_cast<std::size_t>(mine) * width);
    if (mine > 0) values(own(group, done, mine), part.data());
    const auto all = comm::gather_to_first(transport_, part);
    on_first([&] {
      std::int64_t first = done;
      for (int r = 0; r < transport_.size(); ++r) {
        const auto rows = all[static_cast<std::size_t>(r)];
        if (!rows.empty()) sink(first, {rows.data(), rows.size()});
        first += counts_[g][static_cast<std::size_t>(r)];
      }
    });
  }
}

void GatheredParcels::visit_own(int group, std::size_t width, const Values& values, const Sink& sink,
                                std::int64_t skipped) {
  constexpr std::int64_t kValues = std::int64_t{1} << 16;  // that a rank holds at a time: they stay in the cache
  const std::int64_t block = std::max<std::int64_t>(256, kValues / static_cast<std::int64_t>(width));
  const std::int64_t count = own_count(group);
  const std::int64_t first = own_first(group);
  std::vector<double> part;
  for (std::int64_t done = skipped; done < count && error_.empty(); done += block) {
    const std::int64_t rows = std::min(block, count - done);
    part.resize(static_cast<std::size_t>(rows) * width);
    values(own(group, done, rows), part.data());
    on_this_rank([&] { sink(first + done, part); });
  }
}

void GatheredParcels::write_rows(comm::SharedOutput& file, int group, std::span<Array> arrays) {
  const std::int64_t block = rows_at_a_time(arrays);
  for (Array& array : arrays) array.begin = from_first(array.begin);
  const std::int64_t count = own_count(group);
  const std::int64_t first = own_first(group);
  std::vector<double> part;
  std::vector<std::byte> typed;
  for (std::int64_t done = 0; done < count && error_.empty(); done += block) {
    const std::int64_t rows = std::min(block, count - done);
    for (const Array& array : arrays) {
      if (!array.begin) continue;
      part.resize(static_cast<std::size_t>(rows) * array.width);
      array.values(own(group, done, rows), part.data());
      on_this_rank([&] {
        array.bytes(part, typed);
        file.write(*array.begin + static_cast<std::uint64_t>(first + done) * array.row_bytes, typed.data(),
                   typed.size());
      });
    }
  }
}

std::optional<std::uint64_t> GatheredParcels::from_first(const std::optional<std::uint64_t>& number) {
  const bool has_one = transport_.rank() == 0 && number && error_.empty();
  const auto told =
      comm::broadcast_from_first(transport_, std::vector<std::uint64_t>(has_one ? 1 : 0, number.value_or(0)));
  return told.empty() ? std::nullopt : std::optional(told[0]);
}

void GatheredParcels::on_first(const std::function<void()>& action) {
  if (transport_.rank() == 0) on_this_rank(action);
}

void GatheredParcels::on_this_rank(const std::function<void()>& action) {
  if (!error_.empty()) return;
  try {
    action();
  } catch (const std::exception& e) {
    error_ = e.what();
  }
}

void GatheredParcels::throw_error() {
  comm::agree(transport_, [&] {
    if (!error_.empty()) throw InputError(error_);
  });
}

}  // namespace merganser::io
