// Distributed parcels on their way into a file: rows that each rank writes, and rows that rank 0 gathers.
#include "src/io/particles/gathered.hpp"

#include <algorithm>
#include <exception>
#include <numeric>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"

namespace merganser::io {

GatheredParcels::GatheredParcels(const Parcels& parcels, int groups, const std::function<int(std::size_t)>& group,
                                 comm::Transport& transport)
    : transport_(transport), mine_(static_cast<std::size_t>(groups)) {
  for (std::size_t i = 0; i < parcels.size(); ++i) mine_[static_cast<std::size_t>(group(i))].push_back(i);
  for (const auto& list : mine_) {
    counts_.push_back(comm::all_gather_value(transport, static_cast<std::int64_t>(list.size())));
    total_.push_back(std::accumulate(counts_.back().begin(), counts_.back().end(), std::int64_t{0}));
  }
}

void GatheredParcels::write(int group, std::size_t width, const Values& values, const Sink& sink) {
  constexpr std::int64_t kValues = std::int64_t{1} << 20;  // that rank 0 holds of a round
  const auto g = static_cast<std::size_t>(group);
  const std::int64_t block =
      std::max<std::int64_t>(256, kValues / transport_.size() / static_cast<std::int64_t>(width));
  const std::int64_t most = *std::max_element(counts_[g].begin(), counts_[g].end());
  const auto count = static_cast<std::int64_t>(mine_[g].size());
  std::vector<double> part;
  for (std::int64_t done = 0; done < most; done += block) {
    const std::int64_t mine = std::clamp<std::int64_t>(count - done, 0, block);
    part.resize(static_cast<std::size_t>(mine) * width);
    if (mine > 0)
      values(std::span(mine_[g]).subspan(static_cast<std::size_t>(done), static_cast<std::size_t>(mine)), part.data());
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
  constexpr std::int64_t kValues = std::int64_t{1} << 18;  // that a rank holds at a time
  const auto g = static_cast<std::size_t>(group);
  const std::int64_t block = std::max<std::int64_t>(256, kValues / static_cast<std::int64_t>(width));
  const auto count = static_cast<std::int64_t>(mine_[g].size());
  const std::int64_t first =
      std::accumulate(counts_[g].begin(), counts_[g].begin() + transport_.rank(), std::int64_t{0});
  std::vector<double> part;
  for (std::int64_t done = skipped; done < count && error_.empty(); done += block) {
    const auto rows = static_cast<std::size_t>(std::min(block, count - done));
    part.resize(rows * width);
    values(std::span(mine_[g]).subspan(static_cast<std::size_t>(done), rows), part.data());
    on_this_rank([&] { sink(first + done, part); });
  }
}

void GatheredParcels::write_rows(comm::SharedOutput& file, int group, std::size_t width, const Values& values,
                                 const Bytes& bytes, const Place& place) {
  const std::optional<std::uint64_t> begin = from_first(place.begin);
  if (!begin) return;
  std::vector<std::byte> typed;
  visit_own(group, width, values, [&](std::int64_t first, std::span<const double> rows) {
    bytes(rows, typed);
    file.write(*begin + static_cast<std::uint64_t>(first) * place.row_bytes, typed.data(), typed.size());
  });
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
